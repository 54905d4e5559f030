"""What sees a fault where the cases that were written for it are left out: rules of all calls, tours, and errors."""

import pytest

from tests.faults.driven import all_cases, judge
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import POISON_SIGNED, Outcome, Statistics
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.cases.names import ENDS, NAMES, TOGETHER
from tffs_conformance.suite.cases.test_properties import PLACES
from tffs_conformance.suite.contract import laws
from tffs_conformance.suite.engine.collect import Listed
from tffs_conformance.suite.properties.making import Making
from tffs_conformance.suite.properties.tours import PLAIN, Place, Tour, around

KEPT = "paths.names-are-kept"
#: A fault, a case that was not written for it, and the clause that it tells.
GUARDS = (
    ("changes-directory:stat", "metadata/plain", "robustness.keeps-the-working-directory"),
    ("changes-directory:delete_file", "tree/delete-file", "robustness.keeps-the-working-directory"),
    ("handed-over.no-time-of-directories", "metadata/plain", "stat.mtime-is-in-nanoseconds"),
    ("transactions.error-returns-zero", "robustness/state-after-errors", "transactions.return-on-error"),
    ("options.one-name-twice", "configuration/near-keys", "get_filesystem_configuration.names-are-distinct"),
    ("options.no-type", "configuration/near-keys", "get_filesystem_configuration.values-fit-their-type"),
    ("plus-fails:get_children", "properties/tour[special]", KEPT),
    ("cut-at-question:delete_dir", "properties/tour[special]", KEPT),
    ("plus-is-a-space:new_appendable_file", "properties/tour[special]", KEPT),
    ("beyond-ascii-fails:recursively_create_dir", "properties/tour[beyond-ascii]", KEPT),
    ("deep-fails:is_directory", "properties/tour[far-down]", KEPT),
    ("long-fails:new_read_only_memory_region_from_file", "properties/tour[far-down]", KEPT),
    ("counts.one-directory-is-none", "properties/tour[plain]", "delete_dir.not-empty-is-failed-precondition"),
    ("stale-after-recursively_create_dir:get_matching_paths", "properties/tour[plain]", "get_matching_paths.literal"),
    ("content.copies-no-zeros-at-the-end", "properties/contents", "stat.length-is-the-size"),
    ("counts.one-behind-the-page", "properties/crowded", "get_children.names-every-entry-once"),
    ("counts.repeated-at-the-page", "properties/crowded", "get_children.names-every-entry-once"),
)


def listed(name: str) -> Listed:
    """The case of this id."""
    (one,) = (one for one in all_cases("full") if one.id == name)
    return one


def tried(fault: str, name: str) -> CaseRecord:
    """The record of a case on a plugin with this fault."""
    return judge("fakes/faulty", fault, [listed(name)], timeout=60).records[0]


def broken(record: CaseRecord) -> list[str]:
    """The clauses that a record says are broken."""
    return [check.clause for check in record.checks if check.verdict is Verdict.VIOLATION]


@pytest.mark.parametrize(("fault", "name", "clause"), GUARDS, ids=[fault for fault, _, _ in GUARDS])
def test_a_case_that_was_not_written_for_it_sees_it(fault: str, name: str, clause: str) -> None:
    assert clause not in listed(name).clauses
    assert broken(tried(fault, name)) == [clause]


def test_of_a_name_of_many_parts_the_one_is_told_that_is_wrong() -> None:
    record = tried("plus-fails:stat", "properties/tour[special]")
    assert record.reason
    assert "stat('100%/a+b')" in record.reason


@pytest.mark.parametrize("where", [where for where in PLACES if where != "plain"])
def test_what_is_wrong_with_plain_names_too_is_not_laid_upon_the_names(where: str) -> None:
    record = tried("missing-is-ok:stat", f"properties/tour[{where}]")
    assert record.verdict is Verdict.NOT_RUN
    assert record.reason == "blocked by stat: the tour goes wrong with plain names, too"


@pytest.mark.parametrize("plugin", ["posix", "memory"])
@pytest.mark.parametrize(
    "name", [*(f"properties/tour[{where}]" for where in PLACES), "properties/contents", "properties/crowded"]
)
def test_a_right_plugin_goes_on_all_tours(plugin: str, name: str) -> None:
    record = judge(plugin, "", [listed(name)], timeout=60).records[0]
    assert record.verdict is Verdict.CONFORM, record


def test_a_tour_is_the_same_at_every_place() -> None:
    def answered(place: Place) -> list[tuple[str, frozenset[Code]]]:
        making = Making(frozenset(OPS))
        around(Tour(making, place, str, thorough=True))
        expected = zip(making.steps, making.expectations, strict=True)
        return [(step.op, expectation.codes) for step, expectation in expected][bool(place.top) :]

    assert answered(Place("top", {"a": "x y", "b": "z", "c": "w"})) == answered(PLAIN)


def test_names_that_stand_together_are_in_the_table_and_none_is_hidden_from_patterns() -> None:
    labels = [label for group in (*TOGETHER.values(), ENDS) for label in group]
    assert len(labels) == len(set(labels))
    assert NAMES.keys() >= set(labels)
    assert not [label for label in labels if NAMES[label].startswith(".")]


@pytest.mark.parametrize(
    ("time", "got"),
    [
        (0, None),
        (1_700_000_000_000_000_000, None),
        (1_700_000_000, "stat: mtime: 10 digits"),
        (1_700_000_000_000_000, "stat: mtime: 16 digits"),
        (POISON_SIGNED, "stat: mtime: not written"),
    ],
)
def test_times_are_looked_at_wherever_stat_succeeds(time: int, got: str | None) -> None:
    outcome = Outcome("stat", Code.OK, "", Statistics(1, time, 0))
    told = [ruling.got for ruling in laws.rulings([("stat", (0, b"path"), outcome)], ())]
    assert told == ([got] if got else [])
