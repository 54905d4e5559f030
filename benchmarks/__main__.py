"""`python benchmarks`: what the suite costs. Machines are noisy: figures come with their spread, and none fails."""

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ops
import runs
from measured import ROUNDS, Spread


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python benchmarks", description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="only ops, and the quick tier against empty tests")
    arguments.add_argument("--before", metavar="PYTHON", help="only a table of the version that this interpreter has")
    arguments.add_argument("--rounds", type=int, default=ROUNDS, help="how often each run of the table is repeated")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = arguments.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        if options.before:
            for line in runs.table(sys.executable, options.before, Path(folder), options.rounds):
                print(line, flush=True)
        for name, figure in figures(Path(folder), options.quick) if not options.before else ():
            print(f"{name}: {figure if isinstance(figure, Spread) else f'{figure:.3g}'}", flush=True)
            found[name] = figure.to_json() if isinstance(figure, Spread) else figure
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "figures": found}, indent=1) + "\n")


def figures(folder: Path, quick: bool) -> Iterator[tuple[str, Spread | float]]:
    python = sys.executable
    yield runs.against_empty_tests(python, folder)
    if not quick:
        yield from runs.by_tier(python, folder)
        yield runs.to_the_first_failure(python, folder)
        yield runs.of_a_hang(python, folder)
    # These come last: the largest process of a command is at least as large as the one that starts it has become.
    yield from ops.figures(folder)


def machine() -> dict[str, Any]:
    """What the figures were taken on, and how busy it was at the end."""
    packages = ("tffs-conformance", "pytest", "pytest-xdist", "hypothesis")
    return {
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "load": os.getloadavg(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


if __name__ == "__main__":
    main()
