"""Installs the pinned Pokémon Showdown, once per machine, and tells whether an install is whole.

In: `showdown/package.json` and its lock file (exact versions and integrity hashes, no addresses).
Out: the folder of the installed `pokemon-showdown` package, which nobody writes into afterwards.

The decision that shapes this file: an install is a folder that appears at once, complete, under a name made
of the version and the hash of the lock file. npm works in a temporary folder next to it, a stamp is written
last, and a rename makes it the install. So a new version never touches an old one, an interrupted install
leaves nothing that could be taken for a whole one, and readers need no lock. Installers hold a lock of the
operating system, which goes away with its holder, even one killed with -9.

Each start pays for a check of a few files only (under a millisecond); `verify_showdown` reads every file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from elitefurretai.engine.errors import InstallError
from elitefurretai.engine.node import npm_command

CACHE_VARIABLE = "ELITEFURRETAI_CACHE"
PINNED = Path(__file__).parent / "showdown"
NEEDED_MB = 400  # 155 MB of files, npm's own cache of the downloads, and room to spare
NPM_TIMEOUT_SECONDS = 900.0

_END_WITH_PARENT = Path(__file__).parent / "host" / "end_with_parent.js"
_STAMP = "installed.json"
_MANIFEST = "files.json"
_PACKAGE = Path("node_modules", "pokemon-showdown")
# Looked at on each start: the files without which nothing runs, and the largest ones, where a full disk or a
# broken copy shows first.
_KEY_FILES = (
    "dist/sim/index.js",
    "dist/sim/battle.js",
    "dist/sim/dex.js",
    "dist/sim/team-validator.js",
    "dist/data/moves.js",
    "dist/data/pokedex.js",
    "dist/data/learnsets.js",
    "dist/config/formats.js",
    "dist/lib/index.js",
    "dist/server/index.js",
    "package.json",
)
_NPM_OPTIONS = (
    "--ignore-scripts",  # nothing in Showdown needs one, and it would be code that nobody checked
    "--omit=optional",  # databases, e-mail and the like: 97 s instead of 17 s
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--no-progress",
    "--no-color",
    "--loglevel=error",
    "--fetch-retry-mintimeout=1000",  # npm's own waits, 10 s and 60 s, look like a hang to a person offline
    "--fetch-retry-maxtimeout=5000",
)

Progress = Callable[[str], None]


def print_progress(line: str) -> None:
    """The default progress: a line on standard error."""
    print(line, file=sys.stderr, flush=True)


def cache_folder() -> Path:
    """Where installs live: ELITEFURRETAI_CACHE, else the user's cache folder of this platform."""
    setting = os.environ.get(CACHE_VARIABLE)
    if setting:
        return Path(setting).expanduser().absolute()
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg and Path(xdg).is_absolute():
        base = Path(xdg)
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return base / "elitefurretai"


def pinned_version() -> str:
    """The version of pokemon-showdown that this package is made for."""
    pins: dict[str, Any] = json.loads((PINNED / "package.json").read_text("utf-8"))
    return str(pins["dependencies"]["pokemon-showdown"])


def install_folder() -> Path:
    """The folder of the pinned install, whether or not it is there yet."""
    lock_hash = hashlib.sha256((PINNED / "package-lock.json").read_bytes()).hexdigest()
    return cache_folder() / f"showdown-{pinned_version()}-{lock_hash[:12]}"


def ensure_showdown(progress: Progress | None = print_progress) -> Path:
    """The package folder of the pinned Showdown (the one that has dist/); installs it on first use.

    Needs no network once installed. A damaged install is reported through `progress` and replaced.
    """
    say = progress or _say_nothing
    folder = install_folder()
    try:
        if _quick_problem(folder) is None:
            return folder / _PACKAGE
        npm = npm_command()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _install_lock(folder.parent, say):
            problem = _quick_problem(folder)  # another process may have installed it while this one waited
            if problem is not None:
                if folder.exists():
                    say(f"Pokémon Showdown in {folder} is damaged ({problem}); installing it again.")
                _install(npm, folder, say)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InstallError(_no_space(folder.parent, "it ran out")) from error
        raise InstallError(
            f"Pokémon Showdown cannot be installed into {folder.parent} ({error.strerror or error}); "
            f"make that folder writable, or set {CACHE_VARIABLE} to another one."
        ) from error
    return folder / _PACKAGE


def verify_showdown(path: Path) -> None:
    """Compares every file of the install that `path` (from ensure_showdown) belongs to with what npm wrote.

    Raises InstallError that names the first file that is missing, has another size or other contents.
    """
    folder = path.parent.parent
    problem = _quick_problem(folder) or _full_problem(folder)
    if problem is not None:
        raise InstallError(
            f"Pokémon Showdown in {folder} is damaged ({problem}); "
            "delete that folder, and the next start installs it again."
        )


def showdown_version(path: Path) -> str:
    """The version that the package in `path` says it is."""
    try:
        package: dict[str, Any] = json.loads((path / "package.json").read_text("utf-8"))
        return str(package["version"])
    except (OSError, ValueError, KeyError) as error:
        raise InstallError(
            f"There is no Pokémon Showdown in {path} ({error}); use the folder that ensure_showdown returns."
        ) from error


