"""System calls: what an op does of which one fails. Each fails once, with each error that it can have."""

from operator import attrgetter

import pytest

from ..contract.system_calls import allowed, codes
from ..engine.case import Case
from ..engine.failing import Trials, is_unreported
from ..engine.marks import clauses, condition, over_tables
from .compared import harm, undone
from .once import told_once
from .stimuli import demand_own, given_up, stimuli

pytestmark = over_tables

TOLD, KEPT, AGAIN = "system-calls.failure-is-told", "system-calls.keeps-what-was-there", "system-calls.works-again"
CLOSED = "system-calls.closes-once"
CODE, INTERRUPTED = "system-calls.code", "system-calls.interruption-changes-nothing"

#: More than the buffers of most plugins hold, in pieces that fill none of them evenly.
MUCH = [letter * 100_003 for letter in (b"a", b"b", b"c")]
#: What a file has before, and what is written to one, in pieces.
STIMULI = {
    **stimuli(b"what was there", (b"the first piece, ", b"the second one, ", b"the third")),
    **{f"{name}-much": stimuli(b"".join(MUCH), MUCH)[name] for name in ("write", "copy")},
}


@condition("syscalls")
@clauses(TOLD, KEPT, AGAIN, CLOSED, CODE, INTERRUPTED)
@pytest.mark.parametrize("name", STIMULI)
def test_one_fails(case: Case, name: str) -> None:
    """Each system call of an op on files of the case fails once, with each error that it can have."""
    demand_own(name, case.surroundings.present)
    stimulus = STIMULI[name]
    gives_up = given_up(stimulus, case.surroundings.present)
    # What else the call can have breaks a clause for the same cause.
    check = told_once(case, attrgetter("call"), f"{name}: ")
    with Trials(case, stimulus) as trials:
        for failure, attempt, once_more in trials.attempts():
            went = attempt.went
            lacks = trials.lacking(went, attempt.there)
            if lacks is None and went.ok and is_unreported(failure, attempt, durable=stimulus.durable):
                lacks = "no answer reports the failure"
            may_lack = (name, failure.error) in allowed()
            wrong = went.died or (f"OK, but {lacks}" if went.ok and lacks and not may_lack else None)
            check(TOLD, failure, "an error, or all of its work", wrong)
            check(KEPT, failure, "what was there", harm(trials, attempt, gives_up))
            if went.died is not None:
                continue
            wrong = attempt.closed_wrongly(trials.whole)
            if attempt.waited or wrong:
                check(CLOSED, failure, "each descriptor closed once", wrong)
            check(AGAIN, failure, "it works again", undone(trials, attempt.again, attempt.there_again))
            if once_more is not None:
                lacks = undone(trials, once_more.again, once_more.there)
                check(AGAIN, failure, "it works again", lacks and f"on the same files: {lacks}")
            if failure.is_transparent:
                check(INTERRUPTED, failure, "OK", None if went.ok else went.told)
            elif went.failed is not None:
                expected = codes()[failure.error]
                got = None if went.failed.code is expected else went.told
                check(CODE, failure, "the code of the error", got and f"{got} instead of {expected}")
