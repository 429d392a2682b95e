'use strict';
/**
 * Loads Showdown's simulator from an installed package, lean and fast as asked.
 *
 * `lean` leaves out what no battle reads: learnsets (the validator's), Pokémon GO data and the description texts.
 * A host then needs 150 MB instead of 250. A lean simulator must not validate or generate teams.
 */

const path = require('node:path');

/** Only these are replaced by nothing; every other data file loads as usual. */
const UNUSED_IN_BATTLES = new Set(['Learnsets', 'PokemonGoData']);

function makeLean(ModdedDex) {
  const loadDataFile = ModdedDex.prototype.loadDataFile;
  ModdedDex.prototype.loadDataFile = function (basePath, dataType) {
    if (UNUSED_IN_BATTLES.has(dataType)) return {};
    return loadDataFile.call(this, basePath, dataType);
  };
  ModdedDex.prototype.getDescs = () => ({ desc: '', shortDesc: '' });
}

function load(packageRoot, { lean, fast }) {
  const part = name => require(path.join(packageRoot, 'dist', 'sim', name));
  const { Dex } = part('dex');
  const classes = {
    ModdedDex: Dex.constructor,
    Battle: part('battle').Battle,
    Pokemon: part('pokemon').Pokemon,
    Side: part('side').Side,
    Field: part('field').Field,
    DexAbilities: Dex.abilities.constructor,
    DexItems: Dex.items.constructor,
    DexMoves: Dex.moves.constructor,
    DexSpecies: Dex.species.constructor,
    DexConditions: Dex.conditions.constructor,
    SodiumRNG: part('prng').SodiumRNG,
  };
  if (lean) makeLean(classes.ModdedDex);
  Dex.includeData(); // the base data, now: a damaged install shows at the start and not in the first battle
  const warnings = fast ? require('./fast').install(classes) : [];
  return { Battle: classes.Battle, Dex, classes, part, warnings };
}

module.exports = { load };
