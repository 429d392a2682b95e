"""Reads a folder of PokePaste files, which may come from anywhere.

In: a folder. Out: the text of each ``*.txt`` file below it, or what is wrong with the file, in one sentence.

The shaping decision: a file is hostile until read. Only plain files within the folder, of a size that a team
can have, are read; links that lead out of it, pipes and devices are not.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elitefurretai.engine.errors import TeamError

MAX_FILE_BYTES = 64 * 1024  # a team takes about 1 KB
MAX_FILES = 10_000


@dataclass(frozen=True)
class Paste:
    """A team file: its text, or the problem that kept it from being read."""

    path: Path
    name: str
    """Path within the folder, without the extension."""
    text: str = ""
    problem: str | None = None


def read_folder(folder: Path) -> list[Paste]:
    """Every team file below ``folder``, by name."""
    if not folder.exists():
        raise TeamError(f"the team folder {folder} does not exist; give a folder with PokePaste .txt files")
    if not folder.is_dir():
        raise TeamError(f"{folder} is not a folder; give a folder with PokePaste .txt files")
    root = folder.resolve()
    paths: list[Path] = []
    for path in _text_files(root):
        if len(paths) == MAX_FILES:
            raise TeamError(f"the team folder {folder} has more than {MAX_FILES} .txt files; give a smaller one")
        paths.append(path)
    if not paths:
        raise TeamError(f"there is no .txt file in the team folder {folder}; put PokePaste exports into it")
    return [_read(path, root) for path in sorted(paths)]


def _text_files(root: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise TeamError(f"the team folder {error.filename} cannot be read ({error.strerror}); check its permissions")

    for folder, _, names in os.walk(root, onerror=refuse, followlinks=False):
        yield from (Path(folder, name) for name in names if name.lower().endswith(".txt"))


def _read(path: Path, root: Path) -> Paste:
    name = path.relative_to(root).with_suffix("").as_posix()
    try:
        target = path.resolve(strict=True)
        if not target.is_relative_to(root):
            return Paste(path, name, problem="It is a link that leads out of the team folder.")
        if not stat.S_ISREG(target.stat().st_mode):
            return Paste(path, name, problem="It is not a plain file.")
        with target.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself, before Python 3.13
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Paste(path, name, problem=f"It cannot be read ({reason}).")
    if len(data) > MAX_FILE_BYTES:
        return Paste(path, name, problem=f"It is larger than {MAX_FILE_BYTES // 1024} KB, so it is not a team.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Paste(path, name, problem=f"It is not UTF-8 text (byte {error.start}).")
    return Paste(path, name, text.replace("\r\n", "\n").strip())
