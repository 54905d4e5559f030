"""Verdicts follow from one another by the rules written beside them."""

import itertools

import pytest

from tffs_conformance.reports.model.verdicts import JUDGED, WORST_FIRST, TargetVerdict, Verdict, no_counts, worst
from tffs_conformance.suite.judge.targets import judge_class, judge_target


def counts(**given: int) -> dict[Verdict, int]:
    """Counts with these set; `not_run` stands for 'not run'."""
    return no_counts() | {Verdict(name.replace("_", " ")): count for name, count in given.items()}


def test_the_order_ranks_every_verdict_once() -> None:
    assert sorted(WORST_FIRST) == sorted(Verdict)
    with pytest.raises(ValueError, match="empty"):
        worst([])


@pytest.mark.parametrize(
    ("checks", "case"),
    [
        (["conform"], "conform"),
        (["conform", "informational", "tolerated"], "tolerated"),
        (["conform", "absent"], "absent"),
        (["does not apply", "conform"], "conform"),
        (["does not apply", "does not apply"], "does not apply"),
        (["does not apply", "absent", "not run"], "not run"),
        (["waived", "absent", "conform"], "waived"),
        (["waived", "not run"], "not run"),
        (["waived", "warning"], "warning"),
        (["warning", "violation", "waived"], "violation"),
        (["violation", "error"], "error"),
    ],
)
def test_a_case_takes_the_worst_verdict(checks: list[str], case: str) -> None:
    for order in itertools.permutations(checks):
        assert worst(map(Verdict, order)) is Verdict(case)


@pytest.mark.parametrize(
    ("given", "cases", "executed_must", "left_out", "verdict", "reason"),
    [
        (counts(conform=3), 3, 3, None, TargetVerdict.CONFORMANT, "3 checks of MUST clauses passed"),
        (
            counts(conform=1, not_run=4, absent=2),
            7,
            1,
            None,
            TargetVerdict.CONFORMANT,
            "1 check of MUST clauses passed",
        ),
        (counts(conform=3, warning=2), 5, 3, None, TargetVerdict.CONFORMANT, "3 checks of MUST clauses passed"),
        (counts(conform=3, waived=1), 4, 4, None, TargetVerdict.WITH_WAIVERS, "1 violation waived"),
        (counts(conform=3, violation=2, waived=1), 6, 6, None, TargetVerdict.NOT_CONFORMANT, "2 violations"),
        (counts(violation=1), 1, 1, "interrupted", TargetVerdict.NOT_CONFORMANT, "1 violation"),
        (counts(violation=1, error=1), 2, 1, None, TargetVerdict.NOT_CONFORMANT, "1 violation"),
        (counts(conform=3, error=1), 4, 3, None, TargetVerdict.INCOMPLETE, "1 error"),
        (counts(error=5), 5, 0, None, TargetVerdict.INCOMPLETE, "5 errors"),
        (counts(conform=3), 3, 3, "interrupted", TargetVerdict.INCOMPLETE, "interrupted"),
        (counts(conform=3), 3, 0, "--clause=a*", TargetVerdict.INCOMPLETE, "nothing executed; --clause=a*"),
        (counts(), 0, 0, "interrupted", TargetVerdict.INCOMPLETE, "zero cases; interrupted"),
        (counts(), 0, 0, None, TargetVerdict.NOT_CONFORMANT, "zero cases"),
        (counts(absent=600, conform=20), 620, 0, None, TargetVerdict.NOT_CONFORMANT, "nothing executed"),
        (counts(not_run=600), 600, 0, None, TargetVerdict.NOT_CONFORMANT, "nothing executed"),
        (counts(does_not_apply=600), 600, 0, None, TargetVerdict.NOT_CONFORMANT, "nothing executed"),
    ],
)
def test_the_target(
    given: dict[Verdict, int], cases: int, executed_must: int, left_out: str | None, verdict: TargetVerdict, reason: str
) -> None:
    judgement = judge_target(given, cases=cases, executed_must=executed_must, left_out=left_out)
    assert (judgement.verdict, judgement.reason) == (verdict, reason)
    if not executed_must and left_out is None:
        # That is worse than what was not run.
        assert judge_target(given, cases=cases, executed_must=0, left_out=None, not_run=["a"]) == judgement


@pytest.mark.parametrize(
    ("untried", "said"),
    [
        ({"listing": 1}, "1 MUST clause not tried, of listing"),
        ({"a": 1, "b": 2, "c": 1}, "4 MUST clauses not tried, of b, a, c"),
        ({"a": 1, "b": 1, "c": 1, "d": 1, "e": 5}, "9 MUST clauses not tried, of e, a, b and 2 more"),
    ],
)
def test_what_a_tier_does_not_try_is_said(untried: dict[str, int], said: str) -> None:
    for found, reason in (
        (counts(conform=3), "3 checks of MUST clauses passed"),
        (counts(conform=3, waived=1), "1 violation waived"),
        (counts(conform=3, violation=2), "2 violations"),
    ):
        judgement = judge_target(found, cases=3, executed_must=3, left_out=None, untried=untried)
        assert judgement.reason == f"{reason}; {said}"
    assert judge_class(counts(conform=3), left_out=None, untried=untried).reason.endswith(f"3 checks; {said}")


