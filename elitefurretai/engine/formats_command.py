"""``elitefurretai formats``: list the doubles formats, and which of them the tests play to the end."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from elitefurretai.engine.formats import PROVEN_FORMATS, FormatSpec, doubles_formats, resolve_format


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("formats", description=__doc__)
    parser.add_argument("name", nargs="?", help="show one format; aliases such as gen9vgc2023regulationc work")
    parser.add_argument("--all", action="store_true", help="also the doubles formats that no test plays")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")


def run(args: argparse.Namespace) -> int:
    if args.name:
        specs = [resolve_format(args.name)]
    else:
        specs = doubles_formats()
        if not args.all:
            specs = [spec for spec in specs if spec.id in PROVEN_FORMATS]
    if args.json:
        print(json.dumps([{**asdict(spec), "proven": spec.id in PROVEN_FORMATS} for spec in specs], indent=2))
        return 0
    width = max(len(spec.id) for spec in specs)
    for spec in specs:
        mark = "proven  " if spec.id in PROVEN_FORMATS else "untested"
        print(f"{spec.id:{width}}  {mark}  {_summary(spec)}")
    if not args.name and not args.all:
        print(f"\n{len(doubles_formats()) - len(specs)} more doubles formats are untested: formats --all lists them.")
    return 0


def _summary(spec: FormatSpec) -> str:
    parts = [f"gen {spec.gen}", f"brings {spec.brought}", " and ".join(spec.gimmicks) or "no gimmick"]
    if spec.random_teams:
        parts.append("teams dealt by Showdown")
    if spec.open_team_sheets != "none":
        parts.append(f"open team sheets {spec.open_team_sheets}")
    if spec.best_of > 1:
        parts.append(f"best of {spec.best_of} on a server")
    return ", ".join(parts)
