"""Compares the reports of two versions of the suite on the same plugins, check by check, and says why each changed.

`python tests/verdict_changes.py BEFORE AFTER` reads BEFORE/<name>/report.json and AFTER/<name>/report.json, which
`tests/verdict_runs.py` writes, or two folders of published reports. It prints a table of every kind of change with its
reason and an example. What fits none of the reasons below is listed by itself, and the exit code is 1.

Verdicts are compared, and no texts: a root has another name each time. The checks of a clause in a case are a multiset;
of it, what is only before and what is only after is the change. `silent` is a clause that its case declares and that
has no check there. Reports are read as plain JSON, so that those of any schema are.
"""

import argparse
import fnmatch
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Document = dict[str, Any]
#: A report, and a clause in a case of it.
Place = tuple[str, str]
#: By the name of the reason and the kind of change.
Rows = dict[tuple[str, str], list[Place]]

SILENT, NO_CASE = "silent", "no case"
#: Of a case, in the place of a clause.
VERDICT = "its verdict"
PASSES = {"conform", "tolerated", "informational"}
JUDGED = ("conform", "tolerated", "warning", "violation")
UNSEEN = {"not run", "absent", "error"}


@dataclass(frozen=True)
class Change:
    """A clause in a case, or the verdict of the target or a class: then `case` is empty, and the reports are compared.

    `gone` and `come` are the verdicts that are only before and only after, each once; `before` and `after` what they
    are in: the case, or the report.
    """

    report: str
    case: str
    clause: str
    gone: frozenset[str]
    come: frozenset[str]
    before: Document
    after: Document

    @property
    def place(self) -> Place:
        """Where it is: the report, and the clause in its case."""
        return self.report, f"{self.case} {self.clause}".strip()

    @property
    def kind(self) -> str:
        """As a reader is told it; `nothing` stands for the checks that are there before and after."""
        return f"{', '.join(sorted(self.gone)) or 'nothing'} -> {', '.join(sorted(self.come)) or 'nothing'}"


class Reason(NamedTuple):
    """Why verdicts changed, and which changes it explains. The first that fits is taken."""

    name: str
    sentence: str
    fits: Callable[[Change], bool]


def ended_early(case: Document) -> bool:
    """Whether something came before the end of a case: nothing in its way has a reason where nothing is wrong."""
    died = {*SURVIVED, "registration.blocks-are-freeable"}
    return (case["reason"] is not None and case["verdict"] not in PASSES) or any(
        check["clause"] in died and check["verdict"] == "violation" for check in case["checks"]
    )


def blocked(case: Document) -> bool:
    """Whether a step of the set-up was blamed, and what the case itself saw may have been dropped."""
    return (case["reason"] or "").startswith("blocked by ")


def answers(case: Document, clause: str, verdict: str) -> list[str]:
    """What the checks of a clause with this verdict got."""
    return [one["got"] for one in case["checks"] if (one["clause"], one["verdict"]) == (clause, verdict)]


def only_large(report: Document) -> bool:
    """Whether all violations of a report are in cases of the tier large."""
    broken = [case["id"] for case in report["cases"] if case["verdict"] == "violation"]
    return all(any(fnmatch.fnmatchcase(case, one) for one in LARGE) for case in broken)


def is_law(clause: str) -> bool:
    """Whether every call is held to the clause, whatever its case is about."""
    return any(fnmatch.fnmatchcase(clause, one) for one in LAWS)


def lacks_a_must(change: Change) -> bool:
    """Whether a MUST clause of this class, or of any for the target, was not run in a case."""
    report = change.after
    return any(
        check["verdict"] == "not run"
        and (about := report["clauses"][check["clause"]])["level"] == "MUST"
        and change.clause in ("target", f"class {about['class']}")
        for case in report["cases"]
        for check in case["checks"]
    )


