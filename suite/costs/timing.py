"""How work is timed: the target and the reference plugin in turn, all sizes in turn, within a budget."""

import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from ...harness.ops.codes import Code
from ...harness.over_tables.programs import Program, Spent
from ...reports.model.costs import Cost, Growth, Point
from .fitting import FEWEST_ROUNDS, growth
from .ground import Ground, UnmeasuredError
from .workloads import DIRECTORY, SIZES, THREADS, Workload, tour

#: A visit to one size lasts about so many seconds, and makes so many calls at most.
VISIT, CALLS = 0.01, 64
#: A shorter time in microseconds is none that a clock tells.
SHORTEST = 0.001
#: All sizes are visited so many times, unless the time is spent before.
VISITS = 20
#: An exponent is sure to so much. Where others use the machine it takes longer: so many times the time is spent then.
SURE, PATIENCE = 0.5, 5


@dataclass(frozen=True, slots=True)
class Pace:
    """How long one kind of work may take, in seconds, and whether the sizes are those of a short run."""

    seconds: float
    short: bool

    def sizes(self, grows: str) -> Sequence[int]:
        """The sizes that are tried, the smallest first."""
        return SIZES[grows][self.short]


@dataclass(slots=True)
class Side:
    """What is measured of one size on one ground: programs, how many rounds fit into a visit, and the times so far.

    `visits` has the nanoseconds of each call, visit by visit; `busy` all those in which any thread was in the plugin.
    """

    ground: Ground
    programs: list[Program]
    workload: Workload
    rounds: int = 1
    visits: list[list[int]] = field(default_factory=list)
    busy: int = 0

    def visit(self) -> float:
        """Perform some rounds; how many seconds that took. Raises UnmeasuredError."""
        began = time.monotonic()
        went = self.ground.perform(self.programs, self.rounds)
        took = time.monotonic() - began
        self.visits.append([ns for thread in went for ns in self._times(thread)])
        self.busy += _busy(one for thread in went for one in thread if one.op == self.workload.op)
        return took

    def _times(self, thread: Sequence[Spent]) -> Iterator[int]:
        if not self.workload.whole:
            yield from (one.ns for one in thread if one.op == self.workload.op)
            return
        steps = len(self.programs[0].steps)
        for begin in range(0, len(thread), steps):
            yield sum(one.ns for one in thread[begin : begin + steps])

    def adapt(self, took: float) -> None:
        """From now on as many rounds as fit into a visit."""
        self.rounds = max(1, min(CALLS, int(VISIT * self.rounds / max(took, 1e-6))))
        # The first visit warms caches up.
        self.visits.clear()
        self.busy = 0

    @property
    def microseconds(self) -> list[float]:
        """Of every call."""
        return [ns / 1000 for visit in self.visits for ns in visit]

    @property
    def medians(self) -> list[float]:
        """Of every visit."""
        return [statistics.median(visit) for visit in self.visits]

    def rate(self, moved: int) -> float:
        """Bytes a second of all threads together, where one call reads so many."""
        return round(sum(map(len, self.visits)) * moved * 1e9 / max(self.busy, 1))


def _busy(calls: Iterable[Spent]) -> int:
    """Nanoseconds in which at least one of these calls ran: what the host does between them does not count."""
    total = until = 0
    for one in sorted(calls, key=lambda one: one.start_ns):
        total += max(0, one.end_ns - max(one.start_ns, until))
        until = max(until, one.end_ns)
    return total


def cost(workload: Workload, target: Ground, reference: Ground | None, pace: Pace) -> Cost:
    """What this work costs. The reference plugin does no more than the target does."""
    figure = Cost(op=workload.op, what=workload.what, grows=workload.grows)
    if missing := [op for op in workload.needs if not target.has(op)]:
        return replace(figure, left_out=f"the plugin has no {missing[0]}")
    grounds = [ground for ground in (target, reference) if ground is not None and ground.has(*workload.needs)]
    sides: dict[int, list[Side]] = {}
    left_out, once = None, 0.0
    for size in pace.sizes(workload.grows):
        # Each further visit to all sizes costs at least as much as the first, and there have to be some.
        if once * FEWEST_ROUNDS > pace.seconds:
            skipped = [one for one in pace.sizes(workload.grows) if one not in sides]
            left_out = f"{_several(skipped)} not tried: the time was spent"
            break
        try:
            sides[size] = [_side(workload, ground, size) for ground in grounds]
            once += sum(side.visit() for side in sides[size])
        except UnmeasuredError as why:
            sides.pop(size, None)
            left_out = str(why)
            break
    try:
        _visit(sides, pace.seconds)
    except UnmeasuredError as why:
        return replace(figure, left_out=str(why))
    return replace(_told(figure, workload, sides), left_out=left_out)


def _several(sizes: Sequence[int]) -> str:
    return f"{sizes[0]:,} was" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} were"


