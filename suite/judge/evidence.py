"""Evidence: what a case saw. It has no verdicts; `cases` makes them of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...reports.model.records import Ending, StatementKind


@dataclass(frozen=True, slots=True)
class Statement:
    """One comparison about one clause. `expected` and `got` are what a reader compares.

    `reading` is the reading of a disputed clause that the plugin follows. `prepared` says that it is about a call that
    prepared the stimulus. `times` counts those that say the same.

    Of a breach, `op` is the op whose answer was compared, None for the plugin as a whole, `kind` what of it is wrong,
    `code` the code that the op answered, where that is wrong, `at` the number of calls before the comparison, and
    `values` are what was wanted and what came, where those were compared. `loses` says that stored data is gone.
    """

    clause: str
    holds: bool
    expected: str
    got: str
    reading: str | None = None
    said: str | None = None
    times: int = 1
    prepared: bool = False
    op: str | None = None
    kind: StatementKind = StatementKind.OTHER
    code: str | None = None
    at: int = field(default=0, compare=False)
    values: tuple[object, object] | None = field(default=None, compare=False)
    loses: bool = False


class Fall(StrEnum):
    """How a process did not come back from an op."""

    HUNG = "hung"
    CRASHED = "crashed"
    THREW = "threw"


@dataclass(frozen=True, slots=True)
class Death:
    """An op that did not come back: how, in words of a reader, and whether it only prepared the stimulus."""

    op: str
    fall: Fall
    said: str
    prepared: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A step that did not work, so that the case could not go on. `absent`: the plugin does not have the op.

    `death` is what became of its call in a case before, where it is not made again; `kind` is what is wrong with it.
    """

    op: str
    why: str
    absent: bool = False
    death: Death | None = None
    kind: StatementKind = StatementKind.OTHER


@dataclass(frozen=True, slots=True)
class Condition:
    """What came of a case when it was repeated under a condition: it says nothing of other clauses than `clause`.

    `not_run` says why the condition could not be brought about, in words. `output` is what its tool said.
    """

    clause: str = ""
    statements: tuple[Statement, ...] = ()
    not_run: str | None = None
    output: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a case saw in all attempts: the clauses that it declares, what it compared, and how it ended.

    `answered` says whether a call of the stimulus came back. `reason` is why it ended early, in words. `flaw` is what
    witnesses found wrong with what was prepared. `called` are the ops that were called, those that core did instead
    included; None if nobody sees them. `known` has the ops that go wrong where nothing is special about the
    call, each with what is wrong: one case that is about the op says so. `error` is what the suite itself raised.
    """

    clauses: tuple[str, ...]
    statements: tuple[Statement, ...] = ()
    ended: Ending = Ending.WHOLE
    reason: str | None = None
    answered: bool = False
    death: Death | None = None
    block: Block | None = None
    flaw: Block | None = None
    called: Collection[str] | None = None
    known: Mapping[str, str] = field(default_factory=dict)
    promised: Collection[str] = ()
    condition: Condition = field(default_factory=Condition)
    error: BaseException | None = None

    def is_news(self, op: str) -> bool:
        """Whether it is for this case to say that an op goes wrong: one about it, or where it works plainly."""
        return f"{op}.succeeds" in self.clauses or op not in self.known
