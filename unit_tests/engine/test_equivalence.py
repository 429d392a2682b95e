"""The embedded simulator against a real server.

A battle is played between two players on a real Showdown server, which then tells the seed. The same choices on the
embedded simulator, with that seed and the same teams, must bring each side the same lines and requests in the same
order. Not compared: lines that a chat room adds (joins, timers, chat), time stamps, and avatars.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.player import BattleOrder, Player
from poke_env.teambuilder import Teambuilder

from elitefurretai.engine.autoplay import random_choice
from elitefurretai.engine.formats import resolve_format
from elitefurretai.engine.server import ShowdownServer
from elitefurretai.engine.simulator import BattleSpec, Simulator
from elitefurretai.engine.tracking import BattleTracker, Decision
from unit_tests.engine.conftest import MakeSpec

ROOM_LINES = {
    "init",
    "deinit",
    "title",
    "j",
    "l",
    "n",
    "inactive",
    "inactiveoff",
    "c",
    "c:",
    "raw",
    "uhtmlchange",
    "t:",
}


class TextOrder(BattleOrder):
    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def message(self) -> str:
        return f"/choose {self.text}"


class RecordingPlayer(Player):
    """Makes random choices, and keeps every line it gets and every choice it makes."""

    def __init__(self, seed: int, **options: Any) -> None:
        super().__init__(**options)
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.choices: list[str] = []

    async def _handle_battle_message(self, split_messages: list[list[str]]) -> None:
        self.lines += ["|".join(parts) for parts in split_messages[1:]]
        await super()._handle_battle_message(split_messages)

    def choose_move(self, battle: Any) -> BattleOrder:
        self.choices.append(random_choice(battle.last_request, self.rng))
        return TextOrder(self.choices[-1])

    def teampreview(self, battle: Any) -> str:
        return self.choose_move(battle).message


class PackedTeam(Teambuilder):
    """A team handed over as it is: poke-env would read it and write it again, without the Gigantamax factor."""

    def __init__(self, packed: str) -> None:
        self.packed = packed

    def yield_team(self) -> str:
        return self.packed


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def written_record(folder: Path) -> dict[str, Any]:
    """The server's record of the battle, which it writes some time after the end."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for file in folder.rglob("*.log.json"):
            try:
                record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            except json.JSONDecodeError:
                continue
            return record
        time.sleep(0.02)
    raise AssertionError("the server wrote no record of the battle")


def play_on_server(spec: BattleSpec, folder: Path) -> tuple[list[RecordingPlayer], BattleSpec]:
    """Both players after their battle, and the spec with the seed that the server drew."""
    with ShowdownServer(free_port(), data_dir=folder, log_battles=True) as server:
        players = [
            RecordingPlayer(
                seed=index,
                account_configuration=AccountConfiguration(spec.names[index], None),
                battle_format=spec.format,
                team=PackedTeam(spec.teams[index]),
                server_configuration=ServerConfiguration(server.websocket_url, ""),
                accept_open_team_sheet=spec.open_team_sheets,
            )
            for index in range(2)
        ]
        asyncio.run(players[0].battle_against(players[1], n_battles=1))
        inputs = written_record(folder)["inputLog"]
    start = next(json.loads(line.split(" ", 1)[1]) for line in inputs if line.startswith(">start"))
    seed = int(start["seed"].removeprefix("sodium,"), 16)
    return players, BattleSpec(spec.format, seed, spec.teams, spec.names, spec.open_team_sheets)


def replay_embedded(simulator: Simulator, spec: BattleSpec, choices: list[list[str]]) -> list[list[str]]:
    """The lines of each side when both make these choices."""
    trackers = [BattleTracker(resolve_format(spec.format), name) for name in spec.names]
    lines: list[list[str]] = [[], []]
    pending = [iter(side) for side in choices]
    battle = simulator.start_battle(spec)
    while True:
        (update,) = simulator.exchange()
        assert update.error is None, update.error
        for side, tracker in enumerate(trackers):
            if update.texts[side]:
                lines[side] += update.texts[side].split("\n")
                if tracker.feed(update.texts[side]) not in (Decision.WAIT, Decision.OVER):
                    simulator.choose(battle, side, next(pending[side]))
        if update.result:
            return lines


def comparable(lines: list[str]) -> list[Any]:
    """The battle's own lines, requests as data, avatars left out."""
    kept: list[Any] = []
    for line in lines:
        kind = line.split("|")[1] if line.startswith("|") else None
        if kind is None or kind in ROOM_LINES or (kind == "error" and "choice]" not in line):
            continue
        if kind == "request":
            if line not in ("|request|", "|request|null"):
                kept.append(json.loads(line.removeprefix("|request|")))
        elif kind == "player":
            kept.append(line.split("|")[:4])
        else:
            kept.append(line)
        if kind in ("win", "tie"):  # what follows is about players leaving the room
            break
    return kept


@pytest.mark.parametrize(
    ("format_id", "open_team_sheets"),
    [
        ("gen9vgc2023regc", True),
        ("gen9vgc2025regi", False),
        ("gen9championsvgc2026regma", True),
        ("gen8vgc2022", False),
    ],
)
def test_each_side_gets_from_the_host_what_a_real_server_sends(
    simulator: Simulator, make_spec: MakeSpec, tmp_path: Path, format_id: str, open_team_sheets: bool
) -> None:
    wanted = make_spec(format_id, seed=1, names=("equal1", "equal2"), open_team_sheets=open_team_sheets)
    players, spec = play_on_server(wanted, tmp_path)
    ours = replay_embedded(simulator, spec, [player.choices for player in players])
    for side, player in enumerate(players):
        theirs = comparable(player.lines)
        assert len(theirs) > 50
        assert sum(isinstance(entry, dict) for entry in theirs) >= 4
        assert comparable(ours[side]) == theirs
