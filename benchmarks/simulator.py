"""Showdown's simulator with our fast path against stock Showdown: the same recorded battles, battles per CPU second.

Battles are first played through the engine with random choices, which are then replayed by two Node
processes, in turn: stock as installed, and ours as the host loads it. All that a battle sends (logs of both channels,
requests, result) must be the same, byte for byte but for time stamps, in every round. The first round of each is
warm-up: it is compared, not timed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import Measurement, main
from elitefurretai.engine.autoplay import play
from elitefurretai.engine.host import BATTLE_HEAP_FLAGS, HOST_SCRIPT
from elitefurretai.engine.install import ensure_showdown
from elitefurretai.engine.node import node_binary
from elitefurretai.engine.simulator import BattleSpec, Simulator
from elitefurretai.engine.teams import TeamPool

FORMATS = (
    "gen9vgc2023regc",
    "gen9vgc2023regd",
    "gen9vgc2024regg",
    "gen9vgc2025regi",
    "gen9championsvgc2026regma",
    "gen9championsvgc2026regmb",
    "gen9doublesou",
    "gen9randomdoublesbattle",
    "gen8vgc2022",
)
REPLAY_SCRIPT = Path(__file__).parent / "replay.js"


def record_battles(battles: int, seed: int) -> list[dict[str, Any]]:
    """Specs and choices of random battles, spread over the formats; half the teams are built in, half generated."""
    rng = random.Random(seed)
    specs = []
    for format_id in FORMATS:
        count = -(-battles // len(FORMATS))
        pools = [TeamPool.generated(format_id, count=24, seed=seed)]
        if format_id != "gen9randomdoublesbattle":
            pools.append(TeamPool.builtin(format_id))
        for index in range(count):
            pool = pools[index % len(pools)]
            teams = (pool.sample(rng).packed, pool.sample(rng).packed)
            specs.append(BattleSpec(format_id, rng.getrandbits(64), teams))
    with Simulator() as simulator:
        return [
            {"spec": json.loads(battle.spec.to_json()), "choices": battle.choices} for battle in play(simulator, specs)
        ]


class Replayer:
    """A Node process that replays all recorded battles each time it is asked."""

    def __init__(self, battles: Path, *, fast: bool) -> None:
        flags = BATTLE_HEAP_FLAGS if fast else ()
        options = json.dumps({"fast": fast, "lean": fast})
        self.process = subprocess.Popen(
            [
                str(node_binary()),
                *flags,
                *map(str, (REPLAY_SCRIPT, ensure_showdown(), HOST_SCRIPT.parent, battles)),
                options,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def round(self) -> dict[str, Any]:
        """Replay all battles once; CPU seconds and a digest for each battle."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the replay process ended with exit code {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def run(args: argparse.Namespace) -> Measurement:
    """Record, replay in turn, compare."""
    recorded = record_battles(args.battles, args.seed)
    with tempfile.TemporaryDirectory() as folder:
        battles = Path(folder) / "battles.json"
        battles.write_text(json.dumps(recorded), encoding="utf-8")
        stock, fast = Replayer(battles, fast=False), Replayer(battles, fast=True)
        try:
            rounds = [(stock.round(), fast.round()) for _ in range(args.rounds + 1)]
        finally:
            stock.close()
            fast.close()
    expected = rounds[0][0]["digests"]
    same = all(side["digests"] == expected for pair in rounds for side in pair)
    timed = rounds[1:]
    theirs, ours = (len(recorded) / statistics.median(pair[i]["cpuSeconds"] for pair in timed) for i in (0, 1))
    ratios = [pair[0]["cpuSeconds"] / pair[1]["cpuSeconds"] for pair in timed]
    details = {
        "battles": len(recorded),
        "formats": list(FORMATS),
        "rounds": args.rounds,
        "ratio_of_each_round": [round(ratio, 2) for ratio in ratios],
        "ratio_of_the_cold_round": round(rounds[0][0]["cpuSeconds"] / rounds[0][1]["cpuSeconds"], 2),
        "differing_battles": sum(a != b for a, b in zip(expected, rounds[0][1]["digests"], strict=True)),
    }
    return Measurement("simulator", "battles per CPU second", ours, theirs, statistics.median(ratios), same, details)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulator", description=__doc__)
    parser.add_argument("--battles", type=int, default=540, help="battles to record (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=4, help="timed rounds (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of teams, battles and choices")
    sys.exit(main(run, parser))
