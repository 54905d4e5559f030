"""What all conditions share: a stimulus is performed many times over, and each time something else disturbs it."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from ...harness.hosting.loader import BlockedError
from ...harness.launchers.strace import Call
from ...harness.ops.outcomes import DiedError
from ..judge.evidence import Condition
from .case import Case
from .closing import Closing
from .contents import missing
from .setup import Tree
from .stimulus import Performance, Stimulus
from .workbench import Workbench

#: So many disturbances are tried in a case at most; what is left out is counted and told.
MAX_DISTURBANCES = 60
#: So often a disturbance is tried that did not come about.
MAX_TRIES = 3
#: The directories of a case in which the ops are disturbed, and in which they are performed again.
FIRST, AGAIN = "1", "2"

Disturbance = TypeVar("Disturbance")
Came = TypeVar("Came")


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a stimulus: how it went, once more in another directory, and what is in both then.

    `calls` are those on files below its own `directory`; so many of these were open before it, and were at the end.
    Where that was not waited for, more may be open than will be. `unreadable` says why another process cannot look at
    what is there.
    """

    went: Performance
    again: Performance
    there: Tree = field(default_factory=dict)
    there_again: Tree = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    directory: str = ""
    open_before: int = 0
    open: int = 0
    waited: bool = True
    unreadable: str = ""

    @property
    def died(self) -> str | None:
        """How the process ended in the stimulus, if it did."""
        return self.went.died

    def stays_open(self, whole: "Attempt") -> bool:
        """Whether a descriptor does; in `whole` nothing failed."""
        # A close(2) that strace fails is not made.
        return self.waited and self.open - not_closed(self.calls) > max(self.open_before, whole.open)

    def closed_wrongly(self, whole: "Attempt") -> str | None:
        """What is wrong with the descriptors that are open, in words; in `whole` nothing failed."""
        if self.stays_open(whole):
            return "a descriptor stays open"
        left = self.open - not_closed(self.calls)
        # One that was open before may be given up for any other failure.
        again = not_closed(self.calls) and left < min(self.open_before, whole.open)
        return "a descriptor is closed once more" if again else None


class Disturbing:
    """A case that is tried many times over, each time in a fresh directory and a fresh host of a bench of its own.

    As a context: at first nothing disturbs it. Raises BlockedError where it does not work even so.
    """

    def __init__(self, case: Case, bench: Workbench) -> None:
        self.case = case
        self._bench = bench
        self._trials = 0
        #: How many disturbances came about, and which ones did not.
        self.tried = 0
        self.missed: list[object] = []

    def __enter__(self) -> Self:
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    def begin(self) -> None:
        """Find out what comes of it where nothing disturbs it."""
        raise NotImplementedError

    @contextlib.contextmanager
    def trial(self, bench: Workbench | None = None) -> Iterator[Case]:
        """A case with a host and a directory of its own."""
        trial = self.case.trial(bench or self._bench, self._trials)
        self._trials += 1
        try:
            yield trial
        finally:
            trial.surroundings.clear()

    @contextlib.contextmanager
    def control(self, bench: Workbench | None = None) -> Iterator[Case]:
        """A trial in which nothing is disturbed: what it calls, the case calls."""
        with blocked_by_death(), self.trial(bench) as trial:
            try:
                yield trial
            finally:
                self.case.surroundings.trace.extend(trial.surroundings.trace)

    def demand(self, *performed: Performance) -> None:
        """Raise BlockedError, or AbsentOpError, where something did not go well that nothing disturbed."""
        for went in performed:
            if went.failed is not None:
                self.case.check.implemented(went.failed)
                raise BlockedError(went.failed.op, f"{went.failed.code} {went.failed.message}")
            if went.died is not None:
                raise BlockedError("the host", went.died)

    def disturbed(
        self,
        planned: Sequence[Disturbance],
        attempt: Callable[[Disturbance], Came | None],
        cause: Callable[[Disturbance], object] = str,
        died: Callable[[Came], object] = lambda _: None,
    ) -> Iterator[tuple[Disturbance, Came]]:
        """Each disturbance that comes about, and what came of it: an `attempt` gives None where it did not.

        What has the same cause as one with which the process died is left out.
        """
        ended = set[object]()
        for one in planned[:MAX_DISTURBANCES]:
            if cause(one) in ended:
                continue
            came = brought_about(attempt, one)
            if came is None:
                self.missed.append(one)
                continue
            if died(came) is not None:
                ended.add(cause(one))
            self.tried += 1
            yield one, came

    def tell(self, what: str, tried: int, left_out: int = 0) -> None:
        """Say in the output of the case how many disturbances were tried."""
        said = f"{tried} {what} were tried" + (f", {left_out} were left out" if left_out > 0 else "")
        self.case.condition = Condition(output=f"{said}\n")


