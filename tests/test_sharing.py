"""However many checks a case makes, few records stand for all of them, and each is counted."""

from msgspec.structs import replace

from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.engine.sharing import CHECKS, OTHERS, add


def violation(got: str) -> CheckRecord:
    return CheckRecord("read.succeeds", Verdict.VIOLATION, "x", got)


def test_very_many_checks_of_one_clause_share_records_and_are_all_counted() -> None:
    made: list[CheckRecord] = []
    for number in range(1000):
        add(made, violation(f"got {number}"))
    assert len(made) == CHECKS + 1
    assert sum(check.times for check in made) == 1000
    assert (made[-1].got, made[-1].times) == (OTHERS, 1000 - CHECKS)


def test_what_conforms_alike_shares_a_record_and_what_does_not_stands_alone() -> None:
    made: list[CheckRecord] = []
    kept = CheckRecord("read.succeeds", Verdict.CONFORM, "code=OK", "code=OK")
    for check in (kept, violation("a"), kept, violation("a"), replace(kept, clause="read.one-byte"), kept):
        add(made, check)
    assert [(check.clause, check.verdict, check.times) for check in made] == [
        ("read.succeeds", "conform", 3),
        ("read.succeeds", "violation", 1),
        ("read.succeeds", "violation", 1),
        ("read.one-byte", "conform", 1),
    ]


def test_a_breach_that_no_record_shows_is_not_counted_as_one_that_is() -> None:
    """A waiver that accepts what is shown must not accept what is not."""
    made: list[CheckRecord] = []
    for number in range(CHECKS):
        add(made, violation(f"got {number}"))
    for got in ("got 3", "new", "got 3"):
        add(made, violation(got))
    add(made, CheckRecord("read.succeeds", Verdict.CONFORM, "x", "x"))
    assert [(check.got, check.times) for check in made if check.times > 1] == [("got 3", 3)]
    assert [check.got for check in made[-2:]] == [OTHERS, "x"]
