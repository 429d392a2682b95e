'use strict';
/**
 * Which effects define which event callbacks, as bit sets.
 *
 * Showdown asks every effect near an event whether it has a property named `on` + prefix + event: 160,000
 * look-ups by concatenated string in an average doubles battle, of which 350 find something. Here each callback
 * name gets a number the first time an effect that defines it is seen, and each effect a bit set over those
 * numbers. The sets of all effects on one holder (a Pokémon, or the field with both sides) are united, so that
 * one bit test answers for the holder.
 *
 * In: effect objects of any dex. Out: `bitsOf(effect)`, `eventOf(name)`.
 *
 * The shaping decision: a set may claim too much (then Showdown's own look-up runs and finds nothing), never too
 * little. So an effect that leaves needs no action here; only what arrives must be noticed.
 */

const WORDS = 32;
const CAPACITY = WORDS * 32;
const ABSENT = -1;

/** Callback name -> number. Shared by all dexes: a name means the same property in each. */
const numbers = new Map();
/** Grows with `numbers`, so that an `EventNumbers` made before a name was seen is known to be out of date. */
let generation = 0;
const bitsByEffect = new WeakMap();
const eventsByName = new Map();

function numberOf(callbackName) {
  let number = numbers.get(callbackName);
  if (number === undefined) {
    number = numbers.size;
    if (number >= CAPACITY) throw new Error(`more than ${CAPACITY} callback names; raise WORDS in callback_index.js`);
    numbers.set(callbackName, number);
    generation++;
  }
  return number;
}

function setBit(words, number) {
  words[number >> 5] |= 1 << (number & 31);
}

function computeBits(effect) {
  const words = new Int32Array(WORDS);
  for (const key in effect) {
    if (key.charCodeAt(0) !== 111 /* o */ || key.charCodeAt(1) !== 110 /* n */) continue;
    if (effect[key] === undefined) continue;
    setBit(words, numberOf(key));
    // Battle#getCallback lets an ability's or item's onStart stand in for a missing onSwitchIn.
    if (key === 'onStart') setBit(words, numberOf('onSwitchIn'));
  }
  return words;
}

/**
 * Numbers every callback name that an effect of this dex can define. Without it a name might first be seen while an
 * event that needs it is under way, and ABSENT would have been believed too early.
 */
const indexedDexes = new WeakSet();
function indexDex(dex) {
  if (indexedDexes.has(dex)) return;
  indexedDexes.add(dex);
  const { Abilities, Items, Moves, Conditions, Rulesets, Pokedex } = dex.data;
  for (const table of [Abilities, Items, Moves, Conditions, Rulesets, Pokedex]) {
    for (const id in table) {
      computeBits(table[id]);
      if (table[id].condition) computeBits(table[id].condition);
    }
  }
}

function bitsOf(effect) {
  let words = bitsByEffect.get(effect);
  if (words === undefined) {
    words = computeBits(effect);
    bitsByEffect.set(effect, words);
  }
  return words;
}

function unite(into, words) {
  for (let i = 0; i < WORDS; i++) into[i] |= words[i];
}

/** These events run without the Ally/Foe/Any/Source variants (the list in Battle#findEventHandlers). */
const UNPREFIXED = new Set(['BeforeTurn', 'Update', 'Weather', 'WeatherChange', 'TerrainChange']);

/** The numbers of one event's five callback names; ABSENT where no effect seen so far defines it. */
class EventNumbers {
  constructor(name) {
    this.name = name;
    this.prefixed = !UNPREFIXED.has(name);
    this.generation = -1;
    this.on = this.ally = this.any = this.foe = this.source = ABSENT;
  }

  refresh() {
    const look = prefix => numbers.get(`on${prefix}${this.name}`) ?? ABSENT;
    this.on = look('');
    if (this.prefixed) {
      this.ally = look('Ally');
      this.any = look('Any');
      this.foe = look('Foe');
      this.source = look('Source');
    }
    this.generation = generation;
    return this;
  }
}

function eventOf(name) {
  let event = eventsByName.get(name);
  if (event === undefined) {
    event = new EventNumbers(name);
    eventsByName.set(name, event);
  }
  return event.generation === generation ? event : event.refresh();
}

/** Whether `number` is in the set; ABSENT is in none. */
function has(words, number) {
  return number >= 0 && (words[number >> 5] & (1 << (number & 31))) !== 0;
}

module.exports = { WORDS, bitsOf, eventOf, has, indexDex, unite };
