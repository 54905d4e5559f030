"""What of the figures a person can act on, in words."""

from collections.abc import Iterable, Iterator

from ...reports.forms.cost_words import size, time
from ...reports.model.costs import Cost, Point
from .workloads import THREADS, Workload

#: So much larger than usual an exponent is at least, whatever the noise was.
MORE = 0.3
#: So many times the smallest size's time the largest one's is at least, and that of a reference of the same storage.
GROWN = 2.0
#: So many times the reference plugin's time is worth a word, and so many microseconds more.
SLOW, WORTH = 10.0, 20.0
#: Threads together read at least so many times what one reads, where those of the reference plugin do.
TOGETHER, REFERENCE_TOGETHER = 1.2, 1.4
_POWERS = ((2.6, "worse than quadratic"), (1.6, "quadratic"))


def findings(told: Iterable[tuple[Workload | None, Cost]], reference: str | None, alike: bool) -> Iterator[str]:
    """A sentence or two for each figure that is worth it. `alike` says that the reference has the same storage.

    A workload is None for an op that was measured alone.
    """
    for workload, cost in told:
        if not cost.points:
            continue
        grown = _grown(workload, cost, reference, alike) if workload is not None else None
        if grown is not None:
            yield grown
        elif waits := _wait(cost, reference):
            yield waits
        elif alike and (slow := _slow(cost, reference)):
            yield slow


def _grown(workload: Workload, cost: Cost, reference: str | None, alike: bool) -> str | None:
    """That it grows faster than it has to: faster than the reference, too, where that has the same storage."""
    growth, first, last = cost.growth, cost.points[0], cost.points[-1]
    if growth is None or last.median < GROWN * first.median:
        return None
    if alike and last.reference and last.median < GROWN * last.reference:
        return None
    beside = growth.reference
    usual = max(workload.usual, beside) if alike and beside is not None else workload.usual
    if growth.low <= usual + MORE:
        return None
    wrong = workload.wrong.format(power=_power(growth.exponent))
    against = f", and as n^{beside:.2f} on {reference}" if beside is not None else ""
    return (
        f"{wrong}: '{cost.what}' grows as n^{growth.exponent:.2f} ({growth.low:.2f} to {growth.high:.2f}) with the"
        f" {cost.grows}{against}; {_at(cost, first)}, {_at(cost, last)}. To do: {workload.advice}."
    )


def _power(exponent: float) -> str:
    return next((word for least, word in _POWERS if exponent >= least), f"more than linear (n^{exponent:.1f})")


def _at(cost: Cost, point: Point) -> str:
    return f"{time(point.median)} at {size(point.at, cost.grows or '')}"


def _wait(cost: Cost, reference: str | None) -> str | None:
    """That threads get no more together than one alone."""
    if cost.grows != THREADS or len(cost.points) < 2:
        return None
    first, *others = cost.points
    if not (first.rate and first.reference_rate):
        return None
    mine = max((point.rate or 0) / first.rate for point in others)
    theirs = min((point.reference_rate or 0) / first.reference_rate for point in others)
    if mine >= TOGETHER or theirs < REFERENCE_TOGETHER:
        return None
    return (
        f"threads wait for each other: up to {others[-1].at} of them read {mine:.1f} times what one reads, on"
        f" {reference} {theirs:.1f} times and more. To do: look for a lock that is held while the storage works."
    )


def _slow(cost: Cost, reference: str | None) -> str | None:
    """That even a quick call takes many times what a slow one takes on the same storage elsewhere."""
    last = cost.points[-1]
    if cost.ratio_least is None or cost.ratio_least < SLOW or last.median - (last.reference or 0) < WORTH:
        return None
    at = f" at {size(last.at, cost.grows)}" if cost.grows else ""
    name = cost.op if cost.grows is None else f"'{cost.what}'"
    return f"{name} takes {cost.ratio:.0f} times what it takes on {reference}: {time(last.median)}{at}."
