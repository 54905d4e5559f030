"""System calls that fail: which an op makes, the plan of those that fail, and what comes of one failure."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from ...harness.launchers.strace import BY_NUMBER, Call, Injection, NoStraceError, Strace
from ...harness.ops.outcomes import DiedError
from ..contract.system_calls import EINTR, Failing, calls
from .case import Case, NoStimulusError, NotTriedError
from .disturbing import AGAIN, FIRST, Attempt, DisturbedStimulus, below, brought_about, not_closed, open_now, prepare
from .stimulus import Performance, Stimulus

#: Why nothing fails where files are elsewhere.
NO_CALLS = "makes no system calls on files of the case"


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

    def injection(self, directory: str) -> Injection:
        """What strace does, where the case works in this directory."""
        file = "" if self.file is None else os.path.join(directory, self.file).rstrip("/")
        return Injection(self.call, self.number, self.error, file)

    def __str__(self) -> str:
        which = f" {self.occurrence} of {self.of}" if self.of > 1 else ""
        return f"{self.call}{which} fails with {self.error}"


class Trials(DisturbedStimulus):
    """A stimulus of which one system call fails each time. Raises NoStimulusError where none can."""

    def __init__(self, case: Case, stimulus: Stimulus) -> None:
        if case.bench.facts.hosts_differ:
            raise NoStimulusError("its storage lives in its process, and not in files")
        super().__init__(case, case.bench.apart(), stimulus)
        self._repeated: set[str] = set()

    def begin(self) -> None:
        """Perform the stimulus as it is."""
        # What a set-up meets there is for other cases to say.
        with self.control(self.case.bench) as control:
            whole = self._performed(control, None)
        self.begin_with(whole)

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

        Raises NotTriedError at the end where some did not come about.
        """
        planned = self.plan()
        for failure, attempt in self.disturbed(planned, self._failed, attrgetter("call"), attrgetter("died")):
            yield failure, attempt, self._once_more(failure, attempt)
        missed = self.missed
        self.tell("failing system calls", self.tried, len(planned) - self.tried - len(missed))
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
        return brought_about(partial(self._failed, again=FIRST), failure)

    def _failed(self, failure: FailedCall, again: str = AGAIN) -> Attempt | None:
        """What came of a failure; None where another call failed than was meant, or none.

        Of a plugin's own threads each may meet it: strace counts the calls of each.
        """
        attempt = self._once(failure, again)
        if not any(call.injected for call in attempt.calls):
            return None
        self._closing.is_told |= attempt.stays_open(self.whole)
        return attempt

    def _once(self, failure: FailedCall | None, again: str = AGAIN) -> Attempt:
        with self.trial() as trial:
            try:
                return self._performed(trial, failure, again)
            except DiedError as died:
                raise NotTriedError(f"without any failure: {died}") from died

    def _performed(self, case: Case, failure: FailedCall | None, again_in: str = AGAIN) -> Attempt:
        """Perform the stimulus, and again in this directory; look at what is there in another process.

        A control goes without strace.
        """
        for place in (FIRST, AGAIN):
            prepare(case, place, self._stimulus.before)
        went, again = Performance(case, FIRST), Performance(case, again_in)
        directory = case.on_disk(FIRST)
        open_before = open_now(case, f"{directory}/")
        traced: AbstractContextManager[Strace | None] = nullcontext()
        if not self.is_control:
            traced = strace_on(case, calls(), failure.injection(directory) if failure else None)
        with traced as strace:
            went.perform(self._stimulus)
        made = tuple(call for call in strace.calls if call.within(directory)) if strace is not None else ()
        went.clean_up()
        if went.died is None:
            again.perform_all(self._stimulus)
        left, waited = open_now(case, f"{directory}/"), False
        # An attempt in which nothing failed is not judged, and on the same files once more nobody asks what is open.
        if self.is_control or (again_in == AGAIN and any(call.injected for call in made)):
            most = self.most(open_before) + not_closed(made)
            left = self._closing.wait(lambda: open_now(case, f"{directory}/"), most)
            waited = not self._closing.is_told
        case.surroundings.end_host()
        there, there_again = below(case.setup.tree(), FIRST, AGAIN)
        return Attempt(went, again, there, there_again, made, directory, open_before, left, waited)


@contextmanager
def strace_on(case: Case, names: Collection[str], injection: Injection | None = None) -> Iterator[Strace]:
    """strace on the host of a case, of calls of these names. Raises NotTriedError."""
    facts = case.surroundings.loaded.host.process.facts
    if facts is None:
        raise NotTriedError("strace reaches hosts of this machine only")
    try:
        with Strace(facts.pid, names, injection) as strace:
            yield strace
    except NoStraceError as unable:
        raise NotTriedError(str(unable)) from unable


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
