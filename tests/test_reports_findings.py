"""The cause is told before what follows from it, and once."""

from tests.records import CLAUSES, clause, record, report_of
from tffs_conformance.reports.model.findings import by_clause, findings
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract import catalogue


def broken(name: str, *clauses: str, **more: object) -> CaseRecord:
    checks = [CheckRecord(one, Verdict.VIOLATION, "x", "y") for one in clauses]
    return record(name, Verdict.VIOLATION, *checks, **more)


def report(*cases: CaseRecord) -> Report:
    ordered = {"b.late": clause("MUST", "read", "read", order=7), "a.early": clause("MUST", "read", "read", order=3)}
    return report_of(*cases, clauses=CLAUSES | ordered, duration=None)


def test_causes_come_first_and_then_the_order_of_the_catalogue() -> None:
    found = report(broken("1", "b.late"), broken("2", "a.early"), broken("3", "stat.odd"), broken("4", "read.succeeds"))
    assert [one.clause for one in findings(found)] == ["read.succeeds", "stat.odd", "a.early", "b.late"]


def test_what_is_broken_only_beside_its_cause_is_told_with_it() -> None:
    found = findings(report(broken("1", "b.late", "a.early"), broken("2", "a.early"), broken("3", "stat.odd")))
    assert [(one.clause, one.beside) for one in found] == [("stat.odd", []), ("a.early", ["b.late"])]


def test_what_is_broken_in_just_the_same_cases_is_told_with_its_cause() -> None:
    found = findings(report(broken("1", "b.late", "a.early")))
    assert [(one.clause, one.beside) for one in found] == [("a.early", ["b.late"])]


def test_of_clauses_in_one_place_the_one_that_shows_more_often_is_first() -> None:
    found = findings(report(broken("1", "read.succeeds", "stat.odd"), broken("2", "stat.odd")))
    assert [(one.clause, one.beside) for one in found] == [("stat.odd", ["read.succeeds"])]


def test_what_is_broken_alone_as_well_is_a_finding_of_its_own() -> None:
    found = findings(report(broken("1", "b.late", "a.early"), broken("2", "b.late")))
    assert [(one.clause, one.beside) for one in found] == [("a.early", []), ("b.late", [])]


def test_the_plainest_stimulus_is_told_first() -> None:
    (found,) = findings(
        report(
            broken("d", "a.early", ops=("1",), clauses=("a.early", "b.late")),
            broken("c", "a.early", ops=("1", "2")),
            broken("b", "a.early", ops=("1",)),
            broken("a", "a.early", ops=("1",)),
            broken("e", "a.early", ops=("1", "2", "3"), tier="".join(["smo", "ke"]), clauses=("a.early", "b.late")),
        )
    )
    assert list(found.cases) == ["e", "a", "b", "c", "d"]


def test_cases_that_are_about_the_clause_or_its_op_come_before_others() -> None:
    (found,) = findings(
        report(
            broken("a", "read.succeeds", clauses=("stat.odd",)),
            broken("b", "read.succeeds", clauses=("stat.odd", "read.hint")),
            broken("c", "read.succeeds", clauses=("stat.odd", "init.once", "read.succeeds")),
        )
    )
    assert list(found.cases) == ["c", "b", "a"]


def test_checks_that_stand_for_several_count_as_such() -> None:
    many = CheckRecord("a.early", Verdict.VIOLATION, "x", "y", times=300)
    (found,) = findings(report(record("1", Verdict.VIOLATION, many), broken("2", "a.early")))
    assert found.times == 301


def test_other_verdicts_are_grouped_by_clause_alone() -> None:
    warned = record("1", Verdict.WARNING, *(CheckRecord(n, Verdict.WARNING, "x", "y") for n in ("b.late", "a.early")))
    assert [one.clause for one in by_clause(report(warned), Verdict.WARNING)] == ["a.early", "b.late"]
    assert findings(report(warned)) == []
    assert by_clause(report(broken("1", "a.early")), Verdict.WARNING) == []


def test_registration_comes_before_set_up_and_set_up_before_the_rest() -> None:
    names = ["registration.loads", "robustness.no-crash", "create_dir.succeeds", "new_writable_file.succeeds",
             "append.succeeds", "read.succeeds", "read.ok-is-exactly-n", "copy_file.succeeds",
             "robustness.no-leak"]  # fmt: skip
    assert sorted(names, key=catalogue.order) == names


def test_each_clause_has_a_place_and_each_pattern_a_clause() -> None:
    places = {name: catalogue.order(name) for name in catalogue.catalogue()}
    patterns = catalogue.causes_first()
    assert [name for name, place in places.items() if place == len(patterns)] == []
    assert [pattern for place, pattern in enumerate(patterns) if place not in places.values()] == []


#: An op whose clause stands behind another one in the order.
SPOILS = {"late.succeeds": clause("MUST", "read", "read", order=9)}


def spoilt(*cases: CaseRecord) -> list[tuple[str, list[str]]]:
    ordered = CLAUSES | SPOILS | {"a.early": clause("MUST", "read", "read", order=3)}
    found = findings(report_of(*cases, clauses=ordered, duration=None))
    return [(one.clause, one.beside) for one in found]


def test_what_spoilt_the_set_up_is_told_before_what_was_seen_then() -> None:
    cause = broken("1", "late.succeeds", "a.early", cause="late")
    # Other cases do not say again that the op goes wrong.
    assert spoilt(cause, broken("2", "a.early", cause="late")) == [("late.succeeds", ["a.early"])]


def test_what_is_broken_mostly_without_a_spoilt_set_up_is_a_finding_of_its_own() -> None:
    cause = broken("1", "late.succeeds", cause="late")
    alone = [broken(name, "a.early") for name in "23"]
    assert spoilt(cause, *alone, broken("4", "a.early", cause="late")) == [("late.succeeds", []), ("a.early", [])]
    assert spoilt(cause, *(broken(name, "a.early", cause="another") for name in "23")) == [
        ("late.succeeds", []),
        ("a.early", []),
    ]
