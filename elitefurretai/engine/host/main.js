'use strict';
/**
 * Entry point of the Node host: `node main.js PACKAGE_ROOT OPTIONS_JSON`, frames on stdin and stdout.
 *
 * Options: {lean, fast, workshop}. The first frame out (sequence 0) carries one ANSWER record that says hello.
 * The host ends when stdin closes. A fork of the parent can hold the pipe open after the parent's death, so the
 * parent's process id is watched as well.
 */

const { FrameReader, STATUS, UpdateWriter, readCommands } = require('./frames');
const { BattleTable } = require('./battles');
const { load } = require('./simulator');

const PARENT_POLL_MS = 1000;
const PROTOCOL = 1;

// stdout belongs to the frames; whatever Showdown prints goes where the client drains and shows it.
console.log = console.info = console.debug = console.error;

function refuseCalls(method) {
  throw new Error(`this host only plays battles; it has no '${method}'`);
}

function main([packageRoot, optionsText]) {
  const options = JSON.parse(optionsText);
  const simulator = load(packageRoot, options);
  const answer = options.workshop ? require('./workshop').create(simulator) : refuseCalls;
  const table = new BattleTable(simulator.Battle, answer);
  const writer = new UpdateWriter();

  const flush = () => {
    process.stdout.write(writer.finish());
    // What the pipe did not take at once is still to be sent from this buffer.
    if (process.stdout.writableLength) writer.replaceBuffer();
  };
  const reader = new FrameReader(frame => {
    writer.begin(frame.readUInt32LE(0));
    for (const command of readCommands(frame)) table.execute(command);
    table.drain(writer);
    flush();
  });

  writer.begin(0);
  writer.write(STATUS.ANSWER, 0, '', '', JSON.stringify({
    result: { protocol: PROTOCOL, node: process.version, warnings: simulator.warnings },
  }));
  flush();

  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(0);
  }, PARENT_POLL_MS).unref();
  // A host whose client went away has no one to tell.
  process.stdout.on('error', () => process.exit(0));
  process.stdin.on('data', chunk => reader.push(chunk));
  process.stdin.on('end', () => process.exit(0));
}

main(process.argv.slice(2));
