'use strict';
/**
 * Copies of moves made by spreading.
 *
 * Showdown copies a move's 50 properties one by one each time one is used, considered or asked for: 2.6 µs a copy,
 * an eighth of a battle once event dispatch is fast. An object literal that spreads the frozen original is cloned
 * by V8 as a whole (1.2 µs); only the properties that hold objects are then copied in depth.
 */

/** Frozen move -> names of its properties that hold objects. Moves are frozen when the dex makes them. */
const deepKeysByMove = new WeakMap();

function deepKeys(move) {
  let keys = deepKeysByMove.get(move);
  if (keys === undefined) {
    keys = Object.keys(move).filter(key => move[key] !== null && typeof move[key] === 'object');
    deepKeysByMove.set(move, keys);
  }
  return keys;
}

function copy(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(copy);
  const clone = { __proto__: Object.getPrototypeOf(value), ...value };
  for (const key in clone) {
    const inner = clone[key];
    if (inner !== null && typeof inner === 'object') clone[key] = copy(inner);
  }
  return clone;
}

function install({ ModdedDex }) {
  ModdedDex.prototype.getActiveMove = function (move) {
    if (move && typeof move.hit === 'number') return move;
    move = this.moves.get(move);
    const clone = { __proto__: Object.getPrototypeOf(move), ...move };
    // A move that does not exist is made anew, unfrozen, at each request: nothing to remember about it.
    for (const key of Object.isFrozen(move) ? deepKeys(move) : Object.keys(move)) clone[key] = copy(move[key]);
    clone.hit = 0;
    return clone;
  };
}

module.exports = { install };
