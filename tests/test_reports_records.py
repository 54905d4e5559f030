"""Records survive JSON unchanged, whatever a plugin said."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tffs_conformance.reports.records import CaseRecord, CheckRecord
from tffs_conformance.reports.verdicts import Verdict

# Surrogates included: paths and messages of a plugin are decoded with surrogateescape.
TEXT = st.text(st.characters())
CHECKS = st.builds(
    CheckRecord,
    clause=TEXT,
    verdict=st.sampled_from(Verdict),
    expected=TEXT,
    got=TEXT,
    reading=st.none() | TEXT,
    plugin_said=st.none() | TEXT,
)
CASES = st.builds(
    CaseRecord,
    id=TEXT,
    clauses=st.lists(TEXT, max_size=3).map(tuple),
    verdict=st.sampled_from(Verdict),
    checks=st.lists(CHECKS, max_size=3).map(tuple),
    reason=st.none() | TEXT,
    stimulus=TEXT,
    ops=st.lists(TEXT, max_size=3).map(tuple),
    executed=st.booleans(),
    duration=st.integers(0, 10**9).map(lambda microseconds: microseconds / 10**6),
    output=TEXT,
)


@given(CASES)
def test_a_case_survives_json(case: CaseRecord) -> None:
    assert CaseRecord.from_json(json.loads(json.dumps(case.to_json()))) == case


@given(CASES)
def test_counts_have_all_keys_and_see_the_case_itself(case: CaseRecord) -> None:
    counts = case.counts()
    assert set(counts) == set(Verdict)
    assert counts[case.verdict] >= 1
    assert len(case.checks) <= sum(counts.values()) <= len(case.checks) + 1


def test_a_case_that_made_no_check_counts_once() -> None:
    case = CaseRecord("a/b", ("read.x", "read.y"), Verdict.ABSENT, reason="read is absent")
    assert case.counts()[Verdict.ABSENT] == 1
    assert sum(case.counts().values()) == 1


def test_an_error_after_good_checks_is_counted() -> None:
    case = CaseRecord("a/b", ("read.x",), Verdict.ERROR, (CheckRecord("read.x", Verdict.CONFORM, "a", "a"),))
    assert case.counts()[Verdict.ERROR] == 1
    assert case.counts()[Verdict.CONFORM] == 1
