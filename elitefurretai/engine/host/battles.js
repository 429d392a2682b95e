'use strict';
/**
 * The battles of one host: commands in, per-side text out.
 *
 * Each side's text is what a Showdown server would send that player's browser, in order: protocol lines of the
 * player's channel, then `|request|...` with the room's running `rqid`, and `|error|...` for a refused choice.
 * Lines that come from a chat room and not from the battle (`|init|`, `|j|`, chat) do not exist here.
 *
 * The shaping decision: an exception inside Showdown ends that battle (status FAILED, with the stack) and no other.
 */

const { OP, STATUS } = require('./frames');

const SIDES = ['p1', 'p2'];

/** Sends each line of a battle's log to the sides that may see it. */
function splitByChannel(lines, p1, p2) {
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    if (line.startsWith('|split|p')) {
      const isFirst = line.charCodeAt(8) === 49 /* 1 */;
      const secret = lines[i + 1];
      const shared = lines[i + 2];
      i += 2;
      const [mine, theirs] = isFirst ? [p1, p2] : [p2, p1];
      if (secret) mine.push(secret);
      if (shared) theirs.push(shared);
    } else if (line) {
      p1.push(line);
      p2.push(line);
    }
  }
}

/** The spectators' view: of each split, what is shared. */
function spectatorLines(lines) {
  const seen = [];
  for (let i = 0; i < lines.length; i++) {
    if (lines[i].startsWith('|split|p')) {
      i += 2;
      if (lines[i]) seen.push(lines[i]);
    } else if (lines[i]) {
      seen.push(lines[i]);
    }
  }
  return seen;
}

class HostedBattle {
  constructor(Battle, spec) {
    this.outbox = [[], []];
    this.lastRequestId = 1; // The first request of a server's room has rqid 2.
    this.result = null;
    this.record = spec.record ? [] : null;
    this.battle = new Battle({
      formatid: spec.format,
      seed: spec.seed,
      send: (type, data) => this.receive(type, data),
    });
    for (const slot of SIDES) {
      if (!spec[slot].team) throw new Error(`${slot} has no team`);
      this.battle.setPlayer(slot, spec[slot]);
    }
    this.battle.sendUpdates();
    if (spec.openTeamSheets) this.showTeamSheets();
  }

  /** After the request for team preview, as on a server, where the players agree to it then. */
  showTeamSheets() {
    // A format with the "Force Open Team Sheets" rule has shown them already.
    if (this.battle.ruleTable.has('forceopenteamsheets')) return;
    this.battle.showOpenTeamSheets();
    this.battle.sendUpdates();
  }

  receive(type, data) {
    if (type === 'update') {
      const lines = Array.isArray(data) ? data : data.split('\n');
      splitByChannel(lines, this.outbox[0], this.outbox[1]);
      if (this.record) this.record.push(...spectatorLines(lines));
    } else if (type === 'sideupdate') {
      const slot = data.charCodeAt(1) === 49 /* 1 */ ? 0 : 1;
      let line = data.slice(3);
      if (line.startsWith('|request|{')) line = `${line.slice(0, -1)},"rqid":${++this.lastRequestId}}`;
      this.outbox[slot].push(line);
    } else if (type === 'end') {
      const { winner, turns, score, inputLog } = JSON.parse(data);
      this.result = { winner, turns, score };
      if (this.record) Object.assign(this.result, { log: this.record, inputLog });
    }
  }

  choose(side, choice) {
    this.battle.choose(SIDES[side], choice);
    this.battle.sendUpdates();
  }

  forfeit(side) {
    if (this.battle.ended) return;
    const line = `|-message|${this.battle.sides[side].name} forfeited.`;
    for (const box of this.outbox) box.push(line);
    if (this.record) this.record.push(line);
    this.battle.lose(SIDES[side]);
    this.battle.inputLog.push(`>forcelose ${SIDES[side]}`);
    this.battle.sendUpdates();
  }

  destroy() {
    this.battle?.destroy();
    this.battle = null;
  }
}

class BattleTable {
  /** `answer(method, parameters)` serves CALL commands: the workshop's, or a refusal. */
  constructor(Battle, answer) {
    this.Battle = Battle;
    this.answer = answer;
    this.battles = new Map();
    this.moved = new Set();
    this.failures = [];
    this.answers = [];
  }

  execute({ op, battle: id, side, text }) {
    if (op === OP.CALL) {
      this.answers.push([id, this.call(text)]);
      return;
    }
    try {
      this.executeOnBattle(op, id, side, text);
      if (this.battles.has(id)) this.moved.add(id);
    } catch (error) {
      this.failures.push([id, error.stack || String(error)]);
      this.drop(id);
    }
  }

  executeOnBattle(op, id, side, text) {
    if (op === OP.START) {
      if (this.battles.has(id)) throw new Error(`battle ${id} is already running`);
      this.battles.set(id, new HostedBattle(this.Battle, JSON.parse(text)));
      return;
    }
    const hosted = this.battles.get(id);
    if (!hosted) throw new Error(`there is no battle ${id}`);
    if (op === OP.CHOOSE) hosted.choose(side, text);
    else if (op === OP.FORFEIT) hosted.forfeit(side);
    else if (op === OP.ABORT) this.drop(id);
    else throw new Error(`unknown command ${op}`);
  }

  call(text) {
    try {
      const { method, parameters } = JSON.parse(text);
      return { result: this.answer(method, parameters) };
    } catch (error) {
      return { error: error.message };
    }
  }

  drop(id) {
    const hosted = this.battles.get(id);
    this.battles.delete(id);
    this.moved.delete(id);
    hosted?.destroy();
  }

  /** Writes what each touched battle has to say since the last time. */
  drain(writer) {
    for (const [id, message] of this.failures) writer.write(STATUS.FAILED, id, '', '', message);
    for (const [id, answer] of this.answers) writer.write(STATUS.ANSWER, id, '', '', JSON.stringify(answer));
    this.failures = [];
    this.answers = [];
    for (const id of this.moved) {
      const { outbox, result } = this.battles.get(id);
      if (!outbox[0].length && !outbox[1].length && !result) continue;
      const [p1, p2] = outbox.map(lines => lines.splice(0).join('\n'));
      if (result) {
        writer.write(STATUS.ENDED, id, p1, p2, JSON.stringify(result));
        this.drop(id);
      } else {
        writer.write(STATUS.RUNNING, id, p1, p2, '');
      }
    }
    this.moved.clear();
  }
}

module.exports = { BattleTable, splitByChannel };
