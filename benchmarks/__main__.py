"""``make bench``: every benchmark in turn, each in a process of its own; one JSON object, also in ``results.json``."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from pathlib import Path

NAMES = ("simulator", "engine")
RESULTS = Path(__file__).parent / "results.json"


def main() -> int:
    """Run the benchmarks that are asked for; exit code 1 if one failed or did not do the same work."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of {', '.join(NAMES)} (default all)")
    names = parser.parse_args().names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    results = {}
    failed = False
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", "--json"]
        outcome = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        failed |= outcome.returncode != 0
        results[name] = json.loads(outcome.stdout) if outcome.stdout else {"failed": outcome.returncode}
    report = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "benchmarks": results,
    }
    text = json.dumps(report, indent=2)
    RESULTS.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
