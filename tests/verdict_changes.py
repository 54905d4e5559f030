"""Compares the reports of two versions of the suite on the same plugins.

`python -m tests.verdict_changes BEFORE AFTER` reads BEFORE/<name>/report.json and AFTER/<name>/report.json, packed or
not, which `tests/verdict_runs.py` writes, or two folders of published reports. It prints each change, those of one kind
together. Where there is one, the exit code is 1. What differs between runs of the version before, too, is chance:
`--again`.

Verdicts are compared, and no texts: a root has another name each time. If only the number of a clause's checks differs,
the clause stands without a case.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tffs_conformance.reports.document import load
from tffs_conformance.reports.model.report import Report
from tffs_conformance.suite.judge.compare import compare

#: The report and the place in it that changed, and how.
Change = tuple[str, str]


def changes(name: str, then: Report, now: Report) -> Iterator[Change]:
    """Each change between two reports of the same target."""
    found = compare(then, now)
    pairs: dict[str, tuple[object, ...]] = {"target": (then.verdict, now.verdict)}
    for one in sorted(then.classes.keys() | now.classes.keys()):
        pairs[f"class {one}"] = tuple(one in report.classes and report.classes[one].verdict for report in (then, now))
    for case in (*found.cases_removed, *found.cases_added):
        pairs[case] = tuple(case in {record.id for record in report.cases} for report in (then, now))
    for change in found.changes:
        pairs[f"{change.case} {change.clause}"] = ", ".join(change.then), ", ".join(change.now)
    for clause in then.clauses.keys() & now.clauses.keys() - {change.clause for change in found.changes}:
        pairs[clause] = _counted(then, clause), _counted(now, clause)
    for place, (was, is_now) in pairs.items():
        if was != is_now:
            yield f"{name}: {place}", f"{was or 'nothing'} -> {is_now or 'nothing'}"


def _counted(report: Report, clause: str) -> str:
    counts = report.clauses[clause].counts.by_verdict()
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)


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
    return {str(path.parent.relative_to(folder)): path for path in folder.rglob("report.json*")}


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
