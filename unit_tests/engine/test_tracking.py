from __future__ import annotations

import json
import logging
import random

import pytest
from poke_env.battle import DoubleBattle

from elitefurretai.engine.autoplay import random_choice
from elitefurretai.engine.errors import TrackingError
from elitefurretai.engine.formats import resolve_format
from elitefurretai.engine.simulator import BattleSpec, Simulator
from elitefurretai.engine.tracking import BattleTracker, Decision, decision_of
from unit_tests.engine.conftest import MakeSpec


def played(simulator: Simulator, spec: BattleSpec) -> tuple[list[BattleTracker], list[list[str]], list[Decision]]:
    """A battle played to its end: both trackers, every text of each side, and the decisions in order."""
    trackers = [BattleTracker(resolve_format(spec.format), name) for name in spec.names]
    texts: list[list[str]] = [[], []]
    decisions = []
    rng = random.Random(spec.seed)
    battle = simulator.start_battle(spec)
    while True:
        (update,) = simulator.exchange()
        for side, tracker in enumerate(trackers):
            text = update.texts[side]
            if not text:
                continue
            texts[side].append(text)
            decisions.append(tracker.feed(text))
            if tracker.due not in (Decision.WAIT, Decision.OVER):
                assert tracker.request is not None
                simulator.choose(battle, side, random_choice(tracker.request, rng))
        if update.result:
            return trackers, texts, decisions


def snapshot(tracker: BattleTracker) -> dict[str, object]:
    """What poke-env knows, in a form that can be compared."""
    battle = tracker.battle
    teams = {**battle.team, **battle.opponent_team}
    return {
        "turn": battle.turn,
        "orders": [[order.message for order in slot] for slot in battle.valid_orders],
        "won": battle.won,
        "weather": battle.weather,
        "fields": battle.fields,
        "sides": (battle.side_conditions, battle.opponent_side_conditions),
        "pokemon": {
            name: (
                mon.species,
                mon.current_hp,
                mon.status,
                mon.boosts,
                mon.item,
                mon.ability,
                sorted(mon.moves),
            )
            for name, mon in teams.items()
        },
    }


@pytest.mark.parametrize("format_id", ["gen9vgc2023regc", "gen8vgc2022", "gen9championsvgc2026regmb"])
def test_a_battle_is_followed_from_preview_to_its_end(
    simulator: Simulator, make_spec: MakeSpec, format_id: str
) -> None:
    trackers, _, decisions = played(simulator, make_spec(format_id, seed=3))
    assert decisions[:2] == [Decision.PREVIEW, Decision.PREVIEW]
    assert decisions[-2:] == [Decision.OVER, Decision.OVER]
    assert Decision.TURN in decisions
    assert Decision.FORCE_SWITCH in decisions
    assert Decision.WAIT in decisions, "while one side replaces a Pokémon the other waits"
    assert trackers[0].battle.won is not trackers[1].battle.won
    assert trackers[0].battle.turn == trackers[1].battle.turn > 0


def test_tracked_hit_points_are_those_of_the_request(simulator: Simulator, make_spec: MakeSpec) -> None:
    spec = make_spec(seed=4)
    tracker = BattleTracker(resolve_format(spec.format), spec.names[0])
    battle = simulator.start_battle(spec)
    rng = random.Random(4)
    for _ in range(8):
        (update,) = simulator.exchange()
        tracker.feed(update.texts[0])
        assert tracker.request is not None
        for mon in tracker.request["side"]["pokemon"]:
            hp = int(mon["condition"].split("/")[0].split()[0])
            assert tracker.battle.team[mon["ident"]].current_hp == hp
        other = json.loads(update.texts[1].split("|request|")[1])
        for side, request in enumerate((tracker.request, other)):
            if decision_of(request) is not Decision.WAIT:
                simulator.choose(battle, side, random_choice(request, rng))
    simulator.abort(battle)


