'use strict';
/**
 * Where generated sets come from: the set data and the set logic of Showdown's own random battles, cut down to what
 * a format allows.
 *
 * In: a format. Out: `entries`, the species that can be drawn, each with `randomSet(prng, teamDetails)`.
 *
 * The shaping decision: Gen 9's doubles data comes first in every generation. It is the only set data that Showdown
 * has for doubles, and most of it is as good in another generation once its movepools hold only what that format's
 * validator allows. Species it does not have come from the singles data of the format's own generation.
 */

const SINGLES_FOLDERS = new Set(['champions', 'gen8', 'gen7', 'gen6', 'gen5', 'gen4', 'gen3']);

/** Fine in singles, a lost turn in doubles. */
const SINGLES_MOVES = new Set([
  'stealthrock', 'spikes', 'toxicspikes', 'stickyweb', 'rapidspin', 'defog', 'mortalspin', 'whirlwind', 'roar',
  'dragontail', 'circlethrow', 'healbell', 'aromatherapy', 'rest', 'sleeptalk', 'teleport', 'futuresight', 'pursuit',
  'batonpass', 'wish',
]);

/** A set that lost more of its movepool than this to the validator is no longer the set its authors meant. */
const KEPT_OF_MOVEPOOL = 0.6;

/** How much likelier a strong species is drawn: one that Showdown gives a level 10 % lower, about five times. */
const LEVEL_WEIGHT = 24;

/** Roles that Showdown's set logic gives to one Pokémon of a team, by the team detail that says it is taken. */
const SINGLE_ROLES = [['teraBlast', 'Tera Blast user'], ['zMove', 'Z-Move user'], ['dynamaxUser', 'Dynamax User']];

const STATS = ['hp', 'atk', 'def', 'spa', 'spd', 'spe'];

function allStats(value) {
  return Object.fromEntries(STATS.map(stat => [stat, value]));
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
}

/** The validator's objections to one set, which it may correct in place. */
function setProblems(validator, set) {
  return (validator.format.validateSet || validator.validateSet).call(validator, set, {});
}

/** One set table of Showdown's with the generator that reads it, for one format. */
class Source {
  constructor(generator, raw, isDoubles) {
    this.generator = generator;
    this.raw = raw;
    this.isDoubles = isDoubles;
    // The generator reads its own table: it gets one that holds only what is legal.
    this.table = {};
    generator[isDoubles ? 'randomDoublesSets' : 'randomSets'] = this.table;
    this.medianLevel = median(Object.values(raw).map(({ level }) => level ?? 80));
  }
}

/** A species (or mega forme) of a source, as far as the format allows it. */
class Entry {
  constructor(source, species, validator) {
    const { level, sets } = source.raw[species.id];
    this.source = source;
    this.species = species;
    this.validator = validator;
    this.weight = 2 ** (LEVEL_WEIGHT * (1 - (level ?? source.medianLevel) / source.medianLevel));
    this.sets = sets.map(set => this.legalSet(set)).filter(Boolean);
    source.table[species.id] = { level, sets: this.sets };
  }

  /** Whether the validator accepts the species with this ability and these moves. */
  allows(abilities, moves, teraType) {
    const { species, validator: { dex, ruleTable } } = this;
    const isChampions = dex.currentMod.startsWith('champions');
    return abilities.some(ability => !setProblems(this.validator, {
      name: '',
      species: typeof species.battleOnly === 'string' ? species.battleOnly : species.name,
      ability,
      item: species.requiredItems?.[0] ?? '',
      moves,
      nature: 'Hardy',
      gender: species.gender,
      level: ruleTable.adjustLevel ?? ruleTable.adjustLevelDown ?? ruleTable.defaultLevel,
      evs: ruleTable.evLimit === 0 ? allStats(0) : allStats(isChampions ? 11 : 81),
      ivs: allStats(31),
      teraType: species.requiredTeraType ?? teraType,
    }));
  }

  /** What the validator leaves of a set of Showdown's, or null. */
  legalSet(set) {
    const { dex, ruleTable } = this.validator;
    const { maxMoveCount } = ruleTable;
    const isAllowed = move => this.allows(set.abilities, [move], set.teraTypes?.[0]);
    const legal = set.movepool.filter(isAllowed);
    if (legal.length < KEPT_OF_MOVEPOOL * set.movepool.length) return null;
    // Showdown's logic takes these for granted and throws without them.
    const demanded = [set.role === 'Tera Blast user' && 'terablast', this.species.requiredMove].filter(Boolean);
    const has = name => legal.some(move => dex.moves.get(move).id === dex.moves.get(name).id);
    if (!demanded.every(has) || (demanded.includes('terablast') && ruleTable.has('terastalclause'))) return null;
    let movepool = legal;
    if (!this.source.isDoubles) {
      const useful = legal.filter(move => !SINGLES_MOVES.has(dex.moves.get(move).id));
      if (!has('protect') && isAllowed('protect')) useful.push('protect');
      if (useful.length >= maxMoveCount) movepool = useful;
    }
    const abilities = set.abilities.filter(ability => this.allows([ability], [legal[0]], set.teraTypes?.[0]));
    const isWhole = movepool.length >= Math.min(maxMoveCount, set.movepool.length);
    return isWhole && abilities.length ? { ...set, movepool, abilities } : null;
  }

  /** Whether one of its sets can still join a team. */
  fits(teamDetails) {
    return this.sets.some(({ role }) => !SINGLE_ROLES.some(([detail, single]) => teamDetails[detail] && role === single));
  }

  /** A set by Showdown's own logic: role, moves that go together, ability, item. */
  randomSet(prng, teamDetails) {
    const { generator, isDoubles } = this.source;
    generator.prng = prng;
    return generator.randomSet(this.species, teamDetails, false, isDoubles);
  }
}

/** The random-battles folder whose singles sets are the closest to a dex. */
function singlesFolder(Dex, dex) {
  let mod = dex.currentMod;
  while (mod && !SINGLES_FOLDERS.has(mod)) mod = Dex.mod(mod).parentMod;
  return mod && mod !== 'base' ? mod : SINGLES_FOLDERS.has(`gen${dex.gen}`) ? `gen${dex.gen}` : null;
}

function openSources({ Dex, part }, format, ruleTable) {
  const open = (folder, tableName) => {
    const Generator = part(`../data/random-battles/${folder}/teams`).default;
    const generator = new Generator(format, null);
    return new Source(generator, generator[tableName], tableName === 'randomDoublesSets');
  };
  if (ruleTable.has('littlecup')) return [open('gen9baby', 'randomSets')];
  const folder = singlesFolder(Dex, Dex.forFormat(format));
  const sources = [open('gen9', 'randomDoublesSets')];
  if (folder) sources.push(open(folder, 'randomSets'));
  return sources;
}

/** Every species that a format allows and Showdown has sets for. */
function legalEntries(showdown, format, validator) {
  const entries = new Map();
  for (const source of openSources(showdown, format, validator.ruleTable)) {
    for (const id of Object.keys(source.raw)) {
      if (entries.has(id)) continue;
      const species = validator.dex.species.get(id);
      if (!species.exists || !source.raw[id].sets) continue;
      const entry = new Entry(source, species, validator);
      if (entry.sets.length) entries.set(id, entry);
    }
  }
  return [...entries.values()];
}

module.exports = { STATS, allStats, legalEntries, setProblems };
