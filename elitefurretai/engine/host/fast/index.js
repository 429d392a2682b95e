'use strict';
/**
 * The fast path: replaces a few Showdown functions in memory, none on disk.
 *
 * Each part is written against particular source text. `fingerprints.json` holds a digest of every function that a
 * part replaces or takes for granted; if one differs, that part is left out and a warning says which, so that an
 * unknown Showdown runs correctly and slowly rather than quickly and wrongly.
 */

const { createHash } = require('node:crypto');
const expected = require('./fingerprints.json');

/** Part -> the functions it replaces or relies on, as [class, method]. */
const PARTS = {
  events: [
    ['Battle', 'runEvent'], ['Battle', 'findEventHandlers'], ['Battle', 'findPokemonEventHandlers'],
    ['Battle', 'findSideEventHandlers'], ['Battle', 'findFieldEventHandlers'], ['Battle', 'findBattleEventHandlers'],
    ['Battle', 'getCallback'], ['Battle', 'initEffectState'], ['Battle', 'modify'], ['Battle', 'onEvent'],
    ['Pokemon', 'getAbility'], ['Pokemon', 'getItem'], ['Pokemon', 'getStatus'], ['Pokemon', 'alliesAndSelf'],
    ['Pokemon', 'foes'], ['Pokemon', 'addVolatile'], ['Pokemon', 'copyVolatileFrom'], ['Side', 'allies'],
    ['Side', 'foes'], ['Side', 'activeTeam'], ['Side', 'addSideCondition'], ['Side', 'addSlotCondition'],
    ['Field', 'getWeather'], ['Field', 'getTerrain'], ['Field', 'addPseudoWeather'],
  ],
  active_move: [['ModdedDex', 'getActiveMove'], ['Battle', 'endTurn']],
  lookups: [
    ['DexAbilities', 'get'], ['DexItems', 'get'], ['DexMoves', 'get'], ['DexSpecies', 'get'], ['DexConditions', 'get'],
  ],
  random: [['SodiumRNG', 'next'], ['SodiumRNG', 'setSeed']],
};

function digest(fn) {
  return createHash('sha256').update(String(fn)).digest('hex').slice(0, 16);
}

/** `Class.method` -> digest of the function as it is now, for all parts. */
function fingerprints(classes) {
  const found = {};
  for (const [className, method] of Object.values(PARTS).flat()) {
    found[`${className}.${method}`] = digest(classes[className].prototype[method]);
  }
  return found;
}

/** Installs each part whose functions are the known ones; returns the warnings. */
function install(classes) {
  const found = fingerprints(classes);
  const warnings = [];
  for (const [part, functions] of Object.entries(PARTS)) {
    const changed = functions.map(names => names.join('.')).filter(name => found[name] !== expected[name]);
    if (changed.length) {
      warnings.push(`fast path '${part}' is off: Showdown's ${changed.join(', ')} differ from those it was written for`);
    } else {
      require(`./${part}`).install(classes);
    }
  }
  return warnings;
}

module.exports = { fingerprints, install };
