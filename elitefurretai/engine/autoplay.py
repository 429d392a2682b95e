"""Battles played to the end with random choices: what demonstrations, benchmarks and tests of the engine need.

``random_choice`` reads the request alone and makes a choice that looks legal. It is not the action space (that is
``mdbo``, with its proof): Showdown refuses a choice now and then, when it hides something from the player, and the
decision is then taken again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from elitefurretai.engine.errors import EngineError
from elitefurretai.engine.formats import resolve_format
from elitefurretai.engine.simulator import BattleResult, BattleSpec, BattleUpdate, Simulator
from elitefurretai.engine.tracking import BattleTracker, Decision, Request

Chooser = Callable[[Request, random.Random], str]

SWITCH_RATE = 0.1
GIMMICK_RATE = 0.3
_GIMMICKS = {"canTerastallize": "terastallize", "canMegaEvo": "mega", "canDynamax": "dynamax"}
_AIMED_AT_FOES = frozenset(["normal", "any", "adjacentFoe"])


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

    def fill() -> None:
        while len(running) < at_once and (spec := next(waiting, None)) is not None:
            running[simulator.start_battle(spec)] = _Running(spec)

    fill()
    while running:
        for update in simulator.exchange():
            battle = running[update.battle]
            _advance(simulator, battle, update, choose)
            if update.result is not None:
                yield running.pop(update.battle).finished(update.result)
        fill()


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
    """A choice for any request, in the words of ``/choose``, uniform over moves and targets."""
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
    reviving = bool(team[slot].get("reviving"))
    candidates = [
        place
        for place, pokemon in enumerate(team, start=1)
        if place not in used.places and _is_fainted(pokemon) == reviving and (reviving or not pokemon["active"])
    ]
    if not candidates:
        return "pass"
    place = rng.choice(candidates)
    used.places.add(place)
    return f"switch {place}"


def _turn(team: list[dict[str, Any]], slot: int, active: dict[str, Any] | None, used: _Used, rng: random.Random) -> str:
    pokemon = team[slot]
    if active is None or _is_fainted(pokemon) or pokemon.get("commanding"):
        return "pass"
    if not active.get("trapped") and rng.random() < SWITCH_RATE:
        switch = _switch(team, slot, used, rng)
        if switch != "pass":
            return switch
    gimmick = next((word for key, word in _GIMMICKS.items() if active.get(key)), None)
    if used.gimmick or rng.random() >= GIMMICK_RATE:
        gimmick = None
    index = rng.choice([index for index, move in enumerate(active["moves"]) if not move.get("disabled")])
    # A Pokémon that is or becomes dynamaxed uses the Max Move of the place, which may want another target.
    dynamaxed = "maxMoves" in active and (gimmick == "dynamax" or not active.get("canDynamax"))
    move = active["maxMoves"]["maxMoves"][index] if dynamaxed else active["moves"][index]
    words = [f"move {index + 1}", *_target(move.get("target"), slot, rng)]
    if gimmick is not None:
        used.gimmick = True
        words.append(gimmick)
    return " ".join(words)


def _target(kind: str | None, slot: int, rng: random.Random) -> list[str]:
    if kind in _AIMED_AT_FOES:
        return [str(rng.randint(1, 2))]
    if kind == "adjacentAlly":
        return [f"-{2 - slot}"]
    if kind == "adjacentAllyOrSelf":
        return [f"-{rng.randint(1, 2)}"]
    return []


def _is_fainted(pokemon: dict[str, Any]) -> bool:
    return str(pokemon["condition"]).endswith(" fnt")
