"""Records survive JSON unchanged, whatever a plugin said."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.records import record
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


GOOD: dict[str, Any] = plain.plain(record("a/b", Verdict.CONFORM))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"verdict": "fine"}, "Invalid enum value 'fine'"),
        ({"verdict": "\udcff"}, "surrogates"),
        ({"\udcff": 1}, "surrogates"),
        ({"surprise": 1}, "unknown field `surprise`"),
        ({"duration": -1.0}, ">= 0"),
        ({"executed": 1}, "Expected `bool`"),
        ({"checks": [{}]}, "missing required field `clause`"),
        ({"clauses": "read.x"}, "Expected `array`"),
        ({"id": None}, "Expected `str`"),
    ],
)
def test_another_value_is_no_record(change: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        plain.typed(GOOD | change, CaseRecord)


@pytest.mark.parametrize("key", list(GOOD))
def test_no_key_of_a_case_can_be_missing(key: str) -> None:
    with pytest.raises(ValueError, match=f"missing required field `{key}`"):
        plain.typed({name: value for name, value in GOOD.items() if name != key}, CaseRecord)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", "", "[" * 100_000])
def test_what_json_lacks_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting|nested"):
        plain.parse(text)


def test_what_json_lacks_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        plain.dumps(float("nan"))