def _install(npm: list[str], folder: Path, say: Progress) -> None:
    version = pinned_version()
    free_mb = shutil.disk_usage(folder.parent).free // 1_000_000
    if free_mb < NEEDED_MB:
        raise InstallError(_no_space(folder.parent, f"{free_mb} MB are free"))
    say(f"Installing Pokémon Showdown {version} (once, about 20 s) ...")
    # Whatever else is there was left by an installer that was killed: this process holds the lock.
    for leftover in folder.parent.glob("showdown-*.partial-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    work = folder.with_name(f"{folder.name}.partial-{os.getpid()}")
    try:
        work.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(PINNED / name, work / name)
        _run_npm(npm, work)
        found = showdown_version(work / _PACKAGE)
        if found != version:
            raise InstallError(f"npm installed Pokémon Showdown {found} instead of {version}; check npm's settings.")
        _write_stamp(work, version)
        if folder.exists():
            # Renamed before it is removed, so that there is no moment with half a folder under that name.
            folder.rename(work.with_name(f"{work.name}-damaged"))
        work.rename(folder)
    finally:
        for leftover in (work, work.with_name(f"{work.name}-damaged")):
            shutil.rmtree(leftover, ignore_errors=True)


def _run_npm(npm: list[str], work: Path) -> None:
    node, npm_cli = npm
    # A session of its own: on a time-out or Ctrl-C npm is ended here with all its children, and only here.
    process = subprocess.Popen(
        [node, "--require", str(_END_WITH_PARENT), npm_cli, "ci", *_NPM_OPTIONS],
        cwd=work,
        env={**os.environ, "ELITEFURRETAI_PARENT": str(os.getpid())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        _, output = process.communicate(timeout=NPM_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        raise InstallError(
            f"Downloading Pokémon Showdown took longer than {NPM_TIMEOUT_SECONDS:.0f} s; "
            "check the network connection and start again."
        ) from None
    finally:
        if process.poll() is None:
            _kill_tree(process)
    if process.returncode == 0:
        return
    if "ENOSPC" in output or "EDQUOT" in output:
        raise InstallError(_no_space(work.parent, "npm ran out of it (its own cache may be on another disk)"))
    raise InstallError(
        f"Pokémon Showdown could not be downloaded ({_npm_reason(output, process.returncode)}); "
        "check the network connection and npm's registry and proxy settings, and start again."
    )


def _kill_tree(process: subprocess.Popen[str]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _npm_reason(output: str, code: int) -> str:
    """The line of npm's that says what happened: after the codes, before the stack trace and the advice."""
    for line in output.splitlines():
        text = line.removeprefix("npm error").strip()
        if text and text != line.strip() and text.split()[0] not in ("code", "syscall", "errno", "path"):
            return f"npm says: {text[:200]}"
    return f"npm ended with code {code} and no message"


def _no_space(where: Path, what: str) -> str:
    return (
        f"Pokémon Showdown needs about {NEEDED_MB} MB of disk space in {where} and {what}; "
        f"free some, or set {CACHE_VARIABLE} to a folder on another disk."
    )


def _write_stamp(work: Path, version: str) -> None:
    files: dict[str, list[Any]] = {}
    for file in sorted((work / "node_modules").rglob("*")):
        if file.is_file() and not file.is_symlink():
            files[file.relative_to(work).as_posix()] = [file.stat().st_size, _digest(file)]
    keys = {(_PACKAGE / name).as_posix() for name in _KEY_FILES}
    if missing := keys - files.keys():
        raise InstallError(f"npm's install lacks {min(missing)}; check npm's settings and start again.")
    (work / _MANIFEST).write_text(json.dumps(files), "utf-8")
    stamp = {"version": version, "key_files": {name: files[name][0] for name in sorted(keys)}}
    (work / _STAMP).write_text(json.dumps(stamp, indent=1), "utf-8")


def _quick_problem(folder: Path) -> str | None:
    """What is wrong with the install, as far as its stamp and key files tell."""
    try:
        stamp: dict[str, Any] = json.loads((folder / _STAMP).read_bytes())
        key_files: dict[str, int] = stamp["key_files"]
    except FileNotFoundError:
        return f"{_STAMP} is missing"
    except (ValueError, KeyError):
        return f"{_STAMP} is unreadable"
    for name, size in key_files.items():
        if problem := _size_problem(folder, name, size):
            return problem
    return None


def _full_problem(folder: Path) -> str | None:
    try:
        files: dict[str, list[Any]] = json.loads((folder / _MANIFEST).read_bytes())
    except (OSError, ValueError):
        return f"{_MANIFEST} is missing or unreadable"
    for name, (size, digest) in files.items():
        if problem := _size_problem(folder, name, size):
            return problem
        try:
            if _digest(folder / name) != digest:
                return f"{name} has other contents than npm wrote"
        except OSError as error:
            return f"{name} cannot be read: {error.strerror}"
    return None


def _size_problem(folder: Path, name: str, size: int) -> str | None:
    try:
        found = (folder / name).stat().st_size
    except OSError:
        return f"{name} is missing"
    return None if found == size else f"{name} has {found} bytes instead of {size}"


def _digest(file: Path) -> str:
    return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()


@contextlib.contextmanager
def _install_lock(cache: Path, say: Progress) -> Iterator[None]:
    """One installer at a time, by a lock that the operating system takes back when its holder dies."""
    with (cache / "install.lock").open("a+b") as file:
        if not _try_lock(file.fileno()):
            say("Waiting for another process that is installing Pokémon Showdown ...")
            while not _try_lock(file.fileno()):
                time.sleep(0.1)
        yield  # closing the file gives the lock back


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _say_nothing(_: str) -> None:
    return
