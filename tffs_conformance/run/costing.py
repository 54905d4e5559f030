"""What targets cost, measured after the cases: a user may end that alone."""

from collections.abc import Iterable
from typing import Any

from ..reports.escape import printable
from ..reports.model.costs import Costs
from ..suite.costs.calls import CallCounter
from ..suite.costs.measure import measure
from ..suite.engine.knowledge import Knowledge
from ..suite.engine.target import Target
from .interrupts import Interrupts


def costs(
    targets: Iterable[tuple[Target, Knowledge, CallCounter | None]], interrupts: Interrupts, writer: Any, *, short: bool
) -> dict[str, Costs]:
    """What each of these targets costs, by its name, as far as nobody interrupts it. `writer` is pytest's.

    The third of each counts the calls of its storage, where anything does.
    """
    found: dict[str, Costs] = {}
    how_long = "some seconds" if short else "about a minute"
    # The cases are over, so a signal ends this and not the run.
    interrupts.ending = False
    try:
        for target, knowledge, counter in targets:
            writer.line(f"\nmeasuring what {printable(target.name)} costs: {how_long}")
            writer.flush()
            found[target.name] = measure(target, knowledge, short=short, counter=counter)
    except KeyboardInterrupt:
        writer.line("the measuring was interrupted: the report has no costs")
    finally:
        interrupts.ending = True
    return found
