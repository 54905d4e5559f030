"""System calls that fail: which an op makes, the plan of those that fail, and what comes of one failure."""

import contextlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from ...harness.hosting.loader import BlockedError
from ...harness.launchers.strace import BY_NUMBER, Call, Injection, NoStraceError, Strace
from ...harness.ops.outcomes import DiedError
from ..contract.system_calls import EINTR, Failing, calls
from ..judge.evidence import Condition
from .case import Case, NoStimulusError, NotTriedError
from .closing import Closing
from .contents import missing
from .setup import Tree
from .stimulus import Performance, Stimulus

#: So many failures are tried in a case at most; what is left out is counted and told.
MOST = 60
#: So often a failure is tried that did not come about where it was planned.
TIMES = 3
#: Why nothing fails where files are elsewhere.
NO_CALLS = "makes no system calls on files of the case"
#: The directories of a case in which the ops meet a failure, and in which they are performed again.
FIRST, AGAIN = "1", "2"


@dataclass(frozen=True, slots=True)
class FailedCall:
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

    `calls` are those on files below its own `directory`; so many of these were open before it, and were at the end.
    Where that was not waited for, more may be open than will be. `unreadable` says why another process cannot look at
    what is there.
    """

    went: Performance
    again: Performance
    there: Tree
    there_again: Tree
    calls: tuple[Call, ...] = ()
    directory: str = ""
    open_before: int = 0
    open: int = 0
    waited: bool = True
    unreadable: str = ""

    def stays_open(self, whole: "Attempt") -> bool:
        """Whether a descriptor does; in `whole` nothing failed."""
        # A close(2) that strace fails is not made.
        return self.waited and self.open - _not_closed(self.calls) > max(self.open_before, whole.open)

    def closed_wrongly(self, whole: "Attempt") -> str | None:
        """What is wrong with the descriptors that are open, in words; in `whole` nothing failed."""
        if self.stays_open(whole):
            return "a descriptor stays open"
        left = self.open - _not_closed(self.calls)
        # One that was open before may be given up for any other failure.
        again = _not_closed(self.calls) and left < min(self.open_before, whole.open)
        return "a descriptor is closed once more" if again else None


class Trials:
    """A stimulus of a case, performed in a fresh host and a fresh directory each time.

    At first nothing fails: `whole` is what comes of it then. Raises NoStimulusError where nothing can fail, and
    BlockedError where it does not work even so.
    """

    def __init__(self, case: Case, stimulus: Stimulus) -> None:
        self._case = case
        self._stimulus = stimulus
        self.before: Tree = dict(stimulus.before)
        if case.bench.hosts_differ:
            raise NoStimulusError("its storage lives in its process, and not in files")
        # What a set-up meets there is for other cases to say.
        control = case.trial(case.bench, 0)
        self._closing = Closing(case.bench.target.timeout)
        try:
            self.whole = _attempt(control, stimulus, None, self._closing)
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
        self._repeated: set[str] = set()

    def __enter__(self) -> "Trials":
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    def plan(self) -> list[FailedCall]:
        """What fails, one after the other. Raises NotTriedError where nothing can."""
        learned = self._once(None)
        if not learned.went.ok:
            raise NotTriedError(f"under strace, without any failure: {learned.went.told}")
        planned = list(failures(learned, {"", *self.before, *self.whole.there}))
        if not planned:
            raise NotTriedError(NO_CALLS)
        return planned

    def attempts(self) -> Iterator[tuple[FailedCall, Attempt, Attempt | None]]:
        """Each failure of the plan, what came of it, and of the same once more, as `_once_more` says.

        A call after whose failure the process ended is not failed any more. Raises NotTriedError at the end where some
        did not come about.
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
            self._closing.is_told |= attempt.stays_open(self.whole)
            yield failure, attempt, self._once_more(failure, attempt)
        left = len(planned) - tried - len(missed)
        said = f"{tried} failing system calls were tried" + (f", {left} were left out" if left else "")
        self._case.condition = Condition(output=f"{said}\n")
        if missed:
            raise NotTriedError(f"{len(missed)} of {len(planned)} failures did not come about, such as: {missed[0]}")

    def _once_more(self, failure: FailedCall, attempt: Attempt) -> Attempt | None:
        """The same failure, and the ops performed again on the same files, for the first one of each call.

        None where they have no reason to work there: what the failure left is not what they begin with.
        """
        begins = self._stimulus.anew or attempt.there == self.before
        # What strace did not close may be locked.
        if attempt.went.failed is None or not begins or failure.call in ("close", *self._repeated):
            return None
        self._repeated.add(failure.call)
        return self._brought_about(failure, FIRST)

    def _brought_about(self, failure: FailedCall, again: str = AGAIN) -> Attempt | None:
        """What came of a failure; None where another call failed than was meant, or none, as often as it was tried.

        Of a plugin's own threads each may meet it: strace counts the calls of each.
        """
        for _ in range(TIMES):
            attempt = self._once(failure, again)
            if any(call.injected for call in attempt.calls):
                return attempt
        return None

    def _once(self, failure: FailedCall | None, again: str = AGAIN) -> Attempt:
        self._tried += 1
        trial = self._case.trial(self._bench, self._tried)
        # On the same files once more nobody asks what is open.
        closing = self._closing if again == AGAIN else None
        try:
            return _attempt(trial, self._stimulus, _Tracing(failure), closing, again, self.whole.open)
        except DiedError as died:
            raise NotTriedError(f"without any failure: {died}") from died
        finally:
            trial.surroundings.clear()


