from __future__ import annotations

import logging
import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from elitefurretai.engine.errors import EngineError, FormatError, TeamError
from elitefurretai.engine.formats import PROVEN_FORMATS, resolve_format
from elitefurretai.engine.install import CACHE_VARIABLE, ensure_showdown, install_folder
from elitefurretai.engine.teams import RejectedTeam, Team, TeamPool
from elitefurretai.engine.teams.paste import MAX_FILE_BYTES, MAX_FILES
from elitefurretai.engine.teams.pool import BUILTIN_FOLDER, builtin_formats
from elitefurretai.engine.workshop import TeamWorkshop

FORMAT = "gen9vgc2023regc"
PASTES = [path.read_bytes() for path in sorted((BUILTIN_FOLDER / FORMAT).glob("*.txt"))]
ILLEGAL = PASTES[0].replace(b"- Protect", b"- Spore", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one good team, two levels down."""
    folder = tmp_path / "teams"
    (folder / "rain" / "old").mkdir(parents=True)
    (folder / "rain" / "old" / "good.txt").write_bytes(PASTES[0])
    return folder


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder with the installed Showdown and nothing else."""
    ensure_showdown()
    installed = install_folder()
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / installed.name).symlink_to(installed)
    monkeypatch.setenv(CACHE_VARIABLE, str(cache))
    return cache


def names(teams: Sequence[Team]) -> list[str]:
    return [team.name for team in teams]


@pytest.mark.parametrize("format_id", [name for name in PROVEN_FORMATS if not resolve_format(name).random_teams])
def test_every_built_in_team_is_legal_and_no_two_are_equal(format_id: str) -> None:
    pool = TeamPool.builtin(format_id)
    assert pool.format == format_id
    assert pool.rejected == ()
    assert len(pool) >= (16 if format_id == FORMAT else 4)
    assert len({team.packed for team in pool}) == len(pool)


def test_built_in_teams_of_a_format_differ_in_more_than_a_few_pokemon() -> None:
    for format_id in builtin_formats():
        pool = TeamPool.builtin(format_id)
        lineups = [frozenset(entry.split("|")[1] or entry.split("|")[0] for entry in t.packed.split("]")) for t in pool]
        assert len(set(lineups)) == len(pool), format_id


def test_a_format_without_built_in_teams_says_which_have_some() -> None:
    with pytest.raises(TeamError, match="no built-in teams for gen9doublesubers, only for .*gen9vgc2023regc"):
        TeamPool.builtin("gen9doublesubers")


def test_a_folder_is_searched_recursively_and_ordered_by_name(folder: Path) -> None:
    (folder / "balance.txt").write_bytes(PASTES[1])
    (folder / "SAND.TXT").write_bytes(PASTES[2])
    (folder / "notes.md").write_text("not a team")
    pool = TeamPool.from_folder(FORMAT, folder)
    assert names(pool) == ["SAND", "balance", "rain/old/good"]
    assert pool[1].source == str(folder / "balance.txt")
    assert pool.rejected == ()


def test_an_alias_of_a_format_is_resolved_and_a_wrong_name_gets_the_nearest(folder: Path) -> None:
    assert TeamPool.from_folder("gen9vgc2023regulationc", folder).format == FORMAT
    with pytest.raises(FormatError, match="did you mean .*gen9vgc2023regc"):
        TeamPool.from_folder("gen9vgc2023regz", folder)


@pytest.mark.parametrize(
    "change", [lambda text: text.replace(b"\n", b"\r\n"), lambda text: b"\xef\xbb\xbf\n" + text + b"\n\n"]
)
def test_windows_line_ends_and_byte_order_marks_do_not_matter(folder: Path, change: object) -> None:
    assert callable(change)
    (folder / "changed.txt").write_bytes(change(PASTES[0]))
    changed, plain = TeamPool.from_folder(FORMAT, folder)
    assert changed.packed == plain.packed


def test_a_packed_team_in_a_file_is_read_too(folder: Path) -> None:
    (good,) = TeamPool.from_folder(FORMAT, folder)
    (folder / "packed.txt").write_text(good.packed)
    assert [team.packed for team in TeamPool.from_folder(FORMAT, folder)] == [good.packed] * 2


