"""What a plugin costs, for a terminal: what a person can act on, and the table."""

from collections.abc import Iterable, Iterator

from ..escape import printable
from ..model.costs import Costs
from . import cost_words
from .cost_words import Row
from .lines import Line, wrapped

#: From so many columns on there is room for the confidence of an exponent.
_ROOM = 96


def cost_lines(costs: Costs, columns: int, verbosity: int = 0) -> Iterator[Line]:
    """The lines; with a verbosity each op alone, and what was left out."""
    yield "", {}
    yield "costs (informational, no verdict):", {"bold": True}
    yield from wrapped("  ", cost_words.head(costs), columns)
    for finding in costs.findings:
        for text, _ in wrapped("  COST ", finding, columns):
            yield text, {"yellow": True}
    if costs.figures and not costs.findings:
        yield from wrapped("  ", cost_words.nothing_found(costs), columns)
    yield from _table("work, at the largest size", cost_words.work(costs), columns, verbosity)
    if verbosity:
        yield from _table("each op", cost_words.alone(costs), columns, verbosity)
    for text in cost_words.memory(costs):
        yield from wrapped("  memory of ", text, columns)
    if costs.called:
        yield from wrapped("  ", f"{costs.counted}:", columns)
    for what, calls in cost_words.called(costs):
        yield from wrapped(f"    {printable(what):<28} ", calls, columns)
    for text in costs.unmeasured:
        yield from wrapped("  not measured: ", text, columns)
    if costs.failure is not None:
        for text, _ in wrapped("  the measuring ended early: ", costs.failure, columns):
            yield text, {"red": True}


def _table(title: str, rows: Iterable[Row], columns: int, verbosity: int) -> Iterator[Line]:
    shown = [row for row in rows if row.median]
    if shown:
        yield f"  {title:<43} {'median':>8} {'p95':>8} {'×':>7}  growth", {"light": True}
    for row in shown:
        growth = row.growth if columns >= _ROOM else row.exponent
        work = f"{printable(row.work)[:37]:<30} {printable(row.at):>12}" if row.at else f"{printable(row.work):<43}"
        yield f"  {work:<43} {row.median:>8} {row.p95:>8} {row.ratio:>7}  {row.rate or growth}".rstrip(), {}
        if row.left_out and verbosity:
            yield from wrapped("    ", row.left_out, columns)
    short = sum(bool(row.left_out) for row in rows)
    if short and not verbosity:
        yield f"  {short} of them with fewer sizes, or not measured (-v says why and has each op)", {}
    for row in rows if verbosity else ():
        if row.left_out and not row.median:
            yield from wrapped(f"  {printable(row.work)}: ", f"not measured: {row.left_out}", columns)
