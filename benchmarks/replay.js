'use strict';
/**
 * Replays recorded battles on Showdown, stock or fast, in rounds: 
 * `node replay.js PACKAGE_ROOT HOST_FOLDER BATTLES.json OPTIONS_JSON`.
 * For each line on stdin plays all battles once and prints {cpuSeconds, digests}. A digest is over everything that the
 * battle sent (log with both channels, requests, result) but for the `|t:|` time stamps; it is made outside the time.
 */
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { createInterface } = require('node:readline');

const [packageRoot, hostFolder, battlesFile, optionsText] = process.argv.slice(2);
const { load } = require(path.join(hostFolder, 'simulator.js'));
const { Battle, warnings } = load(packageRoot, JSON.parse(optionsText));
for (const warning of warnings) console.error(warning);
const recorded = JSON.parse(readFileSync(battlesFile, 'utf8'));

function replay({ spec, choices }) {
  const sent = [];
  const send = (type, data) => sent.push(type, Array.isArray(data) ? data.join('\n') : data);
  const battle = new Battle({ formatid: spec.format, seed: spec.seed, send });
  battle.setPlayer('p1', { ...spec.p1 });
  battle.setPlayer('p2', { ...spec.p2 });
  battle.sendUpdates();
  for (const [side, choice] of choices) {
    battle.choose(side === 0 ? 'p1' : 'p2', choice);
    battle.sendUpdates();
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
  const battles = recorded.map(replay);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${JSON.stringify({ cpuSeconds: (user + system) / 1e6, digests: battles.map(digest) })}\n`);
});
