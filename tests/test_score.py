"""The scores: what is held out, that a miss counts, and what saved headlines of plugins with several faults reach."""

import functools

import pytest

from tests.faults.driven import all_cases, judge, of_clause
from tests.records import record, report_of
from tests.score import headlines, held_out, mutants
from tests.score.faults import KnownFault, known
from tests.score.held_out import HeldOutResult, Search, Sighting
from tests.score.mutants import MutantResult
from tests.score.mutations import PluginMutant
from tests.score.sandboxed_judge import MutantVerdict
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import for_report
from tffs_conformance.suite.engine.collect import Listed

FAULT = KnownFault("faulty stat.stale", ("stat.succeeds",), ("stat",))
CASES = [
    Listed(name, (clause,), "quick", "", over_tables=False, calls=1, body=functools.partial(print))
    for name, clause in (
        ("read/plain", "read.succeeds"),
        ("status/one-path[stat]", "stat.succeeds"),
        ("status/one-path[read]", "read.succeeds"),
    )
]


def test_search_with_two_functions_and_the_rest_is_over() -> None:
    search = Search(FAULT, CASES)
    assert search.held_out == {"status/one-path[stat]"}
    broken = CheckRecord(clause="stat.succeeds", verdict=Verdict.VIOLATION)
    held, rest = (record(name, Verdict.VIOLATION, broken) for name in ("status/one-path[stat]", "read/plain"))
    assert [search.is_over(held), search.is_over(rest)] == [False, True]


def test_held_out_score_counts_a_planted_miss() -> None:
    held, rest = Sighting("status/one-path[stat]", "stat.succeeds"), Sighting("status/one-path[read]", "read.succeeds")
    missed, seen = (HeldOutResult(FAULT, frozenset({held.case}), found, 9, 1.5) for found in ((held,), (held, rest)))
    assert held_out.score([missed, seen]) == 0.5
    assert "not seen by the rest: stat.stale, of stat.succeeds" in list(held_out.report([missed, seen]))


def test_mutant_score_counts_a_planted_survivor() -> None:
    mutant = PluginMutant("posix", "posix/queries.cc", 2, "Stat", "n += n;", "n -= n;", 0, ("stat",))
    killed = MutantResult(mutant, MutantVerdict("violation", "stat.succeeds", "stat/plain", "", 10))
    survived = MutantResult(mutant, MutantVerdict("conform", cases=10))
    excused = MutantResult(mutant, None, "It is equal.")
    assert list(mutants.report([killed, survived, excused])) == [
        "survived posix/queries.cc:2 'n += n;' -> 'n -= n;'",
        "posix: 3 mutants: 1 killed, 1 excused, 0 warned, 1 survived, 0 error; score 50%",
        "all: 3 mutants: 1 killed, 1 excused, 0 warned, 1 survived, 0 error; score 50%",
    ]


def test_saved_headlines_name_each_fault_and_begin_with_a_cause_and_are_few() -> None:
    scores = [score for _, score in headlines.saved_scores()]
    named, first, per_fault = headlines.figures(scores)
    reached = (named >= headlines.NAMED, first >= headlines.FIRST, per_fault <= headlines.PER_FAULT)
    assert reached == (True, True, True), "\n".join(headlines.lines(scores))


#: The faults of a plugin: seen through other ops, left in the process, in the content of a file.
TOGETHER = (
    ("get_children.skips-directories", "paths_exist.stops-at-first"),
    ("rename_file.copies", "new_random_access_file.leaks-descriptor-on-error"),
    ("read.garbage", "wrong-code:get_file_size", "tell.advances"),
)


@pytest.mark.parametrize("names", TOGETHER, ids=",".join)
def test_headlines_of_a_new_run_name_each_fault(names: tuple[str, ...]) -> None:
    faults = [one for one in known() if one.value in names]
    cases = {case.id: case for case in all_cases("smoke")}
    for clause in sorted(clause for fault in faults for clause in fault.clauses):
        cases |= {case.id: case for case in of_clause(clause)[:12]}
    judged = judge("fakes/faulty", ",".join(names), list(cases.values()))
    found = headlines.score(report_of(*judged.records, clauses=for_report()), faults)
    assert (len(faults), found.unnamed) == (len(names), [])
    assert found.begins_with_a_cause