#: The clauses that every call of an op is held to.
LAWS = ("common.*", "robustness.no-overrun", "*.returns-the-count", "*return-on-error", "read.return-agrees-*")
#: The faults of one op that were told of another.
LAID_UPON = ("faults/faulty changes-on-error:new_random_access_file", "faults/faulty delete_file.deletes-nothing")
#: The cases of large files, whose last read was checked under another clause.
AT_THE_END = ("new_random_access_file.large-files", "read.short-read-is-out-of-range")
SURVIVED = ("robustness.no-crash", "robustness.no-hang", "robustness.no-exception")
#: The cases that went into the tier large.
LARGE = (
    "listing/two-pages",
    "sizes/beyond-2-gib",
    "sizes/large-moved*",
    "storage/append-to-a-large-file",
    "storage/one-read-of-2-gib",
)
REASONS = (
    Reason(
        "empty",
        "The answer leaves nothing that the clause could say. Such clauses were missing, and now they are counted.",
        lambda it: it.gone == {SILENT} and it.come == {"does not apply"},
    ),
    Reason(
        "unseen",
        "The case ended before the clause was tried. Such clauses were missing, and now they are told.",
        lambda it: it.gone == {SILENT} and it.come <= UNSEEN and ended_early(it.before),
    ),
    Reason(
        "set-up only",
        "What the case is about was not reached: that a law was kept until then says something of the set-up only.",
        lambda it: (
            it.gone <= PASSES
            and bool(it.come)
            and (
                (it.come <= UNSEEN and ended_early(it.before)) or (it.come == {"does not apply"} and is_law(it.clause))
            )
        ),
    ),
    Reason(
        "no longer dropped",
        "A step of the set-up was blamed, and what was seen was dropped. It stays, beside its cause.",
        lambda it: it.gone <= {SILENT} and bool(it.case) and blocked(it.before),
    ),
    Reason(
        "cause named",
        "What the case prepared was wrong: the op to which that is due is named, before what was seen.",
        lambda it: (
            bool(it.case) and it.clause == f"{it.after.get('cause')}.succeeds" and it.come <= {"violation", "warning"}
        ),
    ),
    Reason(
        "core answers",
        "Core translates names by itself where the plugin does not: the plugin is asked nothing.",
        lambda it: it.case == "ownership/paths[translate_name]" and it.after["verdict"] == "absent",
    ),
    Reason(
        "told as broken",
        "What was dropped, or hidden as not run, is told: the class or the target has violations.",
        lambda it: not it.case and it.gone == {"incomplete"} and it.come == {"not conformant"},
    ),
    Reason(
        "lacking",
        "What cannot be prepared for want of an op that the plugin leaves out is absent, and nothing that is not run.",
        lambda it: not it.case and it.gone == {"incomplete"} and it.come == {"not claimed"},
    ),
    Reason(
        "two things wrong",
        "Two things are wrong, and the op answers OK: either error is right, and OK is not.",
        lambda it: (
            fnmatch.fnmatchcase(it.case, "status/two-paths[[]*")
            and "violation" in it.come
            and any("code=OK" in got for got in answers(it.after, it.clause, "violation"))
        ),
    ),
    Reason(
        "the tree",
        "What an op leaves is looked at after OK, too.",
        lambda it: (
            fnmatch.fnmatchcase(it.case, "status/*")
            and it.gone <= {SILENT}
            and it.come <= {"conform", "violation", "warning"}
            and any(got.startswith("tree") for got in answers(it.after, it.clause, *it.come))
        ),
    ),
    Reason(
        "came back",
        "Every op of a case came back that is about that. Only calls through the tables counted before.",
        lambda it: it.gone == {SILENT} and it.come == {"conform"} and it.clause in SURVIVED,
    ),
    Reason(
        "incomplete",
        "A MUST clause was not run in a case: what is not known is not called conformant.",
        lambda it: (
            not it.case and it.gone <= {"conformant", "not claimed"} and it.come == {"incomplete"} and lacks_a_must(it)
        ),
    ),
    Reason(
        "nothing kept",
        "Nothing of the class was kept or broken, and a part was not run: that is not called conformant.",
        lambda it: (
            it.clause.startswith("class ")
            and it.gone == {"conformant"}
            and it.come == {"incomplete"}
            and not any(
                check["verdict"] in JUDGED
                for case in it.after["cases"]
                for check in case["checks"]
                if it.clause == f"class {it.after['clauses'][check['clause']]['class']}"
            )
        ),
    ),
    Reason(
        "taken back",
        "A report of before schema 3 does not say which call kept a clause. In a case that ended early it may have been"
        " one of the set-up, and the pass is taken back.",
        lambda it: (
            bool(it.case) and "ended" not in it.before and it.gone == {"conform"} and not it.come and blocked(it.before)
        ),
    ),
    Reason(
        "limits",
        "Before schema 3 a report does not say what limits the profile claimed. Judged again, what was seen is noted.",
        lambda it: (
            "ended" not in it.before
            and it.clause == "stat.mtime-granularity"
            and it.gone == {"conform"}
            and it.come == {"informational"}
        ),
    ),
    Reason(
        "declared",
        "More cases declare the clause by which the cases of this plugin were chosen.",
        lambda it: it.gone == {NO_CASE} and it.report.startswith("faults/"),
    ),
    Reason(
        "fakes mended",
        "Fakes with options took more values than one, which was no fault of theirs that has a name.",
        lambda it: (
            it.report.startswith("faults/faulty options.") and (not it.case or it.case.startswith("configuration/"))
        ),
    ),
    Reason(
        "first look",
        "An op that does not come back from the first look is told by the cases about it, and the others are blocked.",
        lambda it: it.clause in SURVIVED and it.gone == {"violation"} and blocked(it.after),
    ),
    Reason(
        "laid upon it",
        "What another op does is no longer laid upon this one: a file that is still there keeps its directory, and a"
        " refused open that makes a file comes last.",
        lambda it: (
            it.report in LAID_UPON
            and it.gone in ({"violation"}, {"not conformant"})
            and (not it.case or it.case in ("tree/delete-dir", "tree/delete-file"))
        ),
    ),
    Reason(
        "only in large",
        "All that was broken shows in cases that are in the tier large now: a run of that tier tells it.",
        lambda it: not it.case and it.gone == {"not conformant"} and only_large(it.before),
    ),
    Reason(
        "between two steps",
        "The profile says that a rename has two steps. Whether a race looks between them is chance.",
        lambda it: (
            fnmatch.fnmatchcase(it.case, "races/mixed*")
            and "the profile claims atomic_rename = false" in (it.before["reason"], it.after["reason"])
            and it.gone | it.come == {"conform", "absent"}
        ),
    ),
    Reason(
        "its own op",
        "What a read at the end of a large file answers is checked under a clause of read.",
        lambda it: fnmatch.fnmatchcase(it.case, "storage/large*") and it.clause in AT_THE_END,
    ),
    Reason(
        "large",
        "How much a machine can hold says nothing of a plugin: the case is in a tier of its own.",
        lambda it: it.come == {NO_CASE} and any(fnmatch.fnmatchcase(it.case, one) for one in LARGE),
    ),
)
CHANCE = Reason("chance", "Two runs of the version before differ there, too.", lambda it: False)


