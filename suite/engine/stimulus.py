"""A stimulus as it is given many times over: what is there before, the ops, and what came of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import Filesystem, OpenObject
from ...harness.ops.outcomes import DiedError, Entries, Existence, Outcome, Read, Statistics
from .case import Case

T = TypeVar("T", bound=OpenObject)


@dataclass(frozen=True, slots=True)
class Stimulus:
    """Ops in a situation: `needs` is what is there for them, relative path to content, None for a directory.

    What is in `gives_up` the ops may spoil where they fail, for they are to replace it. They promise that what was
    written is `durable`, or they do not. They begin `anew` whatever a failure of theirs left.
    """

    ops: Callable[["Performance"], None]
    needs: Mapping[str, bytes | None] = field(default_factory=dict)
    gives_up: frozenset[str] = frozenset()
    durable: bool = False
    anew: bool = False

    @property
    def before(self) -> Mapping[str, bytes | None]:
        """All that is there: a file that is no business of the ops, too."""
        return {"beside": b"of somebody else", **self.needs}


class _FailedError(Exception):
    """An op did not answer OK: the ops behind it are not performed."""


class Performance:
    """One performance of a stimulus in a directory of a case. It ends with the first op that does not answer OK.

    What is `held` open by another performance is used in place of what is opened.
    """

    def __init__(self, case: Case, directory: str, held: Sequence[OpenObject] = ()) -> None:
        self._case = case
        self._directory = directory
        self._held = list(held)
        #: What it opened and did not clean up.
        self.objects: list[OpenObject] = []
        #: What the ops gave, without what is another each time.
        self.values: list[object] = []
        #: What did not answer OK.
        self.failed: Outcome[object] | None = None
        #: How the process ended, if it did.
        self.died: str | None = None

    @property
    def fs(self) -> Filesystem:
        """The filesystem under test."""
        return self._case.fs

    @property
    def ok(self) -> bool:
        """Whether all ops came back and answered OK."""
        return self.failed is None and self.died is None

    @property
    def told(self) -> str:
        """How it went, in a few words."""
        if self.died is not None or self.failed is None:
            return self.died or "OK"
        return f"{self.failed.op}: code={self.failed.code}"

    def uri(self, *names: str) -> str:
        """A path in the directory."""
        return self._case.uri(self._directory, *names)

    def done(self, outcome: Outcome[object], *others: Code) -> None:
        """Take the answer of an op, which is OK or one of the others where it is right."""
        if outcome.code not in (Code.OK, *others):
            self.failed = outcome
            raise _FailedError
        self.values.append((outcome.op, outcome.code, _lasting(outcome.value)))

    def opened(self, outcome: Outcome[T | None]) -> T:
        """What an op opened. It is cleaned up at the end."""
        if outcome.code is not Code.OK or outcome.value is None:
            self.failed = outcome
            raise _FailedError
        self.objects.append(outcome.value)
        return cast("T", self._held.pop(0)) if self._held else outcome.value

    def perform(self, stimulus: Stimulus) -> None:
        """Perform the ops."""
        try:
            stimulus.ops(self)
        except _FailedError:
            pass
        except DiedError as died:
            self.died = str(died.death)

    def perform_all(self, stimulus: Stimulus) -> None:
        """Perform the ops, and clean up."""
        self.perform(stimulus)
        self.clean_up()

    def clean_up(self) -> None:
        """End what was opened. That has no status: a failure in it has nobody to be told to."""
        try:
            while self.died is None and self.objects:
                self.objects.pop().cleanup()
        except DiedError as died:
            self.died = str(died.death)


def _lasting(value: object) -> object:
    """A value without times and addresses, which are others each time."""
    match value:
        case Statistics():
            return value.length, value.is_directory
        case Read():
            return value.returned, value.data
        case Existence(returned=everything, statuses=statuses):
            return everything, tuple(str(status.code) for status in statuses or ())
        case Entries():
            return tuple(sorted(value.names))
        case (int(), bytes() as data):
            return data
        case _:
            return value