@dataclass(frozen=True, slots=True)
class _Tracing:
    """That strace looks at the stimulus, and what it fails."""

    failure: FailedCall | None

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
    fill(case, place, before)


def fill(case: Case, place: str, before: Mapping[str, bytes | None]) -> None:
    """The same where the directory is there."""
    for name, content in before.items():
        if content is None:
            case.setup.mkdir(f"{place}/{name}")
        else:
            case.setup.write(f"{place}/{name}", content)


def _attempt(
    case: Case,
    stimulus: Stimulus,
    tracing: _Tracing | None,
    closing: Closing | None,
    repeated: str = AGAIN,
    usual: int = 0,
) -> Attempt:
    """Perform a stimulus, and once more in the directory `repeated`; look at what is there in another process.

    So many descriptors as are `usual` may be open at the end.
    """
    for place in (FIRST, AGAIN):
        prepare(case, place, stimulus.before)
    went, again = Performance(case, FIRST), Performance(case, repeated)
    directory = os.path.realpath(case.fs.translate(case.uri(FIRST)))
    open_before = open_now(case, directory)
    traced: AbstractContextManager[Strace | None] = nullcontext() if tracing is None else tracing.of(case, directory)
    try:
        with traced as strace:
            went.perform(stimulus)
    except NoStraceError as unable:
        raise NotTriedError(str(unable)) from unable
    calls = tuple(call for call in strace.calls if call.within(directory)) if strace is not None else ()
    went.clean_up()
    if went.died is None:
        again.perform(stimulus)
        again.clean_up()
    left, waited = open_now(case, directory), False
    # An attempt in which nothing failed is not judged.
    if closing is not None and (tracing is None or any(call.injected for call in calls)):
        left = closing.wait(lambda: open_now(case, directory), max(open_before, usual) + _not_closed(calls))
        waited = not closing.is_told
    case.surroundings.end_host()
    there, there_again = below(case.setup.tree(), FIRST, AGAIN)
    return Attempt(went, again, there, there_again, calls, directory, open_before, left, waited)


def open_now(case: Case, directory: str) -> int:
    """How many descriptors of the host are of a directory and what is in it, or was."""
    facts = case.surroundings.loaded.host.process.facts
    count = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{facts.pid}/fd" if facts else ""):
            with contextlib.suppress(OSError):
                count += f"{os.readlink(entry.path)}/".startswith(f"{directory}/")
    return count


def _not_closed(calls: Sequence[Call]) -> int:
    return sum(call.injected and call.name == "close" for call in calls)


