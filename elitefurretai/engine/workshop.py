"""Showdown's own answers about teams and formats: the validator, the export form, random teams, the formats.

    with TeamWorkshop() as workshop:
        (team,) = workshop.check("gen9vgc2023regc", [paste])
        print(team.problems or workshop.export(team.packed))

The shaping decision: it is a host of its own, started when asked for and closed soon after. The validator
needs the learnsets that battle hosts leave out, and nobody asks about teams while battles run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from elitefurretai.engine.errors import EngineError, TeamError
from elitefurretai.engine.frames import Op, encode_command
from elitefurretai.engine.host import Host, HostOptions
from elitefurretai.engine.simulator import SEED_BITS

# A reply takes under 2 s where Showdown is slowest (Challenge Cup: 70 teams/s), far from any time-out.
_TEAMS_PER_CALL = 100


@dataclass(frozen=True)
class CheckedTeam:
    """What Showdown's validator made of a text."""

    packed: str
    """The team as the validator left it; empty if the text holds none."""
    problems: tuple[str, ...]
    """The validator's words; none for a legal team."""


class TeamWorkshop:
    """A host process that answers questions. Starting takes 1 to 2 s."""

    def __init__(self, timeout: float = 60.0) -> None:
        """``timeout`` is for one reply, in seconds; long jobs are many replies."""
        self.host = Host(HostOptions(fast=False, lean=False, workshop=True), timeout)
        self._calls = 0

    def __enter__(self) -> TeamWorkshop:
        self.host.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.host.close()

    def check(self, format_id: str, texts: Sequence[str]) -> list[CheckedTeam]:
        """Each text (export form or packed) read as a team and judged by the format's rules."""
        return [team for chunk in _chunks(texts) for team in self._check_chunk(format_id, chunk)]

    def export(self, packed: str) -> str:
        """A packed team as people write it."""
        text: str = self._call("export", {"packed": packed}, TeamError)
        return text

    def generate(self, format_id: str, seeds: Sequence[int]) -> list[str]:
        """One legal random team per seed, packed; the same seed gives the same team in every process."""
        for seed in seeds:
            if not 0 <= seed < 1 << SEED_BITS:
                raise ValueError(f"seed {seed} is not within 0 and 2**{SEED_BITS} - 1")
        packed: list[str] = []
        for chunk in _chunks([f"sodium,{seed:032x}" for seed in seeds]):
            packed += self._call("generate", {"format": format_id, "seeds": chunk}, TeamError)
        return packed

    def formats(self) -> dict[str, list[Any]]:
        """``doubles``: Showdown's two-player doubles formats, described; ``others``: the ids of the rest."""
        formats: dict[str, list[Any]] = self._call("formats", {}, EngineError)
        return formats

    def _check_chunk(self, format_id: str, texts: Sequence[str]) -> list[CheckedTeam]:
        try:
            answers = self._call("check", {"format": format_id, "texts": texts}, TeamError)
        except TeamError as error:
            # A text that makes Showdown itself stumble must not take its neighbours along.
            if len(texts) > 1:
                return [team for text in texts for team in self._check_chunk(format_id, [text])]
            return [CheckedTeam("", (str(error),))]
        return [CheckedTeam(answer["packed"] or "", tuple(answer["problems"] or ())) for answer in answers]

    def _call(self, method: str, parameters: dict[str, Any], error: type[EngineError]) -> Any:
        self._calls += 1
        text = json.dumps({"method": method, "parameters": parameters})
        self.host.send([encode_command(Op.CALL, self._calls, text=text)])
        (update,) = self.host.receive()
        answer = json.loads(update.extra)
        if "error" in answer:
            raise error(f"Showdown refused to {method}: {answer['error']}")
        return answer["result"]


def _chunks(items: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), _TEAMS_PER_CALL):
        yield items[start : start + _TEAMS_PER_CALL]
