'use strict';
/**
 * Questions about formats and teams, answered by Showdown's own code: a format's rules, the team validator, the
 * team import and export. Runs in a host of its own (the validator needs the learnsets that battle hosts leave out).
 */

/** Gimmick -> where a request can offer it: its generation (or mod) has it and no clause forbids it. */
const GIMMICKS = {
  terastallize: (dex, rules) => dex.gen === 9 && !isChampions(dex) && !rules.has('terastalclause'),
  mega: dex => isChampions(dex) || dex.gen === 6 || dex.gen === 7,
  dynamax: (dex, rules) => dex.gen === 8 && dex.currentMod !== 'gen8bdsp' && !rules.has('dynamaxclause'),
  zmove: dex => dex.gen === 7 && dex.currentMod !== 'gen7letsgo',
};

function isChampions(dex) {
  return dex.currentMod.startsWith('champions');
}

function describe(Dex, format) {
  const dex = Dex.forFormat(format);
  const rules = dex.formats.getRuleTable(format);
  return {
    id: format.id,
    name: format.name,
    gen: dex.gen,
    mod: format.mod,
    randomTeams: !!format.team,
    bring: rules.pickedTeamSize || null,
    teamPreview: rules.has('teampreview'),
    minTeamSize: rules.minTeamSize,
    maxTeamSize: rules.maxTeamSize,
    openTeamSheets: rules.has('forceopenteamsheets') ? 'forced' : rules.has('openteamsheets') ? 'optional' : 'none',
    bestOf: rules.valueRules.has('bestof') ? Number(rules.valueRules.get('bestof')) : 1,
    gimmicks: Object.keys(GIMMICKS).filter(name => GIMMICKS[name](dex, rules)),
  };
}

function create({ Dex, part }) {
  const { Teams } = part('teams');
  const { TeamValidator } = part('team-validator');
  const generateTeams = require('./team_generator').create({ Dex, part, Teams, TeamValidator });

  const methods = {
    /** Every two-player doubles format that Showdown has, described; of the others, the ids. */
    formats() {
      const formats = Dex.formats.all().filter(format => format.effectType === 'Format');
      const isDoubles = format => format.gameType === 'doubles' && format.playerCount === 2;
      return {
        doubles: formats.filter(isDoubles).map(format => describe(Dex, format)),
        others: formats.filter(format => !isDoubles(format)).map(format => format.id),
      };
    },

    /** For each text (export form or packed): the packed team, and the validator's problems or null. */
    check({ format, texts }) {
      const validator = TeamValidator.get(format);
      return texts.map(text => {
        const team = Teams.import(text);
        if (!team?.length) return { packed: null, problems: ['There is no Pokémon set in this text.'] };
        // The validator may correct a set in place (a forme's item, a missing gender): pack what it leaves.
        const problems = validator.validateTeam(team);
        return { packed: Teams.pack(team), problems };
      });
    },

    /** A packed team as people write it. */
    export({ packed }) {
      return Teams.export(Teams.unpack(packed));
    },

    /** One packed, validated random team for each seed. */
    generate({ format, seeds }) {
      return generateTeams(format, seeds);
    },
  };

  return (method, parameters) => {
    if (!Object.hasOwn(methods, method)) throw new Error(`the workshop has no '${method}'`);
    return methods[method](parameters ?? {});
  };
}

module.exports = { create };
