"""Compares the reports of two versions of the suite on the same plugins, check by check.

`python tests/verdict_changes.py BEFORE AFTER` reads BEFORE/<name>/report.json and AFTER/<name>/report.json, packed or
not, which `tests/verdict_runs.py` writes, or two folders of published reports. It prints each change, those of one kind
together.
Where there is one, the exit code is 1. What differs between runs of the version before, too, is chance: `--again`.

Verdicts are compared, and no texts: a root has another name each time. The checks of a clause in a case are a multiset;
of it, what is only before and what is only after is the change. `silent` is a clause that its case declares and that
has no check there. Reports are read as plain JSON, so that those of any schema are.
"""

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Document = dict[str, Any]

SILENT, NO_CASE = "silent", "no case"
#: Of a case, in the place of a clause.
VERDICT = "its verdict"


@dataclass(frozen=True)
class Change:
    """A clause in a case, or the verdict of the target or a class: then `case` is empty, and the reports are compared.

    `gone` and `come` are the verdicts that are only before and only after, each once.
    """

    report: str
    case: str
    clause: str
    gone: frozenset[str]
    come: frozenset[str]

    @property
    def place(self) -> tuple[str, str]:
        """Where it is: the report, and the clause in its case."""
        return self.report, f"{self.case} {self.clause}".strip()

    @property
    def kind(self) -> str:
        """As a reader is told it; `nothing` stands for the checks that are there before and after."""
        return f"{', '.join(sorted(self.gone)) or 'nothing'} -> {', '.join(sorted(self.come)) or 'nothing'}"


def changes(name: str, before: Document, after: Document) -> Iterator[Change]:
    """Each change between two reports of the same target."""
    for place, was, now in _verdicts(before, after):
        if was != now:
            yield Change(name, "", place, frozenset({was}), frozenset({now}))
    every_clause = int(after["schema"].rpartition("/")[2].partition(".")[0]) >= 3
    old, new = ({case["id"]: case for case in report["cases"]} for report in (before, after))
    for case in dict.fromkeys([*old, *new]):
        if case in old and case in new:
            yield from _changes_of_case(name, old[case], new[case], every_clause)
        else:
            gone, come = (frozenset({cases[case]["verdict"] if case in cases else NO_CASE}) for cases in (old, new))
            yield Change(name, case, VERDICT, gone, come)


def _changes_of_case(name: str, old: Document, new: Document, every_clause: bool) -> Iterator[Change]:
    """Of its checks, or of its verdict if that changed alone. With `every_clause` none may be silent in the end."""
    made, makes = _checks(old), _checks(new)
    changed = False
    for clause in dict.fromkeys([*made, *makes]):
        was, now = made.get(clause, Counter()), makes.get(clause, Counter())
        if was != now or (every_clause and not now):
            changed = True
            gone, come = frozenset(was - now) or _silence(was), frozenset(now - was) or _silence(now)
            yield Change(name, new["id"], clause, gone, come)
    if old["verdict"] != new["verdict"] and not changed:
        yield Change(name, new["id"], VERDICT, frozenset({old["verdict"]}), frozenset({new["verdict"]}))


def _verdicts(before: Document, after: Document) -> Iterator[tuple[str, str, str]]:
    yield "target", before["verdict"], after["verdict"]
    for name in before["classes"].keys() | after["classes"].keys():
        old, new = (report["classes"].get(name, {"verdict": "no class"})["verdict"] for report in (before, after))
        yield f"class {name}", old, new


def _checks(case: Document) -> dict[str, "Counter[str]"]:
    """The verdicts of each clause that a case declares, or has checks of."""
    found: dict[str, Counter[str]] = {clause: Counter() for clause in case["clauses"]}
    for check in case["checks"]:
        found.setdefault(check["clause"], Counter())[check["verdict"]] += check.get("times", 1)
    return found


def _silence(checks: "Counter[str]") -> frozenset[str]:
    return frozenset() if checks else frozenset({SILENT})


def compared(before: Path, after: Path) -> Iterator[Change]:
    """The changes of all reports that are in both folders."""
    old, new = _reports(before), _reports(after)
    for name in sorted(old.keys() & new.keys()):
        yield from changes(name, _read(old[name]), _read(new[name]))


def _reports(folder: Path) -> dict[str, Path]:
    """The reports of a folder by their names: the folders below it."""
    found = [*folder.rglob("report.json"), *folder.rglob("report.json.gz")]
    return {str(path.parent.relative_to(folder)): path for path in found}


def _read(path: Path) -> Document:
    raw = path.read_bytes()
    found: Document = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print what changed; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    again = "more runs of the version before, of what may depend on chance: what differs there does; repeatable"
    parser.add_argument("--again", type=Path, action="append", default=[], help=again)
    given = parser.parse_args(arguments)
    by_chance = {one.place for folder in given.again for one in compared(given.before, folder)}
    told: dict[str, list[Change]] = {}
    for change in compared(given.before, given.after):
        if change.place not in by_chance:
            told.setdefault(change.kind, []).append(change)
    old, new = _reports(given.before), _reports(given.after)
    print(f"{len(old.keys() & new.keys())} reports compared; changes: {sum(map(len, told.values()))}")
    for kind, found in sorted(told.items(), key=lambda row: -len(row[1])):
        print(f"\n{kind}: {len(found)}")
        for change in found:
            print(f"  {': '.join(change.place)}")
    only = old.keys() ^ new.keys()
    for name in sorted(only):
        print(f"in one of the folders only: {name}")
    return bool(told or only)


if __name__ == "__main__":
    sys.exit(main())
