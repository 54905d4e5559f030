"""Counts of a report, and what keeps a run from being called conformant."""

import pytest
from msgspec.structs import replace

from tests.records import CLAUSES, HEADER, case, clause, record, report_of
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict


def report(*cases: CaseRecord) -> Report:
    tables = {**HEADER.target.tables, "init": "plugin", "stat": "plugin", "sync": "plugin"}
    return report_of(*cases, target=replace(HEADER.target, tables=tables))


def idle(clause: str, verdict: Verdict = Verdict.NOT_RUN) -> CaseRecord:
    """A case that did not come to this clause."""
    return case(f"z/{clause}-{verdict}", clauses=(clause,), verdict=verdict, reason="x")


def kept(count: int) -> list[CaseRecord]:
    return [case(f"a/{k}", ("read.succeeds", "conform")) for k in range(count)]


NOT_RUN = "1 MUST clause not run in a case: read.succeeds"


@pytest.mark.parametrize(
    ("cases", "of_class", "of_target"),
    [
        (kept(3), "conformant", "conformant"),
        # One case of a MUST clause is enough, however many others kept it.
        ([*kept(300), idle("read.succeeds")], "incomplete", "incomplete"),
        ([*kept(3), idle("read.succeeds"), idle("read.hint", Verdict.ABSENT)], "incomplete", "incomplete"),
        # What is not demanded keeps nothing open, and what is absent is not 'not run'.
        ([*kept(3), idle("read.hint")], "conformant", "conformant"),
        ([*kept(3), idle("read.succeeds", Verdict.ABSENT)], "conformant", "conformant"),
        # A class keeps its verdict where the clause is of another.
        ([*kept(3), idle("stat.odd")], "conformant", "incomplete"),
        ([case("s/a", ("stat.odd", "conform")), idle("read.hint")], "incomplete", "conformant"),
        ([case("s/a", ("stat.odd", "conform")), idle("read.hint", Verdict.ABSENT)], "not claimed", "conformant"),
    ],
)
def test_must_not_run_keeps_its_class_open(cases: list[CaseRecord], of_class: str, of_target: str) -> None:
    found = report(*cases)
    assert (found.classes["read"].verdict, found.verdict) == (of_class, of_target)
    if of_target == "incomplete" and of_class == "incomplete":
        assert found.reason == found.classes["read"].reason == NOT_RUN
    elif of_target == "incomplete":
        assert found.reason == NOT_RUN.replace("read.succeeds", "stat.odd")


@pytest.mark.parametrize(("op", "of_read"), [("read", "not conformant"), ("stat", "conformant"), (None, "conformant")])
@pytest.mark.parametrize("verdict", [Verdict.VIOLATION, Verdict.WAIVED])
def test_violation_counts_for_the_class_of_the_op_at_fault_too(verdict: Verdict, op: str | None, of_read: str) -> None:
    found = report(*kept(3), record("b", verdict, CheckRecord("stat.odd", verdict, "x", "y", op=op)))
    if verdict is Verdict.WAIVED:
        assert (found.classes["read"].verdict == "conformant with waivers") is (op == "read")
        return
    assert (found.classes["read"].verdict, found.classes["paths"].verdict) == (of_read, "not conformant")
    assert found.counts.violation == 1


def test_a_check_that_stands_for_several_counts_as_several() -> None:
    many = CheckRecord("read.succeeds", Verdict.CONFORM, "x", "x", times=300)
    read = CheckRecord("stat.odd", Verdict.TOLERATED, "x", "x", reading="host", times=15)
    again = replace(read, times=5)
    found = report(record("a", Verdict.TOLERATED, many, read, again))
    assert (found.counts.conform, found.counts.tolerated, found.executed.must) == (300, 20, 320)
    assert found.clauses["read.succeeds"].counts.conform == 300
    assert found.clauses["stat.odd"].readings_seen == {"host": 20}
    assert found.reason == "320 checks of MUST clauses passed; 1 MUST clause not tried, of registration"


