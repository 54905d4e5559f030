"""The verdict of a check follows from the level, the readings and the claims; that of a case from its checks."""

import sys
from typing import Any

import pytest

from tffs_conformance.reports.model.records import CheckRecord, Ending, StatementKind
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import Clause, Level, Reading, catalogue
from tffs_conformance.suite.contract.claims import Claims, Meaning
from tffs_conformance.suite.judge import checks
from tffs_conformance.suite.judge.cases import Judged, check, judge
from tffs_conformance.suite.judge.evidence import Death, Evidence, Fall, Statement

READINGS = (Reading("header", "this", "It copes."), Reading("host", "that", "It copes."))
LOSING = (Reading("a", "this", "It copes."), Reading("b", "that", "It loses data.", harmful=True))
#: Clauses of each level, plain, disputed, and with a reading that loses data: catalogues change.
CLAUSES = {
    name: Clause(name, level, "", ("s",), "read", "c", disputed="A1" if readings else None, readings=readings)
    for kind, readings in (("plain", ()), ("disputed", READINGS), ("losing", LOSING))
    for level in Level
    for name in (f"{level.lower()}.{kind}",)
}
MUST, SHOULD = "must.plain", "should.plain"
#: A clause with an accepted reading that loses data.
HARMFUL = "writable_file.cleanup.unclosed-data"


