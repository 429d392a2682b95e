'use strict';
/**
 * Gives a Showdown server its own folder for everything it writes.
 *
 * Showdown resolves every path against its package folder (FS in dist/lib/fs.js), so a stock server keeps
 * config/, logs/ and databases/ inside the installed package. Loaded with `node --require`, before any of
 * Showdown's code and in each process it forks (fork hands --require on), this file swaps FS for one that
 * sends those paths to the server's own folder, and leaves what Showdown only reads in the package.
 *
 * It replaces exports in the module cache and edits no source text. An unknown path goes to the server's
 * folder: forgetting one costs a missing file, never a write into the package.
 *
 * Settings: ELITEFURRETAI_SHOWDOWN (package folder), ELITEFURRETAI_SERVER_DIR (the server's folder).
 */
const path = require('path');

const SHOWDOWN = process.env.ELITEFURRETAI_SHOWDOWN;
const SERVER_DIR = process.env.ELITEFURRETAI_SERVER_DIR;

// What the server reads from its package. Chat.start lists dist/server/chat-plugins through FS.
const READ_ONLY = new Set(['data', 'dist', 'lib', 'node_modules', 'package.json', 'server', 'sim', 'translations']);
const READ_ONLY_DATABASES = new Set(['migrations', 'schemas']);

function place(name) {
  const inPackage = path.resolve(SHOWDOWN, name);
  const relative = path.relative(SHOWDOWN, inPackage);
  if (relative.startsWith('..') || path.isAbsolute(relative)) return inPackage;
  const [top, second] = relative.split(path.sep);
  if (READ_ONLY.has(top) || (top === 'databases' && READ_ONLY_DATABASES.has(second))) return inPackage;
  return path.join(SERVER_DIR, relative);
}

function replaceExports(file, exports) {
  require.cache[require.resolve(file)].exports = exports;
}

const fsFile = path.join(SHOWDOWN, 'dist', 'lib', 'fs.js');
const stock = require(fsFile);

class ServerPath extends stock.FSPath {
  constructor(name) {
    super(place(name));
  }
}

const FS = Object.assign(name => new ServerPath(name), {
  FileReadStream: stock.FS.FileReadStream,
  FSPath: ServerPath,
  ROOT_PATH: SERVER_DIR,
});
replaceExports(fsFile, {FS, FSPath: ServerPath});

// The crash log does not go through FS: it reads Config.logsdir once, when it is loaded, and stock loads it
// before there is a Config. It must be gone again afterwards, or the config loader takes it for the real one.
global.Config = {logsdir: path.join(SERVER_DIR, 'logs')};
require(path.join(SHOWDOWN, 'dist', 'lib', 'crashlogger.js'));
delete global.Config;
