"""System calls that fail: which an op makes, the plan of those that fail, and what comes of one failure."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from ...harness.hosting.loader import BlockedError
from ...harness.launchers.strace import TWO_PATHS, Call, Injection, NoStraceError, Strace
from ...harness.ops.outcomes import DiedError
from ..contract.system_calls import EINTR, Failing, calls
from ..judge.evidence import Condition
from .case import Case
from .setup import Tree
from .stimulus import Performance, Stimulus

#: So many failures are tried in a case at most; what is left out is counted and told.
MOST = 60
#: So often a failure is tried that did not come about where it was planned.
TIMES = 3
#: Why nothing fails where files are not kept in files.
NO_CALLS = "makes no system calls on files of the case"
#: The directories of a case in which the ops meet a failure, and in which they are performed again.
FIRST, AGAIN = "1", "2"


class NotTriedError(Exception):
    """A failure cannot be brought about, or not all of them. The text says why; the case is not run."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One call that fails: the `occurrence`-th of so many of its name on files of the case.

    It is found again as the `number`-th of its name that is on this `file` of the case; of any, where that is None.
    """

    call: str
    number: int
    file: str | None
    occurrence: int
    of: int
    error: str

    @property
    def how(self) -> Failing:
        """What is known of calls of this name."""
        return calls()[self.call]

    @property
    def is_transparent(self) -> bool:
        """Whether the op is to answer as ever."""
        return self.error in self.how.transparent

    def __str__(self) -> str:
        which = f" {self.occurrence} of {self.of}" if self.of > 1 else ""
        return f"{self.call}{which} fails with {self.error}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a stimulus: how it went, once more in another directory, and what is in both then.

    `calls` are those on files below its own `directory`.
    """

    went: Performance
    again: Performance
    there: Tree
    there_again: Tree
    calls: tuple[Call, ...] = ()
    directory: str = ""


class Trials:
    """A stimulus of a case, performed in a fresh host and a fresh directory each time.

    At first nothing fails: `whole` is what comes of it then. Raises BlockedError where it does not work even so.
    """

    def __init__(self, case: Case, stimulus: Stimulus) -> None:
        self._case = case
        self._stimulus = stimulus
        self.before: Tree = dict(stimulus.before)
        if case.bench.hosts_differ:
            raise NotTriedError(NO_CALLS)
        # What a set-up meets there is for other cases to say.
        control = case.trial(case.bench, 0)
        try:
            self.whole = _attempt(control, stimulus, None)
        except DiedError as died:
            raise BlockedError(died.death.op, str(died)) from died
        finally:
            case.surroundings.trace.extend(control.surroundings.trace)
            control.surroundings.clear()
        for went in (self.whole.went, self.whole.again):
            if went.failed is not None:
                case.check.implemented(went.failed)
                raise BlockedError(went.failed.op, f"{went.failed.code} {went.failed.message}")
            if went.died is not None:
                raise BlockedError("the host", went.died)
        # What hangs or dies for a failure says nothing of other cases.
        self._bench = case.bench.with_timeout(case.bench.target.timeout)
        self._tried = 0

    def __enter__(self) -> "Trials":
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    def plan(self) -> list[Failure]:
        """What fails, one after the other. Raises NotTriedError where nothing can."""
        learned = self._once(None)
        if not learned.went.ok:
            raise NotTriedError(f"under strace, without any failure: {learned.went.told}")
        planned = list(failures(learned, {"", *self.before, *self.whole.there}))
        if not planned:
            raise NotTriedError(NO_CALLS)
        return planned

    def attempts(self) -> Iterator[tuple[Failure, Attempt]]:
        """Each failure of the plan, and what came of it. Raises NotTriedError at the end where some did not come about.

        A call after whose failure the process ended is not failed any more.
        """
        planned = self.plan()
        missed, ended, tried = [], set[str](), 0
        for failure in planned[:MOST]:
            if failure.call in ended:
                continue
            attempt = self._brought_about(failure)
            if attempt is None:
                missed.append(failure)
                continue
            tried += 1
            if attempt.went.died is not None:
                ended.add(failure.call)
            yield failure, attempt
        left = len(planned) - tried - len(missed)
        said = f"{tried} failing system calls were tried" + (f", {left} were left out" if left else "")
        self._case.condition = Condition(output=f"{said}\n")
        if missed:
            raise NotTriedError(f"{len(missed)} of {len(planned)} failures did not come about, such as: {missed[0]}")

    def _brought_about(self, failure: Failure) -> Attempt | None:
        """What came of a failure; None where another call failed than was meant, or none, as often as it was tried."""
        for _ in range(TIMES):
            attempt = self._once(failure)
            if sum(call.injected for call in attempt.calls) == 1:
                return attempt
        return None

    def _once(self, failure: Failure | None) -> Attempt:
        self._tried += 1
        trial = self._case.trial(self._bench, self._tried)
        try:
            return _attempt(trial, self._stimulus, _Tracing(failure))
        except DiedError as died:
            raise NotTriedError(f"without any failure: {died}") from died
        finally:
            trial.surroundings.clear()


