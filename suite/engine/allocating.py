"""Allocations that fail: how many an op makes, the plan of those that fail, and what comes of one failure.

They fail in ops, and while a plugin is registered: in TF_InitPlugin, which has no status, and in init.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ...harness.hosting.client import OP_OF_COMMAND, Host, HostFaultError
from ...harness.hosting.loader import BlockedError
from ...harness.hosting.registration import Scheme, register
from ...harness.launchers.sanitizers import SLOWER
from ...harness.native import native_directory
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import DiedError
from .case import Case, NoStimulusError, NotTriedError
from .disturbing import AGAIN, FIRST, Attempt, Came, DisturbedStimulus, Disturbing, open_now, prepare
from .stimulus import Performance, Stimulus
from .workbench import Workbench

#: What a host loads first whose allocator can be made to fail.
LIBRARY, PRELOADED = "libtffs_allocator.so", "LD_PRELOAD"
#: What is asked of such a host: to count, and to count no more.
COUNT, NO_MORE = 0, -1
#: What has no status by which to tell a failure: of a name that is NULL TensorFlow ends the process.
SILENT = frozenset({"translate_name", "data", "length"})


@dataclass(frozen=True, slots=True)
class FailedAllocation:
    """One allocation that fails: the `number`-th of so many in the function of the plugin that is called as `call`-th.

    The function was called for `op`.
    """

    op: str
    call: int
    number: int
    of: int

    def __str__(self) -> str:
        which = f" {self.number} of {self.of}" if self.of > 1 else ""
        return f"allocation{which} in {self.op} fails"


class Allocations(DisturbedStimulus):
    """A stimulus of which one allocation fails each time. Raises NotTriedError where none can be made to fail."""

    def __init__(self, case: Case, stimulus: Stimulus) -> None:
        super().__init__(case, allocating(case.bench), stimulus)

    def begin(self) -> None:
        """Perform the stimulus as it is, and count."""
        with self.control() as control:
            whole, self._called = self._performed(control, COUNT, 0)
        self.begin_with(whole)

    def attempts(self) -> Iterator[tuple[FailedAllocation, Attempt]]:
        """Each failure of the plan, and what came of it, as `failing` says."""
        return failing(self, plan(self._called), self._failed)

    def _failed(self, failure: FailedAllocation) -> Attempt | None:
        """What came of a failure; None where less was allocated, as where a listing has more now and then."""
        with self.trial() as trial:
            attempt, called = self._performed(trial, failure.call, failure.number)
        made = called[failure.call - 1][1] if failure.call <= len(called) else 0
        if attempt.died is None and made < failure.number:
            return None
        self._closing.is_told |= attempt.stays_open(self.whole)
        return attempt

    def _performed(self, case: Case, call: int, number: int) -> tuple[Attempt, list[tuple[str, int]]]:
        """What came of the stimulus while an allocation failed, and what was counted as long as the process lived."""
        for place in (FIRST, AGAIN):
            prepare(case, place, self._stimulus.before)
        place, went, again = AGAIN, Performance(case, FIRST), Performance(case, AGAIN)
        called: list[tuple[str, int]] = []
        directory = case.on_disk(FIRST)
        before = open_now(case, f"{directory}/")
        watched(case.surroundings.host, call, number)
        went.perform(self._stimulus)
        if went.died is None:
            called = watched(case.surroundings.host, NO_MORE, 0)
            # What it remembers of a failure it may remember by the path, or in what is open.
            changes_nothing = not self.is_control and self.whole.there == self.before
            for place in (AGAIN, FIRST) if changes_nothing else (AGAIN,):
                again = Performance(case, place, went.objects if place == FIRST else ())
                again.perform_all(self._stimulus)
                if not again.ok:
                    break
            went.clean_up()
        left = before
        if went.died is None:
            left = self._closing.wait(lambda: open_now(case, f"{directory}/"), self.most(before))
        if not self.case.bench.facts.hosts_differ:
            case.surroundings.end_host()
        elif went.died is not None or again.died is not None:
            return Attempt(went, again, unreadable="what was there ended with the process"), called
        attempt = Attempt(went, again, open_before=before, open=left)
        return self.looked_at(attempt, place, case.setup.tree), called


@dataclass(frozen=True, slots=True)
class RegistrationOutcome:
    """How a registration went: what ended the process, and what became of each scheme whose init was called.

    `called` has a function of the plugin and a number of allocations for each call, as long as the process lived.
    """

    died: DiedError | None
    called: list[tuple[str, int]]
    registered: frozenset[str] = frozenset()
    schemes: tuple[Scheme, ...] = ()
    message: str = ""

    def made(self, call: int) -> int:
        """How many allocations that call made."""
        return self.called[call - 1][1] if call <= len(self.called) else 0

    def of(self, failure: FailedAllocation) -> Scheme | None:
        """The scheme in whose init an allocation failed."""
        inits = [call for call, (op, _) in enumerate(self.called, 1) if op == "init"]
        return dict(zip(inits, self.schemes, strict=False)).get(failure.call)


class Registrations(Disturbing):
    """The plugin of a case is loaded and registered, in a fresh host each time. Raises NotTriedError."""

    def __init__(self, case: Case) -> None:
        super().__init__(case, allocating(case.bench))

    def begin(self) -> None:
        """Register the plugin. What does not work even so is left out."""
        whole = self._attempt(COUNT, 0)
        if whole.died is not None:
            raise BlockedError(whole.died.death.op, str(whole.died)) from whole.died
        if self._bench.target.scheme not in whole.registered:
            raise BlockedError("registration", whole.message)
        self._planned = [
            one for one in plan(whole.called) if (scheme := whole.of(one)) is None or scheme.code is Code.OK
        ]

    def attempts(self) -> Iterator[tuple[FailedAllocation, RegistrationOutcome]]:
        """Each failure of the plan, and what came of it, as `failing` says."""
        return failing(self, self._planned, self._failed)

    def _failed(self, failure: FailedAllocation) -> RegistrationOutcome | None:
        """What came of a failure; None where less was allocated."""
        attempt = self._attempt(failure.call, failure.number)
        came_about = attempt.died is not None or attempt.made(failure.call) >= failure.number
        return attempt if came_about else None

    def _attempt(self, call: int, number: int) -> RegistrationOutcome:
        host = self._bench.loader.bare()
        try:
            watched(host, call, number)
            went = register(host, self._bench.target.plugin)
            called = [(OP_OF_COMMAND.get(command, command), count) for command, count in watched(host, NO_MORE, 0)]
        except DiedError as died:
            return RegistrationOutcome(died, [])
        finally:
            host.close()
        tried = tuple(scheme for scheme in went.schemes if scheme.init_called)
        return RegistrationOutcome(None, called, frozenset(went.registered), tried, went.message)


def failing(
    case: Disturbing, planned: Sequence[FailedAllocation], attempt: Callable[[FailedAllocation], Came | None]
) -> Iterator[tuple[FailedAllocation, Came]]:
    """Each failure of the plan, and what came of it. What ended the process is not tried again in that op.

    Raises NoStimulusError where there is nothing to fail, and NotTriedError where no failure came about.
    """
    if not planned:
        raise NoStimulusError("it asks the C library for no memory")
    yield from case.disturbed(planned, attempt, attrgetter("op"), attrgetter("died"))
    if not case.tried:
        raise NotTriedError(f"no allocation failed of {len(planned)} that were made before")
    case.tell("failing allocations", case.tried, len(planned) - case.tried)


def plan(called: list[tuple[str, int]]) -> list[FailedAllocation]:
    """All that can fail in these calls: of each the first, the middle and the last allocation before all others."""
    every = [
        FailedAllocation(op, call, number, count)
        for call, (op, count) in enumerate(called, 1)
        if op not in SILENT
        for number in range(1, count + 1)
    ]  # fmt: skip
    return sorted(every, key=lambda one: one.number not in (1, (one.of + 1) // 2, one.of))


def allocating(bench: Workbench) -> Workbench:
    """The same target in hosts whose allocator can be made to fail. Raises NotTriedError where there are none."""
    library = native_directory() / LIBRARY
    environment = bench.target.environment
    if not library.is_file():
        raise NotTriedError(f"{LIBRARY} is not there: the host was built with a sanitizer")
    if bench.target.sanitizer in SLOWER:
        raise NotTriedError(f"--sanitizer={bench.target.sanitizer} has an allocator of its own")
    if environment.get(PRELOADED, os.environ.get(PRELOADED)):
        raise NotTriedError(f"{PRELOADED} is set, which may bring another allocator")
    if {" ", ":"} & set(str(library)):
        raise NotTriedError(f"{PRELOADED} takes no path with a blank or a colon: {library}")
    return bench.apart(environment={**environment, PRELOADED: str(library)})


def watched(host: Host, call: int, number: int) -> list[tuple[str, int]]:
    """Have the host fail an allocation in its `call`-th function from now on, or as the constants say.

    What it counted since it was asked last: a command and a number of allocations for each function of the plugin.
    """
    reply = host.call("allocations", call, number)
    if reply is None:
        raise HostFaultError("the host counts no allocations")
    counted = []
    while reply.more:
        counted.append((reply.take_text(), reply.take_number()))
    return counted
