"""``elitefurretai install``: put Pokémon Showdown into its cache folder, unless it is there already."""

from __future__ import annotations

import argparse

from elitefurretai.engine.install import ensure_showdown, showdown_version


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    subparsers.add_parser("install", description=__doc__)


def run(args: argparse.Namespace) -> int:
    folder = ensure_showdown()
    print(f"Pokémon Showdown {showdown_version(folder)} is ready in {folder}")
    return 0