def test_it_does_not_matter_in_which_pieces_the_text_arrives(simulator: Simulator, make_spec: MakeSpec) -> None:
    spec = make_spec(seed=5)
    trackers, texts, _ = played(simulator, spec)
    for side in (0, 1):
        by_line = BattleTracker(resolve_format(spec.format), spec.names[side])
        for text in texts[side]:
            for line in text.split("\n"):
                by_line.feed(line)
        assert snapshot(by_line) == snapshot(trackers[side])


@pytest.mark.parametrize("format_id", ["gen9vgc2023regc", "gen9vgc2025regi", "gen9randomdoublesbattle", "gen8vgc2022"])
def test_the_short_cuts_of_the_tracked_battle_change_nothing(
    simulator: Simulator, make_spec: MakeSpec, format_id: str
) -> None:
    for seed in range(6):
        spec = make_spec(format_id, seed=seed)
        _, texts, _ = played(simulator, spec)
        for side, name in enumerate(spec.names):
            ours, stock = (BattleTracker(resolve_format(format_id), name) for _ in range(2))
            stock.battle = DoubleBattle("battle", name, logging.getLogger(), gen=ours.format.gen)  # type: ignore[assignment]
            for text in texts[side]:
                assert ours.feed(text) is stock.feed(text)
                assert snapshot(ours) == snapshot(stock)


def test_lines_of_a_chat_room_are_passed_over() -> None:
    tracker = BattleTracker(resolve_format("gen9vgc2023regc"), "someone")
    room = "|init|battle\n|title|A vs. B\n|j|☆someone\n|c|☆someone|hello | there\n|inactive|Time left\nplain chat\n"
    assert tracker.feed(room + "|request|\n|request|null") is Decision.WAIT


def test_a_refused_choice_asks_the_same_decision_again(simulator: Simulator, make_spec: MakeSpec) -> None:
    spec = make_spec(seed=6)
    tracker = BattleTracker(resolve_format(spec.format), spec.names[0])
    battle = simulator.start_battle(spec)
    tracker.feed(simulator.exchange()[0].texts[0])
    simulator.choose(battle, 0, "team 1")
    simulator.choose(battle, 0, "nonsense")
    assert tracker.feed(simulator.exchange()[0].texts[0]) is Decision.PREVIEW
    assert any("nonsense" in words or "Team Preview" in words for words in tracker.refusals)
    simulator.abort(battle)


def test_an_open_team_sheet_tells_moves_and_items_but_no_stats(simulator: Simulator, make_spec: MakeSpec) -> None:
    spec = make_spec(seed=7, open_team_sheets=True)
    tracker = BattleTracker(resolve_format(spec.format), spec.names[0])
    battle = simulator.start_battle(spec)
    tracker.feed(simulator.exchange()[0].texts[0])
    foes = list(tracker.battle.opponent_team.values())
    assert len(foes) == 6
    for foe in foes:
        assert len(foe.moves) == 4
        assert foe.item
        assert foe.ability
        assert set(foe.stats.values()) == {None}
    simulator.abort(battle)


def test_without_team_sheets_the_foes_moves_and_items_are_unknown(simulator: Simulator, make_spec: MakeSpec) -> None:
    spec = make_spec(seed=7)
    tracker = BattleTracker(resolve_format(spec.format), spec.names[0])
    battle = simulator.start_battle(spec)
    tracker.feed(simulator.exchange()[0].texts[0])
    assert len(tracker.battle.teampreview_opponent_team) == 6
    assert not any(foe.moves for foe in tracker.battle.teampreview_opponent_team)
    simulator.abort(battle)


def test_a_line_that_cannot_be_followed_is_named() -> None:
    tracker = BattleTracker(resolve_format("gen9vgc2023regc"), "someone", "battle-7")
    with pytest.raises(TrackingError, match="battle-7 as someone at '|-no-such-event|x'"):
        tracker.feed("|-no-such-event|x")
