from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

from elitefurretai.engine.autoplay import play, random_choice
from elitefurretai.engine.simulator import BattleSpec, BattleUpdate, Simulator
from unit_tests.engine.conftest import MakeSpec

TRAPPING_TEAM = "Gothitelle||Leftovers|ShadowTag|Protect,Psychic,FakeOut,HelpingHand|||||||,,,,,Water"
PROTECTING_TEAM = "]".join(
    f"{name}|||{ability}|Protect,{move}|||||||,,,,,Water"
    for name, ability, move in (
        ("Pikachu", "Static", "Thunderbolt"),
        ("Torkoal", "WhiteSmoke", "Ember"),
        ("Garchomp", "RoughSkin", "Earthquake"),
        ("Pelipper", "KeenEye", "Surf"),
    )
)
# No team preview rules and no validation: for teams made to show one thing.
CUSTOM = "gen9doublescustomgame"


def only(updates: list[BattleUpdate]) -> BattleUpdate:
    assert len(updates) == 1
    return updates[0]


def requests(text: str) -> list[dict[str, object]]:
    return [json.loads(line[9:]) for line in text.split("\n") if line.startswith("|request|")]


def started(simulator: Simulator, spec: BattleSpec) -> tuple[int, BattleUpdate]:
    battle = simulator.start_battle(spec)
    update = only(simulator.exchange())
    assert update.battle == battle
    assert update.error is None, update.error
    return battle, update


def test_each_side_sees_its_own_hit_points_exactly_and_the_foes_in_percent(
    simulator: Simulator, make_spec: MakeSpec
) -> None:
    battle, _ = started(simulator, make_spec())
    for side in (0, 1):
        simulator.choose(battle, side, "team 1234")
    update = only(simulator.exchange())
    for side, text in enumerate(update.texts):
        for line in text.split("\n"):
            if line.startswith("|switch|"):
                own = line.startswith(f"|switch|p{side + 1}")
                maximum = line.rsplit("/", 1)[1]
                assert (maximum == "100") != own, line
    simulator.abort(battle)


def test_a_side_is_never_sent_the_foes_request_or_team(simulator: Simulator, make_spec: MakeSpec) -> None:
    battle, update = started(simulator, make_spec())
    for side, text in enumerate(update.texts):
        (request,) = requests(text)
        assert request["side"]["id"] == f"p{side + 1}"  # type: ignore[index]
        assert "|showteam|" not in text
        assert "|split|" not in text
    simulator.abort(battle)


def test_open_team_sheets_show_both_teams_to_both_sides(simulator: Simulator, make_spec: MakeSpec) -> None:
    battle, update = started(simulator, make_spec(open_team_sheets=True))
    for text in update.texts:
        assert [line[:12] for line in text.split("\n") if "showteam" in line] == [
            "|showteam|p1",
            "|showteam|p2",
        ]
    simulator.abort(battle)


def test_a_format_that_forces_open_team_sheets_shows_them_once(simulator: Simulator, make_spec: MakeSpec) -> None:
    battle, update = started(simulator, make_spec("gen9championsvgc2026regmbbo3", open_team_sheets=True))
    assert update.texts[0].count("|showteam|") == 2
    simulator.abort(battle)


def test_a_choice_that_is_not_legal_comes_back_with_showdowns_words(simulator: Simulator, make_spec: MakeSpec) -> None:
    battle, _ = started(simulator, make_spec())
    simulator.choose(battle, 0, "team 99")
    update = only(simulator.exchange())
    assert update.texts[0].startswith("|error|[Invalid choice] Can't choose for Team Preview")
    assert update.texts[1] == ""
    simulator.abort(battle)


def test_a_switch_out_of_a_hidden_trap_is_refused_with_a_corrected_request(simulator: Simulator) -> None:
    trapping = f"{TRAPPING_TEAM}]{PROTECTING_TEAM}"
    battle, _ = started(simulator, BattleSpec(CUSTOM, 1, (PROTECTING_TEAM, trapping)))
    simulator.choose(battle, 0, "team 1234")
    simulator.choose(battle, 1, "team 12345")
    (request,) = requests(only(simulator.exchange()).texts[0])
    # Showdown keeps the secret only from the slot that is asked last.
    last_slot = request["active"][1]  # type: ignore[index]
    assert last_slot["maybeTrapped"] is True
    assert "trapped" not in last_slot

    simulator.choose(battle, 0, "move 1, switch 3")
    refusal = only(simulator.exchange()).texts[0]
    assert refusal.startswith("|error|[Unavailable choice] Can't switch: The active Pokémon is trapped")
    (corrected,) = requests(refusal)
    assert corrected["update"] is True
    assert corrected["active"][1]["trapped"] is True  # type: ignore[index]
    simulator.abort(battle)


def test_request_ids_count_up_over_both_sides_as_on_a_server(simulator: Simulator, make_spec: MakeSpec) -> None:
    battle, update = started(simulator, make_spec())
    assert [requests(text)[0]["rqid"] for text in update.texts] == [2, 3]
    for side in (0, 1):
        simulator.choose(battle, side, "team 1234")
    assert [requests(text)[0]["rqid"] for text in only(simulator.exchange()).texts] == [4, 5]
    simulator.abort(battle)


def test_a_side_that_chose_gets_nothing_until_the_other_has_chosen(simulator: Simulator, make_spec: MakeSpec) -> None:
    battle, _ = started(simulator, make_spec())
    simulator.choose(battle, 0, "team 1234")
    assert simulator.exchange() == []
    simulator.choose(battle, 1, "team 4321")
    assert "|turn|1" in only(simulator.exchange()).texts[0]
    simulator.abort(battle)


