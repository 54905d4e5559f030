"""What a plugin costs, in words and rows: what the forms of a report say alike."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..model.costs import Cost, Costs, Growth, Point

#: A picture of how a time grows is so wide and so high.
WIDE, HIGH = 100.0, 24.0
#: An exponent from here on looks like more than linear.
STEEP = 1.3


@dataclass(frozen=True, slots=True)
class Row:
    """One figure as a table shows it; texts are empty where there is nothing to say."""

    work: str
    at: str
    median: str
    p95: str
    ratio: str
    exponent: str
    growth: str
    rate: str
    left_out: str


def head(costs: Costs) -> str:
    """What was measured, and beside what."""
    if costs.reference is None:
        beside = "with no reference plugin beside it"
    elif costs.alike:
        beside = f"× counts medians of the reference plugin {costs.reference}, which did the same in turn"
    else:
        beside = f"× counts medians of the reference plugin {costs.reference}, which did the same on a local disk"
    return f"on {costs.storage}; {beside}"


def nothing_found(costs: Costs) -> str:
    """What is said where nothing is held against the plugin; an exponent that looks steep in the table is named."""
    steep = [(cost.growth, cost.what) for cost in costs.figures if cost.growth and cost.growth.exponent >= STEEP]
    if not steep:
        return "nothing grows faster than it has to"
    growth, what = max(steep, key=lambda one: one[0].exponent)
    beside = f" (on {costs.reference} n^{growth.reference:.2f})" if growth.reference is not None else ""
    return f"nothing is sure to grow faster than it has to; the steepest, {interval(growth)}, is: {what}{beside}"


def work(costs: Costs) -> list[Row]:
    """The work that grows."""
    return [_row(cost) for cost in costs.figures if cost.grows is not None]


def alone(costs: Costs) -> list[Row]:
    """Each op where nothing is special about it."""
    return [_row(cost) for cost in costs.figures if cost.grows is None]


def _row(cost: Cost) -> Row:
    last = cost.points[-1] if cost.points else None
    return Row(
        work=cost.what if cost.grows is not None else cost.op,
        at=size(last.at, cost.grows) if last and cost.grows else "",
        median=time(last.median) if last else "",
        p95=time(last.p95) if last else "",
        ratio=ratio(cost.ratio),
        exponent=f"n^{cost.growth.exponent:.2f}" if cost.growth else "",
        growth=interval(cost.growth) if cost.growth else "",
        rate=rate(last.rate) if last and last.rate else "",
        left_out=cost.left_out or "",
    )


def interval(growth: Growth) -> str:
    """An exponent with its confidence."""
    return f"n^{growth.exponent:.2f} ({growth.low:.2f} to {growth.high:.2f})"


def ratio(times: float | None) -> str:
    """How many times as long."""
    return "" if times is None else f"{times:.1f}×" if times < 100 else f"{times:,.0f}×"


def memory(costs: Costs) -> Iterator[str]:
    """What memory things take, a line each."""
    for held in costs.memory:
        beside = f", {costs.reference} {amount(held.reference)}" if held.reference is not None else ""
        yield f"{held.what}: {amount(held.bytes)}{beside}"


def called(costs: Costs) -> Iterator[tuple[str, str]]:
    """How often the storage was called for each work, in words."""
    for one in costs.called:
        yield one.what, ", ".join(f"{count:g} {kind}" for kind, count in one.calls.items()) or "none"


def time(microseconds: float) -> str:
    """A time as a person reads it."""
    for unit, least in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= least:
            return f"{microseconds / least:#.3g}".rstrip(".") + f" {unit}"
    return f"{microseconds:#.3g}".rstrip(".") + " µs"


def rate(bytes_a_second: float) -> str:
    """Bytes a second."""
    for unit, least in (("GB", 1e9), ("MB", 1e6)):
        if bytes_a_second >= least:
            return f"{bytes_a_second / least:#.3g}".rstrip(".") + f" {unit}/s"
    return f"{bytes_a_second / 1e3:#.3g}".rstrip(".") + " kB/s"


def size(at: int, grows: str) -> str:
    """A size of what grows: its unit is the first word."""
    unit = grows.partition(" ")[0]
    if unit == "bytes":
        return amount(at)
    return f"{at:,} {unit if at != 1 else unit.removesuffix('s').replace('entrie', 'entry')}"


def amount(count: int) -> str:
    """Bytes."""
    for unit, least in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(count) >= least:
            return f"{count / least:.4g} {unit}"
    return f"{count:,} bytes"


@dataclass(frozen=True, slots=True)
class Picture:
    """How two times grow, both axes logarithmic: the points of a line for the target, and for the reference."""

    target: str
    reference: str


def picture(points: Sequence[Point]) -> Picture | None:
    """The picture of a figure; None where there is no line to draw."""
    if len(points) < 2:
        return None
    values = [value for point in points for value in (point.median, point.reference) if value]
    if not values:
        return None
    left, right = math.log(max(points[0].at, 1)), math.log(max(points[-1].at, 1))
    low, high = math.log(min(values)), math.log(max(values))
    # What grows as n goes from one corner to the other, so that noise does not look like growth.
    high = max(high, low + right - left)

    def line(of: Sequence[tuple[int, float | None]]) -> str:
        return " ".join(
            f"{WIDE * (math.log(max(at, 1)) - left) / ((right - left) or 1):.1f},"
            f"{HIGH - HIGH * (math.log(value) - low) / ((high - low) or 1):.1f}"
            for at, value in of
            if value
        )

    return Picture(line([(p.at, p.median) for p in points]), line([(p.at, p.reference) for p in points]))
