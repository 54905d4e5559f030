"""Records survive JSON unchanged, whatever a plugin said."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tffs_conformance.reports import plain
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict

# Surrogates included: paths and messages of a plugin are decoded with surrogateescape.
TEXT = st.text(st.characters())
WORDS = st.lists(TEXT, max_size=3).map(tuple)
CHECKS = st.builds(
    CheckRecord,
    clause=TEXT, verdict=st.sampled_from(Verdict), expected=TEXT, got=TEXT, reading=st.none() | TEXT,
    plugin_said=st.none() | TEXT,
)  # fmt: skip
CASES = st.builds(
    CaseRecord,
    id=TEXT, clauses=WORDS, verdict=st.sampled_from(Verdict), checks=st.lists(CHECKS, max_size=3).map(tuple),
    reason=st.none() | TEXT, stimulus=TEXT, ops=WORDS, executed=st.booleans(), output=TEXT,
    duration=st.integers(0, 10**9).map(lambda microseconds: microseconds / 10**6),
)  # fmt: skip


@settings(deadline=None)
@given(CASES)
def test_a_case_survives_json(case: CaseRecord) -> None:
    line = plain.text(case)
    assert line.isascii()
    assert "\n" not in line
    assert plain.read(line, CaseRecord) == case


def test_a_check_says_nothing_of_what_there_is_not() -> None:
    found = plain.plain(CheckRecord("read.x", Verdict.CONFORM, "a", "a"))
    assert list(found) == ["clause", "verdict", "expected", "got"]


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", "", "[" * 100_000])
def test_what_json_lacks_is_neither_read_nor_written(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting|nested"):
        plain.parse(text)
    with pytest.raises(ValueError, match="JSON"):
        plain.dumps(float("nan"))
