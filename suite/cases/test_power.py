"""Power: what another process finds on a disk that lost what was not made durable."""

import pytest

from ..contract.power import KEPT, NAMED, SYNCED, WHOLE, histories
from ..engine.case import Case
from ..engine.marks import clauses, condition, over_tables
from ..engine.power import Losses
from .held import Held

pytestmark = over_tables

#: What a reader compares with what was found.
EXPECTED = {
    SYNCED: "all that was synced",
    KEPT: "what was there",
    WHOLE: "the old or the new target",
    NAMED: "all that was synced, under its name",
}


@condition("power")
@clauses(*EXPECTED)
@pytest.mark.parametrize("name", histories())
def test_fails(case: Case, name: str) -> None:
    """The power is lost behind each op of a history, and behind each change on the disk within one."""
    held = Held(case, name, EXPECTED)
    with Losses(case, histories()[name]) as losses:
        for lost in losses.lost():
            op, wrong = losses.history.steps[lost.moment.number].op, losses.wrong(lost)
            if held.told(SYNCED):
                # Where bytes are lost, a name is good for nothing.
                wrong.pop(NAMED, None)
            when = f"power lost {'behind' if lost.moment.answered else 'in'} {op}, {lost.loss.value}"
            held.against(when, op, losses.at_stake(lost), wrong)