@dataclass(frozen=True, slots=True)
class _Tracing:
    """That strace looks at the stimulus, and what it fails."""

    failure: Failure | None

    def of(self, case: Case, directory: str) -> Strace:
        """strace on the host of a case, which works in this directory."""
        injection = None
        if self.failure is not None:
            file = "" if self.failure.file is None else os.path.join(directory, self.failure.file).rstrip("/")
            injection = Injection(self.failure.call, self.failure.number, self.failure.error, file)
        return strace_on(case, calls(), injection)


def strace_on(case: Case, names: Collection[str], injection: Injection | None) -> Strace:
    """strace on the host of a case, of calls of these names. Raises NotTriedError."""
    facts = case.surroundings.loaded.host.process.facts
    if facts is None:
        raise NotTriedError("strace reaches hosts of this machine only")
    try:
        return Strace(facts.pid, names, injection)
    except NoStraceError as missing:
        raise NotTriedError(str(missing)) from missing


def prepare(case: Case, place: str, before: Mapping[str, bytes | None]) -> None:
    """Set up what is there before a stimulus, in a directory of the case."""
    case.setup.mkdir_where_known(place)
    for name, content in before.items():
        if content is None:
            case.setup.mkdir(f"{place}/{name}")
        else:
            case.setup.write(f"{place}/{name}", content)


def _attempt(case: Case, stimulus: Stimulus, tracing: _Tracing | None) -> Attempt:
    """Perform a stimulus, and once more in another directory; look at what is there in another process."""
    for place in (FIRST, AGAIN):
        prepare(case, place, stimulus.before)
    went, again = Performance(case, FIRST), Performance(case, AGAIN)
    directory = os.path.realpath(case.fs.translate(case.uri(FIRST)))
    traced: AbstractContextManager[Strace | None] = nullcontext() if tracing is None else tracing.of(case, directory)
    try:
        with traced as strace:
            went.perform(stimulus)
    except NoStraceError as unable:
        raise NotTriedError(str(unable)) from unable
    went.clean_up()
    if went.died is None:
        again.perform(stimulus)
        again.clean_up()
    case.surroundings.end_host()
    there, there_again = _below(case.setup.tree())
    seen = strace.calls if strace is not None else ()
    return Attempt(went, again, there, there_again, tuple(call for call in seen if call.within(directory)), directory)


def _below(tree: Mapping[str, bytes | None]) -> tuple[Tree, Tree]:
    """What is in the two directories."""
    first, again = (
        {path.removeprefix(f"{place}/"): content for path, content in tree.items() if path.startswith(f"{place}/")}
        for place in (FIRST, AGAIN)
    )
    return first, again


def failures(learned: Attempt, names: Collection[str]) -> Iterator[Failure]:
    """The plan: the first, the last and the middle call of each name, with each error that it can have.

    A call on one of these names is found again by that: others may be called otherwise each time.
    """
    by_name: dict[str, list[tuple[Call, int, str | None]]] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for call in learned.calls:
        files = call.within(learned.directory)
        counts.update((call.thread, call.name, file) for file in files)
        file = next((file for file in files if file in names and call.name not in TWO_PATHS), None)
        number = call.number if file is None else counts[call.thread, call.name, file]
        if calls()[call.name].possible(call.told):
            by_name.setdefault(call.name, []).append((call, number, file))
    for which in range(3):
        for name, made in by_name.items():
            # The first ones of all calls come first.
            places = dict.fromkeys((0, len(made) - 1, len(made) // 2))
            if which < len(places):
                place = list(places)[which]
                call, number, file = made[place]
                for error in calls()[name].possible(call.told):
                    yield Failure(name, number, file, place + 1, len(made), error)


def untold(failure: Failure, attempt: Attempt, *, durable: bool) -> bool:
    """Whether a failure is itself the loss that the ops, which answer OK, should have told.

    fsync(2) that fails did not make durable what was to be durable. close(2) that fails says that bytes are lost which
    write(2) took, unless fsync(2) had them before.
    """
    place = next(k for k, call in enumerate(attempt.calls) if call.injected)
    failed, before, behind = attempt.calls[place], attempt.calls[:place], attempt.calls[place + 1 :]
    if failure.how.loses == "durability":
        return durable and not any(_syncs(call, failed) for call in behind)
    if failure.how.loses == "bytes" and failure.error != EINTR:
        opened = [call.told for call in before if "open" in call.name and call.descriptor == failed.descriptor]
        written = opened and ("O_WRONLY" in opened[-1] or "O_RDWR" in opened[-1])
        return bool(written) and not any(_syncs(call, failed) for call in before)
    return False


def _syncs(call: Call, like: Call) -> bool:
    return calls()[call.name].loses == "durability" and call.succeeded and call.descriptor == like.descriptor
