"""Of plugins with several faults each fault is told, the cause first, and little else: `tests/headlines.py` scores it.

What was found wrong in those plugins is kept, so that what findings are made of it is held without running them: of
all 60 of the first draw, and of some of a second one. Three are run.
"""

import pytest

from tests.faults.driven import all_cases, judge, of_clause
from tests.headlines import DRAWS, FIRST, PER_FAULT, TOLD, Total, kept, known, score
from tests.records import report_of
from tffs_conformance.suite.contract.catalogue import for_report


@pytest.mark.parametrize("draw", DRAWS)
def test_each_fault_is_told_and_the_cause_first(draw: str) -> None:
    scores = [score for name, score in kept() if name.startswith(f"{draw}/")]
    total = Total(scores)
    assert len(scores) >= 12, draw
    missed = "\n".join(total.lines())
    assert total.told >= TOLD, missed
    assert total.first >= FIRST, missed


def test_little_else_is_told() -> None:
    total = Total([score for _, score in kept()])
    assert total.per_fault <= PER_FAULT, "\n".join(total.lines())


#: The faults of a plugin: what is seen through other ops, what is left behind and leaked, and what a file holds.
TOGETHER = (
    ("get_children.skips-directories", "paths_exist.stops-at-first"),
    ("rename_file.copies", "new_random_access_file.leaks-descriptor-on-error"),
    ("read.garbage", "wrong-code:get_file_size", "tell.advances"),
)


@pytest.mark.parametrize("names", TOGETHER, ids=",".join)
def test_each_fault_of_a_plugin_that_is_run_is_told_the_cause_first(names: tuple[str, ...]) -> None:
    faults = [one for one in known() if one.name in names]
    cases = {case.id: case for case in all_cases("smoke")}
    for clause in sorted(clause for fault in faults for clause in fault.clauses):
        cases |= {case.id: case for case in of_clause(clause)[:12]}
    judged = judge("fakes/faulty", ",".join(names), list(cases.values()))
    found = score(report_of(*judged.records, clauses=for_report()), faults)
    assert (len(faults), found.untold) == (len(names), [])
    assert found.begins_with_a_cause
