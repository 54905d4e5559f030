"""The result of a history that was tried on a plugin."""

from collections.abc import Sequence

from ...harness.ops.outcomes import Hung
from ...harness.over_tables.raw import Call
from ...reports.model.records import CaseRecord
from ...reports.model.verdicts import Verdict
from ..contract.model import Step


class Tried:
    """A history that was tried: its steps, its record, its calls, and the names that ops got for paths."""

    def __init__(
        self, steps: tuple[Step, ...], record: CaseRecord, calls: Sequence[Call], names: dict[str, str]
    ) -> None:
        self.steps = steps
        self.record = record
        self.calls = calls
        self.names = names

    @property
    def broken(self) -> str | None:
        """The first clause that was broken.

        An error of the suite counts as a broken clause, so that it is shrunk, too.
        """
        if self.record.verdict is Verdict.ERROR:
            return "error"
        return next((check.clause for check in self.record.checks if check.verdict is Verdict.VIOLATION), None)

    @property
    def interest(self) -> tuple[int, int]:
        """How much a history that broke nothing says: one with a warning most, one that could not be run least.

        Of two alike the one says more that looked at more clauses: an empty file says nothing of what is read.
        """
        rank = {Verdict.WARNING: 2, Verdict.NOT_RUN: 0}.get(self.record.verdict, 1)
        return rank, sum(check.verdict is Verdict.CONFORM for check in self.record.checks)

    @property
    def hung(self) -> bool:
        """Whether an op of the history hung."""
        return bool(self.calls) and isinstance(self.calls[-1][2], Hung)
