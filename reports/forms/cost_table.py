"""What the ops of a plugin take, as the one table that all forms of a report show."""

from collections.abc import Iterator, Sequence

from ..escape import printable
from ..model.costs import Costs, Growth
from .lines import Line, wrapped

#: A time grows with the size where the exponent is this at least, with a confidence of 95 %.
LEAST_EXPONENT = 0.3
#: The columns of an op and its size on a terminal.
_OP = 38
_TIMES = (("s", 1e6), ("ms", 1e3), ("µs", 1))
_RATES = (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3))
_BYTES = (("MiB", 1 << 20), ("KiB", 1 << 10), ("bytes", 1))
#: An op, its size, its time, that of the reference, its rate, and at the largest size how it grows. A text is empty
#: where there is nothing to say.
Row = tuple[str, str, str, str, str, str]


def head(costs: Costs) -> str:
    """What was measured, and beside what."""
    beside = f"beside the plugin {costs.reference}" if costs.reference else "with no reference plugin beside it"
    return f"medians on {costs.storage}, {beside}; no verdict"


def rows(costs: Costs, *, largest_only: bool = False) -> Iterator[Row]:
    """The rows of the table: each op at each of its sizes."""
    for cost in costs.figures:
        unit = (cost.grows or "").partition(" ")[0]
        for point in cost.points[-1 if largest_only else 0 :]:
            yield (
                cost.what if unit else cost.op,
                _amount(point.at, _BYTES) if unit == "bytes" else f"{point.at:,} {unit}" if unit else "",
                _amount(point.median, _TIMES),
                _amount(point.reference, _TIMES),
                _amount(point.rate, _RATES),
                _growth(cost.growth, unit) if point is cost.points[-1] else "",
            )


def _growth(growth: Growth | None, unit: str) -> str:
    """With what a time grows and how, and how that of the reference does; empty where it does not."""
    if growth is None or growth.low < LEAST_EXPONENT:
        return ""
    beside = "" if growth.reference is None else f" ({growth.reference:.1f})"
    return f"{unit}^{growth.exponent:.1f}{beside}"


def _amount(value: float | None, units: Sequence[tuple[str, float]]) -> str:
    """A number in the largest of these units that it has one of, else in the last."""
    if value is None:
        return ""
    unit, one = next(((unit, one) for unit, one in units if value >= one), units[-1])
    return f"{value / one:.3g} {unit}" if value < 1000 * one else f"{value / one:,.0f} {unit}"


def cost_lines(costs: Costs, columns: int, verbosity: int = 0) -> Iterator[Line]:
    """The table for a terminal: each op at its largest size, and with a verbosity at all of them."""
    yield "", {}
    yield from wrapped("costs: ", head(costs), columns)
    reference = printable(costs.reference or "")[:9]
    for row in (("op", "", "median", reference, "rate", "grows as"), *rows(costs, largest_only=not verbosity)):
        op, size, time, beside, rate, growth = map(printable, row)
        op = op[: _OP - 1 - len(size)]
        yield f"  {op}{size:>{_OP - len(op)}}{time:>10}{beside:>10}{rate:>11}  {growth}".rstrip(), {}
    for text in costs.unmeasured:
        yield from wrapped("  not measured: ", text, columns)
