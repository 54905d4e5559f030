"""What is compared of a stimulus that something disturbed, whatever the condition is: what is wrong, or None."""

from collections.abc import Collection

from ..engine.contents import harmed
from ..engine.disturbing import Attempt, DisturbedStimulus
from ..engine.setup import Tree
from ..engine.stimulus import Performance


def harm(case: DisturbedStimulus, attempt: Attempt, gives_up: Collection[str]) -> str | None:
    """What is lost of what was there before."""
    return harmed(case.before, case.whole.there, attempt.there, gives_up)


def wrongly_ok(case: DisturbedStimulus, attempt: Attempt) -> str | None:
    """What lacks of the work of ops that answered OK."""
    went = attempt.went
    lacks = case.lacking(went, attempt.there) if went.ok else None
    # What was right in a part that answered OK says nothing of the rest.
    if went.values != case.whole.went.values[: len(went.values)]:
        lacks = lacks or f"it gave {went.values!r}"
    return lacks and f"OK, but {lacks}"


def undone(case: DisturbedStimulus, again: Performance, there: Tree) -> str | None:
    """What is wrong with the work that was done again when nothing disturbed it any more."""
    return case.lacking(again, there) if again.ok else again.told
