"""A run held to its baseline: what is new fails it, and so does what it looked at alone. docs/ci.md has the rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...reports.model.counts import few, number
from ...reports.model.report import Report
from ...reports.model.verdicts import Verdict
from .compare import Change, Comparison, compare
from .course import is_as_asked
from .tried import anything


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier report that a run is compared with, and its path as the user gave it."""

    given: str
    report: Report


@dataclass(frozen=True)
class GateResult:
    """The report of a run held to its baseline. `kinds` are the verdicts of checks that fail it if new."""

    baseline: Baseline
    report: Report
    kinds: Sequence[Verdict] = (Verdict.VIOLATION,)
    fails_on_changed: bool = False

    @cached_property
    def found(self) -> Comparison:
        """What changed, in what was to be run."""
        return compare(self.baseline.report, self.report)

    @cached_property
    def new(self) -> list[Change]:
        """What fails the run because the baseline does not have it."""
        return [
            change
            for change in self.found.changes
            if any(kind in change.now and kind not in change.then for kind in self.kinds)
            or (self.fails_on_changed and change.is_broken_otherwise)
        ]

    @cached_property
    def reasons(self) -> list[str]:
        """Why the run fails; empty where it does not."""
        report = self.report
        said = [f"{number(len(those), 'clause')} {what}: {few(those)}" for what, those in self._by_what().items()]
        if report.counts[Verdict.ERROR]:
            said.append(number(report.counts[Verdict.ERROR], "error"))
        if report.left_out is not None and not is_as_asked(report.left_out):
            said.append(report.left_out)
        if not anything(report.cases) or (report.left_out is None and not report.executed.must):
            said.append("nothing executed")
        if report.services is not None and report.services.failure is not None:
            said.append("services whose figures cannot be read")
        return said

    def _by_what(self) -> dict[str, list[str]]:
        """The clauses for which the run fails, each told by the first of what it does."""
        found: dict[str, dict[str, None]] = {}
        for change in self.new:
            verdict = next((kind for kind in self.kinds if kind in change.now and kind not in change.then), None)
            if verdict is Verdict.VIOLATION:
                what = "newly broken" + (", as a newer suite sees" if change.before.is_of_the_suite else "")
            else:
                what = f"newly with the verdict {verdict}" if verdict else "broken in another way"
            found.setdefault(what, {})[change.clause] = None
        gone = self.found.clauses_no_longer_executed
        told = {*gone, *found.get(f"newly with the verdict {Verdict.NOT_RUN}", ())}
        waiting = [name for name in self.found.clauses_newly_not_run if name not in told]
        by_what = {what: list(names) for what, names in found.items()}
        by_what |= {"no longer executed": list(gone), "newly not run in a case": waiting}
        return {what: names for what, names in by_what.items() if names}
