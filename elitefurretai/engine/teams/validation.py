"""Which texts are legal teams, remembered from one start to the next.

In: a format and texts. Out: for each, what Showdown's validator says.

The shaping decision: the answer depends on nothing but the text, the format and the installed Showdown, so it
is kept in a file named after that install. A worker that starts for the second time needs no Node process to
know its teams, which saves 1 to 2 s. A damaged or missing file costs that time again, and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from elitefurretai.engine.install import cache_folder, install_folder
from elitefurretai.engine.workshop import CheckedTeam, TeamWorkshop

MAX_REMEMBERED = 20_000  # about 15 MB; the oldest are forgotten first

_log = logging.getLogger(__name__)


def check_teams(format_id: str, texts: Sequence[str]) -> list[CheckedTeam]:
    """What the validator says of each text, from memory where it is known."""
    memory_file = cache_folder() / f"team-checks-{install_folder().name}.json"
    known = _load(memory_file)
    keys = [_key(format_id, text) for text in texts]
    unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if unknown:
        with TeamWorkshop() as workshop:
            checked = workshop.check(format_id, list(unknown.values()))
        known.update(zip(unknown, checked, strict=True))
        _save(memory_file, known)
    return [known[key] for key in keys]


def _key(format_id: str, text: str) -> str:
    return hashlib.blake2b(f"{format_id}\n{text}".encode(), digest_size=16).hexdigest()


def _load(file: Path) -> dict[str, CheckedTeam]:
    try:
        entries = json.loads(file.read_bytes())
        return {str(key): CheckedTeam(str(packed), tuple(map(str, words))) for key, (packed, words) in entries.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        _log.info("the memory of team checks in %s is unreadable (%s) and is made anew", file, error)
        return {}


def _save(file: Path, known: dict[str, CheckedTeam]) -> None:
    """Written beside and renamed, so that a reader sees the old file or the new one.

    Of two workers that write at once one wins; the other's answers are worked out again when they are needed.
    """
    kept = list(known.items())[-MAX_REMEMBERED:]
    text = json.dumps({key: [team.packed, team.problems] for key, team in kept})
    partial = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as output:
            output.write(text)
        Path(partial).replace(file)
    except OSError as error:
        # The teams are checked all the same; the next start checks them again.
        _log.warning("team checks cannot be remembered in %s (%s)", file, error.strerror)
        if partial:
            with contextlib.suppress(OSError):
                Path(partial).unlink(missing_ok=True)