class DisturbedStimulus(Disturbing):
    """A stimulus that is disturbed."""

    def __init__(self, case: Case, bench: Workbench, stimulus: Stimulus) -> None:
        super().__init__(case, bench)
        self._stimulus = stimulus
        self._closing = Closing(case.bench.target.timeout)
        self.before: Tree = dict(stimulus.before)
        self._whole: Attempt | None = None

    @property
    def is_control(self) -> bool:
        """Whether nothing was performed yet: what comes first is not disturbed."""
        return self._whole is None

    @property
    def whole(self) -> Attempt:
        """What comes of it where nothing disturbs it."""
        assert self._whole is not None
        return self._whole

    def begin_with(self, whole: Attempt) -> None:
        """Take what came of the stimulus, which nothing disturbed. Raises BlockedError where it does not work."""
        self.demand(whole.went, whole.again)
        self._whole = whole

    def most(self, open_before: int) -> int:
        """How much may be open at the end, where so much was before."""
        return open_before if self._whole is None else max(open_before, self._whole.open)

    def lacking(self, went: Performance, there: Tree) -> str | None:
        """What lacks of the work that was done in `whole`, in words: of what is there, or of what the ops gave."""
        lacks = missing(self.before, self.whole.there, there)
        other = lacks is None and went.ok and went.values != self.whole.went.values
        return f"the answer is {went.values!r}" if other else lacks

    def looked_at(self, attempt: Attempt, place: str, look: Callable[[], Tree]) -> Attempt:
        """An attempt that was performed again in `place`, with what is there; `look` is for another process.

        Raises BlockedError and DiedError where a control cannot be looked at.
        """
        try:
            there, there_again = below(look(), FIRST, place)
        except (BlockedError, DiedError) as failed:
            if self.is_control:
                raise
            return replace(attempt, unreadable=str(failed), waited=False)
        return replace(attempt, there=there, there_again=there_again, waited=not self._closing.is_told)


@contextlib.contextmanager
def blocked_by_death() -> Iterator[None]:
    """Within, an op that ends the process beside a stimulus blocks the case."""
    try:
        yield
    except DiedError as died:
        raise BlockedError(died.death.op, str(died)) from died


def brought_about(attempt: Callable[[Disturbance], Came | None], disturbance: Disturbance) -> Came | None:
    """What came of a disturbance; None where it did not come about, as often as it was tried."""
    came = (attempt(disturbance) for _ in range(MAX_TRIES))
    return next((one for one in came if one is not None), None)


def prepare(case: Case, place: str, before: Mapping[str, bytes | None]) -> None:
    """Set up what is there before a stimulus, in a directory of the case."""
    case.setup.mkdir_where_known(place)
    fill(case, place, before)


def fill(case: Case, place: str, before: Mapping[str, bytes | None]) -> None:
    """The same where the directory is there."""
    for name, content in before.items():
        if content is None:
            case.setup.mkdir(f"{place}/{name}")
        else:
            case.setup.write(f"{place}/{name}", content)


def below(tree: Tree, *places: str) -> Iterator[Tree]:
    """What is in each of these directories."""
    for place in places:
        yield {path.removeprefix(f"{place}/"): got for path, got in tree.items() if path.startswith(f"{place}/")}


def open_now(case: Case, beginning: str) -> int:
    """How many descriptors of the host are of a path that begins so: `/dir/` for what is in a directory, or was."""
    facts = case.surroundings.loaded.host.process.facts
    count = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{facts.pid}/fd" if facts else ""):
            with contextlib.suppress(OSError):
                count += f"{os.readlink(entry.path)}/".startswith(beginning)
    return count


def not_closed(calls: Sequence[Call]) -> int:
    """How many calls that close a descriptor strace failed in place of making them."""
    return sum(call.injected and call.name == "close" for call in calls)
