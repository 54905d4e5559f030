"""For every clause a plugin that breaks it, and the case that caught it.

`tests/faults.toml` names the fake and its fault. Each is judged on the cases of the clause, until it is caught: a check
of the clause is a violation (a warning, for what is only recommended and loses nothing). With `-m nightly` each fault
is judged on the whole quick tier, too.
"""

from collections.abc import Callable

import pytest

from tests.faults.driven import all_cases, judge, of_clause
from tests.verdict_runs import TABLES
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import Level, catalogue, clause

FAULTS = TABLES["faults"]
#: Faults of `libfaulty.so` that show only for some names, counts and histories, each with the clause that it breaks.
FURTHER = TABLES["further"]
#: What only TensorFlow's own readers and writers show: tests/test_tensorflow.py tries these.
THROUGH = TABLES["through"]
#: Nothing that a plugin does breaks a MAY. What is seen under a condition is tried by tests/test_conditions.py and
#: tests/test_sanitizers.py.
BREAKABLE = [
    one.id
    for one in catalogue().values()
    if one.level is not Level.MAY and not one.conditions and one.id not in THROUGH
]
#: Recommended, and broken here by what loses stored data.
LOSING = {"rename_file.onto-itself", "copy_file.onto-itself", "delete_dir.error-changes-nothing"}


def test_every_fault_is_of_a_clause_that_can_be_broken() -> None:
    unknown = FAULTS.keys() - {*BREAKABLE}
    assert not unknown, f"no clause that can be broken has these names: correct them in tests/faults.toml: {unknown}"
    own = {name for case in all_cases("full") if case.id.startswith("users/") for name in case.clauses}
    assert THROUGH.keys() == own, f"correct the table `through` of tests/faults.toml: {THROUGH.keys() ^ own}"


@pytest.mark.parametrize("name", BREAKABLE)
def test_a_fault_is_caught_on_its_clause(name: str) -> None:
    assert name in FAULTS, (
        "write a fault that breaks the clause into reference_plugins/fakes, and name it in tests/faults.toml"
    )
    plugin, _, fault = FAULTS[name].partition(" ")
    judged = judge(f"fakes/{plugin}", fault, of_clause(name, fault), enough=breaks(name))
    assert breaks(name)(judged.records[-1])


def breaks(name: str) -> Callable[[CaseRecord], bool]:
    """Whether a case finds that a clause is not kept."""
    wanted = Verdict.VIOLATION if clause(name).level is Level.MUST or name in LOSING else Verdict.WARNING
    return lambda record: any((one.clause, one.verdict) == (name, wanted) for one in record.checks)


def in_turn() -> set[str]:
    """What is tried by day: of the faults of a kind every fifth, of a family every third, from another on for each."""
    alike: dict[tuple[str, int], list[str]] = {}
    for fault in FURTHER:
        kind, of_ops, _ = fault.partition(":")
        alike.setdefault((kind, 5) if of_ops else (kind.partition(".")[0], 3), []).append(fault)
    return {
        fault
        for number, ((_, step), faults) in enumerate(alike.items())
        for fault in faults[number % min(step, len(faults)) :: step]
    }


#: Each takes half a minute to be seen: what is left of each new path, and of what is large. One of a kind is tried by
#: day.
SLOW = {fault for fault in FURTHER if fault.startswith("leaks.new-")} - {"leaks.new-names"} | {"leaks.deletes-128-kib"}
IN_TURN = in_turn() - SLOW


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=() if fault in IN_TURN else pytest.mark.nightly) for fault in FURTHER]
)
def test_a_further_fault_is_caught_on_its_clause(fault: str) -> None:
    name = FURTHER[fault]
    assert breaks(name)(judge("fakes/faulty", fault, of_clause(name, fault), enough=breaks(name)).records[-1])


@pytest.mark.nightly
@pytest.mark.parametrize("fault", sorted(set(FAULTS.values())))
def test_a_fault_is_judged_on_the_whole_tier(fault: str) -> None:
    plugin, _, name = fault.partition(" ")
    judged = judge(f"fakes/{plugin}", name, list(all_cases("quick")))
    assert len(judged.records) == len(all_cases("quick"))
