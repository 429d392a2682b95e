'use strict';
/**
 * Event dispatch that asks the callback index first.
 *
 * Replaces `Battle#runEvent` and `Battle#findEventHandlers`. Most events have no handler at all; for those the
 * answer is known after a few bit tests. Where a handler may exist, Showdown's own functions run, so the order,
 * the priorities and the random numbers of speed ties are Showdown's.
 *
 * A holder's united bit set is kept until something may have been added to it:
 * - ability, item, status and species are compared with those of the set;
 * - volatiles, slot, side and field conditions are only ever added with a state from `Battle#initEffectState`
 *   (true of every assignment in Showdown 0.11.11, checked by a test), so that function is wrapped to count up
 *   `battle.fastArrivals`, and a set made at an older count is made anew. Court Change moves side conditions from
 *   side to side without a new state, so both sides share one set with the field.
 */

const { WORDS, bitsOf, eventOf, has, indexDex, unite } = require('./callback_index');

class PokemonBits {
  constructor() {
    this.arrivals = -1;
    this.ability = this.item = this.status = '';
    this.species = null;
    this.volatiles = null;
    this.words = new Int32Array(WORDS);
  }

  refresh(pokemon, battle) {
    this.arrivals = battle.fastArrivals;
    this.ability = pokemon.ability;
    this.item = pokemon.item;
    this.status = pokemon.status;
    this.species = pokemon.baseSpecies;
    this.volatiles = pokemon.volatiles;
    const words = this.words;
    words.fill(0);
    unite(words, bitsOf(pokemon.getAbility()));
    unite(words, bitsOf(pokemon.getItem()));
    unite(words, bitsOf(pokemon.getStatus()));
    unite(words, bitsOf(pokemon.baseSpecies));
    for (const id in pokemon.volatiles) unite(words, bitsOf(battle.dex.conditions.getByID(id)));
    for (const conditions of pokemon.side.slotConditions) {
      for (const id in conditions) unite(words, bitsOf(battle.dex.conditions.getByID(id)));
    }
  }
}

function pokemonWords(pokemon, battle) {
  const bits = pokemon.fastBits ?? (pokemon.fastBits = new PokemonBits());
  if (
    bits.arrivals !== battle.fastArrivals || bits.ability !== pokemon.ability || bits.item !== pokemon.item ||
    bits.status !== pokemon.status || bits.species !== pokemon.baseSpecies || bits.volatiles !== pokemon.volatiles
  ) {
    bits.refresh(pokemon, battle);
  }
  return bits.words;
}

class SurroundingBits {
  constructor() {
    this.arrivals = -1;
    this.weather = this.terrain = '';
    this.words = new Int32Array(WORDS);
  }

  refresh(battle) {
    const { field, dex } = battle;
    this.arrivals = battle.fastArrivals;
    this.weather = field.weather;
    this.terrain = field.terrain;
    const words = this.words;
    words.fill(0);
    unite(words, bitsOf(battle.format));
    unite(words, bitsOf(field.getWeather()));
    unite(words, bitsOf(field.getTerrain()));
    for (const id in field.pseudoWeather) unite(words, bitsOf(dex.conditions.getByID(id)));
    for (const side of battle.sides) {
      if (!side) continue;
      for (const id in side.sideConditions) unite(words, bitsOf(dex.conditions.getByID(id)));
    }
  }
}

function surroundingWords(battle) {
  const bits = battle.fastSurroundings ?? (battle.fastSurroundings = new SurroundingBits());
  if (
    bits.arrivals !== battle.fastArrivals || bits.weather !== battle.field.weather ||
    bits.terrain !== battle.field.terrain
  ) {
    bits.refresh(battle);
  }
  return bits.words;
}

/** What the bit sets rely on, by the class that has it. A format or mod that overrides one runs on stock dispatch. */
const RELIED_ON = {
  battle: [
    'runEvent', 'findEventHandlers', 'findPokemonEventHandlers', 'findSideEventHandlers', 'findFieldEventHandlers',
    'findBattleEventHandlers', 'getCallback', 'initEffectState', 'modify',
  ],
  pokemon: ['getAbility', 'getItem', 'getStatus', 'alliesAndSelf', 'foes'],
  side: ['allies', 'foes', 'activeTeam'],
  field: ['getWeather', 'getTerrain'],
};

function isOrdinary(battle) {
  if (battle.gameType !== 'doubles' && battle.gameType !== 'singles') return false;
  indexDex(battle.dex);
  bitsOf(battle.format);
  const scripts = battle.dex.data.Scripts;
  const overrides = { battle: scripts, pokemon: scripts.pokemon, side: scripts.side, field: scripts.field };
  return Object.entries(RELIED_ON).every(([holder, names]) => names.every(
    name => typeof overrides[holder]?.[name] !== 'function' && battle.format[holder]?.[name] === undefined
  ));
}

