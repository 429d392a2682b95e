'use strict';
/**
 * Loaded with `node --require` in front of a program that knows nothing of its launcher (npm): ends it when the
 * launcher, ELITEFURRETAI_PARENT, is gone, however it ended. Windows keeps the id of a dead parent; there this
 * does nothing.
 */
const parent = Number(process.env.ELITEFURRETAI_PARENT);
if (process.platform !== 'win32') {
  setInterval(() => { if (process.ppid !== parent) process.exit(1); }, 1000).unref();
}
