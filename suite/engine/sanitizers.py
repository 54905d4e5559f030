"""A case once more, with the plugin under a tool: what that finds is a check of its own, and changes no other one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ...harness.hosting.client import OP_OF_COMMAND
from ...harness.launchers import memcheck, sanitizers
from ...harness.launchers.choice import with_runtime
from ...harness.launchers.launcher import NoToolError
from ...harness.launchers.misuse import of_plugin
from ...harness.launchers.watch import MOST_READ, ToolWatch
from ...harness.ops.outcomes import DiedError, Endless, Hung
from ...harness.targets.backing import BackingIncapableError, BackingUnableError
from ..judge.evidence import Condition, Statement
from .case import Body, Case, NoStimulusError
from .checks import AbsentOpError
from .surroundings import BeyondLimitsError
from .target import Target
from .workbench import Workbench


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the clause of what it finds, what is expected of a case, and what starts hosts that it watches.

    `slower` says how many times as long as by the hosts that judge a call may take. Of a case that keeps what is
    expected nothing is said: it stands in the report of every case.
    """

    clause: str
    expected: str
    slower: int
    watch: Callable[[Target], ToolWatch]


def _compiled(target: Target) -> ToolWatch:
    """Hosts for a plugin that was compiled for the tool. Raises NoToolError."""
    found = sanitizers.of(target.sanitizer, target.plugin)
    assert found is not None
    return found.watch(target.environment)


#: The tools, by the name that --sanitizer takes. Who is compiled for one is judged with it, too, and as slow there.
TOOLS: Mapping[str, Tool] = {
    "memcheck": Tool(
        "robustness.memory-safe",
        "no misuse",
        memcheck.SLOWER,
        lambda target: memcheck.memcheck(with_runtime(target.environment, target.runtime)),
    ),
    "address": Tool("robustness.memory-safe", "no misuse", 1, _compiled),
    "thread": Tool("robustness.no-data-race", "no race", 1, _compiled),
}
#: The tiers of the cases that are repeated: those of gigabytes would take hours.
TRIED = ("smoke", "quick", "full", "undefined", *TOOLS)
#: So many histories a property tries there at most.
EXAMPLES = 10
#: The number of the trial of a case: others count from 0.
TRIAL = 99
#: So many errors of a case are told.
MOST_TOLD = 20
#: How a case ends that can be brought about only in a host of this machine, or with its allocator.
_NOTHING_TO_SEE = (AbsentOpError, BackingIncapableError, BackingUnableError, BeyondLimitsError, NoStimulusError)


class WatchedBench(Workbench):
    """The target of another workbench, with hosts under its tool. Raises NoToolError."""

    def __init__(self, beside: Workbench) -> None:
        target = beside.target
        tool = TOOLS[target.sanitizer]
        self.watch = tool.watch(target)
        few, patience = min(EXAMPLES, target.examples), target.timeout * tool.slower
        watched = replace(target, timeout=patience, host_scope="case", examples=few)
        super().__init__(watched, replace(beside.facts, filling=False), starts=self.watch)
        self.left_behind = beside.left_behind


def watched(case: Case, body: Body, error: Exception | None) -> Condition:
    """What the tool says of a case that ended with this error, or with none.

    A case whose process an op ended is repeated, too: what it did to memory may tell why.
    """
    # What hangs would hang again.
    is_ended = isinstance(error, DiedError) and not isinstance(error.death, Hung | Endless)
    if case.tier not in TRIED or not (error is None or is_ended):
        return Condition()
    name = case.bench.target.sanitizer
    tool = TOOLS[name]
    bench = _bench(case.bench)
    if isinstance(bench, str):
        # One case says so for all.
        return Condition(tool.clause, not_run=bench) if tool.clause in case.clauses else Condition()
    # A plugin may be for one process at a time.
    case.surroundings.abandon()
    bench.watch.taken()
    trial = case.trial(bench, TRIAL)
    ended = trial.ended_by(body)
    called = bool(trial.surroundings.trace)
    trial.surroundings.clear()
    said, cut = bench.watch.taken()
    found = of_plugin(said, case.bench.target.plugin)
    if found:
        shown = found[:MOST_TOLD]
        told = [f"{OP_OF_COMMAND.get(misuse.command, misuse.command)}: {misuse.told(by)}" for misuse, by in shown]
        statements = tuple(Statement(tool.clause, False, tool.expected, got) for got in dict.fromkeys(told))
        output = ["", *(str(misuse) for misuse, _ in shown)]
        if cut or len(found) > MOST_TOLD:
            where = f"the first {MOST_READ >> 20} MiB that it said of a process"
            output.append(f"There were more: {MOST_TOLD} are shown at most, and only {where} are read.")
        return Condition(tool.clause, statements, output="\n".join(output))
    if isinstance(ended, _NOTHING_TO_SEE) or not called or (ended is not None and error is not None):
        return Condition()
    if ended is not None:
        return Condition(tool.clause, not_run=f"under {name}: {ended}")
    return Condition(tool.clause, (Statement(tool.clause, True, "", ""),))


def _bench(bench: Workbench) -> WatchedBench | str:
    """The workbench under the tool that belongs to a workbench, or why there is none."""
    if bench.watched is None:
        try:
            bench.watched = WatchedBench(bench)
        except NoToolError as missing:
            bench.watched = str(missing)
    assert isinstance(bench.watched, WatchedBench | str)
    return bench.watched
