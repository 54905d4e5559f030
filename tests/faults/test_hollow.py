"""No case is content where what it is about did not happen: every case on plugins whose ops all do nothing.

One answers OK to all, the other INTERNAL. `hollow.toml` names the cases that are content all the same, each with the
reason why that is right.
"""

import fnmatch
import tomllib
from pathlib import Path

import pytest

from tests.faults.driven import all_cases, judge
from tffs_conformance.reports.model.verdicts import Verdict

CONTENT = (Verdict.CONFORM, Verdict.TOLERATED, Verdict.INFORMATIONAL)
REASONS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("hollow.toml").read_text())


@pytest.mark.parametrize("answer", ["fails", "ok"])
def test_a_case_is_content_with_nothing_only_for_a_reason(answer: str) -> None:
    judged = judge("fakes/hollow", answer, all_cases("full"), examples=10)
    content = {one.id for one in judged.records if one.verdict in CONTENT}
    patterns = REASONS[answer] | (REASONS["by-chance"] if answer == "ok" else {})
    explained = {case: pattern for case in content for pattern in patterns if fnmatch.fnmatchcase(case, pattern)}
    lazy = sorted(content - set(explained))
    assert not lazy, f"these pass without a plugin: let them check more, or give the reason in hollow.toml: {lazy}"
    assert sorted(set(REASONS[answer]) - set(explained.values())) == [], "these patterns explain nothing"
    assert [f"{one.id}: {one.reason}" for one in judged.records if one.verdict is Verdict.ERROR] == []
    assert judged.broken()
