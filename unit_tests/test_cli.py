from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elitefurretai import __version__, cli, doctor
from elitefurretai.engine.errors import EngineError

ROOT = Path(__file__).parent.parent


def run_program(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "elitefurretai", *words],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_lists_every_command() -> None:
    outcome = run_program("--help")
    assert outcome.returncode == 0
    assert all(f"    {command.name} " in outcome.stdout for command in cli.COMMANDS)


def test_help_takes_no_more_than_a_fifth_of_a_second_over_a_bare_interpreter() -> None:
    def fastest(*words: str) -> float:
        """The least of five runs: what the program costs, without what else the machine was doing."""
        times = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    assert fastest("-m", "elitefurretai", "--help") - fastest("-c", "pass") < 0.2


@pytest.mark.parametrize("words", [["--help"], ["install", "--help"], ["doctor", "--help"], ["formats", "--help"]])
def test_help_imports_no_torch(words: list[str]) -> None:
    program = (
        "import sys\n"
        "from elitefurretai.cli import main\n"
        "try:\n"
        f"    main({words})\n"
        "except SystemExit as leaving:\n"
        "    assert leaving.code == 0\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    outcome = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("command", cli.COMMANDS, ids=lambda command: command.name)
def test_every_command_in_the_table_explains_itself(command: cli.Command, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        cli.main([command.name, "--help"])
    assert leaving.value.code == 0
    assert f"elitefurretai {command.name}" in capsys.readouterr().out


def test_the_version_is_that_of_the_package() -> None:
    assert run_program("--version").stdout.strip() == f"elitefurretai {__version__}"


def test_no_command_prints_the_help_and_is_an_error() -> None:
    outcome = run_program()
    assert outcome.returncode == 2
    assert "doctor" in outcome.stderr


def test_an_unknown_command_names_the_nearest_one() -> None:
    outcome = run_program("docter")
    assert outcome.returncode == 2
    assert "unknown command 'docter'; did you mean 'doctor'?" in outcome.stderr


def test_a_problem_the_user_can_fix_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    missing = str(tmp_path / "node")
    outcome = run_program("install", ELITEFURRETAI_NODE=missing, ELITEFURRETAI_CACHE=str(tmp_path / "cache"))
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("error: ")
    assert outcome.stderr.count("\n") == 1


class FailingCommand:
    """A command whose run raises what it was given."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure

    def add_parser(self, subparsers: object) -> None:
        subparsers.add_parser("doctor")  # type: ignore[attr-defined]

    def run(self, args: object) -> int:
        raise self.failure


@pytest.mark.parametrize(
    ("failure", "code", "text"),
    [
        (EngineError("the disk is full; free 1 GB."), 2, "error: the disk is full; free 1 GB.\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_a_failure_becomes_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failure: BaseException,
    code: int,
    text: str,
) -> None:
    monkeypatch.setattr(cli, "load", lambda command: FailingCommand(failure))
    assert cli.main(["doctor"]) == code
    assert capsys.readouterr().err == text


def test_a_fault_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "load", lambda command: FailingCommand(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        cli.main(["doctor"])


def test_the_doctor_finds_this_machine_in_order() -> None:
    outcome = run_program("doctor", "--json")
    report = json.loads(outcome.stdout)
    names = [check["name"] for check in report["checks"]]
    assert {"Python", "torch", "Node", "Showdown", "shared memory", "cores", "memory"} <= set(names)
    assert [check for check in report["checks"] if check["status"] == "fix"] == []
    assert report["ok"]
    assert outcome.returncode == 0


def test_the_doctor_says_what_to_do_and_exits_with_2(tmp_path: Path) -> None:
    outcome = run_program("doctor", "--json", ELITEFURRETAI_NODE=str(tmp_path / "node"))
    checks = {check["name"]: check for check in json.loads(outcome.stdout)["checks"]}
    assert outcome.returncode == 2
    assert checks["Node"]["status"] == "fix"
    assert "ELITEFURRETAI_NODE" in checks["Node"]["to_do"]


def test_the_doctor_prints_one_line_a_check() -> None:
    lines = run_program("doctor").stdout.splitlines()
    assert len(lines) == len(doctor.CHECKS)
    assert all(line.split()[0] in ("ok", "slow", "fix") for line in lines)
