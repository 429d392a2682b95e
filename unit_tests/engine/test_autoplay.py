from __future__ import annotations

import psutil
import pytest

from elitefurretai.engine.autoplay import play
from elitefurretai.engine.formats import PROVEN_FORMATS
from elitefurretai.engine.simulator import Simulator
from unit_tests.engine.conftest import MakeSpec

MB = 1024**2


@pytest.mark.parametrize("format_id", PROVEN_FORMATS)
@pytest.mark.parametrize("open_team_sheets", [False, True])
def test_every_proven_format_plays_battles_to_the_end(
    simulator: Simulator, make_spec: MakeSpec, format_id: str, open_team_sheets: bool
) -> None:
    specs = [make_spec(format_id, seed=seed, open_team_sheets=open_team_sheets) for seed in range(20)]
    played = list(play(simulator, specs))
    assert len(played) == 20
    assert all(battle.result.turns > 0 for battle in played)
    assert {battle.result.winner for battle in played} <= {0, 1, None}
    # What a request does not tell (a hidden trap, an Imprison) is refused; anything else would be our mistake.
    refused = [words for battle in played for words in battle.refusals]
    assert [words for words in refused if not words.startswith("[Unavailable choice]")] == []
    assert simulator.running == {}


def memory_after_battles(make_spec: MakeSpec, milestones: list[int]) -> list[float]:
    """Resident memory of one host, in MB, after so many battles."""
    formats = ["gen9vgc2023regc", "gen9vgc2025regi", "gen9championsvgc2026regmb", "gen8vgc2022"]
    specs = [make_spec(formats[seed % len(formats)], seed=seed) for seed in range(milestones[-1])]
    sizes = []
    with Simulator() as simulator:
        host = psutil.Process(simulator.host.pid)
        for count, _ in enumerate(play(simulator, specs, at_once=32), start=1):
            if count in milestones:
                sizes.append(host.memory_info().rss / MB)
    return sizes


def test_a_host_stays_below_250_mb(make_spec: MakeSpec) -> None:
    (size,) = memory_after_battles(make_spec, [300])
    assert size < 250


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_host_does_not_grow_over_thousands_of_battles(make_spec: MakeSpec) -> None:
    early, middle, late = memory_after_battles(make_spec, [500, 2500, 5000])
    assert late < 250
    assert late < 1.1 * early, f"{early:.0f} MB after 500 battles, {middle:.0f} after 2,500, {late:.0f} after 5,000"
