"""Starts real Showdown servers and keeps them until Ctrl-C or SIGTERM.

    python -m elitefurretai.engine.launch_servers --num-servers 4

Prints one line per healthy server with its websocket address. A server that dies is reported and the others
go on. Exit code 0 after Ctrl-C or SIGTERM; 2, with one sentence, if they cannot start or all have died.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from elitefurretai.engine.errors import EngineError, ServerError
from elitefurretai.engine.server import DEFAULT_PORT, LOOPBACK, ShowdownServer, launch

_POLL_SECONDS = 0.2
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _StopRequested(BaseException):
    """Raised by the signal handler, so that a start can be interrupted at any point."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    for number in _STOP_SIGNALS:
        signal.signal(number, _request_stop)
    try:
        with launch(
            options.num_servers, options.base_port, options.bind, options.data_dir, options.simulators
        ) as servers:
            _announce(servers, options.bind)
            _watch(servers)
    except _StopRequested:
        return 0
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return 2


def _announce(servers: Sequence[ShowdownServer], bind: str) -> None:
    for server in servers:
        print(f"Server ready: {server.websocket_url}", flush=True)
    if bind != LOOPBACK:
        print(
            f"Anyone who reaches {bind} can play on these servers under any name: there is no login.",
            file=sys.stderr,
            flush=True,
        )


def _watch(servers: Sequence[ShowdownServer]) -> NoReturn:
    """Reports each server that dies, and raises when none is left."""
    running = list(servers)
    while running:
        for server in list(running):
            if report := server.death():
                print(report, file=sys.stderr, flush=True)
                running.remove(server)
        time.sleep(_POLL_SECONDS)
    raise ServerError("All servers have died; start them again.")


def _request_stop(number: int, frame: FrameType | None) -> None:
    # Stopping the servers takes a moment; a second Ctrl-C must not leave it half done.
    for stop_signal in _STOP_SIGNALS:
        signal.signal(stop_signal, signal.SIG_IGN)
    raise _StopRequested


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m elitefurretai.engine.launch_servers",
        description="Start real Pokémon Showdown servers and keep them until Ctrl-C.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--num-servers", type=int, default=1, help="how many, each on a port of its own")
    parser.add_argument("--base-port", type=int, default=DEFAULT_PORT, help="port of the first; the others follow")
    parser.add_argument("--bind", default=LOOPBACK, help="IPv4 address to listen on; 0.0.0.0 opens it to the network")
    parser.add_argument("--data-dir", type=Path, help="keep config and logs here, a folder per port (default: removed)")
    parser.add_argument("--simulators", type=int, default=1, help="simulator processes per server")
    return parser


if __name__ == "__main__":
    sys.exit(main())
