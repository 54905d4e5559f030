"""Measuring what a target costs, from the first op to the findings. Nothing that goes wrong here fails a run."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace as changed

from msgspec.structs import replace

from ...harness.hosting.loader import BlockedError
from ...harness.launchers.launcher import HostLostError
from ...harness.ops.outcomes import DiedError
from ...harness.targets.backing import BackingUnableError
from ...reports.model.costs import Called, Cost, Costs, HeldMemory
from ..engine.knowledge import NOTHING, Knowledge
from ..engine.target import Target
from ..engine.workbench import Workbench
from .calls import CallCounter, called
from .findings import findings
from .ground import Ground, UnmeasuredError
from .memory import held
from .reference import Reference, reference
from .timing import Pace, cost, each_op
from .workloads import WORKLOADS, Workload

#: Seconds for one kind of work; a quick plugin needs less. So long a whole run and a short one take for each.
SECONDS, SHORT_SECONDS = 1.5, 0.2
#: So many of them are for the ops one by one.
FOR_EACH = 2
#: Seconds for making files, and as many for making the entries of directories.
MAKING, SHORT_MAKING = 12.0, 5.0
#: Entries that are made to see what memory they take, in a whole run and in a short one.
ENTRIES, FEW_ENTRIES = 2048, 512


def measure(
    target: Target,
    knowledge: Knowledge,
    *,
    short: bool = False,
    workloads: Sequence[Workload] = WORKLOADS,
    counter: CallCounter | None = None,
) -> Costs:
    """What a target costs that nobody else uses now. `short` is for a first impression, `counter` sees the storage."""
    began = time.monotonic()
    if target.root is None or target.through:
        why = "ops go through TensorFlow, and the time would be its own" if target.through else "there is no root"
        return Costs(storage="not looked at", failure=why)
    # An allocator that fills what it gives takes time of its own.
    bench = Workbench(target, changed(knowledge, filling=False))
    measuring = _Measuring(Pace(SHORT_SECONDS if short else SECONDS, short), workloads, counter)
    try:
        with ExitStack() as grounds:
            grounds.callback(bench.close)
            found = measuring.on(bench, target, target.root, grounds)
    except Exception as error:
        # Whatever a plugin does: what was measured until then is told, and the run goes on.
        found = measuring.result(_why(error))
    return replace(found, seconds=round(time.monotonic() - began, 1))


def _why(error: Exception) -> str:
    if isinstance(error, DiedError | BlockedError | HostLostError | BackingUnableError | UnmeasuredError):
        return str(error)
    return f"{type(error).__name__}: {error}"


class _Measuring:
    """What was measured so far."""

    def __init__(self, pace: Pace, workloads: Sequence[Workload], counter: CallCounter | None) -> None:
        self._counter = counter
        self._called: list[Called] = []
        self._workloads = workloads
        self._pace = pace
        self._beside = Reference("not looked at")
        self._figures: list[tuple[Workload | None, Cost]] = []
        self._memory: list[HeldMemory] = []
        self._unmeasured: list[str] = []

    def on(self, bench: Workbench, target: Target, root: str, grounds: ExitStack) -> Costs:
        """All there is to measure. Raises what goes wrong."""
        ground = self._opened(bench, grounds)
        self._beside = reference(target, root, hosts_differ=bench.hosts_differ)
        other = self._other(grounds)
        entries = FEW_ENTRIES if self._pace.short else ENTRIES
        one_by_one = changed(self._pace, seconds=self._pace.seconds * FOR_EACH)
        self._figures += [(None, figure) for figure in each_op(ground, other, one_by_one)]
        for workload in self._workloads:
            self._figures.append((workload, cost(workload, ground, other, self._pace)))
        # By now the process has all that it makes once.
        self._memory += held(ground, other, entries, self._unmeasured)
        if self._counter is not None:
            # What is counted needs few files, which may not lack because large ones took the time.
            ground.allow(MAKING)
            self._called += called(ground, self._counter, self._unmeasured)
        return self.result(None)

    def _other(self, grounds: ExitStack) -> Ground | None:
        if self._beside.target is None:
            return None
        bench = Workbench(self._beside.target, changed(NOTHING, filling=False))
        grounds.callback(bench.close)
        grounds.callback(bench.remove_root)
        return self._opened(bench, grounds)

    def _opened(self, bench: Workbench, grounds: ExitStack) -> Ground:
        ground = Ground(bench, "costs", making=SHORT_MAKING if self._pace.short else MAKING)
        grounds.callback(ground.close)
        return ground

    def result(self, failure: str | None) -> Costs:
        """The figures so far, and what they say."""
        beside = self._beside
        return Costs(
            storage=beside.storage,
            reference=beside.plugin,
            alike=beside.alike,
            findings=tuple(findings(self._figures, beside.plugin, beside.alike)),
            figures=tuple(figure for _, figure in self._figures),
            memory=tuple(self._memory),
            counted=self._counter.what if self._called and self._counter else None,
            called=tuple(self._called),
            unmeasured=tuple(self._unmeasured),
            failure=failure,
        )
