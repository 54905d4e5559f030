"""Faults without the cases written for them: which cases are left out, when a search ends, and how it is counted."""

import functools
from dataclasses import replace

import pytest

from tests.records import record
from tests.score.held_out import HEADING, Fault, Outcome, Search, Seen, drawn, held_out, known, page, score
from tests.score.scoring import LAST
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import Level, clause
from tffs_conformance.suite.engine.collect import Listed

FAULT = Fault("faulty stat.stale", ("stat.succeeds",), ("stat",))


def case(name: str, *clauses: str) -> Listed:
    return Listed(name, clauses, "must", "", over_tables=False, calls=1, body=functools.partial(print))


def check(name: str, verdict: Verdict) -> CheckRecord:
    return CheckRecord(clause=name, verdict=verdict)


CASES = (
    case("read/plain", "read.succeeds"),
    case("status/one-path[stat]", "stat.succeeds"),
    case("status/one-path[read]", "read.succeeds"),
    case("tree/size[1]", "stat.length-is-the-size"),
    case("tree/size[2]", "stat.length-is-the-size"),
)


def of(*seen: tuple[str, str], fault: Fault = FAULT) -> Outcome:
    return Outcome(fault, held_out(fault, CASES), tuple(Seen(*one) for one in seen), 10, 1.5)


#: A case that is held out finds it, and three that are left: another row, one of another op, and one of no op.
HELD = ("status/one-path[stat]", "stat.succeeds")
ROW = ("status/one-path[read]", "read.succeeds")
OTHER = ("read/plain", "read.succeeds")
OF_NO_OP = ("tree/size[1]", "robustness.no-crash")


def test_cases_that_declare_the_clause_are_held_out_and_no_other_rows() -> None:
    assert held_out(FAULT, CASES) == {"status/one-path[stat]"}
    assert held_out(replace(FAULT, clauses=("read.succeeds", "stat.length-is-the-size")), CASES) == {
        "read/plain", "status/one-path[read]", "tree/size[1]", "tree/size[2]",
    }  # fmt: skip


def searched(fault: Fault, *seeing: str) -> tuple[list[str], Search]:
    """The cases that are run where these see it, and the search."""
    search, run = Search(fault, CASES), []
    for one in search.cases():
        run.append(one.id)
        found = Verdict.VIOLATION if one.id in seeing else Verdict.CONFORM
        if search.is_over(record(one.id, found, check(one.clauses[0], found))):
            break
    return run, search


def test_a_search_goes_on_until_two_functions_and_a_case_that_is_left_have_seen_it() -> None:
    run, search = searched(FAULT, "status/one-path[stat]", "tree/size[2]")
    assert run == ["status/one-path[stat]", "tree/size[1]", "tree/size[2]"]
    assert [one.case for one in search.seen] == ["status/one-path[stat]", "tree/size[2]"]


def test_another_row_of_the_function_that_saw_it_is_tried() -> None:
    run, search = searched(FAULT, "status/one-path[stat]", "status/one-path[read]")
    assert run == ["status/one-path[stat]", "tree/size[1]", "tree/size[2]", "read/plain", "status/one-path[read]"]
    assert [one.case for one in search.seen] == ["status/one-path[stat]", "status/one-path[read]"]


def test_a_search_is_not_over_where_only_cases_that_are_held_out_saw_it() -> None:
    search = Search(replace(FAULT, clauses=("stat.succeeds", "read.succeeds")), CASES)
    violation = Verdict.VIOLATION
    assert not any(search.is_over(record(name, violation, check(about, violation))) for name, about in (HELD, OTHER))
    assert search.is_over(record("tree/size[2]", violation, check("stat.succeeds", violation)))


def test_a_warning_is_not_seeing_it() -> None:
    search = Search(FAULT, CASES)
    warning = Verdict.WARNING
    assert not search.is_over(record("read/plain", warning, check("read.succeeds", warning)))
    assert not search.seen


@pytest.mark.parametrize(
    ("given", "rest", "guard", "told"),
    [
        (of(), "", "", ""),
        (of(HELD), "", "status/one-path", ""),
        (of(HELD, ROW), "status/one-path[read]", "status/one-path", "no"),
        (of(OTHER), "read/plain", "read/plain", "no"),
        (of(HELD, OTHER), "read/plain", "", "no"),
        (of(HELD, ("tree/size[2]", "stat.succeeds")), "tree/size[2]", "", "yes"),
        (of(HELD, OF_NO_OP), "tree/size[1]", "", ""),
        (of(OTHER, fault=replace(FAULT, ops=())), "read/plain", "read/plain", ""),
    ],
)
def test_what_became_of_a_fault(given: Outcome, rest: str, guard: str, told: str) -> None:
    assert (given.rest.case if given.rest else "", given.guard, given.told) == (rest, guard, told)


def test_the_page_has_the_figures_and_both_lists_in_place_of_those_before() -> None:
    text = f"# The score\n\n{HEADING}\nold\n\n{LAST}mutants\n"
    outcomes = [of(HELD, OTHER), of(HELD), of(HELD, ("tree/size[2]", "stat.succeeds")), of()]
    assert score(outcomes) == 0.5
    new = page(text, outcomes)
    assert "old" not in new
    assert new.endswith(f"\n\n{LAST}mutants\n")
    for line in (
        "| seen without the cases of their clauses | 2 (50%) |",
        "| first seen by the rest on their own op | 1 of 2 |",
        "- `stat.stale` of `stat.succeeds`",
        "- `stat.stale` of `stat.succeeds`, nor does any case",
        "- `status/one-path`: `stat.stale`",
    ):
        assert line in new.splitlines()
    assert page(new, outcomes) == new


def test_only_those_that_are_named_are_drawn() -> None:
    name = "stat.stale"
    assert [str(one) for one in drawn(1, [name])] == [name]
    with pytest.raises(ValueError, match=r"no fault that breaks a MUST: stat\.stail"):
        drawn(1, ["stat.stail", name])


def test_a_sample_is_the_same_every_time_and_part_of_a_larger_one() -> None:
    assert drawn(20) == drawn(60)[:20]
    assert sorted(drawn(None)) == known()
    assert not [one.name for one in known() if " hang:" in one.name]
    assert all(any(clause(name).level is Level.MUST for name in one.clauses) for one in known())
