"""For every clause a plugin that breaks it, and the run that caught it.

`tests/faults.toml` names the fake and its fault. Each is judged on the clause alone; it counts as caught where a check
of the clause is a violation (a warning, for what is only recommended). Prints the table; fails where a clause has no
fault or a fault is not caught.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tffs_conformance.harness.native import native_directory
from tffs_conformance.suite.contract.catalogue import Clause, Level, catalogue

FAULTS = Path(__file__).with_name("faults.toml")
AT_ONCE = 2


@dataclass(frozen=True)
class Caught:
    """What a run with one fault said of one clause; `case` is None where it found nothing wrong."""

    clause: Clause
    plugin: str
    fault: str
    case: str | None
    verdict: str


def judge(clause: Clause, plugin: str, fault: str) -> Caught:
    """Judge a fake on a clause."""
    path = native_directory() / "plugins" / "fakes" / f"lib{plugin}.so"
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly",
                   f"--plugin={path}", f"--clause={clause.id}", f"--env=TFFS_FAULT={fault}", "--backing=file://{path}",
                   "--call-timeout=2", f"--report-dir={directory}"]  # fmt: skip
        subprocess.run(command, cwd=directory, capture_output=True, check=False)
        document = json.loads((Path(directory) / "report.json").read_text())
    wanted = "violation" if clause.level is Level.MUST else "warning"
    for case in document["cases"]:
        for check in case["checks"]:
            if check["clause"] == clause.id and check["verdict"] == wanted:
                return Caught(clause, plugin, fault, case["id"], wanted)
    return Caught(clause, plugin, fault, None, document["verdict"])


def chosen(pattern: str) -> Iterator[tuple[Clause, str, str]]:
    """The clauses that can be broken, each with its fake and fault, both empty where none is known."""
    table = tomllib.loads(FAULTS.read_text())["faults"]
    for clause in catalogue().values():
        # Nothing that a plugin does breaks a MAY; what no plugin of ours has cannot be broken yet.
        if clause.level is Level.MAY or clause.untested or not fnmatchcase(clause.id, pattern):
            continue
        plugin, _, fault = table.get(clause.id, "").partition(" ")
        yield clause, plugin, fault


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="*", help="only clauses whose id matches, such as 'read.*'")
    pattern = parser.parse_args().pattern
    rows = list(chosen(pattern))
    table = Table("clause", "level", "fake", "caught by", "as", title="a fault for every clause")
    missed = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for row, found in zip(rows, pool.map(lambda row: judge(*row) if row[1] else None, rows), strict=True):
            clause, plugin, fault = row
            if found is None or found.case is None:
                missed.append(clause.id)
            case = found.case if found and found.case else "NOT CAUGHT" if found else "no fault"
            cells = (clause.id, clause.level.value, f"{plugin} {fault}", case, found.verdict if found else "")
            table.add_row(*map(escape, cells))
            print(f"{clause.id}: {plugin} {fault}: {case}", file=sys.stderr, flush=True)
    Console(width=180 if not sys.stdout.isatty() else None).print(table)
    print(f"{len(rows) - len(missed)} of {len(rows)} clauses: a fault breaks each, and is caught on it")
    for name in missed:
        print(f"not shown: {name}")
    return 1 if missed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
