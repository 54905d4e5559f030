"""The scores: what saved headlines of plugins with several faults reach, and those of new runs."""

import pytest

from tests.faults.driven import all_cases, judge, of_clause
from tests.records import report_of
from tests.score import headlines
from tests.score.faults import known
from tffs_conformance.suite.contract.catalogue import for_report


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
        cases |= {case.id: case for case in of_clause(clause)[:12] if case.tier != "large"}
    judged = judge("fakes/faulty", ",".join(names), list(cases.values()))
    found = headlines.score(report_of(*judged.records, clauses=for_report()), faults)
    assert (len(faults), found.unnamed) == (len(names), [])
    assert found.begins_with_a_cause
