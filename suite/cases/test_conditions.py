"""Conditions: what a run sees only where it asks for one. Then other cases are repeated under it, too."""

from ..engine.case import Case
from ..engine.marks import clauses, condition
from ..judge.blame import SURVIVED
from .test_robustness import round_trip


@condition("memcheck")
@clauses("robustness.memory-safe", *SURVIVED)
def test_memcheck(case: Case) -> None:
    """Files are written, read, mapped, copied, listed and missed, under memcheck."""
    with case.setup:
        case.setup.mkdir_where_known("directory")
    round_trip(case)