function install({ Battle, Pokemon, Side }) {
  const battlePrototype = Battle.prototype;
  const stockRunEvent = battlePrototype.runEvent;
  const stockFindEventHandlers = battlePrototype.findEventHandlers;
  const stockInitEffectState = battlePrototype.initEffectState;

  function anyCallback(battle, target, event, source) {
    if (battle.events !== null) return true;
    if (target instanceof Side) return true;
    if (target instanceof Pokemon) {
      if (target.isActive || source?.isActive) {
        if (has(pokemonWords(target, battle), event.on)) return true;
        if (event.any >= 0 || event.ally >= 0) {
          for (const ally of target.side.active) {
            if (!ally || !ally.hp) continue;
            const words = pokemonWords(ally, battle);
            if (has(words, event.ally) || has(words, event.any)) return true;
          }
        }
        if (event.any >= 0 || event.foe >= 0) {
          for (const foe of target.side.foe.active) {
            if (!foe || !foe.hp) continue;
            const words = pokemonWords(foe, battle);
            if (has(words, event.foe) || has(words, event.any)) return true;
          }
        }
      }
    } else if (target !== battle) {
      return true;
    }
    if (source !== null && event.source >= 0 && has(pokemonWords(source, battle), event.source)) return true;
    const words = surroundingWords(battle);
    return has(words, event.on) || has(words, event.foe) || has(words, event.any);
  }

  battlePrototype.initEffectState = function (obj, effectOrder) {
    this.fastArrivals = (this.fastArrivals | 0) + 1;
    return stockInitEffectState.call(this, obj, effectOrder);
  };

  battlePrototype.runEvent = function (eventid, target, source, sourceEffect, relayVar, onEffect, fastExit) {
    const ordinary = this.fastOrdinary ?? (this.fastOrdinary = isOrdinary(this));
    if (!ordinary || onEffect || this.eventDepth >= 8) {
      return stockRunEvent.call(this, eventid, target, source, sourceEffect, relayVar, onEffect, fastExit);
    }
    const event = eventOf(eventid);
    const holder = target || this;
    const effectSource = source instanceof Pokemon ? source : null;
    let found = false;
    if (Array.isArray(holder)) {
      for (const one of holder) {
        if (anyCallback(this, one, event, effectSource)) {
          found = true;
          break;
        }
      }
    } else {
      found = anyCallback(this, holder, event, effectSource);
    }
    if (found) {
      return stockRunEvent.call(this, eventid, target, source, sourceEffect, relayVar, onEffect, fastExit);
    }
    if (Array.isArray(holder)) return Array.isArray(relayVar) ? relayVar : holder.map(() => true);
    if (relayVar === undefined || relayVar === null) return true;
    if (typeof relayVar === 'number' && relayVar === Math.abs(Math.floor(relayVar))) return this.modify(relayVar, 1);
    return relayVar;
  };

  battlePrototype.findEventHandlers = function (target, eventName, source) {
    if (!this.fastOrdinary || this.events !== null || Array.isArray(target) || target instanceof Side) {
      return stockFindEventHandlers.call(this, target, eventName, source);
    }
    const event = eventOf(eventName);
    const handlers = [];
    const collect = (pokemon, words, number, prefix) => {
      if (!has(words, number)) return;
      for (const handler of this.findPokemonEventHandlers(pokemon, `on${prefix}${eventName}`)) handlers.push(handler);
    };
    let side = null;
    if (target instanceof Pokemon && (target.isActive || source?.isActive)) {
      side = target.side;
      collect(target, pokemonWords(target, this), event.on, '');
      if (event.prefixed) {
        for (const ally of side.active) {
          if (!ally || !ally.hp) continue;
          const words = pokemonWords(ally, this);
          collect(ally, words, event.ally, 'Ally');
          collect(ally, words, event.any, 'Any');
        }
        for (const foe of side.foe.active) {
          if (!foe || !foe.hp) continue;
          const words = pokemonWords(foe, this);
          collect(foe, words, event.foe, 'Foe');
          collect(foe, words, event.any, 'Any');
        }
      }
    }
    if (source && event.prefixed) collect(source, pokemonWords(source, this), event.source, 'Source');
    const words = surroundingWords(this);
    const collectFrom = found => {
      for (const handler of found) handlers.push(handler);
    };
    if (side) {
      for (const each of this.sides) {
        if (each === side) {
          if (has(words, event.on)) collectFrom(this.findSideEventHandlers(each, `on${eventName}`));
        } else if (has(words, event.foe)) {
          collectFrom(this.findSideEventHandlers(each, `onFoe${eventName}`));
        }
        if (has(words, event.any)) collectFrom(this.findSideEventHandlers(each, `onAny${eventName}`));
      }
    }
    if (has(words, event.on)) {
      collectFrom(this.findFieldEventHandlers(this.field, `on${eventName}`));
      collectFrom(this.findBattleEventHandlers(`on${eventName}`));
    }
    return handlers;
  };
}

module.exports = { install };
