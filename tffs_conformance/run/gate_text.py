"""What a run says of its gate: the verdict, what is new, and what is better than in the baseline."""

from collections.abc import Iterator

from ..reports.escape import printable
from ..reports.forms.lines import Line, fitting, wrapped
from ..reports.model.counts import number
from ..reports.model.verdicts import Verdict
from ..suite.judge.compare import Kind
from ..suite.judge.gate import GateResult
from .comparison_text import SHOWN, broken, change_lines, no_longer_executed


def lines(held: GateResult, *, width: int, verbosity: int = 0) -> Iterator[Line]:
    """The lines for one target, behind its summary."""
    columns = fitting(width)
    most = None if verbosity > 0 else SHOWN
    known = held.baseline.report
    yield "", {}
    verdict = f"FAILED: {'; '.join(held.reasons)}" if held.reasons else "passed: nothing new"
    for text, _ in wrapped("gate no-new ", verdict, columns):
        yield text, {"bold": True, "red" if held.reasons else "green": True}
    yield f"  against {printable(held.baseline.given)}", {}
    suite = f"of the suite {known.suite.version} ({known.contract}, tier {known.suite.tier})"
    yield from wrapped("  ", f"{suite}; {_old(held)}", columns)
    yield from broken(held.report, [one for one in held.new if one.kind is Kind.BROKEN], columns, most)
    yield from no_longer_executed(held.found, columns, most)
    others = [one for one in held.new if one.kind is not Kind.BROKEN and not one.is_broken_otherwise]
    yield from change_lines("new, and --fail-on names it", others, columns, most)
    changed = [one for one in held.found.changes if one.is_broken_otherwise]
    yield from change_lines("broken before, and now in another way", changed, columns, most, detailed=True)
    for kind, title in ((Kind.UNSEEN, "broken before, and not checked in this run"), (Kind.FIXED, "fixed")):
        yield from change_lines(title, held.found.of_kinds(kind), columns, most)


def _old(held: GateResult) -> str:
    """How many clauses are broken as they were."""
    new = {(one.case, one.clause) for one in held.found.of_kinds(Kind.BROKEN)}
    old = {
        check.clause
        for case in held.report.cases
        for check in case.checks
        if check.verdict is Verdict.VIOLATION and (case.id, check.clause) not in new
    }
    return f"{number(len(old), 'clause')} broken as before" if old else "none of its violations is left"
