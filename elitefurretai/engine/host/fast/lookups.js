'use strict';
/**
 * Dex look-ups by name remembered.
 *
 * `dex.moves.get('Fake Out')` and its like turn the name into an id with a regular expression at each call, then look
 * the id up. What exists is frozen and always the same object, so the name itself can be the key: a twentieth of a
 * battle saved. What does not exist is made anew at each request, and left to Showdown.
 */

const TABLES = ['DexAbilities', 'DexItems', 'DexMoves', 'DexSpecies', 'DexConditions'];

function remember(prototype) {
  const stockGet = prototype.get;
  const foundByTable = new WeakMap();
  prototype.get = function (name) {
    if (typeof name !== 'string') return stockGet.call(this, name);
    let found = foundByTable.get(this);
    if (found === undefined) foundByTable.set(this, found = new Map());
    let entry = found.get(name);
    if (entry === undefined) {
      entry = stockGet.call(this, name);
      if (entry.exists && Object.isFrozen(entry)) found.set(name, entry);
    }
    return entry;
  };
}

function install(classes) {
  for (const table of TABLES) remember(classes[table].prototype);
}

module.exports = { install };
