"""Memory: what an op does that does not get some of it. Each allocation of it fails once."""

from operator import attrgetter

import pytest

from ...harness.ops.codes import Code
from ..engine.allocating import Allocations, Registrations
from ..engine.case import Case
from ..engine.marks import clauses, condition, over_tables
from .compared import harm, undone, wrongly_ok
from .once import told_once
from .stimuli import demand_own, given_up
from .test_system_calls import STIMULI

pytestmark = over_tables

LIVES, TOLD = "out-of-memory.process-lives-on", "out-of-memory.failure-is-told"
KEPT, AGAIN, CODE = "out-of-memory.keeps-what-was-there", "out-of-memory.works-again", "out-of-memory.code"
CLOSED = "out-of-memory.closes-what-it-opened"


@condition("memory")
@clauses(LIVES, TOLD, KEPT, AGAIN, CLOSED, CODE)
@pytest.mark.parametrize("name", STIMULI)
def test_one_fails(case: Case, name: str) -> None:
    """Each allocation that a plugin makes in an op fails once, in the thread that called it."""
    demand_own(name, case.surroundings.present)
    stimulus = STIMULI[name]
    gives_up = given_up(stimulus, case.surroundings.present)
    # What other allocations show in an op has the same cause.
    check = told_once(case, attrgetter("op"), f"{name}: ")
    with Allocations(case, stimulus) as allocations:
        for failure, attempt in allocations.attempts():
            went, again = attempt.went, attempt.again
            check(LIVES, failure, "an answer", went.died)
            if attempt.unreadable:
                if went.died is None:
                    check(AGAIN, failure, "it works again", again.died or attempt.unreadable)
                continue
            check(KEPT, failure, "what was there", harm(allocations, attempt, gives_up))
            if went.died is not None:
                continue
            check(TOLD, failure, "an error, or all of its work", wrongly_ok(allocations, attempt))
            check(AGAIN, failure, "it works again", undone(allocations, again, attempt.there_again))
            wrong = attempt.closed_wrongly(allocations.whole)
            if attempt.waited or wrong:
                check(CLOSED, failure, "each descriptor closed", wrong)
            if went.failed is not None:
                code = went.failed.code
                check(CODE, failure, "RESOURCE_EXHAUSTED", None if code is Code.RESOURCE_EXHAUSTED else went.told)


@condition("memory")
@clauses(LIVES, CODE)
def test_registration(case: Case) -> None:
    """Each allocation that a plugin makes in TF_InitPlugin and in init fails once."""
    check = told_once(case, attrgetter("op"))
    with Registrations(case) as registrations:
        for failure, went in registrations.attempts():
            check(LIVES, failure, "an answer", None if went.died is None else str(went.died))
            scheme = went.of(failure)
            if scheme is not None and scheme.code is not Code.OK:
                exhausted = scheme.code is Code.RESOURCE_EXHAUSTED
                check(CODE, failure, "RESOURCE_EXHAUSTED", None if exhausted else f"{scheme.code} {scheme.message}")
