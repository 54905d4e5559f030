"""Tours through ops with names of all kinds, and the times that each call is checked for."""

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
from tffs_conformance.suite.properties.making import Making
from tffs_conformance.suite.properties.tours import PLAIN, Tour, TourPlace, around


def record_of(fault: str, name: str) -> CaseRecord:
    """The record of a case on a plugin with this fault."""
    cases = [one for one in all_cases("full") if one.id == name]
    return judge("fakes/faulty", fault, cases, timeout=60).records[0]


def test_tour_names_the_wrong_part_of_a_path() -> None:
    record = record_of("plus-fails:stat", "properties/tour[special]")
    assert record.reason
    assert "stat('100%/a+b')" in record.reason


@pytest.mark.parametrize("where", [where for where in PLACES if where != "plain"])
def test_tour_blocked_by_plain_names_is_not_run(where: str) -> None:
    record = record_of("missing-is-ok:stat", f"properties/tour[{where}]")
    assert record.verdict is Verdict.NOT_RUN
    assert record.reason == "blocked by stat: the tour goes wrong with plain names, too"


def test_tour_has_the_same_steps_at_every_place() -> None:
    def answered(place: TourPlace) -> list[tuple[str, frozenset[Code]]]:
        making = Making(frozenset(OPS))
        around(Tour(making, place, str, thorough=True))
        expected = zip(making.steps, making.expectations, strict=True)
        return [(step.op, expectation.codes) for step, expectation in expected][bool(place.top) :]

    assert answered(TourPlace("top", {"a": "x y", "b": "z", "c": "w"})) == answered(PLAIN)


def test_names_of_tours_are_in_the_table() -> None:
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
def test_stat_law_checks_the_digits_of_mtime(time: int, got: str | None) -> None:
    outcome = Outcome("stat", Code.OK, "", Statistics(1, time, 0))
    told = [ruling.got for ruling in laws.rulings([("stat", (0, b"path"), outcome)], ())]
    assert told == ([got] if got else [])
