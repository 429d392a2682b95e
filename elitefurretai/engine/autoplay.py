"""Battles played to the end with random choices: what demonstrations, benchmarks and tests of the engine need.

``random_choice`` reads the request alone and makes a choice that looks legal. It is not the action space (that is
``mdbo``, with its proof): Showdown refuses a choice now and then, when it hides something from the player, and the
decision is then taken again.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from elitefurretai.engine.errors import EngineError, HostError
from elitefurretai.engine.formats import resolve_format
from elitefurretai.engine.simulator import BattleResult, BattleSpec, BattleUpdate, Simulator
from elitefurretai.engine.tracking import BattleTracker, Decision, Request

Chooser = Callable[[Request, random.Random], str]

_GIMMICKS = {"canTerastallize": "terastallize", "canMegaEvo": "mega", "canDynamax": "dynamax"}


@dataclass(frozen=True)
class PlayedBattle:
    """A battle that came to its end."""

    spec: BattleSpec
    result: BattleResult
    choices: tuple[tuple[int, str], ...]
    """Side and text of every choice in order, refused ones included. With the spec they replay the battle (Showdown's
    own input log does not always: it writes a target behind a locked move, and refuses to read it)."""
    refusals: tuple[str, ...]


class _Running:
    """One battle under way: both sides' trackers and their shared source of choices."""

    def __init__(self, spec: BattleSpec) -> None:
        self.spec = spec
        self.rng = random.Random(spec.seed)
        format_spec = resolve_format(spec.format)
        self.trackers = [BattleTracker(format_spec, name, f"battle-{spec.seed}") for name in spec.names]
        self.choices: list[tuple[int, str]] = []

    def finished(self, result: BattleResult) -> PlayedBattle:
        refusals = [words for tracker in self.trackers for words in tracker.refusals]
        return PlayedBattle(self.spec, result, tuple(self.choices), tuple(refusals))


def play(
    simulator: Simulator, specs: Iterable[BattleSpec], *, at_once: int = 16, choose: Chooser | None = None
) -> Iterator[PlayedBattle]:
    """Play each battle to its end, ``at_once`` at a time, and give them in the order in which they end.

    The choices of a battle follow from its seed, so that a battle is the same whatever runs beside it.
    """
    waiting = iter(specs)
    running: dict[int, _Running] = {}
    choose = choose or random_choice

    def fill(places: int) -> None:
        for spec in itertools.islice(waiting, places):
            running[simulator.start_battle(spec)] = _Running(spec)

    try:
        # Two halves: Node plays one while Python reads the other. Each reply is to the older of two frames under way.
        for half in (at_once - at_once // 2, at_once // 2):
            fill(half)
            simulator.send()
        while running:
            ended = 0
            for update in simulator.receive():
                battle = running[update.battle]
                _advance(simulator, battle, update, choose)
                if update.result is not None:
                    ended += 1
                    yield running.pop(update.battle).finished(update.result)
            fill(ended)
            simulator.send()
        while simulator.outstanding:
            simulator.receive()
    except HostError:
        running.clear()  # they went with the host
        raise
    finally:
        if running:
            _leave(simulator, running)


def _leave(simulator: Simulator, running: Iterable[int]) -> None:
    """Give the simulator back without battles of ours or replies under way, also when the caller stopped listening."""
    for battle in set(running) & simulator.running.keys():
        simulator.abort(battle)
    simulator.send()
    while simulator.outstanding:
        simulator.receive()


def _advance(simulator: Simulator, battle: _Running, update: BattleUpdate, choose: Chooser) -> None:
    if update.error is not None:
        raise EngineError(f"battle with seed {battle.spec.seed} failed in Showdown: {update.error}")
    for side, tracker in enumerate(battle.trackers):
        if not update.texts[side]:
            continue
        due = tracker.feed(update.texts[side])
        if due in (Decision.WAIT, Decision.OVER):
            continue
        assert tracker.request is not None
        choice = choose(tracker.request, battle.rng)
        battle.choices.append((side, choice))
        simulator.choose(update.battle, side, choice)


def random_choice(request: Request, rng: random.Random) -> str:
    """A choice for any request, in the words of ``/choose``, uniform over each slot's orders."""
    team = request["side"]["pokemon"]
    if request.get("teamPreview"):
        order = rng.sample(range(1, len(team) + 1), request.get("maxChosenTeamSize") or len(team))
        return "team " + "".join(map(str, order))
    used = _Used()
    if "forceSwitch" in request:
        return ", ".join(
            _switch(team, slot, used, rng) if must else "pass" for slot, must in enumerate(request["forceSwitch"])
        )
    return ", ".join(_turn(team, slot, active, used, rng) for slot, active in enumerate(request["active"]))


@dataclass
class _Used:
    """What the first slot's choice leaves no longer free for the second."""

    places: set[int] = field(default_factory=set)
    gimmick: bool = False


def _switch(team: list[dict[str, Any]], slot: int, used: _Used, rng: random.Random) -> str:
    places = _places(team, slot, used)
    if not places:
        return "pass"
    place = rng.choice(places)
    used.places.add(place)
    return f"switch {place}"


def _places(team: list[dict[str, Any]], slot: int, used: _Used) -> list[int]:
    """Where in the team a replacement for the slot stands; for Revival Blessing, the fainted."""
    reviving = bool(team[slot].get("reviving"))
    return [
        place
        for place, pokemon in enumerate(team, start=1)
        if place not in used.places and _is_fainted(pokemon) == reviving and (reviving or not pokemon["active"])
    ]


def _turn(team: list[dict[str, Any]], slot: int, active: dict[str, Any] | None, used: _Used, rng: random.Random) -> str:
    pokemon = team[slot]
    if active is None or _is_fainted(pokemon) or pokemon.get("commanding"):
        return "pass"
    gimmick = next((word for key, word in _GIMMICKS.items() if active.get(key) and not used.gimmick), "")
    switches = [] if active.get("trapped") else _places(team, slot, used)
    orders: list[tuple[int, int | None, str]] = []
    for word in ("", gimmick) if gimmick else ("",):
        # A Pokémon that is or becomes dynamaxed uses the Max Move of the place, which may want another target.
        dynamaxed = "maxMoves" in active and (word == "dynamax" or not active.get("canDynamax"))
        moves = active["maxMoves"]["maxMoves"] if dynamaxed else active["moves"]
        for index, move in enumerate(moves, start=1):
            if not move.get("disabled") and not active["moves"][index - 1].get("disabled"):
                orders += [(index, target, word) for target in _targets(move.get("target"), slot)]
    number = rng.randrange(len(switches) + len(orders))
    if number < len(switches):
        used.places.add(switches[number])
        return f"switch {switches[number]}"
    index, target, word = orders[number - len(switches)]
    used.gimmick = used.gimmick or bool(word)
    return " ".join([f"move {index}", *([str(target)] if target else []), *([word] if word else [])])


def _targets(kind: str | None, slot: int) -> tuple[int | None, ...]:
    ally = -2 if slot == 0 else -1
    if kind in ("normal", "any"):
        return (1, 2, ally)
    if kind == "adjacentFoe":
        return (1, 2)
    if kind == "adjacentAlly":
        return (ally,)
    if kind == "adjacentAllyOrSelf":
        return (-1, -2)
    return (None,)


def _is_fainted(pokemon: dict[str, Any]) -> bool:
    return str(pokemon["condition"]).endswith(" fnt")
