from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.player import RandomPlayer

from elitefurretai.engine import install
from elitefurretai.engine.errors import InstallError, PortTakenError, ServerError
from elitefurretai.engine.install import ensure_showdown, install_folder
from elitefurretai.engine.server import STOP_SECONDS, ShowdownServer, launch

LAUNCHER = [sys.executable, "-u", "-m", "elitefurretai.engine.launch_servers"]


def free_ports(count: int) -> int:
    """The first of `count` neighbouring ports that are free now."""
    for base in range(20_000 + os.getpid() % 10_000, 60_000, count):
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(base, base + count):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
            return base
    raise AssertionError("no free ports")


def wait_for(condition: Callable[[], object], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def is_gone(process: psutil.Process) -> bool:
    """Ended; a zombie only waits for whoever adopted it, which is not up to us."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def family(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def server_processes(pid: int | None) -> list[psutil.Process]:
    """The server and its simulator, once the simulator is there."""
    assert pid is not None
    wait_for(lambda: len(family(pid)) == 2, 10, "the server has its simulator")
    return family(pid)


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    found = ((file, file.stat()) for file in folder.rglob("*"))
    return {str(file): (stat.st_size, stat.st_mtime_ns) for file, stat in found}


def play(server: ShowdownServer, battles: int, prefix: str) -> tuple[RandomPlayer, RandomPlayer]:
    configuration = ServerConfiguration(server.websocket_url, "https://play.pokemonshowdown.com/action.php?")
    players = [
        RandomPlayer(
            account_configuration=AccountConfiguration(f"{prefix}{side}", None),
            server_configuration=configuration,
            battle_format="gen9randomdoublesbattle",
            max_concurrent_battles=battles,
        )
        for side in (1, 2)
    ]

    async def run() -> None:
        await asyncio.wait_for(players[0].battle_against(players[1], n_battles=battles), timeout=90)
        for player in players:
            await player.ps_client.stop_listening()  # type: ignore[no-untyped-call]

    asyncio.run(run())
    return players[0], players[1]


@contextlib.contextmanager
def running_launcher(*arguments: str, servers: int) -> Iterator[subprocess.Popen[str]]:
    """The command line, from the moment at which it has announced all of its servers."""
    command = [*LAUNCHER, "--num-servers", str(servers), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as launcher:
        try:
            assert launcher.stdout is not None
            lines = [launcher.stdout.readline() for _ in range(servers)]
            assert all(line.startswith("Server ready: ws://") for line in lines), lines
            yield launcher
        finally:
            launcher.kill()


@pytest.fixture(scope="module")
def showdown() -> Path:
    return ensure_showdown()


@pytest.fixture(scope="module")
def server(showdown: Path) -> Iterator[ShowdownServer]:
    with ShowdownServer(port=free_ports(1)) as running:
        yield running


def test_two_poke_env_players_battle_without_login_and_the_package_is_not_written_to(showdown: Path) -> None:
    before = listing(install_folder())
    with ShowdownServer(port=free_ports(1)) as server:
        first, second = play(server, battles=1, prefix="one")
        output = "\n".join(server.output)
    assert (first.n_finished_battles, first.n_won_battles + second.n_won_battles) == (1, 1)
    assert "CRASH" not in output, output
    assert listing(install_folder()) == before


def test_many_battles_at_once_meet_no_rate_limit(server: ShowdownServer) -> None:
    # Stock allows 12 in three minutes and 5 at the same time.
    first, _ = play(server, battles=16, prefix="many")
    assert first.n_finished_battles == 16


def test_a_server_listens_on_loopback_only_and_talks_to_nobody(server: ShowdownServer) -> None:
    assert server.pid is not None
    connections = [c for process in family(server.pid) for c in process.net_connections("tcp")]
    listening = [(c.laddr.ip, c.laddr.port) for c in connections if c.status == psutil.CONN_LISTEN]
    assert listening == [("127.0.0.1", server.port)]
    assert {c.raddr.ip for c in connections if c.status != psutil.CONN_LISTEN} <= {"127.0.0.1"}


def test_a_stopped_server_leaves_no_process_and_no_folder(showdown: Path, tmp_path: Path) -> None:
    server = ShowdownServer(port=free_ports(1))
    server.start()
    processes = server_processes(server.pid)
    folder = Path(processes[0].cwd())
    server.stop()
    assert not any(process.is_running() for process in processes), "not even a zombie"
    assert not folder.exists()
    server.stop()
    with ShowdownServer(port=server.port):
        """The port is free again at once."""


def test_a_data_dir_keeps_the_config_of_each_port(showdown: Path, tmp_path: Path) -> None:
    port = free_ports(1)
    with ShowdownServer(port=port, data_dir=tmp_path):
        pass
    config = (tmp_path / str(port) / "config" / "config.js").read_text()
    assert "exports.noguestsecurity = true;" in config
    assert "exports.backdoor = false;" in config


def test_a_taken_port_is_named_before_anything_starts(showdown: Path) -> None:
    base = free_ports(3)
    before = psutil.Process().children()
    with (
        socket.create_server(("127.0.0.1", base + 2)),
        pytest.raises(PortTakenError, match=f"Port {base + 2} on 127.0.0.1 is taken"),
        launch(3, base),
    ):
        pass
    assert psutil.Process().children() == before


def test_a_port_lost_to_another_program_during_the_start_is_named(showdown: Path) -> None:
    server = ShowdownServer(port=free_ports(1))
    server.spawn()
    try:
        with (
            socket.create_server(("127.0.0.1", server.port)),
            pytest.raises(PortTakenError, match=f"Port {server.port}"),
        ):
            server.wait_until_healthy()
    finally:
        server.stop()


def test_addresses_and_numbers_that_cannot_work_are_refused() -> None:
    with pytest.raises(ServerError, match="Port 70000 does not exist"):
        ShowdownServer(port=70_000).start()
    with pytest.raises(ServerError, match="::1 is not an IPv4 address"):
        ShowdownServer(bind="::1").start()
    with pytest.raises(ServerError, match="ask for at least 1"), launch(0):
        pass


def test_a_damaged_install_is_the_reason_given_when_a_server_does_not_start(
    showdown: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = install_folder()
    monkeypatch.setenv(install.CACHE_VARIABLE, str(tmp_path))
    shutil.copytree(source, install_folder(), symlinks=True)
    (ensure_showdown() / "dist" / "server" / "rooms.js").write_text("")
    with pytest.raises(InstallError, match=r"dist/server/rooms\.js has 0 bytes"):
        ShowdownServer(port=free_ports(1)).start()


def test_a_server_is_stopped_at_any_moment_of_its_start(showdown: Path) -> None:
    server = ShowdownServer(port=free_ports(1))
    for _ in range(3):
        server.spawn()
        assert server.pid is not None
        process = psutil.Process(server.pid)
        server.stop()
        assert not process.is_running()
    assert not list(Path(tempfile.gettempdir()).glob(f"elitefurretai-server-{server.port}-*"))


@contextlib.contextmanager
def server_whose_pipe_a_fork_holds() -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """A process with a server, and a fork made after its start, as `multiprocessing` makes them."""
    program = (
        "import os, signal, sys\n"
        "from elitefurretai.engine.server import ShowdownServer\n"
        f"server = ShowdownServer(port={free_ports(1)})\n"
        "server.start()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.pause()\n"
        "print(server.pid, child, flush=True)\n"
        "sys.stdin.readline()\n"
        "server.stop()\n"
        "print('stopped', flush=True)\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            server, fork = (psutil.Process(int(pid)) for pid in parent.stdout.readline().split())
            try:
                yield parent, server
            finally:
                fork.kill()
        finally:
            parent.kill()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no fork")
def test_a_fork_that_holds_the_pipe_does_not_delay_a_stop(showdown: Path) -> None:
    with server_whose_pipe_a_fork_holds() as (parent, server):
        assert parent.stdin is not None
        assert parent.stdout is not None
        start = time.monotonic()
        parent.stdin.write("\n")
        parent.stdin.flush()
        assert parent.stdout.readline() == "stopped\n"
        assert time.monotonic() - start < STOP_SECONDS
        assert not server.is_running()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no fork")
def test_a_fork_that_holds_the_pipe_does_not_keep_the_server_of_a_killed_process(showdown: Path) -> None:
    with server_whose_pipe_a_fork_holds() as (parent, server):
        parent.kill()
        wait_for(lambda: is_gone(server), 5, "the server is gone")


def test_a_killed_server_is_reported_with_its_simulators_gone(showdown: Path) -> None:
    with ShowdownServer(port=free_ports(1)) as server:
        processes = server_processes(server.pid)
        assert server.death() is None
        processes[0].kill()
        wait_for(server.death, 5, "the death is noticed")
        assert f"port {server.port} ended with code -9" in str(server.death())
        wait_for(lambda: all(map(is_gone, processes)), 5, "the simulator is gone")


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM])
def test_the_launcher_stops_cleanly(showdown: Path, stop_signal: signal.Signals) -> None:
    base = free_ports(2)
    with running_launcher("--base-port", str(base), servers=2) as launcher:
        processes = family(launcher.pid)[1:]
        assert len(processes) >= 2
        launcher.send_signal(stop_signal)
        _, errors = launcher.communicate(timeout=20)
        assert (launcher.returncode, errors) == (0, "")
        assert not any(process.is_running() for process in processes), "not even a zombie"


def test_servers_end_within_five_seconds_of_a_launcher_killed_with_9(showdown: Path) -> None:
    base = free_ports(2)
    with running_launcher("--base-port", str(base), servers=2) as launcher:
        servers = psutil.Process(launcher.pid).children()
        processes = [process for server in servers for process in server_processes(server.pid)]
        folders = [Path(server.cwd()) for server in servers]
        launcher.kill()
        wait_for(lambda: all(map(is_gone, processes)), 5, "all servers and simulators are gone")
    assert not any(folder.exists() for folder in folders)


def test_the_launcher_reports_a_dead_server_and_ends_with_2_when_none_is_left(showdown: Path) -> None:
    base = free_ports(2)
    with running_launcher("--base-port", str(base), servers=2) as launcher:
        assert launcher.stderr is not None
        first, second = psutil.Process(launcher.pid).children()
        first.kill()
        assert "ended with code -9" in launcher.stderr.readline()
        assert launcher.poll() is None
        second.kill()
        _, errors = launcher.communicate(timeout=20)
        assert launcher.returncode == 2
        assert errors.endswith("error: All servers have died; start them again.\n")


def test_the_launcher_ends_with_2_and_one_sentence_when_a_port_is_taken(showdown: Path) -> None:
    port = free_ports(1)
    with socket.create_server(("127.0.0.1", port)):
        result = subprocess.run(
            [*LAUNCHER, "--base-port", str(port)], check=False, capture_output=True, text=True, timeout=60
        )
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: Port {port} on 127.0.0.1 is taken by another program; stop that")
    assert result.stderr.count("\n") == 1
