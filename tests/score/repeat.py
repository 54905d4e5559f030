"""Runs the suite on right plugins many times, shuffled, half of the runs on two workers: no check may differ.

Other options go to the suite.
"""

import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: What several threads meet differs from run to run: of these clauses only a breach has to be the same.
RACED_CLAUSES = {"common.fits-an-order", "common.one-winner", "scenarios.state-file-is-always-there"}
#: Histories of each property; too few for the cases of 2 GiB, for which one run has the time and the next one not.
EXAMPLES = 50


def checks(options: Sequence[str], seed: int, workers: int, folder: Path) -> dict[str, object]:
    """The verdict and the checks of each case of one run, by target and case."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", *options, f"--report-dir={folder}", "-q", "-n", str(workers)]
    command += ["-p", "randomly", "-p", "no:cacheprovider", f"--randomly-seed={seed}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise SystemExit(f"run {seed} failed:\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}")
    reports = [json.loads(path.read_text()) for path in folder.rglob("report.json")]
    return {f"{one['target']['name']} {case['id']}": comparable(case) for one in reports for case in one["cases"]}


def comparable(case: dict[str, Any]) -> object:
    """What has to be the same in each run: all of a case, but of a race only whether it is a breach."""

    def breach(verdict: str) -> str:
        return "" if verdict in ("absent", "conform") else verdict

    def of_check(check: dict[str, Any]) -> object:
        return (check["clause"], breach(check["verdict"])) if check["clause"] in RACED_CLAUSES else check

    is_raced = any(check["clause"] in RACED_CLAUSES for check in case["checks"])
    return breach(case["verdict"]) if is_raced else case["verdict"], list(map(of_check, case["checks"]))


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("plugins", nargs="*", metavar="PLUGIN", default=("posix", "memory"), help="default: both")
    parser.add_argument("--runs", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="default: %(default)s")
    parser.add_argument("--report-dir", type=Path, default=Path("tffs-report", "repeat"))


def run(given: Namespace) -> bool:
    """Compare every run with the first, and return whether all are the same."""
    options = [*(f"--plugin={plugin}" for plugin in given.plugins), f"--examples={given.examples}"]
    options += given.suite_options
    first: dict[str, object] = {}
    differing: set[str] = set()
    for number in range(1, given.runs + 1):
        found = checks(options, number, 0 if number % 2 else 2, given.report_dir.resolve() / f"run-{number}")
        first = first or found
        differing |= {name for name in first.keys() | found.keys() if first.get(name) != found.get(name)}
        print(f"run {number} of {given.runs}: {len(found)} cases, {len(differing)} differ so far", flush=True)
    print(*(f"differs: {name}" for name in sorted(differing)), f"{len(differing)} differing cases", sep="\n")
    return not differing
