"""The package as other people get it: built into a wheel and installed in an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_wheel_carries_all_files_and_runs_a_battle_in_an_empty_environment(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(sources)], check=True)
    pip = [sys.executable, "-m", "pip", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(tmp_path), str(sources)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, pattern in (("host", "**/*.js*"), ("showdown", "*.json"), ("teams/builtin", "**/*.txt")):
        for file in (ROOT / "elitefurretai/engine" / folder).glob(pattern):
            assert str(file.relative_to(ROOT)) in names
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "empty")], check=True)
    python = tmp_path / "empty/bin/python"
    subprocess.run([python, "-m", "pip", "-q", "install", "-c", str(ROOT / "constraints.txt"), str(wheel)], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    outcome = subprocess.run(
        [python, "-m", "elitefurretai", "demo", "--battles", "3"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert "3 battles" in outcome.stdout
