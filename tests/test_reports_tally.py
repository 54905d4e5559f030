"""Counts of a report, and what keeps a run from being called conformant."""

import pytest
from msgspec.structs import replace

from tests.records import CLAUSES, HEADER, case, clause, record
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.judge.reports import build


def report(*cases: CaseRecord) -> Report:
    tables = {**HEADER.target.tables, "init": "plugin", "stat": "plugin", "sync": "plugin"}
    return build(replace(HEADER, target=replace(HEADER.target, tables=tables)), cases, duration=1, left_out=None)


def idle(count: int, verdict: Verdict = Verdict.NOT_RUN) -> list[CaseRecord]:
    """So many cases of the class read that made no check."""
    return [case(f"z/{verdict}-{k}", clauses=("read.hint",), verdict=verdict, reason="x") for k in range(count)]


def kept(count: int) -> list[CaseRecord]:
    return [case(f"a/{k}", ("read.succeeds", "conform")) for k in range(count)]


@pytest.mark.parametrize(
    ("cases", "of_class", "of_target"),
    [
        ([*kept(3), *idle(3)], "conformant", "conformant"),
        ([*kept(3), *idle(4)], "incomplete", "incomplete"),
        ([*kept(1), *idle(3), *idle(4, Verdict.ABSENT)], "incomplete", "conformant"),
        ([*kept(1), *idle(3), *idle(3, Verdict.ABSENT)], "incomplete", "incomplete"),
        ([case("s/a", ("stat.odd", "conform")), *idle(1)], "incomplete", "incomplete"),
        ([case("s/a", ("stat.odd", "conform")), *idle(1), *idle(1, Verdict.ABSENT)], "incomplete", "conformant"),
        ([case("s/a", ("stat.odd", "conform")), *idle(1, Verdict.ABSENT)], "not claimed", "conformant"),
    ],
)
def test_a_class_of_which_most_was_not_run_is_incomplete(
    cases: list[CaseRecord], of_class: str, of_target: str
) -> None:
    found = report(*cases)
    assert (found.classes["read"].verdict, found.verdict) == (of_class, of_target)
    if of_target == "incomplete":
        assert found.reason == "most could not be run of read"


def test_a_check_that_stands_for_several_counts_as_several() -> None:
    many = CheckRecord("read.succeeds", Verdict.CONFORM, "x", "x", times=300)
    read = CheckRecord("stat.odd", Verdict.TOLERATED, "x", "x", reading="host", times=15)
    again = replace(read, times=5)
    found = report(record("a", Verdict.TOLERATED, many, read, again))
    assert (found.counts.conform, found.counts.tolerated, found.executed.must) == (300, 20, 320)
    assert found.clauses["read.succeeds"].counts.conform == 300
    assert found.clauses["stat.odd"].readings_seen == {"host": 20}
    assert found.reason == "320 checks of MUST clauses kept"


def test_what_registration_kept_makes_nobody_conformant() -> None:
    found = report(case("init/a", ("init.once", "conform")))
    assert (found.verdict, found.reason, found.executed.must) == ("not conformant", "nothing executed", 0)


def test_a_case_without_an_op_and_a_check_of_a_should_execute_nothing() -> None:
    found = report(case("a", ("read.succeeds", "conform"), executed=False), case("b", ("read.hint", "conform")))
    assert (found.executed.cases, found.executed.must, found.verdict) == (1, 0, "not conformant")


def test_a_case_that_ended_otherwise_than_its_checks_counts_once_more() -> None:
    both = record("a", Verdict.ERROR, CheckRecord("read.succeeds", Verdict.CONFORM, "x", "x"),
                  clauses=("read.succeeds", "read.hint", "stat.odd"), reason="KeyError")  # fmt: skip
    found = report(both)
    assert (found.counts.conform, found.counts.error) == (1, 1)
    assert [found.classes[name].counts.error for name in ("read", "paths", "write")] == [1, 1, 0]
    assert [found.clauses[name].counts.error for name in ("read.succeeds", "read.hint", "stat.odd")] == [1, 1, 1]


def test_a_violation_does_not_hide_an_error() -> None:
    broken = CheckRecord("read.succeeds", Verdict.VIOLATION, "x", "y")
    found = report(record("a", Verdict.ERROR, broken, reason="KeyError"))
    assert (found.counts.violation, found.counts.error) == (1, 1)


def test_every_must_outside_of_registration_counts_as_executed_and_no_may() -> None:
    # What is read from a file is equal to a literal, and not the same object.
    must = "".join(("MU", "ST"))
    clauses = CLAUSES | {"a.b": clause(must, "scenarios", None), "a.c": clause("MAY", "read", None)}
    cases = [case("x", ("a.b", "conform")), case("y", ("a.c", "conform"))]
    assert build(replace(HEADER, clauses=clauses), cases, duration=1, left_out=None).executed.must == 1


def test_a_class_is_not_claimed_where_the_plugin_has_none_of_its_own_ops() -> None:
    absent = "".join(("abs", "ent"))
    tables = {"read": "plugin", "init": "plugin", "stat": absent, "sync": absent}
    header = replace(HEADER, target=replace(HEADER.target, tables=tables))
    found = build(header, kept(1), duration=1, left_out=None)
    assert {name: account.verdict for name, account in found.classes.items()} == {
        "read": "conformant",
        "registration": "incomplete",
        "paths": "not claimed",
        "write": "not claimed",
    }


def test_one_op_of_a_class_that_the_plugin_has_claims_it() -> None:
    paths = "".join(("pa", "ths"))
    tables = {"read": "plugin", "init": "plugin", "stat": "absent", "is_directory": "plugin", "sync": "absent"}
    header = replace(HEADER, clauses=CLAUSES | {"is_directory.x": clause("MUST", paths, "is_directory")},
                     target=replace(HEADER.target, tables=tables))  # fmt: skip
    assert build(header, kept(1), duration=1, left_out=None).classes["paths"].verdict == "incomplete"


def test_a_class_without_ops_of_its_own_lacks_none() -> None:
    header = replace(HEADER, clauses=CLAUSES | {"common.x": clause("MUST", "robustness", None)})
    waiting = case("a", clauses=("common.x",), verdict=Verdict.NOT_RUN, reason="x")
    found = build(header, [*kept(1), waiting], duration=1, left_out=None)
    assert found.classes["robustness"].verdict == "incomplete"
