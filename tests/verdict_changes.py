"""Compares the reports of two versions of the suite on the same plugins.

`python -m tests.verdict_changes BEFORE AFTER` reads BEFORE/<name>/report.json and AFTER/<name>/report.json, packed or
not, which `tests/verdict_runs.py` writes, or two folders of published reports. It prints each change, those of one kind
together. Where there is one, the exit code is 1. What differs between runs of the version before, too, is chance:
`--again`.

Verdicts are compared, and no texts: a root has another name each time.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tffs_conformance.reports.document import load
from tffs_conformance.reports.model.report import Report

#: Those of reports, plain and packed.
SUFFIXES = {".json", ".gz"}
#: The report and the place in it that changed, and how.
Change = tuple[str, str]


def changes(name: str, then: Report, now: Report) -> Iterator[Change]:
    """Each change between two reports of the same target."""
    old, new = _verdicts(then), _verdicts(now)
    for place in dict.fromkeys([*old, *new]):
        if old.get(place) != new.get(place):
            yield f"{name}: {place}", f"{old.get(place, 'nothing')} -> {new.get(place, 'nothing')}"


def _verdicts(report: Report) -> dict[str, str]:
    """The verdicts of the target, its classes and its cases, and in each case of each clause, with their number."""
    found = {"target": str(report.verdict)} | {f"class {one}": str(of.verdict) for one, of in report.classes.items()}
    for case in report.cases:
        found[case.id] = str(case.verdict)
        checks: dict[str, Counter[str]] = {}
        for check in case.checks:
            checks.setdefault(check.clause, Counter())[str(check.verdict)] += check.times
        for clause, counts in checks.items():
            found[f"{case.id} {clause}"] = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return found


def compared(before: Path, after: Path) -> Iterator[Change]:
    """The changes of all reports that are in one of the folders."""
    old, new = _reports(before), _reports(after)
    for name in sorted(old.keys() | new.keys()):
        if name in old and name in new:
            yield from changes(name, load(old[name]), load(new[name]))
        else:
            yield name, "in one of the folders only"


def _reports(folder: Path) -> dict[str, Path]:
    """The reports of a folder by their names: the folders below it."""
    return {
        str(path.parent.relative_to(folder)): path for path in folder.rglob("report.json*") if path.suffix in SUFFIXES
    }


def main() -> int:
    """Print what changed; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    again = "more runs of the version before, of what may depend on chance: what differs there does; repeatable"
    parser.add_argument("--again", type=Path, action="append", default=[], help=again)
    given = parser.parse_args()
    by_chance = {place for place, _ in chain(*(compared(given.before, folder) for folder in given.again))}
    kinds: dict[str, list[str]] = {}
    for place, kind in compared(given.before, given.after):
        if place not in by_chance:
            kinds.setdefault(kind, []).append(place)
    print(f"{len(_reports(given.before))} reports; changes: {sum(map(len, kinds.values()))}")
    for kind, places in sorted(kinds.items(), key=lambda row: -len(row[1])):
        print(f"\n{kind}: {len(places)}", *places, sep="\n  ")
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
