'use strict';
/**
 * Replays recorded battles on Showdown, stock or fast, in rounds: `node replay.js PACKAGE_ROOT LOGS.json OPTIONS_JSON`.
 * For each line on stdin plays all battles once and prints {cpuSeconds, digests}. A digest is over everything that the
 * battle sent (log with both channels, requests, result) but for the `|t:|` time stamps; it is made outside the time.
 */
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { createInterface } = require('node:readline');

const [packageRoot, hostFolder, logsFile, optionsText] = process.argv.slice(2);
const { load } = require(path.join(hostFolder, 'simulator.js'));
const { Battle, warnings } = load(packageRoot, JSON.parse(optionsText));
for (const warning of warnings) console.error(warning);
const inputLogs = JSON.parse(readFileSync(logsFile, 'utf8'));

function replay(lines) {
  const sent = [];
  const send = (type, data) => sent.push(type, Array.isArray(data) ? data.join('\n') : data);
  let battle = null;
  for (const line of lines) {
    const [command, ...rest] = line.slice(1).split(' ');
    const text = rest.join(' ');
    if (command === 'start') {
      battle = new Battle({ ...JSON.parse(text), send });
    } else if (command === 'player') {
      battle.setPlayer(text.slice(0, 2), JSON.parse(text.slice(3)));
    } else if (command === 'p1' || command === 'p2') {
      battle.choose(command, text);
    } else if (!command.startsWith('version')) {
      throw new Error(`unexpected input ${line}`);
    }
    battle?.sendUpdates();
  }
  if (!battle.ended) throw new Error('a recorded battle did not end');
  battle.destroy();
  return sent;
}

function digest(sent) {
  return createHash('sha256').update(sent.join('\n').replace(/^\|t:\|.*$/gm, '')).digest('hex').slice(0, 16);
}

createInterface({ input: process.stdin }).on('line', () => {
  const before = process.cpuUsage();
  const battles = inputLogs.map(replay);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${JSON.stringify({ cpuSeconds: (user + system) / 1e6, digests: battles.map(digest) })}\n`);
});
