from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from poke_env.data import GenData

from elitefurretai.engine.errors import TeamError
from elitefurretai.engine.formats import PROVEN_FORMATS, doubles_formats, resolve_format
from elitefurretai.engine.workshop import TeamWorkshop

FORMAT = "gen9vgc2023regc"
# Status moves that go with a Choice item: they hand it over, or are the last thing their user does.
CHOICE_STATUS_MOVES = {"trick", "switcheroo", "partingshot", "healingwish", "memento", "lunardance"}


@pytest.fixture(scope="module")
def workshop() -> Iterator[TeamWorkshop]:
    with TeamWorkshop() as workshop:
        yield workshop


def sets(packed: str) -> list[dict[str, str]]:
    """A packed team as its sets; read here without Showdown's help."""
    columns = (
        "name",
        "species",
        "item",
        "ability",
        "moves",
        "nature",
        "evs",
        "gender",
        "ivs",
        "shiny",
        "level",
    )
    return [dict(zip(columns, entry.split("|"), strict=False)) for entry in packed.split("]")]


def species(entry: dict[str, str]) -> str:
    return "".join(filter(str.isalnum, (entry["species"] or entry["name"]).lower()))


@pytest.mark.parametrize("format_id", [name for name in PROVEN_FORMATS if not resolve_format(name).random_teams])
def test_every_generated_team_passes_the_validator(workshop: TeamWorkshop, format_id: str) -> None:
    teams = workshop.generate(format_id, range(25))
    problems = [team.problems for team in workshop.check(format_id, teams) if team.problems]
    assert problems == []
    assert len(set(teams)) == 25
    assert {len(sets(team)) for team in teams} == {6}


def test_a_format_that_deals_teams_gets_showdowns_own(workshop: TeamWorkshop) -> None:
    teams = workshop.generate("gen9randomdoublesbattle", range(25))
    assert len(set(teams)) == 25
    assert {len(sets(team)) for team in teams} == {6}
    # The format itself takes no team from a player; a custom game checks that these are whole.
    assert [team.problems for team in workshop.check("gen9doublescustomgame", teams) if team.problems] == []
    # Only random battles even out strength by level.
    assert len({entry["level"] for team in teams for entry in sets(team)}) > 5


@pytest.mark.parametrize("format_id", [FORMAT, "gen9championsvgc2026regmb", "gen9randomdoublesbattle"])
def test_a_seed_gives_the_same_team_in_another_process_and_order(workshop: TeamWorkshop, format_id: str) -> None:
    script = (
        "import sys; from elitefurretai.engine.workshop import TeamWorkshop\n"
        "with TeamWorkshop() as workshop:\n"
        "    for seed in (9, 5, 7, 3): print(workshop.generate(sys.argv[1], [seed])[0])"
    )
    other = subprocess.run([sys.executable, "-c", script, format_id], check=True, capture_output=True, encoding="utf-8")
    assert other.stdout.splitlines()[::-1] == workshop.generate(format_id, [3, 7, 5, 9])


def test_teams_are_varied(workshop: TeamWorkshop) -> None:
    counts = Counter(species(entry) for team in workshop.generate(FORMAT, range(200)) for entry in sets(team))
    assert len(counts) > 100
    assert counts.most_common(1)[0][1] < 200 / 3


def test_sets_make_sense_to_a_player(workshop: TeamWorkshop) -> None:
    moves = GenData.from_gen(9).moves
    for team in workshop.generate(FORMAT, range(200)):
        for entry in sets(team):
            names = ["".join(filter(str.isalnum, move.lower())) for move in entry["moves"].split(",")]
            status = {name for name in names if moves[name]["category"] == "Status"}
            item = entry["item"].lower().replace(" ", "")
            assert len(names) == len(set(names)) == 4 or species(entry) == "ditto", entry
            if item.startswith("choice"):
                assert status <= CHOICE_STATUS_MOVES, entry
            if item == "assaultvest":
                assert not status, entry
            assert entry["level"] == "50", entry
            assert sum(int(ev) for ev in entry["evs"].split(",") if ev) == 508, entry
            assert entry["nature"] not in ("", "Serious", "Hardy"), entry
            assert len(status) < 4, entry


@pytest.mark.parametrize(("format_id", "limit"), [("gen9vgc2024regg", 1), ("gen9vgc2025regi", 2), ("gen8vgc2022", 2)])
def test_teams_bring_as_many_restricted_pokemon_as_the_format_allows(
    workshop: TeamWorkshop, format_id: str, limit: int
) -> None:
    pokedex = GenData.from_gen(9).pokedex

    def is_restricted(name: str) -> bool:
        # poke-env has the tag at the base form only.
        base = pokedex[name].get("baseSpecies", name).lower().replace("-", "")
        return "Restricted Legendary" in pokedex[base].get("tags", ())

    for team in workshop.generate(format_id, range(40)):
        assert sum(is_restricted(species(entry)) for entry in sets(team)) == limit, team


def test_most_champions_teams_can_mega_evolve(workshop: TeamWorkshop) -> None:
    teams = workshop.generate("gen9championsvgc2026regma", range(60))
    stones = [sum(entry["item"].rstrip("XYZ ").endswith("ite") for entry in sets(team)) for team in teams]
    assert max(stones) <= 2
    assert sum(count > 0 for count in stones) > 30


def test_a_team_takes_less_than_a_twentieth_of_a_second(workshop: TeamWorkshop) -> None:
    workshop.generate(FORMAT, [0])
    start = time.perf_counter()
    workshop.generate(FORMAT, range(100))
    assert 100 / (time.perf_counter() - start) > 20


def test_a_format_without_set_data_says_what_to_do(workshop: TeamWorkshop) -> None:
    with pytest.raises(TeamError, match="no set data for teams of .*Metronome Battle; give a folder of teams"):
        workshop.generate("gen9metronomebattle", [1])


@pytest.mark.slow
def test_every_other_doubles_format_gets_legal_teams_too(workshop: TeamWorkshop) -> None:
    for spec in doubles_formats():
        if spec.id == "gen9metronomebattle":
            continue
        teams = workshop.generate(spec.id, range(5))
        if not spec.random_teams:
            assert [team.problems for team in workshop.check(spec.id, teams) if team.problems] == [], spec.id
