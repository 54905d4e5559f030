"""Allocations that fail: how many an op makes, the plan of those that fail, and what comes of one failure."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...harness.hosting.client import Host, HostFaultError
from ...harness.hosting.loader import BlockedError
from ...harness.launchers.sanitizers import SLOWER
from ...harness.native import native_directory
from ...harness.ops.outcomes import DiedError
from ..judge.evidence import Condition
from .case import Case, NoStimulusError, NotTriedError
from .closing import Closing
from .failing import AGAIN, FIRST, Attempt, below, open_now, prepare
from .setup import Tree
from .stimulus import Performance, Stimulus
from .workbench import Workbench

#: So many failures are tried in a case at most; what is left out is counted and told.
MOST = 60
#: So often a failure is tried that did not come about.
TIMES = 3
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


class Allocations:
    """A stimulus of a case, performed in a fresh host and a fresh directory each time.

    At first nothing fails: `whole` is what comes of it then. Raises BlockedError where it does not work even so,
    NoStimulusError where nothing is allocated, and NotTriedError.
    """

    def __init__(self, case: Case, stimulus: Stimulus) -> None:
        self._case = case
        self._stimulus = stimulus
        self._tried = 0
        self.before: Tree = dict(stimulus.before)
        self._bench = allocating(case.bench)
        self._closing = Closing(case.bench.target.timeout)
        try:
            whole, called = self._attempt(COUNT, 0)
            for went in (whole.went, whole.again):
                if went.failed is not None:
                    case.check.implemented(went.failed)
                    raise BlockedError(went.failed.op, f"{went.failed.code} {went.failed.message}")
                if went.died is not None:
                    raise BlockedError("the host", went.died)
            self.whole = whole
            self._planned = plan(called)
            if not self._planned:
                raise NoStimulusError("it asks the C library for no memory")
        except DiedError as died:
            self._bench.close()
            raise BlockedError(died.death.op, str(died)) from died
        except BaseException:
            self._bench.close()
            raise

    def __enter__(self) -> "Allocations":
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    def attempts(self) -> Iterator[tuple[FailedAllocation, Attempt]]:
        """Each failure of the plan, and what came of it. What ended the process is not tried again in that op.

        Raises NotTriedError where none came about.
        """
        ended, tried = set[str](), 0
        for failure in self._planned[:MOST]:
            attempt = None if failure.op in ended else self._brought_about(failure)
            if attempt is None:
                continue
            if attempt.went.died is not None:
                ended.add(failure.op)
            self._closing.is_told |= attempt.stays_open(self.whole)
            tried += 1
            yield failure, attempt
        if not tried:
            raise NotTriedError(f"no allocation failed of {len(self._planned)} that were made before")
        left = len(self._planned) - tried
        said = f"{tried} failing allocations were tried" + (f", {left} were left out" if left else "")
        self._case.condition = Condition(output=f"{said}\n")

    def _brought_about(self, failure: FailedAllocation) -> Attempt | None:
        """What came of a failure; None where less was allocated each time, as where a listing has more now and then."""
        for _ in range(TIMES):
            attempt, called = self._attempt(failure.call, failure.number)
            made = called[failure.call - 1][1] if failure.call <= len(called) else 0
            if attempt.went.died is not None or made >= failure.number:
                return attempt
        return None

    def _attempt(self, call: int, number: int) -> tuple[Attempt, list[tuple[str, int]]]:
        """What came of the stimulus while an allocation failed, and what was counted as long as the process lived."""
        self._tried += 1
        trial = self._case.trial(self._bench, self._tried)
        try:
            return self._performed(trial, call, number)
        finally:
            if call == COUNT:
                self._case.surroundings.trace.extend(trial.surroundings.trace)
            trial.surroundings.clear()

    def _performed(self, case: Case, call: int, number: int) -> tuple[Attempt, list[tuple[str, int]]]:
        for place in (FIRST, AGAIN):
            prepare(case, place, self._stimulus.before)
        place, went, again = AGAIN, Performance(case, FIRST), Performance(case, AGAIN)
        called: list[tuple[str, int]] = []
        directory = os.path.realpath(case.fs.translate(case.uri(FIRST)))
        before = open_now(case, directory)
        watched(case.surroundings.host, call, number)
        went.perform(self._stimulus)
        if went.died is None:
            called = watched(case.surroundings.host, NO_MORE, 0)
            # What it remembers of a failure it may remember by the path, or in what is open.
            changes_nothing = call != COUNT and self.whole.there == self.before
            for place in (AGAIN, FIRST) if changes_nothing else (AGAIN,):
                again = Performance(case, place, went.objects if place == FIRST else ())
                again.perform(self._stimulus)
                again.clean_up()
                if not again.ok:
                    break
            went.clean_up()
        most = max(before, self.whole.open if call != COUNT else 0)
        left = before if went.died else self._closing.wait(lambda: open_now(case, directory), most)
        if not self._case.bench.hosts_differ:
            case.surroundings.end_host()
        elif went.died is not None or again.died is not None:
            return Attempt(went, again, {}, {}, unreadable="what was there ended with the process"), called
        try:
            there, there_again = below(case.setup.tree(), FIRST, place)
        except (BlockedError, DiedError) as failed:
            if call == COUNT:
                raise
            return Attempt(went, again, {}, {}, unreadable=str(failed)), called
        waited = not self._closing.is_told
        return Attempt(went, again, there, there_again, open_before=before, open=left, waited=waited), called


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
    target = replace(bench.target, environment={**environment, PRELOADED: str(library)}, host_scope="case")
    knowledge = replace(bench.knowledge, root_made=bench.root_made, hosts_differ=bench.hosts_differ)
    return Workbench(target, knowledge, max_hangs=None)


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
