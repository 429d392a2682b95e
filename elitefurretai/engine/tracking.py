"""One side's view of a battle, followed with poke-env.

In: the text that a Showdown server sends a player, from the embedded simulator or from a websocket, in pieces of any
size that end at a line's end. Out: a `DoubleBattle` that is up to date, the last request, and which `Decision` is due.

The shaping decision: this layer only feeds. It never asks Showdown anything and never decides; whoever drives a
battle reads ``due`` after each ``feed`` and answers through whatever carried the text.
"""

from __future__ import annotations

import logging
from enum import Enum
from typing import Any

import orjson
from poke_env.teambuilder import Teambuilder

from elitefurretai.engine.errors import TrackingError
from elitefurretai.engine.formats import FormatSpec
from elitefurretai.engine.tracked_battle import TrackedBattle

_logger = logging.getLogger(__name__)

Request = dict[str, Any]

# Chat, timers and decoration of a server's room. poke-env raises on lines that it does not know.
_NOT_THE_BATTLE = frozenset(
    (
        "init deinit title j J l L n N c c: chat inactive inactiveoff t: raw html uhtml uhtmlchange askreg hidelines "
        "unlink sentchoice expire tempnotify tempnotifyoff bigerror debug seed gametype"
    ).split()
) | {""}
# And lines that poke-env itself passes over, after having copied them twice.
_PASSED_OVER = _NOT_THE_BATTLE | frozenset(TrackedBattle.MESSAGES_TO_IGNORE)


class Decision(Enum):
    """What a battle wants from a side now."""

    WAIT = "wait"
    """Nothing: the other side is to choose, or the text so far has not come to a request."""
    PREVIEW = "preview"
    TURN = "turn"
    FORCE_SWITCH = "forced switch"
    OVER = "over"


class BattleTracker:
    """Follows one side of one battle."""

    def __init__(self, format_spec: FormatSpec, player_name: str, tag: str = "battle") -> None:
        self.format = format_spec
        self.battle = TrackedBattle(tag, player_name, _logger, gen=format_spec.gen)
        self.request: Request | None = None
        """The last request, as Showdown sent it."""
        self.due = Decision.WAIT
        self.refusals: list[str] = []
        """Showdown's words for each choice it refused, in order."""

    def feed(self, text: str) -> Decision:
        """Take in new text and say what is due after it."""
        due = Decision.WAIT
        for line in text.split("\n"):
            try:
                due = self._read(line) or due
            except Exception as error:
                raise TrackingError(
                    f"poke-env could not follow {self.battle.battle_tag} as {self.battle.player_username} "
                    f"at {line[:300]!r}: {type(error).__name__}: {error}"
                ) from error
        # A refusal asks the same decision again; otherwise lines without a request leave nothing to decide.
        self.due = due
        return due

    def _read(self, line: str) -> Decision | None:
        parts = line.split("|")
        if len(parts) < 2:
            return None
        kind = parts[1]
        if kind == "request":
            return self._read_request(line[len("|request|") :])
        if kind in _PASSED_OVER:
            return None
        if kind == "error":
            self.refusals.append("|".join(parts[2:]))
            return decision_of(self.request)
        if kind == "win":
            self.battle.won_by(parts[2])
            return Decision.OVER
        if kind == "tie":
            self.battle.tied()  # type: ignore[no-untyped-call]  # poke-env leaves its `-> None` out
            return Decision.OVER
        if kind == "showteam":
            self._read_team_sheet(parts[2], "|".join(parts[3:]))
            return None
        self.battle.parse_message(parts)
        return None

    def _read_request(self, text: str) -> Decision | None:
        request = orjson.loads(text) if text else None
        if not request:  # a server sends an empty one, or null, to a player who has nothing to do in the room
            return None
        self.request = request
        self.battle.parse_request(request)
        return decision_of(request)

    def _read_team_sheet(self, role: str, packed: str) -> None:
        """Give each of the foe's previewed Pokémon what its team sheet shows; the own team is in the request."""
        if role == self.battle.player_role:
            return
        previewed = self.battle.teampreview_opponent_team
        entries = Teambuilder.parse_packed_team(packed)
        # Both lists are in the order of the team; names would not do (a Zacian-Crowned is previewed as Zacian-*).
        for preview, entry in zip(previewed, entries, strict=True):
            pokemon = self.battle.get_pokemon(f"{role}: {entry.nickname}", details=preview._last_details)
            pokemon._update_from_teambuilder(entry)
            # A sheet shows neither EVs nor IVs: poke-env would take them for 0.
            pokemon._evs = pokemon._ivs = None
            pokemon._stats = dict.fromkeys(pokemon._stats)


def decision_of(request: Request | None) -> Decision:
    """Which decision a request asks for."""
    if not request or request.get("wait"):
        return Decision.WAIT
    if request.get("teamPreview"):
        return Decision.PREVIEW
    if "forceSwitch" in request:
        return Decision.FORCE_SWITCH
    return Decision.TURN