def test_what_a_case_did_not_come_to_counts_and_what_it_saw_stays() -> None:
    both = record("a", Verdict.ERROR, CheckRecord("read.succeeds", Verdict.CONFORM, "x", "x"),
                  clauses=("read.succeeds", "read.hint", "stat.odd"), reason="KeyError")  # fmt: skip
    found = report(both)
    assert (found.counts.conform, found.counts.error) == (1, 2)
    assert [found.classes[name].counts.error for name in ("read", "paths", "write")] == [1, 1, 0]
    assert [found.clauses[name].counts.error for name in ("read.succeeds", "read.hint", "stat.odd")] == [0, 1, 1]
    assert found.clauses["read.succeeds"].verdict == "conform"


def test_every_must_outside_of_registration_counts_as_executed_and_no_may() -> None:
    # What is read from a file is equal to a literal, and not the same object.
    must = "".join(("MU", "ST"))
    clauses = CLAUSES | {"a.b": clause(must, "scenarios", None), "a.c": clause("MAY", "read", None)}
    cases = [case("x", ("a.b", "conform")), case("y", ("a.c", "conform"))]
    assert report_of(*cases, clauses=clauses).executed.must == 1


def test_a_class_is_not_claimed_where_the_plugin_has_none_of_its_own_ops() -> None:
    absent = "".join(("abs", "ent"))
    tables = {"read": "plugin", "init": "plugin", "stat": absent, "sync": absent}
    found = report_of(*kept(1), target=replace(HEADER.target, tables=tables))
    assert {name: account.verdict for name, account in found.classes.items()} == {
        "read": "conformant", "registration": "incomplete", "paths": "not claimed", "write": "not claimed",
    }  # fmt: skip
    # One op that the plugin has claims a class, and a class without ops of its own lacks none.
    target = replace(HEADER.target, tables=tables | {"is_directory": "plugin"})
    paths, robustness = clause("MUST", "".join(("pa", "ths")), "is_directory"), clause("MUST", "robustness", None)
    clauses = CLAUSES | {"is_directory.x": paths, "common.x": robustness}
    found = report_of(*kept(1), idle("common.x"), clauses=clauses, target=target)
    assert [found.classes[name].verdict for name in ("paths", "robustness")] == ["incomplete"] * 2


def test_selection_without_a_must_clause_says_so() -> None:
    for name, said in (("read.hint", "no MUST clause beyond registration was selected; -k"), ("read.succeeds", "-k")):
        found = report_of(case("a", (name, "conform")), left_out="-k")
        assert (found.verdict, found.reason) == ("incomplete", said)


@pytest.mark.parametrize(
    ("answered", "seen", "verdict"),
    [
        ("plugin", "absent", "incomplete"),
        ("plugin", "conform", "conformant"),
        ("plugin", "does not apply", "conformant"),
        ("default", "absent", "conformant"),
    ],
)
def test_class_whose_effect_nothing_can_look_at_is_incomplete(answered: str, seen: str, verdict: str) -> None:
    effect = "append.writes-exactly-n"
    clauses = CLAUSES | dict.fromkeys((effect, "append.succeeds"), clause("MUST", "write", "append"))
    target = replace(HEADER.target, tables={**HEADER.target.tables, "append": answered})
    found = report_of(case("a", ("append.succeeds", "conform"), (effect, seen)), clauses=clauses, target=target)
    assert found.classes["write"].verdict == found.verdict == verdict
    assert (effect in found.reason) == (verdict == "incomplete")


def test_what_does_not_apply_is_counted_apart_and_passes_nothing() -> None:
    found = report(case("a", clauses=("read.succeeds",), verdict=Verdict.CONFORM, ended=Ending.WHOLE))
    assert (found.counts.does_not_apply, sum(found.counts.by_verdict().values())) == (1, 1)
    assert (found.executed.must, found.verdict, found.reason) == (0, "not conformant", "nothing executed")
    assert (found.classes["read"].verdict, found.clauses["read.succeeds"].verdict) == ("incomplete", "does not apply")
