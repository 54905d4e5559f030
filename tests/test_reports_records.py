"""Records survive JSON unchanged, whatever a plugin said."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tffs_conformance.reports import plain
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict

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


@settings(deadline=None)
@given(CASES)
def test_a_case_survives_json(case: CaseRecord) -> None:
    line = plain.text(case)
    assert line.isascii()
    assert "\n" not in line
    assert plain.read(line, CaseRecord) == case


def test_a_check_says_nothing_of_what_there_is_not() -> None:
    assert list(plain.plain(CheckRecord("read.x", Verdict.CONFORM, "a", "a"))) == [
        "clause",
        "verdict",
        "expected",
        "got",
    ]


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", "", "[" * 100_000])
def test_what_json_lacks_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting|nested"):
        plain.parse(text)


def test_what_json_lacks_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        plain.dumps(float("nan"))
