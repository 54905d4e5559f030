"""The comparison of two versions' reports: each change is told, and fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.verdict_changes import changes, main

Case = dict[str, Any]


def case(*checks: tuple[str, str], verdict: str) -> Case:
    """A case that declares both clauses of `read`, as reports have it."""
    made = [{"clause": clause, "verdict": found} for clause, found in checks]
    return {"id": "read/a", "clauses": ["read.succeeds", "read.hint"], "verdict": verdict, "checks": made}


def report(*cases: Case | None, schema: str = "3.0", verdict: str = "conformant") -> dict[str, Any]:
    """A report of these cases; its one class has its verdict."""
    return {
        "schema": f"tffs-conformance/report/{schema}",
        "verdict": verdict,
        "classes": {"read": {"verdict": verdict}},
        "cases": [one for one in cases if one],
    }


KEPT_HINT = ("read.hint", "conform")
KEPT = case(("read.succeeds", "conform"), KEPT_HINT, verdict="conform")
SHORT = case(("read.succeeds", "conform"), verdict="conform")
NOT_RUN = case(("read.succeeds", "not run"), ("read.hint", "not run"), verdict="not run")

#: Each with the kind of the change.
CHANGES: tuple[tuple[str, Case | None, Case | None], ...] = (
    ("conform -> violation", KEPT, case(("read.succeeds", "violation"), KEPT_HINT, verdict="violation")),
    ("conform -> silent", KEPT, SHORT),
    ("silent -> silent", SHORT, SHORT),
    ("silent -> not run", SHORT, case(("read.succeeds", "conform"), ("read.hint", "not run"), verdict="not run")),
    ("conform -> not run", KEPT, NOT_RUN),
    ("conform -> nothing", case(("read.succeeds", "conform"), KEPT_HINT, KEPT_HINT, verdict="conform"), KEPT),
    ("conform -> no case", KEPT, None),
    ("no case -> conform", None, KEPT),
    # The verdict of a case alone.
    ("conform -> violation", KEPT, KEPT | {"verdict": "violation"}),
)


@pytest.mark.parametrize(("kind", "before", "after"), CHANGES)
def test_a_change_is_told(kind: str, before: Case | None, after: Case | None) -> None:
    assert {one.kind for one in changes("posix", report(before), report(after))} == {kind}


def test_the_verdicts_of_target_and_class_are_compared() -> None:
    found = changes("posix", report(KEPT), report(KEPT, verdict="incomplete"))
    assert [(one.case, one.clause) for one in found] == [("", "target"), ("", "class read")]


def test_before_schema_3_a_clause_may_be_silent() -> None:
    assert not list(changes("posix", report(SHORT, schema="2.3"), report(SHORT, schema="2.3")))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        (folder / "posix").mkdir(parents=True)
        (folder / "posix" / "report.json").write_text(json.dumps(report(KEPT)))
    assert main([str(before), str(after)]) == 0
    (after / "posix" / "report.json").write_text(json.dumps(report(NOT_RUN)))
    assert main([str(before), str(after)]) == 1
    told = "conform -> not run: 2\n  posix: read/a read.succeeds\n  posix: read/a read.hint\n"
    assert told in capsys.readouterr().out
    # What differs between two runs of the version before is chance.
    assert main([str(before), str(after), f"--again={after}"]) == 0
    (before / "memory").mkdir()
    (before / "memory" / "report.json").write_text(json.dumps(report(KEPT)))
    assert main([str(before), str(after), f"--again={after}"]) == 1
    assert "in one of the folders only: memory" in capsys.readouterr().out
