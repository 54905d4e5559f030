"""Runs the suite on right and on wrong plugins with the tffs-conformance of any Python, and keeps the reports.

`python -m tests.verdict_runs --python=PYTHON FOLDER` writes FOLDER/<name>/report.json for posix, memory, each set of
choices and each fault; made with two versions, `python -m tests.verdict_changes` compares them. PYTHON has pytest and
the version to be tried; what is run is told by this clone, which has the fakes. A report that is there already is not
made again.
"""

import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import fakes
from tests.faults.driven import BUSY, HANGING, HANGS, OF_SEVERAL, all_cases
from tests.faults.test_beyond import SHOWN
from tests.test_choices import FEW, FULL, HALVES, RUNS
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.harness.targets.shipped import plugin_path

TABLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
#: A few histories, always the same, and no file of 2 GiB: how long that takes is another question.
FEW_HISTORIES = ("--seed=1", "--examples=10")
BACKING = "--backing=file://{path}"
#: Seconds that a call may take in a case of the tier `large`.
PATIENT = 60


@dataclass(frozen=True)
class Run:
    """One run of the suite: the folder of its report, and its arguments.

    `clauses` are those that have to be found broken. Where there are some, their cases, the `cases` and the smoke tier
    are run; where there are none, the `cases`, or what the arguments select.
    """

    name: str
    arguments: tuple[str, ...]
    clauses: set[str] = field(default_factory=set)
    cases: set[str] = field(default_factory=set)


def runs(tensorflow: str | None) -> Iterator[Run]:
    """All of them; the faults that only TensorFlow's own readers and writers show if there is a Python with it."""
    yield Run("posix", ("--plugin=posix", *FEW_HISTORIES))
    yield Run("memory", ("--plugin=memory", *FEW_HISTORIES))
    for number, choices in enumerate((*RUNS, *HALVES, *FEW)):
        tier: tuple[str, ...] = FEW_HISTORIES if choices == FULL else ("--tier=quick",)
        name = f"choices/{number}-{choices.split(',')[0]}"
        plugin = f"--plugin={plugin_path('posix_choices')}"
        yield Run(name, (plugin, f"--env=TFFS_CHOICES={choices}", BACKING, *tier))
    yield from _faults()
    for answer in ("fails", "ok"):
        yield Run(f"hollow/{answer}", (*_fake(f"hollow {answer}"), BACKING, *FEW_HISTORIES))
    for op in OPS:
        for kind in ("crash", "hang"):
            about = ("--tier=quick", f"--clause={op}.*", "--call-timeout=1", BACKING)
            yield Run(f"hostile/{kind}:{op}", (*_fake(f"faulty {kind}:{op}"), *about))
    if tensorflow:
        for fault, clauses in _by_fault(TABLES["through"]).items():
            given = (*_fake(fault), f"--through={tensorflow}", *(f"--clause={name}" for name in clauses))
            yield Run(f"through/{fault}", given, clauses)


def _faults() -> Iterator[Run]:
    """One for each fault of the tables, with all that it has to be caught on."""
    found = clauses_by_fault()
    cases: dict[str, set[str]] = {}
    for fault, case, clause in SHOWN:
        found.setdefault(f"faulty {fault}", set()).add(clause)
        cases.setdefault(f"faulty {fault}", set()).add(case)
    for name, clauses in found.items():
        fault = name.partition(" ")[2]
        patience = HANGING if HANGS.search(fault) else BUSY
        scheme = [f"--scheme={OF_SEVERAL[fault]}"] if fault in OF_SEVERAL else []
        own = cases.get(name, set())
        is_large = any(case.id in own for case in all_cases("large") if case.tier == "large")
        # The last of two options of one name counts.
        large = ["--tier=large", f"--call-timeout={PATIENT}"] if is_large else []
        given = (*_fake(name), *scheme, f"--call-timeout={patience}", *large, BACKING)
        yield Run(f"faults/{name}", given, clauses, own)


def clauses_by_fault() -> dict[str, set[str]]:
    """The faults that a run on the tables shows, and the clauses that each breaks."""
    found = _by_fault(TABLES["faults"])
    for fault, clause in TABLES["further"].items():
        found.setdefault(f"faulty {fault}", set()).add(clause)
    return found


def _by_fault(table: dict[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for clause, fault in table.items():
        found.setdefault(fault, set()).add(clause)
    return found


def _fake(name: str) -> tuple[str, str]:
    """What is given for a fake, of its name and its fault."""
    plugin, _, fault = name.partition(" ")
    return f"--plugin={plugin_path(f'fakes/{plugin}')}", f"--env=TFFS_FAULT={fault}"


def perform(run: Run, python: str, folder: Path) -> bool:
    """Make a report, and keep it with what the terminal showed; whether there is one."""
    kept = folder / run.name
    with tempfile.TemporaryDirectory() as directory:
        given = [*run.arguments, *(f"--case={case}" for case in _selected(run, folder))]
        kept.mkdir(parents=True, exist_ok=True)
        with (kept / "output.txt").open("wb") as output:
            subprocess.run(
                # In an empty folder: what PYTHON has installed is meant, and no clone.
                [python, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--report-dir=out",
                 *given], cwd=directory, stdout=output, stderr=subprocess.STDOUT, check=False,
                env={name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))},
            )  # fmt: skip
        made = Path(directory, "out", "report.json")
        if made.exists():
            shutil.move(made, kept / "report.json")
        return (kept / "report.json").exists()


def _selected(run: Run, folder: Path) -> list[str]:
    """The cases for a fault: its own, and by what this version says of posix, of its clauses, and the smoke tier."""
    if not run.clauses or run.name.startswith("through/"):
        return sorted(run.cases)
    of_posix = {
        case["id"]
        for case in report(folder, "posix")["cases"]
        if run.clauses & set(case["clauses"]) or case.get("tier") == "smoke"
    }
    return sorted(of_posix | run.cases)


def report(folder: Path, name: str) -> dict[str, Any]:
    """A report that was kept."""
    read: dict[str, Any] = json.loads((folder / name / "report.json").read_text())
    return read


def main() -> None:
    """Make the reports that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable, help="the Python whose tffs-conformance is tried")
    parser.add_argument("--only", default="*", help="those whose names fit, such as 'faults/*'; posix has to be there")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="one with TensorFlow, for the faults through/*")
    given = parser.parse_args()
    folder = given.folder.resolve()
    fakes.build()
    selected = [run for run in runs(given.tensorflow) if fnmatch.fnmatchcase(run.name, given.only)]
    failed = []
    for number, run in enumerate(selected):
        if not (folder / run.name / "report.json").exists():
            started = time.monotonic()
            if not perform(run, given.python, folder):
                failed.append(run)
            print(f"{number + 1}/{len(selected)} {time.monotonic() - started:.1f} s {run.name}", flush=True)
    print(f"{len(selected)} runs")
    for run in failed:
        print(f"no report: {run.name}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
