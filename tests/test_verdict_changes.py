"""The comparison of two versions' reports: what has a reason is in the table, what has none fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.verdict_changes import changes, main, reason

Case = dict[str, Any]

LEVELS = {"read.succeeds": "MUST", "read.hint": "SHOULD", "create_dir.succeeds": "MUST", "robustness.no-crash": "MUST"}


def case(
    *checks: tuple[str, str], verdict: str, why: str | None = None, name: str = "read/a", got: str = "this"
) -> Case:
    """A case that declares both clauses of `read`, as reports have it."""
    made = [{"clause": clause, "verdict": found, "got": got} for clause, found in checks]
    return {"id": name, "clauses": ["read.succeeds", "read.hint"], "verdict": verdict, "reason": why, "checks": made}


def report(*cases: Case | None, schema: str = "2.3", verdict: str = "conformant") -> dict[str, Any]:
    """A report of these cases; its one class has its verdict."""
    return {
        "schema": f"tffs-conformance/report/{schema}",
        "verdict": verdict,
        "classes": {"read": {"verdict": verdict}},
        "clauses": {name: {"level": level, "class": "read"} for name, level in LEVELS.items()},
        "cases": [one for one in cases if one],
    }


KEPT_HINT = ("read.hint", "conform")
CAUSE = ("create_dir.succeeds", "violation")
KEPT = case(("read.succeeds", "conform"), KEPT_HINT, verdict="conform")
SHORT = case(("read.succeeds", "conform"), verdict="conform")
NOT_RUN = case(verdict="not run", why="there is no valgrind")
LAW_ONLY = case(KEPT_HINT, verdict="not run", why="there is no valgrind")
BLOCKED = case(CAUSE, verdict="violation", why="blocked by create_dir: code=INTERNAL")
DEAD = case(("robustness.no-crash", "violation"), verdict="violation")
TWO = case(("read.succeeds", "conform"), KEPT_HINT, verdict="conform", name="status/two-paths[a]")
TWO_OK = case(
    ("read.succeeds", "violation"), KEPT_HINT, verdict="violation", name="status/two-paths[a]",
    got="code=OK",
)  # fmt: skip
LARGE = case(("read.succeeds", "conform"), KEPT_HINT, verdict="conform", name="sizes/beyond-2-gib")
UNSEEN = ("read.succeeds", "not run"), ("read.hint", "not run")
ENDED = case(*UNSEEN, verdict="not run", why="there is no valgrind")

#: Each with the names of the reasons of its changes.
EXPLAINED: tuple[tuple[str, Case | None, Case | None], ...] = (
    ("empty", SHORT, case(("read.succeeds", "conform"), ("read.hint", "does not apply"), verdict="conform")),
    ("unseen", NOT_RUN, ENDED),
    ("unseen", DEAD, case(("robustness.no-crash", "violation"), *UNSEEN, verdict="violation")),
    ("set-up only, unseen", LAW_ONLY, ENDED),
    ("no longer dropped", BLOCKED, case(CAUSE, ("read.succeeds", "violation"), KEPT_HINT, verdict="violation")),
    ("two things wrong", TWO, TWO_OK),
    ("large", LARGE, None),
)


@pytest.mark.parametrize(("names", "before", "after"), EXPLAINED)
def test_a_change_has_its_reason(names: str, before: Case | None, after: Case | None) -> None:
    found = list(changes("posix", report(before), report(after, schema="3.0")))
    assert {why.name if (why := reason(one)) else one.kind for one in found} == set(names.split(", "))


#: Each with the kind of the change.
UNEXPLAINED: tuple[tuple[str, Case | None, Case | None], ...] = (
    ("conform -> violation", KEPT, case(("read.succeeds", "violation"), KEPT_HINT, verdict="violation")),
    ("conform -> violation", TWO, TWO_OK | {"checks": [one | {"got": "code=UNKNOWN"} for one in TWO_OK["checks"]]}),
    ("conform -> silent", KEPT, SHORT),
    ("silent -> silent", SHORT, SHORT),
    ("silent -> not run", SHORT, case(("read.succeeds", "conform"), ("read.hint", "not run"), verdict="not run")),
    ("conform -> not run", KEPT, case(*UNSEEN, verdict="not run")),
    ("conform -> nothing", case(("read.succeeds", "conform"), KEPT_HINT, KEPT_HINT, verdict="conform"), KEPT),
    ("conform -> no case", KEPT, None),
    ("no case -> conform", None, KEPT),
    # The verdict of a case alone.
    ("conform -> violation", KEPT, KEPT | {"verdict": "violation"}),
)


@pytest.mark.parametrize(("kind", "before", "after"), UNEXPLAINED)
def test_a_change_without_a_reason_is_told(kind: str, before: Case | None, after: Case | None) -> None:
    found = changes("posix", report(before, schema="3.0"), report(after, schema="3.0"))
    assert {one.kind for one in found if reason(one) is None} == {kind}


def test_incomplete_needs_a_must_clause_that_was_not_run() -> None:
    before = report(KEPT, NOT_RUN | {"id": "read/b"})
    after = report(KEPT, ENDED | {"id": "read/b"}, schema="3.0", verdict="incomplete")
    assert {why.name for one in changes("posix", before, after) if (why := reason(one))} == {"unseen", "incomplete"}
    after["clauses"]["read.succeeds"]["level"] = "SHOULD"
    assert [one.clause for one in changes("posix", before, after) if not reason(one)] == ["target", "class read"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, document in ((before, report(NOT_RUN)), (after, report(ENDED, schema="3.0"))):
        (folder / "posix").mkdir(parents=True)
        (folder / "posix" / "report.json").write_text(json.dumps(document))
    assert main([str(before), str(after)]) == 0
    assert "| unseen | silent -> not run | 2 | 1 | posix: read/a read.succeeds |" in capsys.readouterr().out
    (before / "posix" / "report.json").write_text(json.dumps(report(KEPT)))
    assert main([str(before), str(after)]) == 1
    assert "conform -> not run: 2\n  posix: read/a read.succeeds\n" in capsys.readouterr().out
    # A run of the version before that says the same is no different version's doing.
    assert main([str(before), str(after), f"--again={after}"]) == 0
    (before / "memory").mkdir()
    (before / "memory" / "report.json").write_text(json.dumps(report(KEPT)))
    assert main([str(before), str(after), f"--again={after}"]) == 1
    assert "in one of the folders only: memory" in capsys.readouterr().out
