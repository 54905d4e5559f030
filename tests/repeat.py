"""Runs the suite on right plugins many times, shuffled, half of the runs on two workers: no check may differ."""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Checks = dict[str, object]
PLUGINS = ("posix", "memory")
#: Judged by what several threads met, and what is told of them is what these met, and when. Where a plugin does not
#: claim to pass them, one run may meet what it does not claim and the next one not: `absent` or `conform`.
RACED = {"common.fits-an-order", "common.one-winner", "scenarios.state-file-is-always-there"}
#: Histories for each property; too few for the cases of 2 GiB: whether there is time for them differs from run to run.
EXAMPLES = 50


def run(options: Sequence[str], seed: int, workers: int, directory: Path) -> Checks:
    """One run with its reports in `directory`; target and case id to verdict and checks."""
    directory.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", *options, f"--report-dir={directory}", "-q"]
    command += ["-p", "randomly", "-p", "no:cacheprovider", f"--randomly-seed={seed}"]
    command += ["-n", str(workers)] if workers else []
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=directory)
    if done.returncode != 0:
        sys.exit(f"run {seed} failed:\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}")
    reports = [json.loads(path.read_text()) for path in directory.rglob("report.json")]
    return {
        f"{report['target']['name']} {case['id']}": promised(case) for report in reports for case in report["cases"]
    }


def promised(case: dict[str, Any]) -> object:
    """What has to be the same in each run: all of a case, but of a check of a race only whether it is a breach."""

    def seen(check: dict[str, Any]) -> object:
        return (check["clause"], breach(check["verdict"])) if check["clause"] in RACED else check

    raced = any(check["clause"] in RACED for check in case["checks"])
    return breach(case["verdict"]) if raced else case["verdict"], list(map(seen, case["checks"]))


def breach(verdict: str) -> str:
    """The verdict, or nothing where it blames nobody."""
    return "" if verdict in ("absent", "conform") else verdict


def main() -> None:
    """Compare every run with the first."""
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options are those of the suite.")
    parser.add_argument("plugins", nargs="*", metavar="PLUGIN", default=PLUGINS, help="default: posix and memory")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--report-dir", type=Path, default=Path("tffs-report", "repeat"))
    given, more = parser.parse_known_args()
    runs, options = given.runs, [f"--examples={given.examples}"]
    options += [f"--plugin={plugin}" for plugin in given.plugins] + more
    differing: set[str] = set()
    first: Checks | None = None
    for number in range(runs):
        directory = given.report_dir.resolve() / f"run-{number + 1}"
        checks = run(options, number + 1, 2 if number % 2 else 0, directory)
        first = first or checks
        differing |= {name for name in first.keys() | checks.keys() if first.get(name) != checks.get(name)}
        print(f"run {number + 1} of {runs}: {len(checks)} cases, {len(differing)} differ so far", flush=True)
    for name in sorted(differing):
        print(f"differs: {name}")
    print(f"{len(differing)} differing checks")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
