"""Real Showdown servers, for whatever speaks Showdown's websocket protocol: poke-env players, browsers, bots.

In: a port, an address to bind to, and where the server may write. Out: a running, healthy server with the
address of its websocket, which is gone when the `with` block, or this process, ends.

The decision that shapes this file: the server is Showdown's own, unchanged, started by `host/server.js`
straight from the installed package, and every path that it writes to is redirected by `host/server_files.js`
into a folder of its own. The alternatives were worse: Showdown's start script compiles itself into its own
folder; a folder of symbolic links to the package needs --preserve-symlinks (or Node resolves the links and
Showdown writes into the package after all) and rights that Windows users lack; a copy costs 155 MB a server.

A server never outlives its launcher: it ends when its standard input closes, which the kernel sees to even if
the launcher is killed with -9, and it also watches its parent process.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import ipaddress
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from elitefurretai.engine.errors import PortTakenError, ServerError
from elitefurretai.engine.install import ensure_showdown, verify_showdown
from elitefurretai.engine.node import node_binary

DEFAULT_PORT = 8000
LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0  # one takes 0.2 s on an idle machine; the rest is for a cold disk and busy cores
STOP_SECONDS = 5.0

_HOST = Path(__file__).parent / "host"
_HEALTH_PATH = "/elitefurretai"
_KEPT_LINES = 200
_SHOWN_LINES = 15
# Showdown expects these to exist; npm's package lacks them.
_FOLDERS = ("config/avatars", "config/chat-plugins", "config/ladders", "databases", "logs/repl")
# Stock asks DNS for the name of each client, takes one without a name that answers on port 80 for a proxy
# and locks it: on a machine with a web server that can be every local player. This table names all of them.
_HOSTS = "RANGE,0.0.0.0,255.255.255.255,local\n"
_PROCESS_KINDS = (
    *("localartemis", "remoteartemis", "battlesearch", "datasearch", "friends", "chatdb", "pm", "modlog"),
    *("network", "validator", "verifier"),
)


class ShowdownServer:
    """One server process with its simulators. Use it in a `with` block, or call `start` and `stop`."""

    def __init__(
        self,
        port: int = DEFAULT_PORT,
        bind: str = LOOPBACK,
        data_dir: Path | None = None,
        simulators: int = 1,
        log_battles: bool = False,
    ) -> None:
        """Without `data_dir` the server writes into a temporary folder, which goes when it stops.

        `log_battles` keeps a record of each battle under logs/: teams, seed, choices and log.
        """
        self.port = port
        self.bind = bind
        self.simulators = simulators
        self.log_battles = log_battles
        self._data_dir = data_dir
        self._token = secrets.token_hex(16)
        self._output: deque[str] = deque(maxlen=_KEPT_LINES)
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._showdown: Path | None = None
        self._reader: threading.Thread | None = None

    @property
    def websocket_url(self) -> str:
        return f"ws://{self._reachable_host}:{self.port}/showdown/websocket"

    @property
    def pid(self) -> int | None:
        """The process id of the server while it runs or is waited for."""
        return None if self._process is None else self._process.pid

    @property
    def output(self) -> list[str]:
        """The last lines that the server and its simulators printed."""
        return list(self._output)

    def __enter__(self) -> ShowdownServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, timeout: float = START_SECONDS) -> None:
        """Starts the server and returns when it answers."""
        try:
            self.spawn()
            self.wait_until_healthy(timeout)
        except BaseException:
            self.stop()
            raise

    def spawn(self) -> None:
        """Starts the process and returns at once; a taken port is found before that."""
        if self._process is not None:
            raise ServerError(f"The server on port {self.port} is already started; stop it first.")
        check_port(self.port, self.bind)
        node, showdown = node_binary(), ensure_showdown()
        folder = self._make_folder()
        environment = {
            **os.environ,
            "ELITEFURRETAI_SHOWDOWN": str(showdown),
            "ELITEFURRETAI_SERVER_DIR": str(folder),
            "ELITEFURRETAI_INSTANCE": self._token,
            "ELITEFURRETAI_PARENT": str(os.getpid()),
            "ELITEFURRETAI_REMOVE_DIR": "1" if self._data_dir is None else "0",
        }
        self._showdown, self._folder = showdown, folder
        self._output.clear()
        try:
            self._process = subprocess.Popen(
                [str(node), "--require", str(_HOST / "server_files.js"), str(_HOST / "server.js")],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                # A session of its own: Ctrl-C in a terminal reaches the launcher alone, which stops them.
                start_new_session=True,
            )
        except OSError as error:
            raise ServerError(f"{node} cannot be started ({error.strerror}); check that it is a Node.js.") from error
        self._reader = threading.Thread(target=self._drain, args=(self._process,), daemon=True)
        self._reader.start()

    def wait_until_healthy(self, timeout: float = START_SECONDS) -> None:
        """Waits until this very server answers over HTTP; ServerError if it ends or takes too long."""
        deadline = time.monotonic() + timeout
        while not self._answers():
            code = self.poll()
            if code is not None:
                self._raise_known_cause()
                raise ServerError(self._failure(f"ended with code {code} while starting"))
            if time.monotonic() > deadline:
                raise ServerError(self._failure(f"did not answer within {timeout:.0f} s"))
            time.sleep(0.05)

    def poll(self) -> int | None:
        """The exit code of the server if it has ended, else None."""
        process = self._process
        if process is None:
            return None
        ended_before = process.returncode is not None
        code = process.poll()
        if code is not None and not ended_before:
            # Only now is it certain that the id of the group is not in use by someone else.
            _kill_group(process)
        return code

    def stop(self) -> None:
        """Ends the server with its simulators and removes its temporary folder. May be called at any time."""
        if self._process is not None:
            self._end(self._process)
        if self._data_dir is None and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._process = self._folder = self._reader = None

    def death(self) -> str | None:
        """A sentence on how the server ended, with its last output, if it has ended by itself."""
        code = self.poll()
        return None if code is None else self._failure(f"ended with code {code}")

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        if sys.platform != "win32":
            # A fork of this process may still hold the pipe, and then closing it tells the server nothing.
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        if process.returncode is None:
            _kill_group(process)
            process.wait()
        if self._reader is not None:
            self._reader.join(timeout=STOP_SECONDS)
        if process.stdout is not None:
            process.stdout.close()

    @property
    def _reachable_host(self) -> str:
        return LOOPBACK if self.bind == "0.0.0.0" else self.bind

    def _make_folder(self) -> Path:
        try:
            if self._data_dir is None:
                folder = Path(tempfile.mkdtemp(prefix=f"elitefurretai-server-{self.port}-"))
            else:
                folder = self._data_dir.absolute() / str(self.port)
            for name in _FOLDERS:
                (folder / name).mkdir(parents=True, exist_ok=True)
            config = folder / "config"
            (config / "config.js").write_text(self._config_text(), "utf-8")
            (config / "hosts.csv").write_text(_HOSTS, "utf-8")
        except OSError as error:
            raise ServerError(
                f"The server on port {self.port} cannot write its files ({error}); "
                "free some disk space or name another folder with --data-dir."
            ) from error
        return folder

    def _config_text(self) -> str:
        settings: dict[str, Any] = {
            "port": self.port,
            "bindaddress": self.bind,
            "subprocesses": {**dict.fromkeys(_PROCESS_KINDS, 0), "simulator": self.simulators},
            # Any name without a password, any number of battles at any speed, all from one address.
            "noguestsecurity": True,
            "nothrottle": True,
            "noipchecks": True,
            # No way in: no console for anyone, no access for Showdown's own staff, no control socket.
            "consoleips": [],
            "backdoor": False,
            "repl": False,
            # No way out: else each start calls the official login server and downloads a list of Tor exits.
            "noNetRequests": True,
            "remoteladder": False,
            "crashguardemail": None,
            # An error in one battle is printed and does not end the others.
            "crashguard": True,
            "watchconfig": False,
            "logchat": False,
            "logchallenges": self.log_battles,
            "loguserstats": 0,
            "autosavereplays": False,
            "nobattlesearch": True,
            "reportjoins": False,
            "reportbattles": False,
            "debugsimprocesses": False,
            "debugvalidatorprocesses": False,
            "debugdexsearchprocesses": False,
            "disablehotpatchall": True,
        }
        lines = [f"exports.{name} = {json.dumps(value)};" for name, value in settings.items()]
        return "\n".join(["// Written by elitefurretai/engine/server.py on each start.", *lines, ""])

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(self._reachable_host, self.port, timeout=2)
        try:
            connection.request("GET", _HEALTH_PATH)
            answer = connection.getresponse()
            return answer.status == 200 and answer.read(len(self._token)).decode("latin-1") == self._token
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _drain(self, process: subprocess.Popen[bytes]) -> None:
        """Reads all output, or the pipe fills and the server stops; keeps the last lines."""
        assert process.stdout is not None
        while line := process.stdout.readline(4096):
            self._output.append(line.decode("utf-8", "replace").rstrip())

    def _raise_known_cause(self) -> None:
        """A server that did not start has damaged files or lost a race for its port, or it is a bug."""
        if self._showdown is not None:
            verify_showdown(self._showdown)
        check_port(self.port, self.bind)

    def _failure(self, what: str) -> str:
        if self._reader is not None:
            self._reader.join(timeout=1.0)
        shown = [line for line in self._output if line][-_SHOWN_LINES:] or ["(nothing)"]
        sentence = (
            f"The Showdown server on port {self.port} {what}; start it again, and report this if it happens "
            "twice. Its last output was:"
        )
        return "\n    ".join([sentence, *shown])


@contextlib.contextmanager
def launch(
    num_servers: int,
    base_port: int = DEFAULT_PORT,
    bind: str = LOOPBACK,
    data_dir: Path | None = None,
    simulators: int = 1,
) -> Iterator[list[ShowdownServer]]:
    """Starts servers on `base_port` and the ports after it, together; all are healthy, or none is left."""
    if num_servers < 1:
        raise ServerError(f"{num_servers} servers cannot be started; ask for at least 1.")
    ports = range(base_port, base_port + num_servers)
    for port in ports:
        check_port(port, bind)
    servers = [ShowdownServer(port, bind, data_dir, simulators) for port in ports]
    with contextlib.ExitStack() as stack:
        for server in servers:
            stack.callback(server.stop)
            server.spawn()
        for server in servers:
            server.wait_until_healthy()
        yield servers


def check_port(port: int, bind: str = LOOPBACK) -> None:
    """Raises PortTakenError, or ServerError, if no server could listen there."""
    if not 1 <= port <= 65535:
        raise ServerError(f"Port {port} does not exist; choose one from 1024 to 65535.")
    try:
        ipaddress.IPv4Address(bind)
    except ValueError:
        # Showdown throws on the address of an IPv6 client (IPTools.getHost).
        raise ServerError(f"{bind} is not an IPv4 address; bind to {LOOPBACK} or to 0.0.0.0.") from None
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":
            # As Node does: a port whose last connections are still winding down is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind, port))
            probe.listen(1)
        except PermissionError as error:
            raise ServerError(f"Port {port} needs special rights; choose one from 1024 to 65535.") from error
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTakenError(
                    f"Port {port} on {bind} is taken by another program; "
                    "stop that, or choose other ports with --base-port."
                ) from error
            raise ServerError(
                f"Nothing can listen on {bind}:{port} ({error.strerror}); bind to {LOOPBACK} or to 0.0.0.0."
            ) from error


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
