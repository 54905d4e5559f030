"""What holds of every verdict, whatever a case saw: each rule is tried on generated evidence."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tffs_conformance.reports.model.records import REST, CheckRecord, Ending
from tffs_conformance.reports.model.verdicts import Verdict, worst
from tffs_conformance.suite.contract.catalogue import clause
from tffs_conformance.suite.contract.claims import Claims
from tffs_conformance.suite.judge import blame
from tffs_conformance.suite.judge.cases import judge
from tffs_conformance.suite.judge.evidence import Block, Death, Evidence, Fall, Statement

#: Clauses of each level and kind: of ops, of loading, disputed, with a reading that loses data, and of every op.
NAMES = ("read.succeeds", "append.succeeds", "read.beside-a-writer", "writable_file.cleanup.unclosed-data",
         "registration.loads", *blame.SURVIVED)  # fmt: skip
READINGS = {"writable_file.cleanup.unclosed-data": ("kept", "dropped")}
OPS = ("read", "append", "stat", "dlopen")
#: Written out once more here: the rule is what the judge is held to.
PASSES = frozenset({Verdict.CONFORM, Verdict.TOLERATED, Verdict.INFORMATIONAL})
#: Claims of each kind about the same clauses.
CLAIMS = (
    Claims(),
    Claims.of({"append": False}, {}),
    Claims(hidden={"read.succeeds": "nobody sees it"}),
    Claims(decided={"writable_file.cleanup.unclosed-data": (("kept",), "so")}),
)

#: What several statements about one clause could be told apart by.
NUMBERS = st.integers(0, 3).map(str)


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    name, holds = draw(st.sampled_from(NAMES)), draw(st.booleans())
    reading = draw(st.sampled_from((None, *READINGS.get(name, ())))) if holds else None
    return Statement(name, holds, "as expected", draw(NUMBERS), reading, times=draw(st.integers(1, 3)),
                     prepared=draw(st.booleans()), loses=draw(st.booleans()))  # fmt: skip


DEATHS = st.builds(Death, st.sampled_from(OPS), st.sampled_from(Fall), NUMBERS, st.booleans())
BLOCKS = st.builds(Block, st.sampled_from(OPS), NUMBERS, st.booleans(), st.none() | DEATHS)
FLAWS = st.builds(Block, st.sampled_from(OPS[:3]), NUMBERS)


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    """What a case may see; a case that came to its end has neither died nor been blocked."""
    ended = draw(st.sampled_from(Ending))
    return Evidence(
        clauses=tuple(draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))),
        statements=tuple(draw(st.lists(statements(), max_size=4))),
        ended=ended,
        reason=None if ended is Ending.WHOLE else draw(NUMBERS),
        answered=draw(st.booleans()),
        death=draw(DEATHS) if ended is Ending.DIED else None,
        block=draw(BLOCKS) if ended is Ending.BLOCKED else None,
        flaw=draw(st.none() | FLAWS),
        called=draw(st.none() | st.sets(st.sampled_from((*OPS, "writable_file.cleanup")))),
        known=draw(st.dictionaries(st.sampled_from(OPS), NUMBERS, max_size=1)),
        promised=draw(st.sets(st.sampled_from(OPS), max_size=1)),
    )


# The rules ------------------------------------------------------------------------------------------------------------


def every_clause_has_a_check(seen: Evidence, claims: Claims) -> None:
    """Every clause that is declared has a check, and the verdict is the worst of the checks and nothing else."""
    found = judge(seen, claims)
    assert {*seen.clauses} <= {one.clause for one in found.checks}
    assert found.verdict is worst(one.verdict for one in found.checks)
    bare = [one for one in found.checks if not one.expected]
    # What nothing was compared of is as the case ended, and stands once.
    assert {one.verdict for one in bare} <= {REST[found.ended]}
    assert found.ended is seen.ended or (seen.ended, found.ended) == (Ending.WHOLE, Ending.BROKEN)
    twice = {one.clause for one in bare} & {one.clause for one in found.checks if one.expected}
    # A case that ended early and compared all of its clauses says by the first that it was not all of them.
    assert twice <= ({*seen.clauses[:1]} if found.ended not in (Ending.WHOLE, Ending.DIED) else set())
    if seen.clauses and found.ended not in (Ending.WHOLE, Ending.DIED):
        assert REST[found.ended] in {one.verdict for one in found.checks}
    if found.verdict in (Verdict.NOT_RUN, Verdict.ERROR, Verdict.ABSENT):
        assert found.reason


def a_pass_needs_the_stimulus(seen: Evidence, claims: Claims) -> None:
    """What passes was said of the stimulus: of each clause no more than that, nothing where it was not reached."""
    found = judge(seen, claims)
    said = Counter[tuple[str, str]]()
    for one in seen.statements:
        if not one.prepared:
            said[one.clause, one.got] += one.times
    reached = seen.answered or any(not one.prepared for one in seen.statements)
    for made in found.checks:
        if made.verdict not in PASSES:
            continue
        if made.verdict is not Verdict.INFORMATIONAL and seen.called is not None:
            assert clause(made.clause).op in {"", *seen.called}
        if made.clause in blame.SURVIVED and not said[made.clause, made.got]:
            # What an op keeps by coming back: it did, and none died.
            assert reached
            assert seen.death is None
            assert made.clause in seen.clauses
        else:
            said[made.clause, made.got] -= made.times
            assert said[made.clause, made.got] >= 0
    # The same with all that only prepared it: a case that never reached its stimulus passes nothing.
    before = tuple(replace(one, prepared=True) for one in seen.statements)
    never = judge(replace(seen, statements=before, answered=False), claims)
    assert not PASSES & {one.verdict for one in never.checks}


def is_seen(one: CheckRecord) -> bool:
    """Whether a check is made of a statement, and not of what a case did not come to, or survived."""
    return bool(one.expected) and one.got != "every op came back"


def blame_adds(seen: Evidence, claims: Claims) -> None:
    """A flaw, a death and a block take no check away that was there: what was seen stays, and no verdict is better."""
    alone = replace(seen, flaw=None, death=None, block=None)
    before = judge(alone, claims)
    was_seen = [one for one in before.checks if is_seen(one)]
    there = Counter(was_seen)
    for one in ("flaw", "death", "block"):
        after = judge(replace(alone, **{one: getattr(seen, one)}), claims)
        assert there <= Counter(after.checks)
    whole = judge(seen, claims)
    assert there <= Counter(whole.checks)
    if before.verdict is Verdict.VIOLATION:
        assert whole.verdict in (Verdict.VIOLATION, Verdict.ERROR)
    # Causes first: what blame says stands before what was seen.
    assert [one for one in whole.checks if is_seen(one)][-there.total() or len(whole.checks) :] == was_seen


SETTINGS = settings(
    max_examples=150, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
RULES = (every_clause_has_a_check, a_pass_needs_the_stimulus, blame_adds)


@pytest.mark.parametrize("rule", RULES)
def test_rule_of_judge_holds(rule: Callable[[Evidence, Claims], None]) -> None:
    seed(1)(SETTINGS(given(evidence(), st.sampled_from(CLAIMS))(rule)))()


def test_whether_an_op_hangs_that_is_not_called_again_is_unknown() -> None:
    why = "it hung 2 times, so the suite no longer calls it"
    block = Block("read", why, death=Death("read", Fall.HUNG, "read did not answer within 2 s"))
    seen = Evidence(
        clauses=("robustness.no-hang",), ended=Ending.BLOCKED, reason=f"blocked by read: {why}", answered=True,
        block=block,
    )  # fmt: skip
    (one,) = judge(seen, Claims()).checks
    assert (one.clause, one.verdict) == ("robustness.no-hang", Verdict.NOT_RUN)
