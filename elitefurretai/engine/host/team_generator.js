'use strict';
/**
 * Legal random teams for any doubles format, one per seed, the same in every process.
 *
 * Formats that hand out random teams get Showdown's own. For the others a team is drawn species by species from
 * Showdown's set data (`team_sources`), each set is fitted to the format (`team_fitting`), and the whole must pass
 * the validator; what fails is drawn again with the same random numbers running on.
 *
 * The shaping decision: nothing that a draw depends on changes while teams are made. What is legal in a format is worked
 * out once, completely, so a team depends on its seed and not on the teams before it.
 */

const { fitSet, weaknessesOf } = require('./team_fitting');
const { legalEntries, setProblems } = require('./team_sources');

const MAX_ATTEMPTS = 50;
const DRAWS_PER_ATTEMPT = 200;
const SETS_PER_SPECIES = 4;
/** Attempts that keep Showdown's rule of at most two Pokémon of a type and three with a weakness. */
const BALANCED_ATTEMPTS = 25;
const MAX_OF_TYPE = 2;
const MAX_WEAK_TO_TYPE = 3;

const WEATHER = [
  ['rain', 'Drizzle', 'raindance'], ['sun', 'Drought', 'sunnyday'], ['sand', 'Sand Stream', 'sandstorm'],
  ['snow', 'Snow Warning', 'snowscape'], ['hail', 'Snow Warning', 'hail'],
];
const ONCE_PER_TEAM = [
  ['statusCure', ['healbell', 'aromatherapy']], ['spikes', ['spikes', 'ceaselessedge']],
  ['toxicSpikes', ['toxicspikes']], ['stealthRock', ['stealthrock', 'stoneaxe']], ['stickyWeb', ['stickyweb']],
  ['defog', ['defog']], ['rapidSpin', ['rapidspin', 'mortalspin']],
  ['screens', ['auroraveil', 'reflect', 'lightscreen']], ['teraBlast', ['terablast']],
];

/** What Showdown's set logic asks about the team so far. */
function noteDetails(details, set, item) {
  for (const [weather, ability, move] of WEATHER) {
    if (set.ability === ability || set.moves.includes(move)) details[weather] = 1;
  }
  for (const [detail, moves] of ONCE_PER_TEAM) {
    if (moves.some(move => set.moves.includes(move))) details[detail] = (details[detail] ?? 0) + 1;
  }
  if (set.role === 'Dynamax User') details.dynamaxUser = 1;
  if (item.zMove) details.zMove = 1;
}

/** What a format demands of a team, and the species it can be made of. */
class Workbench {
  constructor(showdown, format) {
    this.validator = showdown.TeamValidator.get(format);
    const { dex, ruleTable } = this.validator;
    this.size = Math.min(ruleTable.maxTeamSize, 6);
    this.hasItemClause = ruleTable.has('itemclause');
    // A second Mega is of use only where it can stay at home.
    this.maxMegas = ruleTable.pickedTeamSize ? 2 : 1;
    const entries = legalEntries(showdown, format, this.validator);
    const bases = new Set(entries.map(({ species }) => species.num));
    if (bases.size < this.size) {
      throw new Error(`Showdown has no set data for teams of ${format.name}; give a folder of teams instead`);
    }
    // Where a team may have so many restricted Pokémon, players bring that many.
    this.restricted = ruleTable.has('limittworestricted') ? 2 : ruleTable.has('limitonerestricted') ? 1 : 0;
    const isRestricted = ({ species }) => this.restricted > 0 && ruleTable.isRestrictedSpecies(dex.species.get(
      typeof species.battleOnly === 'string' ? species.battleOnly : species.name));
    this.restrictedPool = new Pool(entries.filter(isRestricted));
    this.pool = new Pool(entries.filter(entry => !isRestricted(entry)));
  }

  makeTeam(prng) {
    let problems = [];
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const team = new Draft(this, prng, attempt < BALANCED_ATTEMPTS).complete();
      if (!team) continue;
      problems = this.validator.validateTeam(team);
      if (!problems) return team;
    }
    throw new Error(`no legal team came out of ${MAX_ATTEMPTS} attempts for ${this.validator.format.name}` +
      (problems.length ? `; the validator says: ${problems[0]}` : ''));
  }
}

