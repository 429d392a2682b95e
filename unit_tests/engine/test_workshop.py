from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from elitefurretai.engine.errors import HostDiedError, TeamError
from elitefurretai.engine.formats import PROVEN_FORMATS
from elitefurretai.engine.teams.pool import BUILTIN_FOLDER
from elitefurretai.engine.workshop import TeamWorkshop

FORMAT = "gen9vgc2023regc"
PASTES = [path.read_text("utf-8") for path in sorted((BUILTIN_FOLDER / FORMAT).glob("*.txt"))]


@pytest.fixture(scope="module")
def workshop() -> Iterator[TeamWorkshop]:
    with TeamWorkshop() as workshop:
        yield workshop


def test_a_legal_team_is_packed_without_problems(workshop: TeamWorkshop) -> None:
    (team,) = workshop.check(FORMAT, PASTES[:1])
    assert team.problems == ()
    assert team.packed.count("]") == 5


def test_an_illegal_team_comes_with_the_validators_words(workshop: TeamWorkshop) -> None:
    illegal = PASTES[0].replace("- Protect", "- Spore", 1)
    (team,) = workshop.check(FORMAT, [illegal])
    assert any("can't learn Spore" in problem for problem in team.problems), team.problems


@pytest.mark.parametrize("text", ["", "\n\n", "=== only a title ==="])
def test_a_text_without_a_pokemon_says_so(workshop: TeamWorkshop, text: str) -> None:
    (team,) = workshop.check(FORMAT, [text])
    assert team.problems == ("There is no Pokémon set in this text.",)
    assert team.packed == ""


def test_an_export_reads_back_as_the_same_team(workshop: TeamWorkshop) -> None:
    checked = workshop.check(FORMAT, PASTES)
    exported = [workshop.export(team.packed) for team in checked]
    assert workshop.check(FORMAT, exported) == checked


@pytest.mark.parametrize(
    "hostile",
    [
        '[{"species": {"toString": 1}, "moves": [{}], "evs": []}]',
        "[null]",
        "[" * 2000,
        "|" * 60_000,
        "Ditto" * 10_000,
        "\x00\u202e💥 @ __proto__\nAbility: constructor\nEVs: 1e309 HP / -1 Atk\nLevel: NaN\n- toString",
    ],
    ids=["odd json", "null set", "deep json", "bars", "long name", "prototype names"],
)
def test_a_hostile_text_is_refused_and_its_neighbours_are_not(workshop: TeamWorkshop, hostile: str) -> None:
    before, bad, after = workshop.check(FORMAT, [PASTES[0], hostile, PASTES[1]])
    assert bad.problems
    assert before.problems == after.problems == ()


def test_more_texts_than_one_call_takes_come_back_in_order(workshop: TeamWorkshop) -> None:
    expected = [team.packed for team in workshop.check(FORMAT, PASTES[:7])]
    checked = workshop.check(FORMAT, [PASTES[number % 7] for number in range(230)])
    assert [team.packed for team in checked] == [expected[number % 7] for number in range(230)]


def test_the_formats_are_those_that_the_project_names(workshop: TeamWorkshop) -> None:
    formats = {entry["id"]: entry for entry in workshop.formats()["doubles"]}
    assert set(PROVEN_FORMATS) <= formats.keys()
    assert formats[FORMAT]["bring"] == 4


def test_an_unknown_format_is_an_error_with_its_name(workshop: TeamWorkshop) -> None:
    with pytest.raises(TeamError, match="no format 'gen9nothing'"):
        workshop.generate("gen9nothing", [1])


@pytest.mark.parametrize("seed", [-1, 1 << 128])
def test_a_seed_that_showdown_has_no_place_for_is_refused(workshop: TeamWorkshop, seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        workshop.generate(FORMAT, [seed])


def test_a_killed_host_is_a_typed_error() -> None:
    with TeamWorkshop() as workshop:
        os.kill(workshop.host.pid, signal.SIGKILL)
        with pytest.raises(HostDiedError, match="signal 9"):
            workshop.check(FORMAT, PASTES[:1])
