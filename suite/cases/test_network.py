"""The network: what an op of a plugin with services does in each of its troubles, and behind it."""

import pytest

from ...harness.ops.codes import Code
from ..contract.network import endings, passing, troubles
from ..engine.case import Case
from ..engine.contents import missing
from ..engine.marks import clauses, condition, over_tables
from ..engine.networking import Network
from .compared import harm, undone, wrongly_ok
from .stimuli import demand_own, given_up, stimuli

pytestmark = over_tables

TOLD, IN_TIME, NEVER = "network.failure-is-told", "network.answers-in-time", "network.never-not-found"
KEPT, AGAIN = "network.keeps-what-was-there", "network.works-again"
CODE, GIVEN_BACK = "network.code", "network.gives-connections-back"

#: What has to go in several pieces, and is cut within.
LARGE = bytes(range(256)) * 200
STIMULI = stimuli(LARGE[::-1], (LARGE, b"a second piece"))

#: What one is told who asks again for what was done, and whose answer was lost.
DONE = (Code.NOT_FOUND, Code.ALREADY_EXISTS)


@condition("network")
@clauses(TOLD, IN_TIME, NEVER, KEPT, AGAIN, CODE, GIVEN_BACK)
@pytest.mark.parametrize("name", STIMULI)
def test_in_trouble(case: Case, name: str) -> None:
    """Each service is in each trouble while an op is performed, or in a part of it; then the network works again."""
    demand_own(name, case.surroundings.present)
    stimulus = STIMULI[name]
    gives_up = given_up(stimulus, case.surroundings.present)
    if name == "rename-over" and case.bench.target.claims.get("atomic_rename") is False:
        gives_up |= {"target"}
    broken: set[tuple[str, str]] = set()

    def check(clause: str, trouble: str, expected: str, wrong: str | None) -> None:
        """One statement for each clause and answer: what other troubles show in the same way has the same cause."""
        if wrong is None:
            case.check.that(clause, True, expected, "so it was")
        elif (clause, wrong) not in broken:
            broken.add((clause, wrong))
            case.check.that(clause, False, expected, f"{name}: {trouble}: {wrong}")

    with Network(case, stimulus) as network:
        whole = network.whole
        for trouble, attempt in network.attempts(troubles(), endings()):
            went, again = attempt.went, attempt.again
            check(IN_TIME, trouble, "an answer", went.died)
            if attempt.unreadable:
                check(AGAIN, trouble, "it works again", f"another process: {attempt.unreadable}")
                continue
            check(KEPT, trouble, "what was there", harm(network, attempt, gives_up))
            if went.died is not None:
                continue
            check(TOLD, trouble, "an error, or all of its work", wrongly_ok(network, attempt))
            code = None if went.failed is None else went.failed.code
            if code is Code.OUT_OF_RANGE:
                check(TOLD, trouble, "an error, or all of its work", f"the end of a file, {went.told}")
            changes = whole.there != network.before
            done = code in DONE and changes and missing(network.before, whole.there, attempt.there) is None
            check(NEVER, trouble, "not NOT_FOUND", went.told if code is Code.NOT_FOUND and not done else None)
            if code not in (None, Code.NOT_FOUND) and not done:
                check(CODE, trouble, "a code that says: try again", None if code in passing() else went.told)
            check(AGAIN, trouble, "it works again", undone(network, again, attempt.there_again))
            more = network.kept(attempt)
            if attempt.waited:
                kept = f"{more} more are open" if more > 0 else None
                check(GIVEN_BACK, trouble, "as many connections as before", kept)
