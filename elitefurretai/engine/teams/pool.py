"""The teams that battles are played with.

In: a folder of PokePaste files, the name of a format with built-in teams, or a number of teams to generate.
Out: a `TeamPool`, an unchanging sequence of teams in the order of their names.

The shaping decision: a pool holds only teams that Showdown's validator accepts for its format, so nobody who
draws from one has to ask. What was refused is in ``rejected``, with the validator's words.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, overload

from elitefurretai.engine.errors import TeamError
from elitefurretai.engine.formats import FormatSpec, resolve_format
from elitefurretai.engine.simulator import SEED_BITS
from elitefurretai.engine.teams.paste import read_folder
from elitefurretai.engine.teams.validation import check_teams
from elitefurretai.engine.workshop import TeamWorkshop

BUILTIN_FOLDER = Path(__file__).parent / "builtin"

_SHOWN = 3

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Team:
    """A legal team."""

    name: str
    packed: str
    """Showdown's one-line form, which `BattleSpec` takes."""
    source: str
    """Where it comes from: a file, or the seed it was generated with."""


@dataclass(frozen=True)
class RejectedTeam:
    """A file that is no legal team, and why."""

    path: Path
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}: {' '.join(self.problems)}"


@dataclass(frozen=True)
class TeamPool(Sequence[Team]):
    """Legal teams of one format. Made by `from_folder`, `builtin` or `generated`."""

    format: str
    """Showdown's id."""
    teams: tuple[Team, ...]
    rejected: tuple[RejectedTeam, ...] = ()

    def __post_init__(self) -> None:
        if not self.teams:
            raise TeamError(f"a pool of {self.format} teams needs at least one")
        object.__setattr__(self, "teams", tuple(sorted(self.teams, key=lambda team: team.name)))

    @classmethod
    def from_folder(cls, format_id: str, folder: str | Path, on_bad: Literal["skip", "fatal"] = "skip") -> TeamPool:
        """The PokePaste ``.txt`` files in a folder and its sub-folders.

        ``on_bad`` says what a file that is no legal team does: it is left out, with a warning and an entry in
        ``rejected``, or it is an error.
        """
        if on_bad not in ("skip", "fatal"):
            raise ValueError(f"on_bad is 'skip' or 'fatal', not {on_bad!r}")
        spec = resolve_format(format_id)
        if spec.random_teams:
            raise TeamError(f"{spec.id} deals the teams itself, so a folder of teams is no use; generate them")
        folder = Path(folder)
        teams, rejected = _read_teams(spec, folder)
        if rejected and on_bad == "fatal":
            more = f" (and {len(rejected) - 1} more such files)" if len(rejected) > 1 else ""
            raise TeamError(f"a team file is not legal in {spec.id}{more}: {rejected[0]}")
        if not teams:
            raise TeamError(
                f"no file in the team folder {folder} is a legal {spec.id} team; the first is {rejected[0]}"
            )
        if rejected:
            shown = "; ".join(map(str, rejected[:_SHOWN])) + ("; ..." if len(rejected) > _SHOWN else "")
            total = len(teams) + len(rejected)
            _log.warning("skipped %d of %d team files in %s: %s", len(rejected), total, folder, shown)
        return cls(spec.id, tuple(teams), tuple(rejected))

    @classmethod
    def default(cls, format_id: str, count: int = 32, seed: int = 1) -> TeamPool:
        """The built-in teams of a format that has some; else ``count`` generated ones."""
        if _builtin_folder(resolve_format(format_id)).is_dir():
            return cls.builtin(format_id)
        return cls.generated(format_id, count, seed)

    @classmethod
    def builtin(cls, format_id: str) -> TeamPool:
        """The teams that come with the package; a best-of-three format has those of its single battle."""
        spec = resolve_format(format_id)
        folder = _builtin_folder(spec)
        if not folder.is_dir():
            known = ", ".join(builtin_formats())
            raise TeamError(f"there are no built-in teams for {spec.id}, only for {known}; generate some")
        return cls.from_folder(spec.id, folder, on_bad="fatal")

    @classmethod
    def generated(cls, format_id: str, count: int, seed: int) -> TeamPool:
        """Random legal teams from Showdown's own set data; a larger ``count`` only adds teams."""
        if count < 1:
            raise ValueError(f"count must be at least 1, not {count}")
        spec = resolve_format(format_id)
        rng = random.Random(seed)
        seeds = [rng.getrandbits(SEED_BITS) for _ in range(count)]
        with TeamWorkshop() as workshop:
            packed = workshop.generate(spec.id, seeds)
        # Names sort as they were drawn, up to a million teams.
        names = [f"generated-{seed}-{number:06d}" for number in range(count)]
        return cls(spec.id, tuple(map(Team, names, packed, (f"seed {team_seed}" for team_seed in seeds))))

    def sample(self, rng: random.Random) -> Team:
        """A team, each as likely as the others."""
        return rng.choice(self.teams)

    def split(self, held_out_fraction: float, seed: int) -> tuple[TeamPool, TeamPool]:
        """Two pools without a common team, to train with and to measure on; each has at least one."""
        if not 0.0 < held_out_fraction < 1.0:
            raise ValueError(f"held_out_fraction must be within 0 and 1, not {held_out_fraction}")
        if len(self) < 2:
            raise TeamError(f"a pool of one {self.format} team cannot be split; give more teams")
        shuffled = random.Random(seed).sample(self.teams, len(self))
        count = min(max(round(held_out_fraction * len(self)), 1), len(self) - 1)
        held_out, training = shuffled[:count], shuffled[count:]
        return replace(self, teams=tuple(training)), replace(self, teams=tuple(held_out))

    def __len__(self) -> int:
        return len(self.teams)

    @overload
    def __getitem__(self, index: int) -> Team: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Team, ...]: ...

    def __getitem__(self, index: int | slice) -> Team | tuple[Team, ...]:
        return self.teams[index]


def _builtin_folder(spec: FormatSpec) -> Path:
    return BUILTIN_FOLDER / (spec.id.removesuffix("bo3") if spec.best_of > 1 else spec.id)


def builtin_formats() -> list[str]:
    """The formats that have built-in teams."""
    return sorted(folder.name for folder in BUILTIN_FOLDER.iterdir() if folder.is_dir())


def _read_teams(spec: FormatSpec, folder: Path) -> tuple[list[Team], list[RejectedTeam]]:
    pastes = read_folder(folder)
    readable = [paste for paste in pastes if paste.problem is None]
    answers = check_teams(spec.id, [paste.text for paste in readable])
    checked = {paste.path: answer for paste, answer in zip(readable, answers, strict=True)}
    teams: list[Team] = []
    rejected: list[RejectedTeam] = []
    for paste in pastes:
        if paste.problem is not None:
            rejected.append(RejectedTeam(paste.path, (paste.problem,)))
        elif checked[paste.path].problems:
            rejected.append(RejectedTeam(paste.path, checked[paste.path].problems))
        else:
            teams.append(Team(paste.name, checked[paste.path].packed, str(paste.path)))
    return teams, rejected