@pytest.mark.parametrize("side", [0, 1])
def test_a_forfeit_gives_the_battle_to_the_other_side(simulator: Simulator, make_spec: MakeSpec, side: int) -> None:
    battle, _ = started(simulator, make_spec(record=True))
    simulator.forfeit(battle, side)
    update = only(simulator.exchange())
    assert update.result is not None
    assert update.result.winner == 1 - side
    assert f"|-message|Player {side + 1} forfeited." in update.texts[0].split("\n")
    assert update.result.log[-1] == f"|win|Player {2 - side}"
    assert battle not in simulator.running


def test_an_aborted_battle_is_gone_and_delivers_nothing(simulator: Simulator, make_spec: MakeSpec) -> None:
    battle, _ = started(simulator, make_spec())
    simulator.abort(battle)
    assert simulator.exchange() == []
    with pytest.raises(ValueError, match=f"battle {battle} is not running"):
        simulator.choose(battle, 0, "default")


def test_an_error_in_one_battle_leaves_the_others_alone(simulator: Simulator, make_spec: MakeSpec) -> None:
    good = make_spec()
    bad = simulator.start_battle(BattleSpec(good.format, 1, ("", good.teams[1])))
    sound = simulator.start_battle(good)
    updates = {update.battle: update for update in simulator.exchange()}
    assert "p1 has no team" in (updates[bad].error or "")
    assert updates[sound].error is None
    assert bad not in simulator.running
    simulator.abort(sound)


def test_a_spec_that_cannot_be_played_is_refused_before_it_is_sent(make_spec: MakeSpec) -> None:
    spec = make_spec()
    with pytest.raises(ValueError, match="seed -1"):
        BattleSpec(spec.format, -1, spec.teams).to_json()
    with pytest.raises(ValueError, match="both sides are called 'x'"):
        BattleSpec(spec.format, 1, spec.teams, names=("x", "x")).to_json()


def test_many_battles_start_in_one_frame_larger_than_a_pipe(simulator: Simulator, make_spec: MakeSpec) -> None:
    battles = [simulator.start_battle(make_spec(seed=seed)) for seed in range(200)]
    simulator.send()  # 200 kB out and 1 MB back, unread while the next frame goes out
    for battle in battles:
        simulator.choose(battle, 0, "team 1234")
        simulator.choose(battle, 1, "team 1234")
    simulator.send()
    assert sorted(update.battle for update in simulator.receive()) == battles
    assert all("|turn|1" in update.texts[1] for update in simulator.receive())
    for battle in battles:
        simulator.abort(battle)
    assert simulator.exchange() == []


def without_times(log: tuple[str, ...]) -> list[str]:
    return [line for line in log if not line.startswith("|t:|")]


def test_the_same_seed_teams_and_choices_give_the_same_log_twice(simulator: Simulator, make_spec: MakeSpec) -> None:
    spec = make_spec(seed=11, record=True)
    other = make_spec(seed=12, record=True)
    (alone,) = play(simulator, [spec])
    # The second time among others, which must not matter.
    again = next(battle for battle in play(simulator, [other, spec, other]) if battle.spec == spec)
    assert without_times(alone.result.log) == without_times(again.result.log)
    assert alone.result.input_log == again.result.input_log
    (different,) = play(simulator, [BattleSpec(spec.format, 99, spec.teams, record=True)])
    assert without_times(different.result.log) != without_times(alone.result.log)


def test_the_same_seed_gives_the_same_log_in_another_process(simulator: Simulator, make_spec: MakeSpec) -> None:
    spec = make_spec(seed=21, record=True)
    (here,) = play(simulator, [spec])
    program = (
        "import json, sys\n"
        "from elitefurretai.engine.autoplay import play\n"
        "from elitefurretai.engine.simulator import BattleSpec, Simulator\n"
        "fields = json.load(sys.stdin)\n"
        "with Simulator() as simulator:\n"
        "    battle, = play(simulator, [BattleSpec(**{**fields, 'teams': tuple(fields['teams'])})])\n"
        "json.dump(battle.result.log, sys.stdout)\n"
    )
    fields = {"format": spec.format, "seed": spec.seed, "teams": spec.teams, "record": True}
    there = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(fields), capture_output=True, text=True, check=True
    )
    assert without_times(tuple(json.loads(there.stdout))) == without_times(here.result.log)


def test_the_spectators_log_holds_nothing_that_a_side_keeps_to_itself(
    simulator: Simulator, make_spec: MakeSpec
) -> None:
    (battle,) = play(simulator, [make_spec(seed=31, record=True)])
    shown = [line for line in battle.result.log if line.startswith(("|switch|", "|-damage|"))]
    assert shown
    assert all(
        line.split("|")[4 if line.startswith("|switch|") else 3].split()[0] in ("0",) or "/100" in line
        for line in shown
    )
    assert not any(line.startswith(("|split|", "|request|")) for line in battle.result.log)


def test_random_choices_are_made_for_every_kind_of_request() -> None:
    team = [{"condition": "100/100", "active": place < 2} for place in range(4)]
    force = {"forceSwitch": [True, True], "side": {"pokemon": team}}
    assert sorted(random_choice(force, random.Random(1)).split(", ")) == ["switch 3", "switch 4"]
    team[3]["condition"] = "0 fnt"
    assert sorted(random_choice(force, random.Random(1)).split(", ")) == ["pass", "switch 3"]
