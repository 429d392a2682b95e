"""The command line: one table of sub-commands, each in a module of its own.

A command's module has two functions: ``add_parser(subparsers)``, which adds a parser under the command's
name, and ``run(args) -> int``, whose result is the exit code. Only the module of the command that was asked
for is imported, so that ``--help`` answers at once and a command that needs no torch does not import it.

Exit codes: 0 done; 2 something the user can put right, said in one sentence; 130 interrupted. Anything else
that goes wrong is a fault of ours and ends in a traceback.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from elitefurretai import __version__

USER_ERROR = 2
INTERRUPTED = 130


@dataclass(frozen=True)
class Command:
    """A sub-command: what the user types, where it lives, and its line in ``--help``."""

    name: str
    module: str
    help: str


COMMANDS = (
    Command("doctor", "elitefurretai.doctor", "check this machine, and say what to do if something is missing"),
    Command("install", "elitefurretai.install_command", "install Pokémon Showdown into its cache folder"),
    Command("formats", "elitefurretai.engine.formats_command", "list the doubles formats that work"),
    Command("demo", "elitefurretai.demo", "play battles through the engine and show the throughput"),
)


class CommandModule(Protocol):
    """What the module of a sub-command offers."""

    def add_parser(self, subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> object: ...

    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; wrong usage and ``--help`` leave by SystemExit."""
    words = sys.argv[1:] if argv is None else list(argv)
    command = find_command(words)
    if command is None:
        return run_without_command(words)

    # Here and not above: the package of the engine is not needed to print the help.
    from elitefurretai.engine.errors import EngineError

    try:
        module = load(command)
        parser, subparsers = build_parser()
        module.add_parser(subparsers)
        return module.run(parser.parse_args(words))
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def find_command(words: Sequence[str]) -> Command | None:
    """The command that is asked for: the first word, as no option of the program itself takes a value."""
    name = next((word for word in words if not word.startswith("-")), None)
    return next((command for command in COMMANDS if command.name == name), None)


def load(command: Command) -> CommandModule:
    """Import the module of a command."""
    return cast(CommandModule, importlib.import_module(command.module))


def build_parser() -> tuple[argparse.ArgumentParser, argparse._SubParsersAction[argparse.ArgumentParser]]:
    """The program's own parser, and the action to which a command's module adds its parser."""
    parser = argparse.ArgumentParser(
        prog="elitefurretai",
        description="A trainer for Pokémon VGC doubles agents on Pokémon Showdown.",
        epilog="elitefurretai COMMAND --help explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"elitefurretai {__version__}")
    return parser, parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")


def run_without_command(words: Sequence[str]) -> int:
    """Answer ``--help`` and ``--version``, and name the nearest command to one that does not exist."""
    parser, subparsers = build_parser()
    for command in COMMANDS:
        subparsers.add_parser(command.name, help=command.help)
    name = next((word for word in words if not word.startswith("-")), None)
    if name is not None:
        nearest = difflib.get_close_matches(name, [command.name for command in COMMANDS], n=1)
        hint = f"did you mean '{nearest[0]}'?" if nearest else "see elitefurretai --help"
        parser.error(f"unknown command '{name}'; {hint}")
    parser.parse_args(words)
    parser.print_help(sys.stderr)
    return USER_ERROR