def changes(name: str, before: Document, after: Document) -> Iterator[Change]:
    """Each change between two reports of the same target."""
    for place, was, now in _verdicts(before, after):
        if was != now:
            yield Change(name, "", place, frozenset({was}), frozenset({now}), before, after)
    every_clause = int(after["schema"].rpartition("/")[2].partition(".")[0]) >= 3
    old, new = ({case["id"]: case for case in report["cases"]} for report in (before, after))
    for case in dict.fromkeys([*old, *new]):
        if case in old and case in new:
            yield from _changes_of_case(name, old[case], new[case], every_clause)
        else:
            gone, come = (frozenset({cases[case]["verdict"] if case in cases else NO_CASE}) for cases in (old, new))
            yield Change(name, case, VERDICT, gone, come, old.get(case, {}), new.get(case, {}))


def _changes_of_case(name: str, old: Document, new: Document, every_clause: bool) -> Iterator[Change]:
    """Of its checks, or of its verdict if that changed alone. With `every_clause` none may be silent in the end."""
    made, makes = _checks(old), _checks(new)
    changed = False
    for clause in dict.fromkeys([*made, *makes]):
        was, now = made.get(clause, Counter()), makes.get(clause, Counter())
        if was != now or (every_clause and not now):
            changed = True
            gone, come = frozenset(was - now) or _silence(was), frozenset(now - was) or _silence(now)
            yield Change(name, new["id"], clause, gone, come, old, new)
    if old["verdict"] != new["verdict"] and not changed:
        yield Change(name, new["id"], VERDICT, frozenset({old["verdict"]}), frozenset({new["verdict"]}), old, new)


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


def reason(change: Change) -> Reason | None:
    """The first reason that explains a change."""
    return next((one for one in REASONS if one.fits(change)), None)


def compared(before: Path, after: Path) -> Iterator[Change]:
    """The changes of all reports that are in both folders."""
    for name in sorted(_reports(before) & _reports(after)):
        old, new = (json.loads((folder / name / "report.json").read_text()) for folder in (before, after))
        yield from changes(name, old, new)


def _reports(folder: Path) -> set[str]:
    return {str(path.parent.relative_to(folder)) for path in folder.rglob("report.json")}


def table(rows: Rows) -> Iterator[str]:
    """The kinds of change, those of one reason together, each with an example."""
    yield "| reason | change | checks | reports | example |"
    yield "|---|---|---|---|---|"
    for (name, kind), places in sorted(rows.items()):
        report, where = places[0]
        yield f"| {name} | {kind} | {len(places)} | {len({one for one, _ in places})} | {report}: {where} |"
    yield ""
    names = {name for name, _ in rows}
    yield from (f"- {one.name}: {one.sentence}" for one in (*REASONS, CHANCE) if one.name in names)


def main(arguments: list[str] | None = None) -> int:
    """Print the table, and what it does not explain; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    again = "more runs of the version before, of what may depend on chance: what differs there does; repeatable"
    parser.add_argument("--again", type=Path, action="append", default=[], help=again)
    given = parser.parse_args(arguments)
    by_chance = {one.place for folder in given.again for one in compared(given.before, folder)}
    explained: Rows = {}
    unexplained: dict[str, list[Place]] = {}
    for change in compared(given.before, given.after):
        why = reason(change) or (CHANCE if change.place in by_chance else None)
        if why:
            explained.setdefault((why.name, change.kind), []).append(change.place)
        else:
            unexplained.setdefault(change.kind, []).append(change.place)
    old, new = _reports(given.before), _reports(given.after)
    print("\n".join(table(explained)))
    print(f"\n{len(old & new)} reports compared; without a reason: {sum(map(len, unexplained.values()))}")
    for kind, places in sorted(unexplained.items(), key=lambda row: -len(row[1])):
        print(f"\n{kind}: {len(places)}")
        for report, where in places:
            print(f"  {report}: {where}")
    for name in sorted(old ^ new):
        print(f"in one of the folders only: {name}")
    return bool(unexplained or old ^ new)


if __name__ == "__main__":
    sys.exit(main())