@pytest.fixture(autouse=True)
def clauses(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[checks.__name__]
    monkeypatch.setattr(module, "clause", lambda name: CLAUSES.get(name) or catalogue()[name])


def meaning(supported: bool) -> Meaning:
    return Meaning("append", "", supported, "", supported, frozenset(), frozenset(), {})


def claims(*names: str, **how: Any) -> Claims:
    """Claims that promise these clauses, or give them up, hide them, or decide their readings."""
    given: dict[str, Any] = {
        "promised": {name: meaning(True) for name in names if "promised" in how},
        "unsupported": {name: meaning(False) for name in names if "unsupported" in how},
        "hidden": {name: "nobody sees it" for name in names if "hidden" in how},
        "decided": {name: (how["decided"], "x = 1") for name in names if "decided" in how},
    }
    return Claims(**given)


def said(name: str, holds: bool, reading: str | None = None, *, loses: bool = False) -> Statement:
    return Statement(name, holds, "expected", "got", reading, loses=loses)


# Of a check -----------------------------------------------------------------------------------------------------------


AS_CLAIMED = "expected, as the profile claims append = true"


@pytest.mark.parametrize(
    ("one", "claimed", "verdict", "expected"),
    [
        *((one, Claims(), verdict, "expected") for one, verdict in (
            (said(MUST, True), Verdict.CONFORM),
            (said(MUST, False), Verdict.VIOLATION),
            (said(SHOULD, True), Verdict.CONFORM),
            (said(SHOULD, False), Verdict.WARNING),
            (said("may.plain", True), Verdict.INFORMATIONAL),
            (said("may.plain", False), Verdict.INFORMATIONAL),
            (said("must.disputed", True, "host"), Verdict.TOLERATED),
            (said("must.disputed", False), Verdict.VIOLATION),
            (said("should.disputed", True, "header"), Verdict.TOLERATED),
            (said("should.disputed", False), Verdict.WARNING),
            (said("may.disputed", True, "host"), Verdict.INFORMATIONAL),
            (said("must.losing", True, "a"), Verdict.TOLERATED),
            (said(HARMFUL, True, "dropped"), Verdict.WARNING),
            (said(HARMFUL, True, "kept"), Verdict.INFORMATIONAL),
        )),
        # Lost data is a violation, unless an accepted reading loses it.
        *((said(f"{level}.losing", True, "b", loses=loses), Claims(), Verdict.WARNING, "expected")
          for level in ("must", "should", "may") for loses in (False, True)),
        *((said(f"{level}.losing", False, loses=True), Claims(), Verdict.VIOLATION, "expected")
          for level in ("must", "should", "may")),
        *((said(MUST, holds), claims(MUST, hidden=1), Verdict.ABSENT, "expected; nobody sees it")
          for holds in (True, False)),
        (said(MUST, False), claims(MUST, unsupported=1), Verdict.ABSENT, "expected; the profile claims append = false"),
        (said(MUST, True), claims(MUST, unsupported=1), Verdict.CONFORM, "expected"),
        (said(SHOULD, False), claims(SHOULD, promised=1), Verdict.VIOLATION, AS_CLAIMED),
        (said(SHOULD, True), claims(SHOULD, promised=1), Verdict.CONFORM, "expected"),
        (said("may.plain", False), claims("may.plain", promised=1), Verdict.VIOLATION, AS_CLAIMED),
        (said("must.disputed", True, "host"), claims("must.disputed", decided=("host",)), Verdict.CONFORM, "expected"),
        (said("must.disputed", True, "header"), claims("must.disputed", decided=("host", "x")), Verdict.VIOLATION,
         "host or x, as the profile claims x = 1"),
        # Who claims a reading that loses data knows it.
        (said(HARMFUL, True, "dropped"), claims(HARMFUL, decided=("dropped",)), Verdict.CONFORM, "expected"),
        (said(HARMFUL, True, "dropped"), claims(HARMFUL, decided=("kept",)), Verdict.VIOLATION,
         "kept, as the profile claims x = 1"),
        # No reading is followed: what the profile claims decides nothing.
        (said("must.disputed", False), claims("must.disputed", decided=("host",)), Verdict.VIOLATION, "expected"),
        (said(SHOULD, False), claims("other", promised=1, unsupported=1, hidden=1), Verdict.WARNING, "expected"),
    ],
)  # fmt: skip
def test_of_a_check(one: Statement, claimed: Claims, verdict: Verdict, expected: str) -> None:
    assert checks.verdict(one, claimed) is verdict
    assert checks.expected(one, claimed) == expected


def test_each_rule_decides_something() -> None:
    """A rule that none of the tables above needs is none: the names are those of the table of rules."""
    assert len({name for name, _, _ in checks.RULES}) == len(checks.RULES)
    assert checks.RULES[-1][1](checks.Facts(CLAUSES[SHOULD], said(SHOULD, False), Claims()))


def test_each_harmful_reading_says_what_is_lost() -> None:
    harmful = [reading for entry in catalogue().values() for reading in entry.readings if reading.harmful]
    assert harmful
    assert all(reading.tensorflow and not reading.tensorflow.startswith("Nothing") for reading in harmful)
    told = [r for e in catalogue().values() for r in e.readings if "lose" in r.tensorflow or "lost" in r.tensorflow]
    assert [r.tensorflow for r in told if not r.harmful and not r.tensorflow.startswith("Nothing")] == []


@pytest.mark.parametrize(
    ("name", "holds", "told"),
    [("may.plain", True, None), ("may.plain", False, False), (MUST, True, None), (MUST, False, None)],
)
def test_a_record_says_whether_it_held_where_the_verdict_does_not(name: str, holds: bool, told: bool | None) -> None:
    answer = ("read", StatementKind.CODE, "UNKNOWN")
    made = check(Statement(name, holds, "a", "b", None, "c", 3, False, *answer), Claims())
    assert made == CheckRecord(
        name, checks.verdict(said(name, holds), Claims()), "a", "b", None, "c", 3, told, *(() if holds else answer)
    )


# Of a case ------------------------------------------------------------------------------------------------------------


def judged(*statements: Statement, clauses: tuple[str, ...] = (MUST, SHOULD), **more: Any) -> Judged:
    return judge(Evidence(clauses=clauses, statements=statements, **more), Claims())


def verdicts(found: Judged) -> dict[str, Verdict]:
    assert len({one.clause for one in found.checks}) == len(found.checks)
    return {one.clause: one.verdict for one in found.checks}


@pytest.mark.parametrize(
    ("ended", "rest"),
    [
        (Ending.WHOLE, Verdict.DOES_NOT_APPLY),
        (Ending.BLOCKED, Verdict.NOT_RUN),
        (Ending.DIED, Verdict.NOT_RUN),
        (Ending.LACKING, Verdict.ABSENT),
        (Ending.UNABLE, Verdict.NOT_RUN),
        (Ending.BROKEN, Verdict.ERROR),
    ],
)
def test_what_a_case_did_not_come_to_is_as_it_ended(ended: Ending, rest: Verdict) -> None:
    found = judged(said(MUST, True), ended=ended, reason="x")
    assert verdicts(found) == {MUST: Verdict.CONFORM, SHOULD: rest}
    assert found.checks[1] == CheckRecord(SHOULD, rest)
    assert found.verdict is (Verdict.CONFORM if ended is Ending.WHOLE else rest)


def test_a_case_that_compared_nothing_is_an_error_of_the_suite() -> None:
    found = judged()
    assert verdicts(found) == {MUST: Verdict.ERROR, SHOULD: Verdict.ERROR}
    assert (found.verdict, found.reason) == (Verdict.ERROR, "the case made no check")
    assert found.ended is Ending.BROKEN
    assert judged(clauses=()) == Judged((), Verdict.ERROR, "the case made no check", Ending.BROKEN)
    prepared = judged(Statement(MUST, True, "a", "b", prepared=True))
    assert (prepared.verdict, prepared.reason) == (Verdict.ERROR, "the case made no check")
    # What prepared the stimulus counts as no check, unless it breaks something.
    kept, broken = (Statement(MUST, holds, "a", "b", prepared=True) for holds in (True, False))
    assert verdicts(judged(kept, said(SHOULD, True))) == {MUST: Verdict.DOES_NOT_APPLY, SHOULD: Verdict.CONFORM}
    assert verdicts(judged(broken, said(SHOULD, True))) == {MUST: Verdict.VIOLATION, SHOULD: Verdict.CONFORM}


SURVIVED = ("robustness.no-crash", "robustness.no-exception", "robustness.no-hang")


def test_an_op_survives_where_the_stimulus_came_back() -> None:
    declared = (MUST, *SURVIVED)
    for found in (judged(clauses=declared, answered=True), judged(said(MUST, True), clauses=declared)):
        assert [one.verdict for one in found.checks if one.clause in SURVIVED] == [Verdict.CONFORM] * 3


@pytest.mark.parametrize(("fall", "broken"), list(zip((Fall.CRASHED, Fall.THREW, Fall.HUNG), SURVIVED, strict=True)))
def test_a_death_breaks_one_clause_and_keeps_none(fall: Fall, broken: str) -> None:
    found = judged(
        clauses=("read.succeeds", *SURVIVED), ended=Ending.DIED, answered=True, death=Death("read", fall, "it went")
    )
    assert {one.clause for one in found.checks if one.verdict is Verdict.VIOLATION} == {"read.succeeds", broken}
    assert {one.verdict for one in found.checks} == {Verdict.VIOLATION, Verdict.NOT_RUN}
    assert (found.checks[0].clause, found.checks[0].got) == (broken, "it went")


def test_an_absence_is_explained_by_the_claim() -> None:
    found = judge(Evidence(clauses=(MUST,), statements=(said(MUST, False),)), claims(MUST, unsupported=1))
    assert (found.verdict, found.reason) == (Verdict.ABSENT, "the profile claims append = false")
    own = judge(Evidence(clauses=(MUST,), ended=Ending.LACKING, reason="no stat"), claims(MUST, unsupported=1))
    assert (own.verdict, own.reason) == (Verdict.ABSENT, "no stat")
