"""Problems of the engine that a person can fix.

The text of each is one clear sentence with the way out. Command lines print it and exit with code 2;
nothing else in the engine is meant to be shown to a person.
"""


class EngineError(Exception):
    """A problem that a person can fix; its text is one clear sentence with the way out."""


class NodeMissingError(EngineError):
    """There is no Node.js to run Showdown with."""


class InstallError(EngineError):
    """Showdown could not be installed, or the installed files are damaged."""


class PortTakenError(EngineError):
    """Another program already listens on the port that a server was to use."""


class ServerError(EngineError):
    """A Showdown server did not start, or died."""


class HostError(EngineError):
    """The Node host failed; ``battles`` maps each battle that was lost with it to its seed."""

    def __init__(self, what: str, last_words: str) -> None:
        super().__init__(what)
        self.what = what
        self.last_words = last_words
        self.battles: dict[int, int] = {}

    def __str__(self) -> str:
        text = self.what
        if self.battles:
            shown = ", ".join(f"{battle} (seed {seed})" for battle, seed in list(self.battles.items())[:8])
            more = f" and {len(self.battles) - 8} more" if len(self.battles) > 8 else ""
            text += f"; battles lost: {shown}{more}"
        if self.last_words:
            text += f"; it last printed:\n{self.last_words}"
        return text


class HostDiedError(HostError):
    """The Node host ended while it was needed."""

    def __init__(self, code: int | None, last_words: str) -> None:
        how = f"with signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        super().__init__(f"the Showdown host ended {how}; restart() begins anew", last_words)
        self.code = code


class HostHungError(HostError):
    """The Node host did not answer in time."""

    def __init__(self, seconds: float, last_words: str) -> None:
        super().__init__(f"the Showdown host did not answer for {seconds:g} s; restart() begins anew", last_words)


class FormatError(EngineError):
    """A battle format that does not exist here or cannot be played."""


class TeamError(EngineError):
    """A team, or a folder of teams, that cannot be used."""


class TrackingError(EngineError):
    """poke-env could not follow a battle; names the battle, the side and the line."""
