"""``elitefurretai doctor``: check this machine, and say what to do if something is missing.

Each check looks at one thing and returns a :class:`Check`: "ok", "slow" (it works, but could be better) or
"fix" (it does not work until someone acts). A check never installs or changes anything. The limits follow the
memory budget (a worker with its Node host: 500 MB) with room to spare; they are not measured needs.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from elitefurretai.engine.errors import EngineError
from elitefurretai.engine.install import (
    CACHE_VARIABLE,
    cache_folder,
    install_folder,
    showdown_version,
    verify_showdown,
)
from elitefurretai.engine.node import NODE_VARIABLE, node_version

TORCH_VERSION = "2.13.0"
POKE_ENV_SERIES = "0.16."
NODE_MAJOR = 16  # what the "engines" field of Showdown 0.11.11 asks for

MB = 1024**2
GB = 1024**3
# Docker gives a container 64 MB of shared memory unless told otherwise; this is chosen to notice that.
LEAST_SHARED_MEMORY = 256 * MB
LEAST_MEMORY = 1 * GB
GOOD_MEMORY = 4 * GB
LEAST_DISK = 1 * GB


@dataclass(frozen=True)
class Check:
    """One finding: what was looked at, how it stands, what was seen, and what to do unless it is ok."""

    name: str
    status: Literal["ok", "slow", "fix"]
    found: str
    to_do: str = ""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "doctor",
        description="Check this machine, and say what to do if something is missing.",
        epilog="Exit code: 0 if everything works, 2 if something must be fixed.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")


def run(args: argparse.Namespace) -> int:
    checks = [look() for look in CHECKS]
    works = all(check.status != "fix" for check in checks)
    if args.json:
        print(json.dumps({"ok": works, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        for check in checks:
            to_do = f" -> {check.to_do}" if check.to_do else ""
            print(f"{check.status:4}  {check.name:13}  {check.found}{to_do}")
    return 0 if works else 2


def check_python() -> Check:
    found = f"{platform.python_version()} ({sys.executable})"
    if not (3, 10) <= sys.version_info[:2] < (3, 14):
        return Check("Python", "fix", found, "use Python 3.10 to 3.13: make setup PYTHON=/path/to/python3.12")
    return Check("Python", "ok", found)


def check_torch() -> Check:
    to_do = f"run: pip install torch=={TORCH_VERSION}"
    try:
        torch = importlib.import_module("torch")
    except (ImportError, OSError) as error:  # OSError: a shared library of torch does not load
        return Check("torch", "fix", f"cannot be imported: {error}", to_do)
    if torch.__version__.split("+")[0] != TORCH_VERSION:
        return Check("torch", "fix", f"{torch.__version__}, but {TORCH_VERSION} is needed", to_do)
    if torch.cuda.is_available():
        device = f"cuda: {torch.cuda.get_device_name()}"
    elif torch.backends.mps.is_available():
        device = "mps"
    else:
        device = "cpu"
    return Check("torch", "ok", f"{torch.__version__}, device {device}")


def check_poke_env() -> Check:
    to_do = f"run: pip install 'poke-env=={POKE_ENV_SERIES}*'"
    try:
        version = importlib.metadata.version("poke-env")
    except importlib.metadata.PackageNotFoundError:
        return Check("poke-env", "fix", "not installed", to_do)
    if not version.startswith(POKE_ENV_SERIES):
        return Check("poke-env", "fix", f"{version}, but {POKE_ENV_SERIES}x is needed", to_do)
    return Check("poke-env", "ok", version)


def check_node() -> Check:
    try:
        version = node_version()
    except EngineError as error:
        return Check("Node", "fix", "not usable", str(error))
    if int(version.split(".")[0]) < NODE_MAJOR:
        return Check("Node", "fix", version, f"unset {NODE_VARIABLE}: Node {NODE_MAJOR} or later is needed")
    return Check("Node", "ok", version)


def check_showdown() -> Check:
    if not install_folder().exists():
        return Check("Showdown", "fix", "not installed", "run: elitefurretai install")
    folder = install_folder() / "node_modules" / "pokemon-showdown"
    try:
        verify_showdown(folder)
        return Check("Showdown", "ok", f"{showdown_version(folder)} ({folder})")
    except EngineError as error:
        return Check("Showdown", "fix", "damaged", str(error))


def check_cache() -> Check:
    cache = cache_folder()
    # It is made on first use: until then the nearest folder above it counts.
    existing = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if not os.access(existing, os.W_OK):
        to_do = f"make it writable, or set {CACHE_VARIABLE} to another folder"
        return Check("cache folder", "fix", f"{cache} is not writable", to_do)
    return disk_check("cache folder", cache, existing)


def check_output() -> Check:
    return disk_check("output folder", Path.cwd(), Path.cwd())


def disk_check(name: str, folder: Path, existing: Path) -> Check:
    free = shutil.disk_usage(existing).free
    found = f"{free / GB:.1f} GB free in {folder}"
    if free < LEAST_DISK:
        return Check(name, "fix", found, f"free {LEAST_DISK / GB:.0f} GB there")
    return Check(name, "ok", found)


def check_shared_memory() -> Check:
    folder = Path("/dev/shm")
    if not folder.is_dir():
        return Check("shared memory", "ok", "not limited by a file system on this machine")
    free = shutil.disk_usage(folder).free
    found = f"{free / MB:.0f} MB free in {folder}"
    if free < LEAST_SHARED_MEMORY:
        to_do = "remove what is left over there, or start the container with --shm-size=1g"
        return Check("shared memory", "fix", found, to_do)
    return Check("shared memory", "ok", found)


def check_cores() -> Check:
    cores = usable_cores()
    found = f"{cores:g} usable of {os.cpu_count()}"
    if cores < 2:
        return Check("cores", "slow", found, "give it 2, so that battles and learning run side by side")
    return Check("cores", "ok", found)


def check_memory() -> Check:
    free = available_memory()
    if free is None:
        return Check("memory", "ok", "this system does not say how much is free")
    found = f"{free / GB:.1f} GB available"
    if free < LEAST_MEMORY:
        return Check("memory", "fix", found, f"free at least {LEAST_MEMORY / GB:.0f} GB")
    if free < GOOD_MEMORY:
        return Check("memory", "slow", found, "use fewer workers: each takes about 0.5 GB")
    return Check("memory", "ok", found)


def usable_cores() -> float:
    """Cores this process may use: what the scheduler allows it, less where a container has a quota."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    cores = float(len(affinity(0)) if affinity else os.cpu_count() or 1)
    quota = read_words(Path("/sys/fs/cgroup/cpu.max"))
    if len(quota) == 2 and quota[0] != "max":
        cores = min(cores, int(quota[0]) / int(quota[1]))
    return cores


def available_memory() -> int | None:
    """Bytes that can still be had: of the machine, or of the container's limit if that is less."""
    words = read_words(Path("/proc/meminfo"))
    if "MemAvailable:" not in words:
        return None
    free = int(words[words.index("MemAvailable:") + 1]) * 1024
    limit = read_words(Path("/sys/fs/cgroup/memory.max"))
    used = read_words(Path("/sys/fs/cgroup/memory.current"))
    if limit and used and limit[0] != "max":
        free = min(free, int(limit[0]) - int(used[0]))
    return free


def read_words(file: Path) -> list[str]:
    """The words of a small system file; none where the system has no such file."""
    try:
        return file.read_text().split()
    except OSError:
        return []


CHECKS: tuple[Callable[[], Check], ...] = (
    check_python,
    check_torch,
    check_poke_env,
    check_node,
    check_showdown,
    check_cache,
    check_output,
    check_shared_memory,
    check_cores,
    check_memory,
)
