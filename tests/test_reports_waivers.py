"""A waiver accepts what it names, until its day; what it says that is no longer so fails the run."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.records import case, record
from tffs_conformance.reports.records import CaseRecord, CheckRecord
from tffs_conformance.reports.verdicts import Verdict
from tffs_conformance.reports.waivers import Waiver, WaiverState, accounts, read, stale, waived

DAY = datetime.date(2027, 3, 1)


def waiver(**given: Any) -> Waiver:
    fields: dict[str, Any] = {"clause": "read.succeeds", "case": "*", "fingerprint": "code=OK", "reason": "known",
                              "owner": "team", "issue": None, "expires": None, "cases": 1}  # fmt: skip
    return Waiver(**(fields | given))


def broken(name: str, got: str = "code=OK", verdict: Verdict = Verdict.VIOLATION) -> CaseRecord:
    return record(name, verdict, CheckRecord("read.succeeds", verdict, "code=NOT_FOUND", got))


def states(entries: list[Waiver], *cases: CaseRecord) -> list[WaiverState]:
    return [account.state for account in accounts(entries, [waived(each, entries) for each in cases])]


@pytest.mark.parametrize(("today", "expired"), [(-1, False), (0, False), (1, True)])
def test_the_last_day_still_counts(tmp_path: Path, today: int, expired: bool) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(
        f'[[waiver]]\nclause = "read.succeeds"\nfingerprint = "code=OK"\nreason = "r"\nowner = "o"\nexpires = {DAY}\n'
    )
    (entry,) = read(path, DAY + datetime.timedelta(days=today))
    assert (entry.case, entry.issue, entry.expires, entry.expired) == ("*", None, DAY, expired)
    assert waived(broken("a"), [entry]).verdict is (Verdict.VIOLATION if expired else Verdict.WAIVED)


def test_an_entry_waives_its_clause_in_its_cases_with_its_fingerprint_alone() -> None:
    entry = waiver(case="read/*")
    assert waived(broken("read/a"), [entry]).verdict is Verdict.WAIVED
    for other in (broken("stat/a"), broken("read/a", got="code=UNKNOWN")):
        assert waived(other, [entry]) == other
    assert waived(broken("read/a"), [replace(entry, clause="read.hint")]).verdict is Verdict.VIOLATION


def test_a_case_with_another_violation_stays_broken() -> None:
    both = case("read/a", ("read.succeeds", "violation"), ("read.other", "violation"))
    found = waived(both, [waiver()])
    assert [check.verdict for check in found.checks] == [Verdict.WAIVED, Verdict.VIOLATION]
    assert found.verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("entry", "cases", "state"),
    [
        (waiver(), [broken("a")], WaiverState.USED),
        (waiver(), [broken("a", got="code=UNKNOWN")], WaiverState.CHANGED),
        (waiver(), [case("a", ("read.succeeds", "conform"))], WaiverState.UNNEEDED),
        (waiver(cases=2), [case("a", ("read.succeeds", "conform"))], WaiverState.NOT_JUDGED),
        (waiver(), [case("a", clauses=("read.succeeds",), verdict=Verdict.NOT_RUN)], WaiverState.NOT_JUDGED),
        (waiver(), [case("a", clauses=("read.hint",), verdict=Verdict.NOT_RUN)], WaiverState.UNNEEDED),
        (waiver(), [], WaiverState.NOT_JUDGED),
        (waiver(expired=True), [broken("a")], WaiverState.EXPIRED),
        (waiver(expired=True), [], WaiverState.EXPIRED),
    ],
)
def test_the_state_of_an_entry(entry: Waiver, cases: list[CaseRecord], state: WaiverState) -> None:
    assert states([entry], *cases) == [state]


def test_an_account_counts_and_names_what_else_there_was() -> None:
    entry = waiver(cases=4)
    cases = [broken("a"), broken("b"), broken("c", got="x"), broken("d", got="x")]
    (account,) = accounts([entry], [waived(each, [entry]) for each in cases])
    assert (account.waived, account.got_instead, account.clause, account.owner) == (2, ("x",), "read.succeeds", "team")


def test_one_target_that_needs_an_entry_is_enough() -> None:
    entry = [waiver()]
    good, bad, changed = (
        accounts(entry, [waived(each, entry)])
        for each in (case("a", ("read.succeeds", "conform")), broken("a"), broken("a", got="x"))
    )
    assert [account.state for account in stale([good])] == [WaiverState.UNNEEDED]
    assert stale([good, bad]) == []
    assert stale([bad]) == []
    assert [account.state for account in stale([bad, changed])] == [WaiverState.CHANGED]