def test_a_bad_file_is_skipped_with_one_warning_in_the_validators_words(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "bad.txt").write_bytes(ILLEGAL)
    with caplog.at_level(logging.WARNING):
        pool = TeamPool.from_folder(FORMAT, folder)
    assert names(pool) == ["rain/old/good"]
    assert [rejected.path for rejected in pool.rejected] == [folder / "bad.txt"]
    assert "can't learn Spore" in pool.rejected[0].problems[0]
    (record,) = caplog.records
    assert "skipped 1 of 2 team files" in record.message
    assert f"{folder / 'bad.txt'}: " in record.message
    assert "can't learn Spore" in record.message


def test_a_bad_file_is_fatal_when_the_caller_says_so(folder: Path) -> None:
    (folder / "bad.txt").write_bytes(ILLEGAL)
    with pytest.raises(TeamError, match=r"not legal in gen9vgc2023regc: .*bad\.txt: .*can't learn Spore"):
        TeamPool.from_folder(FORMAT, folder, on_bad="fatal")


def test_a_folder_that_is_missing_empty_or_a_file_is_one_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TeamError, match="does not exist; give a folder"):
        TeamPool.from_folder(FORMAT, tmp_path / "nowhere")
    with pytest.raises(TeamError, match="is not a folder; give a folder"):
        TeamPool.from_folder(FORMAT, folder / "rain" / "old" / "good.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TeamError, match=r"no \.txt file in the team folder .*empty; put PokePaste exports"):
        TeamPool.from_folder(FORMAT, tmp_path / "empty")


def test_a_folder_with_only_bad_files_is_one_sentence_with_the_first_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(ILLEGAL)
    (tmp_path / "b.txt").write_bytes(b"")
    with pytest.raises(TeamError, match=r"no file in .* is a legal gen9vgc2023regc team; the first is .*a\.txt"):
        TeamPool.from_folder(FORMAT, tmp_path)


def test_a_format_that_deals_teams_takes_none_from_a_folder(folder: Path) -> None:
    with pytest.raises(TeamError, match="gen9randomdoublesbattle deals the teams itself"):
        TeamPool.from_folder("gen9randomdoublesbattle", folder)


def reasons(pool: TeamPool) -> dict[str, str]:
    return {rejected.path.name: " ".join(rejected.problems) for rejected in pool.rejected}


def test_links_out_of_the_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_bytes(PASTES[1])
    (folder / "escape.txt").symlink_to(outside / "secret.txt")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / "dangling.txt").symlink_to(folder / "nothing.txt")
    (folder / "elsewhere").symlink_to(outside)
    (folder / "within.txt").symlink_to(folder / "rain" / "old" / "good.txt")
    pool = TeamPool.from_folder(FORMAT, folder)
    assert names(pool) == ["rain/old/good", "within"]
    assert "leads out of the team folder" in reasons(pool)["escape.txt"]
    assert reasons(pool).keys() == {"escape.txt", "loop.txt", "dangling.txt"}


