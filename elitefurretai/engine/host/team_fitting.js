'use strict';
/**
 * Turns a random-battles set into one a player would bring to a format.
 *
 * Random battles give every Pokémon 85 EVs in each stat, no nature, a level that evens out strength, and any item.
 * Here it gets the format's level, an EV spread and a nature by what it does, and an item that is legal, that no team
 * mate holds and that its moves do not contradict.
 */

const { STATS, allStats } = require('./team_sources');

const TYPE_BOOST = {
  Bug: 'Silver Powder', Dark: 'Black Glasses', Dragon: 'Dragon Fang', Electric: 'Magnet', Fairy: 'Fairy Feather',
  Fighting: 'Black Belt', Fire: 'Charcoal', Flying: 'Sharp Beak', Ghost: 'Spell Tag', Grass: 'Miracle Seed',
  Ground: 'Soft Sand', Ice: 'Never-Melt Ice', Normal: 'Silk Scarf', Poison: 'Poison Barb', Psychic: 'Twisted Spoon',
  Rock: 'Hard Stone', Steel: 'Metal Coat', Water: 'Mystic Water',
};
const RESIST_BERRY = {
  Bug: 'Tanga Berry', Dark: 'Colbur Berry', Dragon: 'Haban Berry', Electric: 'Wacan Berry', Fairy: 'Roseli Berry',
  Fighting: 'Chople Berry', Fire: 'Occa Berry', Flying: 'Coba Berry', Ghost: 'Kasib Berry', Grass: 'Rindo Berry',
  Ground: 'Shuca Berry', Ice: 'Yache Berry', Poison: 'Kebia Berry', Psychic: 'Payapa Berry', Rock: 'Charti Berry',
  Steel: 'Babiri Berry', Water: 'Passho Berry',
};
const ATTACKER_ITEMS = [
  'Life Orb', 'Focus Sash', 'Expert Belt', 'Clear Amulet', 'Covert Cloak', 'Lum Berry', 'Safety Goggles',
];
const BULKY_ITEMS = [
  'Sitrus Berry', 'Leftovers', 'Rocky Helmet', 'Safety Goggles', 'Covert Cloak', 'Mental Herb', 'Lum Berry',
];

/** A Choice item may sit beside these status moves: they hand it over, or are the last thing their user does. */
const CHOICE_STATUS_MOVES = new Set(['trick', 'switcheroo', 'partingshot', 'healingwish', 'memento', 'lunardance']);
const CHOICE_ITEMS = new Set(['choiceband', 'choicespecs', 'choicescarf']);
/** Sets that make no sense without the item they were written for. */
const ITEM_ABILITIES = new Set(['guts', 'poisonheal', 'quickfeet', 'toxicboost', 'flareboost', 'unburden', 'cheekpouch']);
/** Attacks that are there for what else they do: they do not decide which attack stat to train. */
const UTILITY_ATTACKS = new Set([
  'icywind', 'electroweb', 'snarl', 'strugglebug', 'lowsweep', 'bulldoze', 'rocktomb', 'mudshot', 'breakingswipe', 'nuzzle',
  'knockoff', 'fakeout', 'feint', 'uturn', 'voltswitch', 'flipturn', 'clearsmog', 'pollenpuff', 'rapidspin',
]);
/** No doubles team fears the entry hazards this item is for. */
const HAZARD_ITEM = 'heavydutyboots';

/** What a set does, read from its moves. */
function profileOf(dex, set, species) {
  const moves = set.moves.map(move => dex.moves.get(move));
  const attacks = moves.filter(move => move.category !== 'Status');
  // Not those whose damage has nothing to do with the user's own attack stats.
  const isFixed = move => move.damage || move.damageCallback || ['bodypress', 'foulplay'].includes(move.id);
  const scaling = attacks.filter(move => !isFixed(move));
  const physical = scaling.filter(move => move.category === 'Physical').length;
  const special = scaling.length - physical;
  const trained = scaling.filter(move => !UTILITY_ATTACKS.has(move.id));
  const trainedPhysical = trained.filter(move => move.category === 'Physical').length;
  const lead = 2 * trainedPhysical - trained.length || physical - special;
  const { baseStats } = species;
  const has = id => moves.some(move => move.id === id);
  const main = (lead || baseStats.atk - baseStats.spa) >= 0 ? 'atk' : 'spa';
  const isMixed = trainedPhysical > 0 && trainedPhysical < trained.length;
  const isSlow = has('trickroom') || has('gyroball') || baseStats.spe <= 45;
  const isSupport = (attacks.length <= 1 && !/Setup Sweeper/.test(set.role)) ||
    (attacks.length === 2 && /Support|Staller|Bulky Protect/.test(set.role)) ||
    (has('bodypress') && trained.length <= 1);
  return {
    attacks, physical, main, isMixed, isSupport,
    isBulky: isSupport || isSlow || /Bulky|Support|AV Pivot|Staller/.test(set.role),
    isStatusFree: attacks.length === moves.length,
    isBodyPress: has('bodypress'),
    wantsZeroSpeed: has('trickroom') || has('gyroball'),
  };
}

