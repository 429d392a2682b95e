"""The engine with state tracking against poke-env's random players over a websocket: battles per CPU second.

Both sides play the same format with the same pool of teams and random choices, and track both players' battles with
poke-env. Ours draws uniformly over moves and targets, theirs over joint orders; that battles are equally long is part
of the check. They run in turn, in processes of their own; the CPU time of all processes of a side counts (Python,
Node host; Python, server, its simulators), start-up does not.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from poke_env import AccountConfiguration, RandomPlayer, ServerConfiguration
from poke_env.battle import DoubleBattle
from poke_env.teambuilder import Teambuilder

from benchmarks.measure import Measurement, main, tree_cpu_seconds
from elitefurretai.engine.autoplay import play
from elitefurretai.engine.formats import resolve_format
from elitefurretai.engine.server import ShowdownServer
from elitefurretai.engine.simulator import BattleSpec, Simulator
from elitefurretai.engine.teams import TeamPool

AT_ONCE = 16


class PoolTeams(Teambuilder):
    """Deals poke-env's players random teams of a pool."""

    def __init__(self, pool: TeamPool, rng: random.Random) -> None:
        self.pool = pool
        self.rng = rng

    def yield_team(self) -> str:
        """A packed team for the next battle."""
        return self.pool.sample(self.rng).packed


class Embedded:
    """Our side: the simulator with both players tracked."""

    def __init__(self, format_id: str, seed: int) -> None:
        self.format_id = resolve_format(format_id).id
        self.pool = TeamPool.builtin(self.format_id)
        self.rng = random.Random(seed)
        self.simulator = Simulator()
        self.simulator.start()

    def play(self, battles: int) -> dict[str, int]:
        """Play battles to the end; what was done."""
        played = list(play(self.simulator, (self._spec() for _ in range(battles)), at_once=AT_ONCE))
        return {
            "battles": len(played),
            "turns": sum(battle.result.turns for battle in played),
            "decisions": sum(len(battle.choices) for battle in played),
        }

    def _spec(self) -> BattleSpec:
        teams = (self.pool.sample(self.rng).packed, self.pool.sample(self.rng).packed)
        return BattleSpec(self.format_id, self.rng.getrandbits(64), teams)

    def close(self) -> None:
        """End the host."""
        self.simulator.close()


class CountingPlayer(RandomPlayer):
    """poke-env's random player, counting its decisions."""

    decisions = 0

    def choose_move(self, battle: Any) -> Any:
        """A uniform random order."""
        self.decisions += 1
        return super().choose_move(battle)

    def teampreview(self, battle: Any) -> Any:
        """A random order of the team."""
        self.decisions += 1
        return super().teampreview(battle)


class Websocket:
    """Their side: a real server and pairs of poke-env players."""

    def __init__(self, format_id: str, seed: int, port: int) -> None:
        self.format_id = resolve_format(format_id).id
        pool = TeamPool.builtin(self.format_id)
        self.server = ShowdownServer(port)
        self.server.start()
        configuration = ServerConfiguration(self.server.websocket_url, "")
        self.players = [
            CountingPlayer(
                AccountConfiguration(f"bench{index}", None),
                battle_format=self.format_id,
                server_configuration=configuration,
                max_concurrent_battles=AT_ONCE,
                team=PoolTeams(pool, random.Random(seed + index)),
            )
            for index in range(2)
        ]

    def play(self, battles: int) -> dict[str, int]:
        """Play battles to the end; what was done."""
        for player in self.players:
            player.decisions = 0
            player.reset_battles()  # type: ignore[no-untyped-call]  # poke-env leaves its `-> None` out
        asyncio.run(self.players[0].battle_against(self.players[1], n_battles=battles))
        ended = [battle for battle in self.players[0].battles.values() if isinstance(battle, DoubleBattle)]
        return {
            "battles": sum(battle.finished for battle in ended),
            "turns": sum(battle.turn for battle in ended),
            "decisions": sum(player.decisions for player in self.players),
        }

    def close(self) -> None:
        """Stop the server."""
        self.server.stop()


def serve(side: Embedded | Websocket) -> None:
    """Play as many battles as each line on stdin says, and print what was done and what it cost."""
    # On both sides alike: without it Python's collector walks poke-env's tables over and over.
    gc.collect()
    gc.freeze()
    try:
        for line in sys.stdin:
            cpu, wall = tree_cpu_seconds(), time.perf_counter()
            counts = side.play(int(line))
            cost = {"cpu_seconds": tree_cpu_seconds() - cpu, "wall_seconds": time.perf_counter() - wall}
            print(json.dumps({**counts, **cost}), flush=True)
    finally:
        side.close()


def rounds(args: argparse.Namespace) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(ours, theirs) of each round; the first is warm-up."""
    command = [sys.executable, "-m", "benchmarks.engine", "--format", args.format, "--port", str(args.port)]
    sides = [
        subprocess.Popen([*command, "--side", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("embedded", "websocket")
    ]
    try:
        for number in range(args.rounds + 1):
            battles = args.battles if number else args.warm_up
            answers = []
            for side in sides:
                assert side.stdin is not None and side.stdout is not None
                side.stdin.write(f"{battles}\n")
                side.stdin.flush()
                answers.append(json.loads(side.stdout.readline()))
            yield answers[0], answers[1]
    finally:
        for side in sides:
            side.communicate()


def run(args: argparse.Namespace) -> Measurement:
    """Let both sides play in turn and compare."""
    timed = list(rounds(args))[1:]
    totals = [{key: sum(pair[i][key] for pair in timed) for key in timed[0][0]} for i in (0, 1)]
    ours, theirs = (total["battles"] / total["cpu_seconds"] for total in totals)
    turns = [total["turns"] / total["battles"] for total in totals]
    same = totals[0]["battles"] == totals[1]["battles"] and abs(turns[0] / turns[1] - 1) < 0.15
    ratios = [(a["battles"] / a["cpu_seconds"]) / (b["battles"] / b["cpu_seconds"]) for a, b in timed]
    details = {
        "format": resolve_format(args.format).id,
        "battles_each": totals[0]["battles"],
        "ratio_of_each_round": [round(ratio, 2) for ratio in ratios],
        "mean_turns": [round(value, 2) for value in turns],
        "decisions_per_cpu_second": [round(total["decisions"] / total["cpu_seconds"]) for total in totals],
        "battles_per_second": [round(total["battles"] / total["wall_seconds"], 1) for total in totals],
        "decisions_per_second": [round(total["decisions"] / total["wall_seconds"]) for total in totals],
        "order": "ours, theirs",
    }
    return Measurement("engine", "battles per CPU second", ours, theirs, statistics.median(ratios), same, details)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--format", default="gen9vgc2023regc", help="battle format (default %(default)s)")
    parser.add_argument("--battles", type=int, default=300, help="battles a round and side (default %(default)s)")
    parser.add_argument("--warm-up", type=int, default=800, help="battles a side before, for V8 (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds (default %(default)s)")
    parser.add_argument("--port", type=int, default=8790, help="port of the server (default %(default)s)")
    parser.add_argument("--side", choices=("embedded", "websocket"), help=argparse.SUPPRESS)
    known, _ = parser.parse_known_args()
    if known.side == "embedded":
        serve(Embedded(known.format, seed=1))
    elif known.side == "websocket":
        serve(Websocket(known.format, seed=1, port=known.port))
    else:
        sys.exit(main(run, parser))
