"""What a battle format is, parsed once.

In: a name as people type it. Out: a frozen `FormatSpec`; no other module looks into a format's name.

The facts come from Showdown's own rule tables, written to ``showdown/formats.json`` when the pinned version changes
(``python -m elitefurretai.engine.formats --write``; a test compares them with the installed package). So a look-up
costs no Node process, and works before Showdown is installed.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from elitefurretai.engine.errors import FormatError

FORMATS_FILE = Path(__file__).parent / "showdown" / "formats.json"
DEFAULT_FORMAT = "gen9vgc2023regulationc"

PROVEN_FORMATS = (
    "gen9vgc2023regc",
    "gen9vgc2023regd",
    "gen9vgc2024regg",
    "gen9vgc2025regi",
    "gen9championsvgc2026regma",
    "gen9championsvgc2026regmabo3",
    "gen9championsvgc2026regmb",
    "gen9championsvgc2026regmbbo3",
    "gen8vgc2022",
    "gen9randomdoublesbattle",
    "gen9doublesou",
)
"""Formats that the tests play to the end; other doubles formats are likely to work."""

TeamSheets = Literal["none", "optional", "forced"]


@dataclass(frozen=True)
class FormatSpec:
    """A two-player doubles format."""

    id: str
    name: str
    gen: int
    mod: str
    """Showdown's data set for the format, such as gen9predlc."""
    random_teams: bool
    """Showdown deals the teams; players bring none."""
    bring: int | None
    """How many Pokémon are picked at team preview; None where the whole team fights."""
    team_preview: bool
    min_team_size: int
    max_team_size: int
    open_team_sheets: TeamSheets
    best_of: int
    gimmicks: tuple[str, ...]
    """Of terastallize, mega, dynamax, zmove: those that a request can offer."""

    @property
    def brought(self) -> int:
        """How many Pokémon of a full team fight."""
        return self.bring or self.max_team_size


def resolve_format(name: str) -> FormatSpec:
    """The format called ``name``, or an error that names the nearest ones."""
    doubles, others = _formats()
    wanted = _alias(re.sub(r"[^a-z0-9]", "", name.lower()))
    if wanted in doubles:
        return doubles[wanted]
    if wanted in others:
        raise FormatError(f"{name!r} is not a two-player doubles format; {_nearest(wanted, doubles)}")
    raise FormatError(f"there is no format {name!r}; {_nearest(wanted, doubles)}")


def doubles_formats() -> list[FormatSpec]:
    """Every two-player doubles format of the pinned Showdown, in its order."""
    return list(_formats()[0].values())


def _alias(wanted: str) -> str:
    """Showdown shortened ``regulationc`` to ``regc``; people and old files still write it out."""
    return wanted.replace("regulation", "reg")


def _nearest(wanted: str, known: dict[str, FormatSpec]) -> str:
    close = difflib.get_close_matches(wanted, known, n=4, cutoff=0.5) or list(PROVEN_FORMATS[:4])
    return f"did you mean {', '.join(close[:-1])} or {close[-1]}?" if len(close) > 1 else f"did you mean {close[0]}?"


@cache
def _formats() -> tuple[dict[str, FormatSpec], frozenset[str]]:
    data = json.loads(FORMATS_FILE.read_text(encoding="utf-8"))
    specs = [_spec(entry) for entry in data["doubles"]]
    return {spec.id: spec for spec in specs}, frozenset(data["others"])


def _spec(entry: dict[str, Any]) -> FormatSpec:
    values = {field.name: entry[_camel(field.name)] for field in fields(FormatSpec)}
    return FormatSpec(**{**values, "gimmicks": tuple(values["gimmicks"])})


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _installed_formats() -> str:
    from elitefurretai.engine.workshop import TeamWorkshop

    with TeamWorkshop() as workshop:
        formats = workshop.formats()
    rows = ",\n".join("  " + json.dumps(entry, ensure_ascii=False) for entry in formats["doubles"])
    return f'{{"doubles": [\n{rows}\n],\n"others": {json.dumps(formats["others"])}}}\n'


def main(arguments: list[str] | None = None) -> int:
    """Compare ``formats.json`` with the installed Showdown, or write it."""
    parser = argparse.ArgumentParser(prog="python -m elitefurretai.engine.formats", description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="write the file instead of comparing")
    installed = _installed_formats() if not parser.parse_args(arguments).write else None
    if installed is None:
        FORMATS_FILE.write_text(_installed_formats(), encoding="utf-8")
        return 0
    same = FORMATS_FILE.read_text(encoding="utf-8") == installed
    print("formats.json is up to date" if same else "formats.json differs from the installed Showdown; use --write")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
