"""Showdown battles by the dozen: the client of the embedded simulator.

    with Simulator() as simulator:
        battle = simulator.start_battle(BattleSpec("gen9vgc2023regc", seed=7, teams=(packed, packed)))
        for update in simulator.exchange():
            ...                                      # update.texts[side] is what that player's browser would get
        simulator.choose(battle, side=0, choice="team 1234")

Commands are queued and go out together with ``exchange`` (or ``send``, and later ``receive``, so that Node works on
one half of the battles while Python works on the other). A reply holds every battle that moved, none that waits for
the other side.

The shaping decision: nothing here understands a battle. It carries text; ``tracking`` reads it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import TracebackType

from elitefurretai.engine.errors import HostError
from elitefurretai.engine.frames import Op, Status, Update, encode_command
from elitefurretai.engine.host import Host, HostOptions, fast_path_wanted

SEED_BITS = 128


@dataclass(frozen=True)
class BattleSpec:
    """All that determines a battle but the choices."""

    format: str
    """Showdown's id of the format (``FormatSpec.id``)."""
    seed: int
    """0 to 2**128 - 1; the same seed, teams and choices give the same log."""
    teams: tuple[str, str]
    """Packed teams of both sides."""
    names: tuple[str, str] = ("Player 1", "Player 2")
    open_team_sheets: bool = False
    """Show both teams to both sides at team preview (``|showteam|``)."""
    record: bool = False
    """Keep the spectators' log and the input log for the result."""

    def to_json(self) -> str:
        """The form that the host's START command takes."""
        if not 0 <= self.seed < 1 << SEED_BITS:
            raise ValueError(f"seed {self.seed} is not within 0 and 2**{SEED_BITS} - 1")
        if self.names[0] == self.names[1]:
            raise ValueError(f"both sides are called {self.names[0]!r}; the winner could not be told")
        players = [{"name": name, "team": team} for name, team in zip(self.names, self.teams, strict=True)]
        return json.dumps(
            {
                "format": self.format,
                "seed": f"sodium,{self.seed:032x}",
                "p1": players[0],
                "p2": players[1],
                "openTeamSheets": self.open_team_sheets,
                "record": self.record,
            }
        )


@dataclass(frozen=True, slots=True)
class BattleResult:
    """How a battle ended."""

    winner: int | None
    """Side 0 or 1; None for a tie."""
    turns: int
    pokemon_left: tuple[int, int]
    log: tuple[str, ...] = ()
    """The spectators' log, if the spec asked for a record."""
    input_log: tuple[str, ...] = ()
    """Seed, teams and choices in Showdown's form, if the spec asked for a record."""


@dataclass(frozen=True, slots=True)
class BattleUpdate:
    """What one battle delivered. A battle with a ``result`` or an ``error`` is over and forgotten."""

    battle: int
    texts: tuple[str, str]
    """New lines for side 0 and side 1, as a Showdown server would send them."""
    result: BattleResult | None = None
    error: str | None = None
    """Showdown's exception with its stack: the battle is lost, the host is not."""


class Simulator:
    """A host process and the battles on it."""

    def __init__(self, *, fast: bool | None = None, timeout: float = 60.0) -> None:
        """``fast=None`` follows ``ELITEFURRETAI_FAST_SIM``; ``timeout`` is for one reply, in seconds."""
        self.host = Host(HostOptions(fast=fast_path_wanted() if fast is None else fast), timeout)
        self._specs: dict[int, BattleSpec] = {}
        self._next_battle = 1
        self._commands: list[bytes] = []

    def __enter__(self) -> Simulator:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the host; nothing if it runs."""
        self.host.start()

    def close(self) -> None:
        """End the host and forget its battles."""
        self.host.close()
        self._specs.clear()
        self._commands.clear()

    def restart(self) -> None:
        """A new host, without battles; for use after a ``HostError``."""
        self.close()
        self.start()

    @property
    def running(self) -> dict[int, BattleSpec]:
        """The battles that have neither ended nor failed."""
        return dict(self._specs)

    @property
    def outstanding(self) -> int:
        """How many ``send`` have not had their ``receive``."""
        return self.host.outstanding

    def start_battle(self, spec: BattleSpec) -> int:
        """Queue a new battle and give its number."""
        battle = self._next_battle
        self._commands.append(encode_command(Op.START, battle, text=spec.to_json()))
        self._next_battle += 1
        self._specs[battle] = spec
        return battle

    def choose(self, battle: int, side: int, choice: str) -> None:
        """Queue a side's choice, in the words of Showdown's ``/choose`` (``move 1 2, switch 3``, ``team 1234``)."""
        self._queue(Op.CHOOSE, battle, side, choice)

    def forfeit(self, battle: int, side: int) -> None:
        """Queue a forfeit: the other side wins."""
        self._queue(Op.FORFEIT, battle, side)

    def abort(self, battle: int) -> None:
        """Queue the end of a battle without a result. It delivers nothing more."""
        self._queue(Op.ABORT, battle, 0)
        del self._specs[battle]

    def send(self) -> None:
        """Send what is queued. Each ``send`` is answered by one ``receive``."""
        commands, self._commands = self._commands, []
        try:
            self.host.send(commands)
        except HostError as error:
            raise self._lose_battles(error) from None

    def receive(self) -> list[BattleUpdate]:
        """What the oldest unanswered ``send`` brought about."""
        try:
            updates = self.host.receive()
        except HostError as error:
            raise self._lose_battles(error) from None
        return [self._read(update) for update in updates]

    def exchange(self) -> list[BattleUpdate]:
        """Send what is queued and wait for what it brings about."""
        self.send()
        return self.receive()

    def _queue(self, op: Op, battle: int, side: int, text: str = "") -> None:
        if battle not in self._specs:
            raise ValueError(f"battle {battle} is not running")
        if side not in (0, 1):
            raise ValueError(f"side must be 0 or 1, not {side!r}")
        self._commands.append(encode_command(op, battle, side, text))

    def _read(self, update: Update) -> BattleUpdate:
        if update.status is Status.RUNNING:
            return BattleUpdate(update.battle, update.texts)
        spec = self._specs.pop(update.battle, None)
        if update.status is Status.FAILED or spec is None:
            return BattleUpdate(update.battle, update.texts, error=update.extra)
        return BattleUpdate(update.battle, update.texts, result=_read_result(update.extra, spec))

    def _lose_battles(self, error: HostError) -> HostError:
        error.battles = {battle: spec.seed for battle, spec in self._specs.items()}
        self._specs.clear()
        self._commands.clear()
        return error


def _read_result(text: str, spec: BattleSpec) -> BattleResult:
    data = json.loads(text)
    winner = spec.names.index(data["winner"]) if data["winner"] else None
    first, second = data["score"]
    return BattleResult(
        winner, data["turns"], (first, second), tuple(data.get("log", ())), tuple(data.get("inputLog", ()))
    )