def test_a_folder_that_is_itself_a_link_is_fine(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert names(TeamPool.from_folder(FORMAT, tmp_path / "link")) == ["rain/old/good"]


def test_huge_binary_and_special_files_are_refused_and_do_not_block(folder: Path) -> None:
    (folder / "huge.txt").write_bytes(PASTES[1] + b" " * MAX_FILE_BYTES)
    (folder / "latin.txt").write_bytes("Flabébé @ Leftovers".encode("latin-1"))
    (folder / "wide.txt").write_bytes("Pikachu".encode("utf-16"))
    os.mkfifo(folder / "pipe.txt")
    pool = TeamPool.from_folder(FORMAT, folder)
    assert names(pool) == ["rain/old/good"]
    assert reasons(pool) == {
        "huge.txt": "It is larger than 64 KB, so it is not a team.",
        "latin.txt": "It is not UTF-8 text (byte 4).",
        "pipe.txt": "It is not a plain file.",
        "wide.txt": "It is not UTF-8 text (byte 0).",
    }


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(TeamError, match="more than 10000"):
        TeamPool.from_folder(FORMAT, tmp_path)


def test_the_second_start_needs_no_node(fresh_cache: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bad.txt").write_bytes(ILLEGAL)
    first = TeamPool.from_folder(FORMAT, folder)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert TeamPool.from_folder(FORMAT, folder) == first
    (folder / "bad.txt").write_bytes(PASTES[1])
    with pytest.raises(AssertionError, match="a process was started"):
        TeamPool.from_folder(FORMAT, folder)
    with pytest.raises(AssertionError, match="a process was started"):
        TeamPool.from_folder("gen9vgc2023regd", folder)


@pytest.mark.parametrize("damage", [b"", b"{", b"[1, 2]", b'{"key": 3}', b"\xff\xfe"])
def test_a_damaged_memory_of_checks_is_made_anew(fresh_cache: Path, folder: Path, damage: bytes) -> None:
    memory = fresh_cache / f"team-checks-{install_folder().name}.json"
    memory.write_bytes(damage)
    first = TeamPool.from_folder(FORMAT, folder)
    assert memory.read_bytes().startswith(b'{"')
    assert TeamPool.from_folder(FORMAT, folder) == first
    assert sorted(path.name for path in fresh_cache.iterdir()) == sorted([install_folder().name, memory.name])


def test_a_memory_that_cannot_be_written_costs_a_warning_and_no_team(
    fresh_cache: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # A folder in its place: neither readable nor replaceable, also for root.
    (fresh_cache / f"team-checks-{install_folder().name}.json" / "taken").mkdir(parents=True)
    assert names(TeamPool.from_folder(FORMAT, folder)) == ["rain/old/good"]
    assert "team checks cannot be remembered" in caplog.text
    assert not list(fresh_cache.glob("*.json.*"))


def test_generated_pools_are_legal_and_repeatable_and_grow_at_the_end() -> None:
    pool = TeamPool.generated(FORMAT, 12, seed=3)
    assert pool[:5] == TeamPool.generated(FORMAT, 5, seed=3).teams
    assert not {team.packed for team in pool} & {team.packed for team in TeamPool.generated(FORMAT, 12, seed=4)}
    with TeamWorkshop() as workshop:
        assert [t.problems for t in workshop.check(FORMAT, [team.packed for team in pool]) if t.problems] == []


def test_a_format_that_deals_teams_can_be_generated() -> None:
    assert len(TeamPool.generated("gen9randomdoublesbattle", 3, seed=1)) == 3


def pool_of(count: int) -> TeamPool:
    teams = tuple(Team(f"team {number:02d}", f"packed {number}", "test") for number in range(count))
    return TeamPool(FORMAT, teams[::-1], (RejectedTeam(Path("bad.txt"), ("words",)),))


def test_a_pool_is_a_sequence_in_the_order_of_names_that_cannot_change() -> None:
    pool = pool_of(5)
    assert names(pool) == [f"team {number:02d}" for number in range(5)]
    assert pool[0] in pool
    assert pool[-1].name == "team 04"
    assert names(pool[1:3]) == ["team 01", "team 02"]
    with pytest.raises(AttributeError):
        pool.teams = ()  # type: ignore[misc]


def test_samples_repeat_with_the_seed_and_reach_every_team() -> None:
    pool = pool_of(5)
    first, second = random.Random(1), random.Random(1)
    drawn = [pool.sample(first) for _ in range(100)]
    assert drawn == [pool.sample(second) for _ in range(100)]
    assert set(drawn) == set(pool)


@pytest.mark.parametrize(("fraction", "held_out"), [(0.25, 5), (0.001, 1), (0.999, 19)])
def test_a_split_shares_no_team_and_loses_none(fraction: float, held_out: int) -> None:
    pool = pool_of(20)
    training, measured = pool.split(fraction, seed=9)
    assert len(measured) == held_out
    assert not set(training) & set(measured)
    assert set(training) | set(measured) == set(pool)
    assert pool.split(fraction, seed=9) == (training, measured)


def test_an_empty_pool_and_the_split_of_one_team_are_errors() -> None:
    with pytest.raises(EngineError, match="at least one"):
        TeamPool(FORMAT, ())
    with pytest.raises(EngineError, match="cannot be split"):
        pool_of(1).split(0.5, seed=1)