/** The two stats to train fully, the one that gets the rest, and the stats a nature raises and lowers. */
function trainingPlan(profile, species, item, prng) {
  const otherAttack = profile.main === 'atk' ? 'spa' : 'atk';
  if (profile.isSupport) {
    if (species.baseStats.spe >= 100 && prng.randomChance(1, 2)) {
      return { full: ['hp', 'spe'], rest: 'def', raised: 'spe', lowered: otherAttack };
    }
    const [wall, rest] = profile.isBodyPress || prng.randomChance(1, 2) ? ['def', 'spd'] : ['spd', 'def'];
    return { full: ['hp', wall], rest, raised: wall, lowered: otherAttack };
  }
  if (profile.isBulky) {
    return { full: ['hp', profile.main], rest: 'spd', raised: profile.main, lowered: profile.isMixed ? 'spe' : otherAttack };
  }
  const lowered = profile.isMixed ? 'spd' : otherAttack;
  const isRace = species.baseStats.spe >= 80 && item !== 'choicescarf';
  const raised = isRace && prng.randomChance(2, 3) ? 'spe' : profile.main;
  return { full: [profile.main, 'spe'], rest: 'hp', raised, lowered };
}

function evsOf(plan, dex, evLimit) {
  if (evLimit === 0) return allStats(0);
  const isChampions = dex.currentMod.startsWith('champions');
  if (evLimit === null) return allStats(isChampions ? 32 : 252);
  const [full, rest] = isChampions ? [32, 2] : [252, 4];
  return Object.fromEntries(STATS.map(stat => [stat, plan.full.includes(stat) ? full : stat === plan.rest ? rest : 0]));
}

function ivsOf(profile, set, dex) {
  const ivs = allStats(31);
  // The validator gives a Hidden Power its values; Champions has no others than 31.
  if (dex.currentMod.startsWith('champions') || set.moves.some(move => move.startsWith('hiddenpower'))) return ivs;
  const copiesMoves = set.moves.some(move => ['transform', 'copycat', 'metronome'].includes(move));
  if (!profile.physical && !copiesMoves) ivs.atk = 0;
  if (profile.wantsZeroSpeed) ivs.spe = 0;
  return ivs;
}

/** Whether the moves of a set let it use an item. */
function suits(dex, item, set, profile) {
  if (CHOICE_ITEMS.has(item.id)) {
    const others = set.moves.filter(move => dex.moves.get(move).category === 'Status' && !CHOICE_STATUS_MOVES.has(move));
    return !others.length && !set.moves.includes('fakeout');
  }
  if (item.id === 'assaultvest') return profile.isStatusFree;
  if (item.id === 'lifeorb' || item.id === 'expertbelt') return profile.attacks.length >= 2;
  return item.id !== HAZARD_ITEM;
}

function weaknessesOf(dex, species) {
  return dex.types.names().filter(type => dex.getImmunity(type, species) && dex.getEffectiveness(type, species) > 0);
}

/** Items in the order in which a set would like them, its own first. */
function itemWishes(dex, set, species, profile, prng) {
  const wishes = profile.isBulky ? [...BULKY_ITEMS] : [...ATTACKER_ITEMS];
  const stab = profile.attacks.find(move => species.types.includes(move.type));
  if (stab && !profile.isSupport) wishes.push(TYPE_BOOST[stab.type]);
  if (profile.isStatusFree) wishes.push('Assault Vest', 'Choice Scarf');
  prng.shuffle(wishes);
  const berries = weaknessesOf(dex, species)
    .sort((a, b) => dex.getEffectiveness(b, species) - dex.getEffectiveness(a, species))
    .map(type => RESIST_BERRY[type]);
  return [set.item, ...wishes, ...berries, TYPE_BOOST[stab?.type], ''].filter(name => name !== undefined);
}

/** An item for the set: legal, free and of use to it; null when only its own would do and that is not to be had. */
function chooseItem(validator, set, species, profile, taken, prng) {
  const { dex } = validator;
  const isFree = item => !taken.has(item.id) && !validator.checkItem(set, item, {}) && item.gen <= dex.gen;
  const own = dex.items.get(set.item);
  const isBound = !!species.requiredItems?.length || own.megaStone || own.zMove || own.id === 'powerherb' ||
    ITEM_ABILITIES.has(dex.abilities.get(set.ability).id) ||
    set.moves.some(move => move === 'trick' || move === 'switcheroo');
  if (isBound) return isFree(own) && suits(dex, own, set, profile) ? own.name : null;
  const name = itemWishes(dex, set, species, profile, prng)
    .find(wish => wish === '' || (isFree(dex.items.get(wish)) && suits(dex, dex.items.get(wish), set, profile)));
  return name ?? '';
}

/** The finished set, or null when it cannot have the item it needs. `taken` holds the ids of items in use. */
function fitSet(validator, set, species, taken, prng) {
  const { dex, ruleTable } = validator;
  const profile = profileOf(dex, set, species);
  const item = chooseItem(validator, set, species, profile, taken, prng);
  if (item === null) return null;
  const plan = trainingPlan(profile, species, dex.items.get(item).id, prng);
  const hasTera = dex.gen === 9 && !dex.currentMod.startsWith('champions');
  return {
    name: set.name,
    species: set.species,
    gender: set.gender,
    item,
    ability: set.ability,
    moves: set.moves,
    nature: dex.natures.all().find(({ plus, minus }) => plus === plan.raised && minus === plan.lowered)?.name ?? 'Hardy',
    level: ruleTable.adjustLevel ?? ruleTable.adjustLevelDown ?? ruleTable.defaultLevel,
    evs: evsOf(plan, dex, ruleTable.evLimit),
    ivs: ivsOf(profile, set, dex),
    ...(set.gigantamax ? { gigantamax: true } : {}),
    ...(hasTera && set.teraType ? { teraType: set.teraType } : {}),
  };
}

module.exports = { fitSet, weaknessesOf };
