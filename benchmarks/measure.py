"""What every benchmark shares: its result, its command line, and CPU time of whole process trees."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import psutil


@dataclass(frozen=True)
class Measurement:
    """One comparison; a ``ratio`` above 1 says that we are ahead."""

    name: str
    unit: str
    ours: float
    theirs: float
    ratio: float
    same_work: bool
    """True only if both sides were checked to have done the same work."""
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(asdict(self), indent=2)


def tree_cpu_seconds(pid: int | None = None) -> float:
    """CPU seconds so far of a process (this one by default) and all its living descendants."""
    root = psutil.Process(pid)
    total = 0.0
    for process in [root, *root.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def main(run: Callable[[argparse.Namespace], Measurement], parser: argparse.ArgumentParser) -> int:
    """Run one benchmark from the command line."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    measurement = run(args)
    if args.json:
        print(measurement.to_json())
    else:
        print(
            f"{measurement.name}: {measurement.ours:.4g} against {measurement.theirs:.4g} {measurement.unit}, "
            f"ratio {measurement.ratio:.2f}, same work: {'yes' if measurement.same_work else 'NO'}"
        )
    return 0 if measurement.same_work else 1
