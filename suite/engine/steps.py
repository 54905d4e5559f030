"""Set-up steps: what it means for a case that one of them fails."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from ...harness.hosting.loader import Blocked
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome, Source
from ..contract.catalogue import clause
from .checks import Checks
from .workbench import Workbench

T = TypeVar("T")


class Steps(Checks):
    """The checks of a case and the steps that prepare its stimulus. One that fails is news about its op, or blocks."""

    def __init__(self, bench: Workbench, identity: str, clauses: Sequence[str]) -> None:
        super().__init__(identity, clauses, bench.directory(identity), bench.claims, bench.redaction)
        self.bench = bench
        # What TensorFlow says of itself is no answer of the plugin.
        self.works = frozenset() if bench.target.through else bench.knowledge.works
        #: Whether what is called prepares the stimulus.
        self.setting_up = False

    @contextmanager
    def setup(self) -> Iterator[None]:
        """What is done inside prepares the stimulus: where it fails the case could not be run."""
        before, self.setting_up = self.setting_up, True
        yield
        self.setting_up = before

    def require(self, outcome: Outcome[T]) -> T:
        """The value of a set-up step. Where it failed: news about that op, or a case that is blocked by it."""
        if outcome.source is Source.ABSENT:
            raise Blocked(outcome.op, outcome.message, absent=True)
        if outcome.ok:
            self._succeeded(outcome.op)
            return outcome.value
        if self.unimplemented(outcome):
            raise Blocked(outcome.op, "it answers UNIMPLEMENTED", absent=outcome.op not in self.works)
        self.not_a_consequence(outcome)
        if self.is_news(outcome.op):
            succeeds = f"{outcome.op}.succeeds"
            self.record(succeeds, False, "code=OK", f"code={outcome.code}", outcome.message, declared=True)
        raise Blocked(outcome.op, f"{outcome.code} {outcome.message}")

    def status(self, name: str, outcome: Outcome[object], *codes: Code) -> bool:
        """The code is one of these. Raises AbsentOp or Blocked where that is not for this case to say."""
        if outcome.code not in codes:
            self.not_a_consequence(outcome, clause(name).op)
        return super().status(name, outcome, *codes)

    def is_news(self, op: str) -> bool:
        """Whether it is for this case to say that an op goes wrong: one about it, or where it works plainly."""
        return f"{op}.succeeds" in self.clauses or op not in self.bench.knowledge.fails_plainly

    def not_a_consequence(self, outcome: Outcome[object], of: str = "") -> None:
        """Raise Blocked where an op that goes wrong everywhere was only asked by core, or for a clause of `of`."""
        cause = outcome.passed_on or outcome.op
        only_asked = outcome.passed_on or of not in ("", cause)
        if not outcome.ok and only_asked and not self.is_news(cause):
            raise Blocked(cause, self.bench.knowledge.fails_plainly[cause])

    def _succeeded(self, op: str) -> None:
        """Record once that an op works, where the case is about that."""
        name = f"{op}.succeeds"
        if name in self.clauses and not any(check.clause == name for check in self.made):
            self.record(name, True, "code=OK", "code=OK")

    def blocked(self, op: str, why: str) -> NoReturn:
        """End the case: it cannot be run, because of `op`."""
        raise Blocked(op, why)

    def opened(self, outcome: Outcome[T | None]) -> T:
        """What an op of the new_* family opened, as a set-up step."""
        value = self.require(outcome)
        if value is None:
            raise Blocked(outcome.op, "it answered OK and opened nothing")
        return value
