"""The directions of imports, read from the source: nothing is imported to check them.

Every import counts, also one inside a function or for type checkers only: it is knowledge all the same.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "elitefurretai"

# Which parts a part may import, besides itself. Whoever adds a line gives the reason with it.
MAY_IMPORT: dict[str, set[str]] = {
    "engine": set(),
    "mdbo": {"engine"},  # a format says how many Pokémon are brought
    "observation": {"engine", "mdbo"},
    # The policy as a Player needs the agent, and workers need the scripted opponents: the two parts know each
    # other, but no two modules do (the test on cycles).
    "players": {"engine", "mdbo", "observation", "rl"},
    "rl": {"engine", "mdbo", "observation", "players"},
    "bc": {"engine", "mdbo", "observation", "players", "rl"},
    "arena": {"engine", "mdbo", "observation", "players", "rl"},
    "nash": {"engine", "mdbo", "observation", "players", "rl", "arena"},
    "cluster": {"engine", "mdbo", "observation", "players", "rl", "arena"},
}
# A process that only plays battles is not to pay 220 MB for torch.
WITHOUT_TORCH = ("engine", "mdbo", "observation")

# imported module -> line of the import, for each importing module
Imports = dict[str, dict[str, int]]


def module_files(root: Path) -> dict[str, Path]:
    """All modules of the package under ``root``, by dotted name."""
    files = {}
    for file in sorted((root / PACKAGE).rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def read_imports(root: Path) -> Imports:
    """What each module of the package imports, outside modules included."""
    files = module_files(root)
    return {
        name: imports_of(ast.parse(file.read_text(encoding="utf-8")), name, file.name == "__init__.py", files)
        for name, file in files.items()
    }


def imports_of(tree: ast.Module, name: str, is_package: bool, files: dict[str, Path]) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                up = node.level - 1 if is_package else node.level
                parents = name.split(".")[: len(name.split(".")) - up]
                origin = ".".join([*parents, *filter(None, [node.module])])
            for alias in node.names:
                # `from package import module` is an import of the module, not of the package's contents.
                inner = f"{origin}.{alias.name}"
                found.setdefault(inner if inner in files else origin, node.lineno)
    return found


def part_of(module: str) -> str | None:
    """The folder a module belongs to; none for modules at the top, such as the command line."""
    names = module.split(".")
    return names[1] if len(names) > 1 and names[1] in MAY_IMPORT else None


def wrong_directions(imports: Imports) -> list[str]:
    wrong = []
    for importer, imported_modules in imports.items():
        part = part_of(importer)
        for imported, line in imported_modules.items():
            top = imported.split(".")[0]
            if top in ("benchmarks", "unit_tests"):
                wrong.append(f"{importer}:{line} imports {imported}, which is not installed with the package")
            if top != PACKAGE or part is None or imported == PACKAGE:
                continue
            target = part_of(imported)
            if target is None:
                wrong.append(f"{importer}:{line} imports {imported}, which is above every part")
            elif target != part and target not in MAY_IMPORT[part]:
                wrong.append(f"{importer}:{line} imports {imported}, but {part} may not know {target}")
    return wrong


def find_cycles(imports: Imports) -> list[list[str]]:
    """Groups of modules that import each other in a circle (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for imported in imports[module]:
            if imported not in imports:
                continue
            if imported not in index:
                visit(imported)
                low[module] = min(low[module], low[imported])
            elif imported in stack:
                low[module] = min(low[module], index[imported])
        if low[module] == index[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1 or module in imports[module]:
                cycles.append(sorted(group))

    for module in imports:
        if module not in index:
            visit(module)
    return cycles


def write_package(root: Path, sources: dict[str, str]) -> Imports:
    for name, source in sources.items():
        file = root / PACKAGE / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
    return read_imports(root)


def test_every_folder_of_the_package_has_its_line_in_the_table() -> None:
    folders = {file.parent.name for file in (ROOT / PACKAGE).glob("*/__init__.py")}
    assert folders <= MAY_IMPORT.keys()


def test_imports_point_the_allowed_way() -> None:
    assert wrong_directions(read_imports(ROOT)) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert find_cycles(read_imports(ROOT)) == []


@pytest.mark.parametrize("part", WITHOUT_TORCH)
def test_importing_every_module_of_a_battle_part_leaves_torch_out(part: str) -> None:
    modules = [name for name in module_files(ROOT) if part_of(name) == part and not name.endswith("__main__")]
    program = (
        "import importlib, sys\n"
        f"for name in {modules}:\n"
        "    importlib.import_module(name)\n"
        "    assert 'torch' not in sys.modules, name + ' imports torch'\n"
    )
    outcome = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize(
    "source",
    [
        "import elitefurretai.rl.agent",
        "from elitefurretai.rl.agent import Agent",
        "from elitefurretai.rl import agent",
        "from ..rl import agent",
        "from ..rl.agent import Agent",
        "def late():\n    from elitefurretai.rl import agent",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from elitefurretai.rl.agent import Agent",
    ],
)
def test_an_import_against_the_direction_is_found_however_it_is_written(tmp_path: Path, source: str) -> None:
    sources = {"__init__.py": "", "engine/__init__.py": "", "engine/battle.py": source}
    imports = write_package(tmp_path, sources | {"rl/__init__.py": "", "rl/agent.py": "class Agent: ..."})
    assert [text.split(":")[0] for text in wrong_directions(imports)] == ["elitefurretai.engine.battle"]


def test_a_part_may_not_import_the_command_line_or_the_benchmarks(tmp_path: Path) -> None:
    source = "from elitefurretai import __version__, cli\nimport benchmarks.engine"
    imports = write_package(tmp_path, {"__init__.py": "", "cli.py": "", "engine/battle.py": source})
    assert len(wrong_directions(imports)) == 2


def test_a_circle_of_three_modules_is_found_and_a_diamond_is_not(tmp_path: Path) -> None:
    diamond = {
        "engine/__init__.py": "from elitefurretai.engine.a import x",
        "engine/a.py": "from elitefurretai.engine import b, c",
        "engine/b.py": "from elitefurretai.engine.d import y",
        "engine/c.py": "from .d import y",
        "engine/d.py": "",
    }
    assert find_cycles(write_package(tmp_path, diamond)) == []
    circle = diamond | {"engine/d.py": "def late():\n    from . import a"}
    names = [f"elitefurretai.engine.{letter}" for letter in "abcd"]
    assert find_cycles(write_package(tmp_path, circle)) == [names]