def below(tree: Tree, *places: str) -> Iterator[Tree]:
    """What is in each of these directories."""
    for place in places:
        yield {path.removeprefix(f"{place}/"): got for path, got in tree.items() if path.startswith(f"{place}/")}


def failures(learned: Attempt, names: Collection[str]) -> Iterator[FailedCall]:
    """The plan: the first, the last and the middle call of each name, with each error that it can have.

    A call on one of these names is found again by that: others may be called otherwise each time.
    """
    by_name: dict[str, list[tuple[Call, int, str | None]]] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for call in learned.calls:
        files = call.within(learned.directory)
        counts.update((call.thread, call.name, file) for file in files)
        file = next((file for file in files if file in names and call.name not in BY_NUMBER), None)
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
                    yield FailedCall(name, number, file, place + 1, len(made), error)


def lacking(before: Tree, whole: Attempt, went: Performance, there: Tree) -> str | None:
    """What lacks of the work that was done in `whole`, in words: of what is there, or of what the ops gave."""
    lacks = missing(before, whole.there, there)
    return f"the answer is {went.values!r}" if lacks is None and went.ok and went.values != whole.went.values else lacks


def is_unreported(failure: FailedCall, attempt: Attempt, *, durable: bool) -> bool:
    """Whether a failure is itself the loss that the ops, which answer OK, should have told.

    fsync(2) that fails did not make durable what was to be durable; that it succeeds when it is called once more says
    nothing, unless the bytes were written once more, too. Of a directory it keeps names, and whether sync does is open:
    `power.keeps-the-name` asks for that. close(2) that fails says that bytes are lost which write(2)
    took, unless they were durable before. Nothing is lost where all of it was written to another file, and synced.
    """
    place = next(k for k, call in enumerate(attempt.calls) if call.injected)
    failed, later = attempt.calls[place], attempt.calls[place + 1 :]
    before, behind = _on(failed.descriptor, attempt.calls[:place]), _on(failed.descriptor, later, opened=False)
    written, synced = (
        max((k for k, call in enumerate(before) if is_one(call)), default=-1) for is_one in (_writes, _syncs)
    )
    if _is_done_anew(before, later):
        return False
    if failure.how.loses == "durability" and failed.name != "syncfs":
        on = failed.within(attempt.directory)
        if on and all(not name or attempt.there.get(name, b"") is None for name in on):
            return False
    if failure.how.loses == "durability":
        made = failure.error == EINTR or any(map(_writes, behind))
        return durable and not (made and any(map(_syncs, behind))) and (synced < 0 or synced < written)
    if failure.how.loses == "bytes" and failure.error != EINTR:
        return synced < written and re.search(r"\bO_(RDONLY|D?SYNC)\b", before[0].told) is None
    return False


def _is_done_anew(before: Sequence[Call], later: Sequence[Call]) -> bool:
    """Whether as much as was written before was written to another file that was opened later, and synced then."""
    for place, call in enumerate(later):
        made = _on(call.opened, later[place:]) if call.opened else []
        synced = max((k for k, one in enumerate(made) if _syncs(one)), default=0)
        if 0 < _written(before) <= _written(made[:synced]):
            return True
    return False


def _written(made: Sequence[Call]) -> int:
    """How many bytes were written; what a call answers that makes room is no number of bytes."""
    return sum(int(call.told.rpartition(" = ")[2].split()[0]) for call in made if _writes(call))


def _on(number: str, calls: Sequence[Call], *, opened: bool = True) -> list[Call]:
    """The calls on the descriptor of this number, since it was opened last, and others that sync what it is of."""
    named = re.compile(rf"\b{number}<")
    begin = max((k for k, call in enumerate(calls) if opened and call.opened == number), default=0)
    files = {path for call in calls[begin : begin + 1] for path in call.files if call.opened == number}
    return [
        call
        for call in calls[begin:]
        if named.search(call.told) or (_syncs(call) and (call.name == "syncfs" or files & {*call.files}))
    ]


def _writes(call: Call) -> bool:
    return calls()[call.name].writes and call.succeeded


def _syncs(call: Call) -> bool:
    return calls()[call.name].loses == "durability" and call.succeeded
