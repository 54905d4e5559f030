"""What changed between two reports, as lines for a terminal: what is broken first, and of that the causes."""

from collections.abc import Collection, Iterator, Sequence

from ..reports.escape import printable
from ..reports.forms import words
from ..reports.forms.lines import Line, fitting, rule, wrapped
from ..reports.model.counts import few, number
from ..reports.model.findings import Finding
from ..reports.model.report import Report
from ..suite.judge.compare import Before, Change, Comparison, Kind, findings_of

#: So many clauses of one kind are shown where nobody asks for all.
SHOWN = 10

#: What is told after what is broken, and how it is called.
_TOLD = (
    (Kind.UNSEEN, "a violation then, not checked now"),
    (Kind.CHANGED, "still so, in another way"),
    (Kind.WAIVED, "a violation then, waived now"),
    (Kind.FIXED, "fixed"),
    (Kind.WARNED, "warnings that are new"),
    (Kind.NO_WARNING, "warnings that are gone"),
    (Kind.UNCHECKED, "checked then, not now"),
    (Kind.OTHER, "another verdict, which breaks nothing"),
)


def lines(then: Report, now: Report, found: Comparison, *, width: int, verbosity: int = 0) -> Iterator[Line]:
    """The lines about two reports; with a verbosity of 1 all clauses of each kind, and all facts that differ."""
    columns = fitting(width)
    most = None if verbosity else SHOWN
    yield rule(f" {printable(then.target.name)}, then and now ", columns), {"bold": True}
    for when, report in (("then", then), ("now", now)):
        what = f"{report.verdict}: {report.reason} (tier {report.suite.tier}, suite {report.suite.version})"
        yield from wrapped(f"{when:<6}", what, columns)
    for one in found.differences:
        yield from wrapped("differs  ", f"{one.what}: {one.then} → {one.now}", columns)
    yield from broken(now, found.of_kinds(Kind.BROKEN), columns, most)
    yield from no_longer_executed(found, columns, most)
    for kind, title in _TOLD:
        yield from change_lines(title, found.of_kinds(kind), columns, most, detailed=kind is Kind.CHANGED)
    for title, names in (
        ("cases that are new", found.cases_added),
        ("cases that are gone", found.cases_removed),
        ("clauses that are new", found.clauses_added),
        ("clauses that are gone", found.clauses_removed),
        ("clauses that demand something else", found.clauses_changed),
    ):
        if names:
            yield from wrapped(f"{title} ({len(names)}): ", ", ".join(names) if verbosity else few(names), columns)
    yield "", {}
    worse = found.is_worse
    yield in_short(found), {"bold": True, "red" if worse else "green": True}


def in_short(found: Comparison) -> str:
    """What is worse, and what is fixed, in a few words."""
    counted = [(_clauses(found.of_kinds(Kind.BROKEN)), "newly broken"), (_clauses(found.of_kinds(Kind.FIXED)), "fixed")]
    said = [f"{number(len(names), 'clause')} {what}" for names, what in counted if names]
    if gone := found.clauses_no_longer_executed:
        said.append(f"{number(len(gone), 'clause')} no longer executed")
    if waiting := found.clauses_newly_not_run:
        said.append(f"{number(len(waiting), 'clause')} newly not run in a case")
    return ", ".join(said) or "nothing is broken that was not, and nothing fixed"


def broken(now: Report, changes: Sequence[Change], columns: int, most: int | None = SHOWN) -> Iterator[Line]:
    """What is broken now and was not, causes first; what a newer suite brought comes apart."""
    brought = [change for change in changes if change.before.is_of_the_suite]
    kept = [change for change in changes if not change.before.is_of_the_suite]
    for title, those in (
        ("BROKEN", kept),
        ("BROKEN, as a newer suite sees (a clause or a case that was not there then)", brought),
    ):
        found = findings_of(now, those)
        for finding in found[:most]:
            yield "", {}
            yield from _finding(now, title, finding, those, columns)
        if rest := [finding.clause for finding in found[len(found[:most]) :]]:
            yield from wrapped(f"… and {len(rest)} more: ", few(rest), columns)


def _finding(now: Report, title: str, finding: Finding, changes: Sequence[Change], columns: int) -> Iterator[Line]:
    count = f"{number(finding.times, 'check')} in {number(len(finding.cases), 'case')}"
    yield f"{title}: {printable(finding.clause)} ({count})", {"bold": True, "red": True}
    yield from wrapped("  rule      ", now.clauses[finding.clause].rule, columns)
    case, check = finding.checks[0]
    yield from wrapped("  case      ", f"{case.id}: {case.stimulus}", columns)
    change = next(one for one in changes if (one.case, one.clause) == (case.id, check.clause))
    yield from wrapped("    then      ", _then(change), columns)
    yield from wrapped("    expected  ", check.expected, columns)
    yield from wrapped("    got       ", check.got, columns)
    if others := [name for name in finding.cases if name != case.id]:
        yield from wrapped("  also in   ", few(others), columns)
    for head, text in (
        ("  breaks    ", words.others(finding)),
        ("  others    ", words.alike(finding)),
        ("  after it  ", words.under(finding)),
    ):
        yield from wrapped(head, text, columns) if text else ()


def _then(change: Change) -> str:
    """What the older report knew."""
    known = [] if change.before in (Before.CHECKED, Before.UNCHECKED) and change.then else [str(change.before)]
    return "; ".join([*change.then[:1], *known])


def no_longer_executed(found: Comparison, columns: int, most: int | None = SHOWN) -> Iterator[Line]:
    """The clauses that nothing looks at now, though something did then, and those that a case does not run any more."""
    gone = found.clauses_no_longer_executed
    waiting = [name for name in found.clauses_newly_not_run if name not in gone]
    for title, names in (("NO LONGER EXECUTED", gone), ("NEWLY NOT RUN IN A CASE", waiting)):
        if not names:
            continue
        yield "", {}
        yield f"{title}: {number(len(names), 'clause')}", {"bold": True, "red": True}
        for name in names[:most]:
            yield f"  {printable(name)}", {}
        if rest := names[len(names[:most]) :]:
            yield from wrapped(f"  … and {len(rest)} more: ", few(rest), columns)


def change_lines(
    title: str, changes: Collection[Change], columns: int, most: int | None = SHOWN, *, detailed: bool = False
) -> Iterator[Line]:
    """Changes of one kind by clause; `detailed` with what they got then and get now."""
    if not changes:
        return
    clauses = _clauses(changes)
    yield "", {}
    yield f"{title}: {number(len(clauses), 'clause')}", {"bold": True}
    for name, those in list(clauses.items())[:most]:
        yield from wrapped(f"  {printable(name)}: ", few([change.case for change in those]), columns)
        if detailed:
            yield from wrapped("    then  ", " | ".join(those[0].got_then) or "nothing", columns)
            yield from wrapped("    now   ", " | ".join(those[0].got_now) or "nothing", columns)
    if rest := list(clauses)[len(list(clauses)[:most]) :]:
        yield from wrapped(f"  … and {len(rest)} more: ", few(rest), columns)


def _clauses(changes: Collection[Change]) -> dict[str, list[Change]]:
    """Changes by clause."""
    found: dict[str, list[Change]] = {}
    for change in changes:
        found.setdefault(change.clause, []).append(change)
    return found
