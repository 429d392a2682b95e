"""``elitefurretai demo``: play battles with random choices through the engine and show how fast it is.

What runs is what training runs on: Showdown's own simulator in a Node process, both sides tracked with poke-env.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections.abc import Iterator

from elitefurretai.engine.autoplay import PlayedBattle, play
from elitefurretai.engine.errors import EngineError
from elitefurretai.engine.formats import DEFAULT_FORMAT, FormatSpec, resolve_format
from elitefurretai.engine.simulator import BattleSpec, Simulator
from elitefurretai.engine.teams import TeamPool

PROGRESS_SECONDS = 0.25


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("demo", description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--battle-format", default=DEFAULT_FORMAT, help="format to play; see elitefurretai formats")
    parser.add_argument("--team-dir", help="folder of PokePaste .txt files to play with (default: built-in teams)")
    parser.add_argument("--battles", type=int, default=300, help="how many battles")
    parser.add_argument("--at-once", type=int, default=16, help="how many run at the same time")
    parser.add_argument("--seed", type=int, default=1, help="the same seed plays the same battles")


def run(args: argparse.Namespace) -> int:
    if args.battles < 1 or args.at_once < 1:
        raise EngineError("--battles and --at-once must be at least 1")
    spec = resolve_format(args.battle_format)
    if args.team_dir:
        pool = TeamPool.from_folder(spec.id, args.team_dir, on_bad="fatal")
    else:
        pool = TeamPool.default(spec.id, seed=args.seed)
    print(f"{spec.name}: {args.battles} battles with {len(pool)} teams, {args.at_once} at a time")
    played: list[PlayedBattle] = []
    with Simulator() as simulator:
        for warning in simulator.host.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        cpu, begin = time.process_time(), time.perf_counter()
        shown = begin
        for battle in play(simulator, _specs(spec, pool, args.battles, args.seed), at_once=args.at_once):
            played.append(battle)
            if sys.stderr.isatty() and time.perf_counter() - shown > PROGRESS_SECONDS:
                shown = time.perf_counter()
                rate = len(played) / (shown - begin)
                print(
                    f"\r{len(played)}/{args.battles}  {rate:.0f} battles/s ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
        seconds, python_cpu = time.perf_counter() - begin, time.process_time() - cpu
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    # The host has been waited for, so what it used is in the books; its start is included.
    node_cpu = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    _report(played, seconds, python_cpu, node_cpu)
    return 0


def _specs(spec: FormatSpec, pool: TeamPool, battles: int, seed: int) -> Iterator[BattleSpec]:
    rng = random.Random(seed)
    for _ in range(battles):
        teams = (pool.sample(rng).packed, pool.sample(rng).packed)
        yield BattleSpec(spec.id, rng.getrandbits(64), teams)


def _report(played: list[PlayedBattle], seconds: float, python_cpu: float, node_cpu: float) -> None:
    decisions = sum(len(battle.choices) for battle in played)
    turns = sum(battle.result.turns for battle in played) / len(played)
    wins = [sum(battle.result.winner == side for battle in played) for side in (0, 1)]
    refused = sum(len(battle.refusals) for battle in played)
    rows = [
        ("throughput", f"{len(played) / seconds:.1f} battles/s, {decisions / seconds:.0f} decisions/s"),
        ("battles", f"{turns:.1f} turns and {decisions / len(played):.1f} decisions each"),
        ("won by", f"side 1: {wins[0]}, side 2: {wins[1]}, ties: {len(played) - sum(wins)}"),
        ("refused", f"{refused} of {decisions} choices (the request does not tell of hidden traps)"),
        ("CPU", f"{python_cpu:.1f} s Python (tracking), {node_cpu:.1f} s Node (Showdown, start included)"),
    ]
    for name, text in rows:
        print(f"  {name:10}  {text}")
