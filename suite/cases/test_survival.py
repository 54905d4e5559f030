"""Survival: what another process finds when one was killed that worked on files, and whether it can go on there."""

from collections.abc import Iterator

import pytest

from ..contract.survival import CLOSED, DONE, EITHER, FLUSHED, KEPT, SYNCED, WHOLE, histories
from ..engine.case import Case
from ..engine.killing import Kills, Left
from ..engine.marks import clauses, condition, over_tables
from .held import Held

pytestmark = over_tables

AGAIN = "survival.works-again"
#: What a reader compares with what was found.
EXPECTED = {
    CLOSED: "all that was closed",
    SYNCED: "all that was synced",
    FLUSHED: "all that was flushed",
    KEPT: "what was there",
    DONE: "what was done",
    WHOLE: "the old or the new target",
    EITHER: "the old or the new one, or a beginning of it",
    AGAIN: "it works again",
}

under = condition("kill")
about = clauses(*EXPECTED)
each = pytest.mark.parametrize("name", histories())


@under
@about
@each
def test_between_ops(case: Case, name: str) -> None:
    """The process is killed when an op has answered, behind each op of a history."""
    with Kills(case, histories()[name]) as kills:
        _held_against(case, name, kills, kills.between())


@under
@about
@each
def test_within_ops(case: Case, name: str) -> None:
    """The process is killed within an op, before each system call of a history that changes something."""
    with Kills(case, histories()[name]) as kills:
        _held_against(case, name, kills, kills.within())


def _held_against(case: Case, name: str, kills: Kills, found: Iterator[Left]) -> None:
    """What each kill left is held against what was promised then, and what another process makes of it."""
    held = Held(case, name, EXPECTED)
    for left in found:
        op, stake, wrong = kills.history.steps[left.moment.number].op, kills.at_stake(left), kills.wrong(left)
        undone = kills.undone(left)
        if undone is not None:
            wrong[AGAIN] = undone
        elif left.again is not None:
            stake.add(AGAIN)
        held.against(left.when, op, stake, wrong)