@pytest.mark.parametrize(
    ("more", "not_run", "left_out", "verdict", "reason"),
    [
        ({}, ["read.b"], None, TargetVerdict.INCOMPLETE, "1 MUST clause not run in a case: read.b"),
        ({}, ["b", "c", "a"], None, TargetVerdict.INCOMPLETE, "3 MUST clauses not run in a case: a, b, c"),
        ({}, [*"edcba"], None, TargetVerdict.INCOMPLETE, "5 MUST clauses not run in a case: a, b, c and 2 more"),
        # That hides nothing worse.
        ({"violation": 1}, ["a"], None, TargetVerdict.NOT_CONFORMANT, "1 violation"),
        ({"error": 1}, ["a"], None, TargetVerdict.INCOMPLETE, "1 error"),
        ({}, ["a"], "stopped", TargetVerdict.INCOMPLETE, "stopped; 1 MUST clause not run in a case: a"),
    ],
)
def test_clauses_not_run_leave_the_verdict_open(
    more: dict[str, int], not_run: list[str], left_out: str | None, verdict: TargetVerdict, reason: str
) -> None:
    found = counts(conform=900, waived=1, not_run=1, **more)
    for judgement in (
        judge_target(found, cases=903, executed_must=900, left_out=left_out, not_run=not_run),
        judge_class(found, left_out=left_out, not_run=not_run),
    ):
        assert (judgement.verdict, judgement.reason) == (verdict, reason)


def test_what_is_blocked_in_a_class_without_ops_is_not_claimed() -> None:
    blocked = counts(not_run=5)
    assert judge_class(blocked, left_out=None, not_run=["a"], lacking=True).verdict == TargetVerdict.NOT_CLAIMED
    assert judge_class(blocked, left_out=None, lacking=True).verdict == TargetVerdict.NOT_CLAIMED
    assert judge_class(blocked, left_out=None).verdict == TargetVerdict.INCOMPLETE
    kept = blocked | {Verdict.CONFORM: 1}
    assert judge_class(kept, left_out=None, not_run=["a"], lacking=True).verdict == TargetVerdict.INCOMPLETE


@pytest.mark.parametrize(
    ("given", "left_out", "verdict", "reason"),
    [
        (counts(conform=1, absent=9), None, TargetVerdict.CONFORMANT, "no violation in 1 check"),
        (counts(conform=3, tolerated=1, warning=1), None, TargetVerdict.CONFORMANT, "no violation in 5 checks"),
        (counts(conform=3, not_run=3), None, TargetVerdict.CONFORMANT, "no violation in 3 checks"),
        (counts(informational=9), None, TargetVerdict.INCOMPLETE, "no answer of the plugin could be checked"),
        (counts(does_not_apply=9), None, TargetVerdict.INCOMPLETE, "no answer of the plugin could be checked"),
        (counts(informational=9, absent=1), None, TargetVerdict.NOT_CLAIMED, "every op it needs is absent"),
        (counts(waived=1, not_run=2), None, TargetVerdict.WITH_WAIVERS, "1 violation waived"),
        (counts(absent=9), None, TargetVerdict.NOT_CLAIMED, "every op it needs is absent"),
        (counts(absent=9, not_run=1), None, TargetVerdict.INCOMPLETE, "1 check not run"),
        (counts(), None, TargetVerdict.INCOMPLETE, "no answer of the plugin could be checked"),
        (counts(error=2, conform=1), None, TargetVerdict.INCOMPLETE, "2 errors"),
        (counts(conform=1), "interrupted", TargetVerdict.INCOMPLETE, "interrupted"),
        (counts(violation=1), "interrupted", TargetVerdict.NOT_CONFORMANT, "1 violation"),
        (counts(waived=2, conform=1), None, TargetVerdict.WITH_WAIVERS, "2 violations waived"),
    ],
)
def test_a_class(given: dict[Verdict, int], left_out: str | None, verdict: TargetVerdict, reason: str) -> None:
    judgement = judge_class(given, left_out=left_out)
    assert (judgement.verdict, judgement.reason) == (verdict, reason)


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - JUDGED))
def test_what_judged_nothing_never_makes_a_class_conformant(verdict: Verdict) -> None:
    judgement = judge_class(counts() | {verdict: 7}, left_out=None)
    assert judgement.verdict in {TargetVerdict.NOT_CLAIMED, TargetVerdict.INCOMPLETE}
