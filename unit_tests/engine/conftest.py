"""What the engine's tests share: one host for all that do not harm it, and teams."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from elitefurretai.engine.simulator import BattleSpec, Simulator
from elitefurretai.engine.teams import TeamPool

MakeSpec = Callable[..., BattleSpec]


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture(scope="session")
def make_spec() -> MakeSpec:
    """A spec with two different teams of the format, the same for the same seed."""
    pools: dict[str, TeamPool] = {}

    def make(format_id: str = "gen9vgc2023regc", seed: int = 1, **options: object) -> BattleSpec:
        if format_id not in pools:
            pools[format_id] = TeamPool.default(format_id, count=8)
        first, second = random.Random(seed).sample(list(pools[format_id]), 2)
        return BattleSpec(format_id, seed, (first.packed, second.packed), **options)  # type: ignore[arg-type]

    return make
