'use strict';
/**
 * Copies of moves made by spreading.
 *
 * Showdown copies a move's 50 properties one by one each time one is used, considered or asked for: 2.6 µs a copy,
 * an eighth of a battle once event dispatch is fast. An object literal that spreads the frozen original is cloned
 * by V8 as a whole (1.2 µs); only the properties that hold objects are then copied in depth. Two thirds of the copies
 * are made at the end of a turn, to be looked at only: there one frozen copy serves for all.
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

/** Frozen move -> frozen copy for those who only look. */
const lookedAtByMove = new WeakMap();

function deepFreeze(value) {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

function install({ Battle, ModdedDex }) {
  const stockEndTurn = Battle.prototype.endTurn;
  /** Set while `endTurn` asks each of sixteen moves whether it is disabled: it changes none of the copies. */
  let onlyLooking = false;

  Battle.prototype.endTurn = function () {
    onlyLooking = true;
    try {
      return stockEndTurn.call(this);
    } finally {
      onlyLooking = false;
    }
  };

  function activeCopy(move) {
    const clone = { __proto__: Object.getPrototypeOf(move), ...move };
    // A move that does not exist is made anew, unfrozen, at each request: nothing to remember about it.
    for (const key of Object.isFrozen(move) ? deepKeys(move) : Object.keys(move)) clone[key] = copy(move[key]);
    clone.hit = 0;
    return clone;
  }

  ModdedDex.prototype.getActiveMove = function (move) {
    if (move && typeof move.hit === 'number') return move;
    move = this.moves.get(move);
    if (!onlyLooking || !Object.isFrozen(move)) return activeCopy(move);
    let lookedAt = lookedAtByMove.get(move);
    if (lookedAt === undefined) {
      // Frozen, so that a write would end the battle with an error and not spoil the next one.
      lookedAt = deepFreeze(activeCopy(move));
      lookedAtByMove.set(move, lookedAt);
    }
    return lookedAt;
  };
}

module.exports = { install };
