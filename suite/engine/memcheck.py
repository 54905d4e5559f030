"""A case once more, with the plugin under memcheck: what that finds is a check of its own, and changes no other one."""

from dataclasses import replace

from ...harness.hosting.client import OP_OF_COMMAND
from ...harness.launchers.memcheck import SLOWER, Memcheck, NoMemcheckError, of_plugin
from ...harness.ops.outcomes import Death, DiedError, Endless, Hung
from ...harness.targets.backing import BackingIncapableError, BackingUnableError
from ..judge.evidence import Condition, Statement
from .case import Body, Case, NoStimulusError
from .checks import AbsentOpError
from .surroundings import BeyondLimitsError
from .workbench import Workbench

CLAUSE = "robustness.memory-safe"
#: The tiers of the cases that are repeated: those of gigabytes would take hours.
TRIED = ("smoke", "must", "full", "undefined", "memcheck")
#: So many histories a property tries there at most.
EXAMPLES = 10
#: The number of the trial of a case: others count from 0.
TRIAL = 99
#: What is expected. Of a case that keeps it nothing is said: it stands in the report of every case.
EXPECTED = "no misuse"
#: How a case ends that can be brought about only in a host of this machine, or with its allocator.
_NOTHING_TO_SEE = (AbsentOpError, BackingIncapableError, BackingUnableError, BeyondLimitsError, NoStimulusError)


class WatchedBench(Workbench):
    """The target of another workbench, with hosts under memcheck. Raises NoMemcheckError."""

    def __init__(self, beside: Workbench) -> None:
        target = beside.target
        self.memcheck = Memcheck(target.environment)
        super().__init__(
            replace(
                target, timeout=target.timeout * SLOWER, host_scope="case", examples=min(EXAMPLES, target.examples)
            ),
            replace(beside.knowledge, root_made=beside.root_made, hosts_differ=beside.hosts_differ, filling=False),
            starts=self.memcheck,
        )
        self.left_behind = beside.left_behind


def watched(case: Case, body: Body, error: Exception | None) -> Condition:
    """What memcheck says of a case that ended with this error, or with none.

    A case whose process an op ended is repeated, too: what it did to memory may tell why.
    """
    if case.tier not in TRIED or not (error is None or (isinstance(error, DiedError) and _is_an_end(error.death))):
        return Condition()
    bench = _bench(case.bench)
    if isinstance(bench, str):
        # One case says so for all.
        return Condition(CLAUSE, not_run=bench) if CLAUSE in case.clauses else Condition()
    # A plugin may be for one process at a time.
    case.surroundings.abandon()
    bench.memcheck.taken()
    trial = case.trial(bench, TRIAL)
    ended: Exception | None = None
    try:
        body(trial)
    except Exception as raised:
        ended = raised
    called = bool(trial.surroundings.trace)
    trial.surroundings.clear()
    found = of_plugin(bench.memcheck.taken(), case.bench.target.plugin)
    if found:
        told = [f"{OP_OF_COMMAND.get(misuse.command, misuse.command)}: {misuse.told(by)}" for misuse, by in found]
        statements = tuple(Statement(CLAUSE, False, EXPECTED, got) for got in told)
        return Condition(CLAUSE, statements, output="\n".join(("", *(str(misuse) for misuse, _ in found))))
    if isinstance(ended, _NOTHING_TO_SEE) or not called or (ended is not None and error is not None):
        return Condition()
    if ended is not None:
        return Condition(CLAUSE, not_run=f"under memcheck: {ended}")
    return Condition(CLAUSE, (Statement(CLAUSE, True, "", ""),))


def _is_an_end(death: Death) -> bool:
    """Whether an op ended its process: what hangs would hang again."""
    return not isinstance(death, Hung | Endless)


def _bench(bench: Workbench) -> WatchedBench | str:
    """The workbench under memcheck that belongs to a workbench, or why there is none."""
    if bench.watched is None:
        try:
            bench.watched = WatchedBench(bench)
        except NoMemcheckError as missing:
            bench.watched = str(missing)
    assert isinstance(bench.watched, WatchedBench | str)
    return bench.watched