/** Species to draw from, strong ones more often. Formes of one species share its chance. */
class Pool {
  constructor(entries) {
    const formes = new Map();
    for (const entry of entries) {
      const others = formes.get(entry.species.num);
      if (others) others.push(entry);
      else formes.set(entry.species.num, [entry]);
    }
    this.choices = [...formes.values()];
    let total = 0;
    this.sums = this.choices.map(choice => total += Math.max(...choice.map(({ weight }) => weight)));
  }

  draw(prng) {
    const point = prng.random() * this.sums.at(-1);
    const index = this.sums.findIndex(sum => sum > point);
    return prng.sample(this.choices.at(index));
  }
}

/** One team in the making. */
class Draft {
  constructor(bench, prng, isBalanced) {
    this.bench = bench;
    this.prng = prng;
    this.isBalanced = isBalanced;
    this.team = [];
    this.numbers = new Set();
    this.items = new Set();
    this.details = {};
    this.types = new Map();
    this.weaknesses = new Map();
    this.megas = 0;
  }

  complete() {
    const { bench, prng, team } = this;
    for (let draw = 0; draw < DRAWS_PER_ATTEMPT && team.length < bench.size; draw++) {
      const isRestricted = team.length < bench.restricted && bench.restrictedPool.choices.length > 0;
      this.add((isRestricted ? bench.restrictedPool : bench.pool).draw(prng));
    }
    if (team.length < bench.size) return null;
    prng.shuffle(team);
    return team;
  }

  add(entry) {
    const { species } = entry;
    if (!entry.fits(this.details)) return;
    if (this.numbers.has(species.num) || (species.isMega && this.megas >= this.bench.maxMegas)) return;
    const weakTo = weaknessesOf(this.bench.validator.dex, species);
    if (this.isBalanced && !this.fits(species, weakTo)) return;
    for (let attempt = 0; attempt < SETS_PER_SPECIES; attempt++) {
      const raw = entry.randomSet(this.prng, this.details);
      const set = fitSet(this.bench.validator, raw, species, this.items, this.prng);
      if (!set || setProblems(this.bench.validator, structuredClone(set))) continue;
      this.take(set, raw, species, weakTo);
      return;
    }
  }

  fits(species, weakTo) {
    return species.types.every(type => (this.types.get(type) ?? 0) < MAX_OF_TYPE) &&
      weakTo.every(type => (this.weaknesses.get(type) ?? 0) < MAX_WEAK_TO_TYPE);
  }

  take(set, raw, species, weakTo) {
    const item = this.bench.validator.dex.items.get(set.item);
    this.team.push(set);
    this.numbers.add(species.num);
    if (this.bench.hasItemClause && item.id) this.items.add(item.id);
    if (item.megaStone) this.megas++;
    for (const type of species.types) this.types.set(type, (this.types.get(type) ?? 0) + 1);
    for (const type of weakTo) this.weaknesses.set(type, (this.weaknesses.get(type) ?? 0) + 1);
    noteDetails(this.details, { ...set, role: raw.role }, item);
  }
}

/** Gives `(formatId, seeds) => packed teams`; keep it, for a format's first team costs up to 1 s and later ones 2 ms. */
function create({ Dex, part, Teams, TeamValidator }) {
  const { PRNG } = part('prng');
  const benches = new Map();

  return (formatId, seeds) => {
    const format = Dex.formats.get(formatId);
    if (format.effectType !== 'Format') throw new Error(`Showdown has no format '${formatId}'`);
    if (format.team) return seeds.map(seed => Teams.pack(Teams.getGenerator(format, seed).getTeam()));
    if (!benches.has(format.id)) benches.set(format.id, new Workbench({ Dex, part, TeamValidator }, format));
    return seeds.map(seed => Teams.pack(benches.get(format.id).makeTeam(new PRNG(seed))));
  };
}

module.exports = { create };
