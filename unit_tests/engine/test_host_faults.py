"""What happens when processes are killed, frozen or cannot start."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from elitefurretai.cli import main
from elitefurretai.engine.errors import HostDiedError, HostHungError, InstallError, NodeMissingError
from elitefurretai.engine.host import fast_path_wanted
from elitefurretai.engine.install import CACHE_VARIABLE, install_folder
from elitefurretai.engine.simulator import Simulator
from unit_tests.engine.conftest import MakeSpec


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def exchange_forever(simulator: Simulator) -> None:
    while True:
        simulator.receive()
        simulator.send()


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_host_killed_in_the_middle_of_a_batch_is_reported_with_battles_and_seeds(
    make_spec: MakeSpec,
) -> None:
    with Simulator() as simulator:
        pid = simulator.host.pid
        battles = [simulator.start_battle(make_spec(seed=seed)) for seed in (5, 6, 7)]
        simulator.send()
        os.kill(pid, signal.SIGKILL)
        begin = time.monotonic()
        with pytest.raises(HostDiedError) as caught:
            exchange_forever(simulator)
        assert time.monotonic() - begin < 2
        assert caught.value.battles == dict(zip(battles, (5, 6, 7), strict=True))
        assert "with signal 9" in str(caught.value)
        assert "(seed 5)" in str(caught.value)

        simulator.restart()
        assert not psutil.pid_exists(pid), "the dead host is left as a zombie"
        battle = simulator.start_battle(make_spec())
        assert [update.battle for update in simulator.exchange()] == [battle]


def test_a_frozen_host_is_reported_after_the_timeout_and_can_be_replaced(make_spec: MakeSpec) -> None:
    with Simulator(timeout=1.0) as simulator:
        pid = simulator.host.pid
        os.kill(pid, signal.SIGSTOP)
        simulator.start_battle(make_spec(seed=8))
        begin = time.monotonic()
        with pytest.raises(HostHungError, match="did not answer for 1 s") as caught:
            simulator.exchange()
        assert time.monotonic() - begin < 3
        assert list(caught.value.battles.values()) == [8]
        simulator.restart()
        assert not psutil.pid_exists(pid)
        simulator.start_battle(make_spec())
        assert len(simulator.exchange()) == 1


@pytest.mark.parametrize("pipe_held_by_a_fork", [False, True])
def test_a_host_is_gone_soon_after_its_parent_was_killed(pipe_held_by_a_fork: bool) -> None:
    program = (
        "import os, signal, sys\n"
        "from elitefurretai.engine.simulator import Simulator\n"
        "simulator = Simulator()\n"
        "simulator.start()\n"
        f"child = os.fork() if {pipe_held_by_a_fork} else 1\n"
        "if child: print(simulator.host.pid, child, flush=True)\n"
        "signal.pause()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    host, fork = map(int, parent.stdout.readline().split())
    assert psutil.pid_exists(host)
    parent.kill()
    parent.wait()
    try:
        assert wait_for(lambda: is_gone(host), 5), "the host outlived its parent"
    finally:
        parent.stdout.close()
        if pipe_held_by_a_fork:
            os.kill(fork, signal.SIGKILL)


def test_closing_twice_and_starting_twice_is_harmless() -> None:
    simulator = Simulator()
    simulator.start()
    pid = simulator.host.pid
    simulator.start()
    assert simulator.host.pid == pid
    simulator.close()
    simulator.close()
    assert not psutil.pid_exists(pid)
    with pytest.raises(RuntimeError, match="not running"):
        simulator.exchange()


def test_many_lines_on_stderr_do_not_block_the_host(
    make_spec: MakeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chatty = tmp_path / "chatty.js"
    chatty.write_text("for (let i = 0; i < 20000; i++) console.error('a line that nobody asked for', i);\n")
    monkeypatch.setenv("NODE_OPTIONS", f"--require {chatty}")
    with Simulator(timeout=20) as simulator:
        simulator.start_battle(make_spec())
        assert len(simulator.exchange()) == 1


def run_demo(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "elitefurretai", "demo", "--battles", "1", *options],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def assert_one_sentence(outcome: subprocess.CompletedProcess[str], words: str) -> None:
    assert outcome.returncode == 2, outcome
    assert outcome.stderr.startswith("error: "), outcome.stderr
    assert words in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert outcome.stderr.strip().count("\n") == 0, outcome.stderr


def test_a_missing_node_is_one_sentence_and_exit_code_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELITEFURRETAI_NODE", "/nowhere/node")
    with pytest.raises(NodeMissingError, match="/nowhere/node"):
        Simulator().start()
    assert_one_sentence(run_demo(), "/nowhere/node")


def test_a_bad_team_an_empty_folder_and_an_unknown_format_are_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    assert_one_sentence(run_demo("--battle-format", "gen9vgc2023regz"), "did you mean gen9vgc2023reg")
    assert_one_sentence(run_demo("--team-dir", str(tmp_path)), str(tmp_path))
    assert_one_sentence(run_demo("--team-dir", str(tmp_path / "missing")), "missing")
    (tmp_path / "illegal.txt").write_text("Mewtwo @ Leftovers\nAbility: Pressure\n- Psychic\n", encoding="utf-8")
    assert_one_sentence(run_demo("--team-dir", str(tmp_path)), "illegal.txt")


def test_no_disk_space_for_the_install_is_one_sentence_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 0))
    assert main(["install"]) == 2
    assert "disk" in capsys.readouterr().err


def test_a_damaged_showdown_is_one_sentence_and_exit_code_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = install_folder()
    copy = tmp_path / original.relative_to(original.parent)
    shutil.copytree(original, copy, copy_function=os.link)
    damaged = copy / "node_modules/pokemon-showdown/dist/data/abilities.js"
    text = damaged.read_text(encoding="utf-8")
    damaged.unlink()
    damaged.write_text(text[: len(text) // 2], encoding="utf-8")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert install_folder() == copy
    with pytest.raises(InstallError):
        Simulator().start()
    assert_one_sentence(run_demo(), "abilities.js")


def test_the_fast_path_is_on_unless_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELITEFURRETAI_FAST_SIM", raising=False)
    assert fast_path_wanted()
    assert Simulator().host.options.fast
    monkeypatch.setenv("ELITEFURRETAI_FAST_SIM", "0")
    assert not Simulator().host.options.fast
