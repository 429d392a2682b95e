'use strict';
/**
 * Runs one stock Showdown server for elitefurretai/engine/server.py, which writes its config.
 *
 * Stock server code, three additions:
 * - GET /elitefurretai answers with the instance token once the server is ready, so that the launcher
 *   knows that the answer comes from the server it started and not from another one on that port.
 * - The server ends when its launcher does: standard input closes (also when the launcher is killed with -9),
 *   or the parent process changes (in case a fork of the launcher still holds the pipe).
 * - It ends its simulator processes first and waits for them, so none is left behind, not even as a zombie.
 *
 * Settings: those of server_files.js, ELITEFURRETAI_INSTANCE (token), ELITEFURRETAI_PARENT (process id),
 * ELITEFURRETAI_REMOVE_DIR ("1": the server's folder is temporary and goes with the server).
 */
const fs = require('fs');
const path = require('path');

const {ELITEFURRETAI_SHOWDOWN: showdown, ELITEFURRETAI_SERVER_DIR: serverDir} = process.env;
const instance = process.env.ELITEFURRETAI_INSTANCE;
const parent = Number(process.env.ELITEFURRETAI_PARENT);
const dist = name => require(path.join(showdown, 'dist', name));

const PARENT_POLL_MS = 1000;
const CHILD_EXIT_MS = 2000;

let stopping = false;

async function stop(code) {
  if (stopping) return;
  stopping = true;
  const {processManagers} = dist('lib/process-manager.js');
  const children = processManagers.flatMap(manager => manager.processes).map(child => child.getProcess());
  const exits = children.map(child => new Promise(resolve => {
    // Showdown takes a disconnect for a crash and would start the process again.
    child.removeAllListeners('disconnect');
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', resolve);
    child.kill('SIGKILL');
  }));
  const deadline = new Promise(resolve => { setTimeout(resolve, CHILD_EXIT_MS); });
  await Promise.race([Promise.all(exits), deadline]);
  if (process.env.ELITEFURRETAI_REMOVE_DIR === '1') fs.rmSync(serverDir, {recursive: true, force: true});
  process.exit(code);
}

process.stdin.on('end', () => void stop(0)).on('error', () => void stop(0)).resume();
process.on('SIGTERM', () => void stop(0));
process.on('SIGINT', () => void stop(0));
// Windows keeps the id of a dead parent; there the closed pipe alone tells.
if (process.platform !== 'win32') {
  setInterval(() => { if (process.ppid !== parent) void stop(0); }, PARENT_POLL_MS);
}

// Showdown's crash guard keeps a server up after an error in one battle or command. It starts late, and a
// server without its port is of no use.
let ready = false;
process.on('uncaughtException', error => {
  if (ready && error.syscall !== 'listen') return;
  console.error(error);
  void stop(1);
});

dist('server/config-loader.js');
Config.customhttpresponse = (request, response) => {
  if (request.url !== '/elitefurretai') return false;
  response.writeHead(ready ? 200 : 503, {'Content-Type': 'text/plain', Connection: 'close'});
  response.end(ready ? instance : '');
  return true;
};
dist('server/index.js').readyPromise.then(() => {
  ready = true;
}, error => {
  console.error(error);
  void stop(1);
});