def _side(workload: Workload, ground: Ground, size: int) -> Side:
    """One size on one ground, after its first visit. Raises UnmeasuredError."""
    if workload.grows == DIRECTORY:
        ground.entries(size)
    threads = size if workload.grows == THREADS else 1
    side = Side(ground, [ground.program() for _ in range(threads)], workload)
    for thread, program in enumerate(side.programs):
        workload.steps(program, ground, size, thread)
    side.adapt(side.visit())
    if side.rounds > 1:
        # One call says little of many: a disk may be quick until it has to write.
        side.adapt(side.visit())
    return side


def _visit(sides: Mapping[int, Sequence[Side]], seconds: float) -> None:
    began = time.monotonic()
    for number in range(1, VISITS * PATIENCE):
        for some in sides.values():
            # Whoever went second goes first the next time.
            for side in reversed(some) if number % 2 else some:
                side.visit()
        spent = (time.monotonic() - began) / seconds
        enough = number + 1 >= VISITS or (number + 1 >= FEWEST_ROUNDS and spent > 1)
        if enough and (spent > PATIENCE or _sure(sides)):
            return


def _sure(sides: Mapping[int, Sequence[Side]]) -> bool:
    """Whether more visits tell no more of the target's growth."""
    grown = _growth({size: some[0] for size, some in sides.items()})
    return grown is None or grown.high - grown.low <= SURE


def _told(figure: Cost, workload: Workload, sides: Mapping[int, Sequence[Side]]) -> Cost:
    if not sides:
        return figure
    points = tuple(_point(size, workload, some) for size, some in sides.items())
    grown = _growth({size: some[0] for size, some in sides.items()})
    beside = _growth({size: some[1] for size, some in sides.items() if len(some) > 1})
    if grown is not None and beside is not None:
        grown = replace(grown, reference=beside.exponent)
    *_, largest = sides.values()
    return _compared(replace(figure, points=points, growth=grown), [side.microseconds for side in largest])


def _compared(figure: Cost, times: Sequence[Sequence[float]]) -> Cost:
    """With how many times the reference's time it takes: its own times, and then those of the reference."""
    if len(times) < 2:
        return figure
    own, beside = times
    return replace(
        figure,
        ratio=round(statistics.median(own) / max(statistics.median(beside), SHORTEST), 2),
        ratio_least=round(percentile(own, 0.25) / max(percentile(beside, 0.75), SHORTEST), 2),
    )


def _growth(sides: Mapping[int, Side]) -> Growth | None:
    return growth({size: side.medians for size, side in sides.items()})


def _point(size: int, workload: Workload, sides: Sequence[Side]) -> Point:
    times = sides[0].microseconds
    moved = workload.moves(size) if workload.moves else None
    return Point(
        at=size,
        calls=len(times),
        median=round(statistics.median(times), 3),
        p95=round(percentile(times), 3),
        reference=round(statistics.median(sides[1].microseconds), 3) if len(sides) > 1 else None,
        rate=sides[0].rate(moved) if moved else None,
        reference_rate=sides[1].rate(moved) if moved and len(sides) > 1 else None,
    )


def percentile(times: Sequence[float], share: float = 0.95) -> float:
    """The smallest of these times that so large a share of them does not exceed."""
    return sorted(times)[max(0, -int(-share * len(times) // 1) - 1)]


def each_op(target: Ground, reference: Ground | None, pace: Pace) -> list[Cost]:
    """What each op costs where nothing is special about it."""
    deadline = time.monotonic() + pace.seconds
    grounds = [ground for ground in (target, reference) if ground is not None]
    for ground in grounds:
        ground.entries(16)
    programs: list[Program] = []
    for ground in grounds:
        programs.append(ground.program())
        tour(programs[-1], ground)
    seen: list[dict[str, list[Spent]]] = [{} for _ in grounds]
    for number in range(VISITS * 10):
        for ground, program, ops in zip(grounds, programs, seen, strict=True):
            # What answers an error is told of that op alone.
            for one in ground.try_all(program):
                if number:
                    ops.setdefault(one.op, []).append(one)
        if number >= FEWEST_ROUNDS and time.monotonic() > deadline:
            break
    return [_of_op(op, some, seen[1].get(op) if len(seen) > 1 else None) for op, some in seen[0].items()]


def _of_op(op: str, some: Sequence[Spent], beside: Sequence[Spent] | None) -> Cost:
    figure = Cost(op=op, what="each call")
    if wrong := next((one for one in some if one.code is not Code.OK), None):
        return replace(figure, left_out=f"it answers {wrong.code}")
    times = [[one.ns / 1000 for one in ops] for ops in (some, beside) if ops]
    point = Point(
        at=1,
        calls=len(some),
        median=round(statistics.median(times[0]), 3),
        p95=round(percentile(times[0]), 3),
        reference=round(statistics.median(times[1]), 3) if len(times) > 1 else None,
    )
    return _compared(replace(figure, points=(point,)), times)
