"""Small histories, all of them: which there are, how a block of them is tried, and which faults it finds.

And tours through ops with names of all kinds, and the times that each call is checked for.
"""

from collections.abc import Iterator
from itertools import islice
from unittest import mock

import pytest
from msgspec.structs import replace

from tests.faults.driven import judge, named
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import POISON_SIGNED, Outcome, Statistics, Undeleted
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.reports.model.histories import Histories
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.cases import test_histories as cases
from tffs_conformance.suite.cases.names import ENDS, NAMES, TOGETHER
from tffs_conformance.suite.cases.test_properties import PLACES
from tffs_conformance.suite.contract import laws, statuses
from tffs_conformance.suite.engine import collect
from tffs_conformance.suite.judge import met
from tffs_conformance.suite.properties import block, crowd, small
from tffs_conformance.suite.properties.making import Making
from tffs_conformance.suite.properties.shrink import valid
from tffs_conformance.suite.properties.tours import PLAIN, Tour, TourPlace, around

#: A fault that takes two or three ops to show, a block that has them, and the clause that it finds broken.
FAULTS = (
    ("history.stays-deleted", "reached[delete_file-file]", "stat.succeeds"),
    ("history.stays-a-file", "reached[rename_file-file]", "is_directory.succeeds"),
    ("history.refused-create-counts", "pairs[create_dir-file]", "is_directory.of-a-file"),
    ("history.refused-rename-counts", "pairs[rename_file-file]", "delete_file.directory-is-failed-precondition"),
    ("history.parents-go-too", "pairs[recursively_create_dir-missing]", "common.histories-add-up"),
    ("history.append-revives", "pairs[delete_file-file]", "common.histories-add-up"),
    ("history.copies-before-append", "pairs[new_appendable_file-file]", "common.histories-add-up"),
    ("history.copies-later", "pairs[copy_file-file]", "common.histories-add-up"),
    ("history.copy-takes-its-original", "reached[copy_file-file]", "get_file_size.succeeds"),
    ("history.delete-hides-directories", "pairs[delete_file-full-directory]", "is_directory.succeeds"),
    ("history.delete-ends-readers", "held[new_random_access_file-delete_file]", "read.short-read-is-out-of-range"),
    ("history.create-drops-appends", "held[new_writable_file-create_dir]", "common.histories-add-up"),
    ("history.crash", "pairs[delete_dir-empty-directory]", "robustness.no-crash"),
)
#: Those that are tried at night: others take several ops of such a block as well, in less time.
AT_NIGHT = ("history.stays-a-file", "history.copy-takes-its-original", "history.refused-rename-counts")
STAT_OF_A_REGION = "histories/held[new_read_only_memory_region_from_file-stat]"


def tried(plugin: str, name: str, fault: str = "", seconds: float = 3600.0) -> CaseRecord:
    """The record of a case; a block of histories has so many seconds."""
    with mock.patch.object(block, "SECONDS", seconds):
        return judge(plugin, fault, named("deep", name), timeout=60).records[0]


@pytest.fixture(scope="module")
def of_posix() -> CaseRecord:
    return tried("posix", STAT_OF_A_REGION)


@pytest.mark.parametrize(
    ("fault", "name", "clause"),
    [pytest.param(*row, marks=[pytest.mark.nightly] * (row[0] in AT_NIGHT)) for row in FAULTS],
)
def test_what_takes_several_ops_is_found_and_shrunk(fault: str, name: str, clause: str) -> None:
    record = tried("fakes/faulty", f"histories/{name}", fault)
    broken = [check.clause for check in record.checks if check.verdict is Verdict.VIOLATION]
    assert broken == [clause], record.reason
    assert "small histories were tried" in str(record.reason)
    assert len(record.ops) < 20


@pytest.mark.parametrize("plugin", ["posix", "memory"])
def test_a_right_plugin_has_no_difference(plugin: str, of_posix: CaseRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    record = of_posix if plugin == "posix" else tried(plugin, STAT_OF_A_REGION)
    assert record.verdict is Verdict.CONFORM, record.checks
    assert record.histories is not None
    assert record.histories.tried > 20
    assert record.histories.left_out == 0
    assert record.histories.met["stat"][statuses.FILE] == {"OK": record.histories.met["stat"][statuses.FILE]["OK"]}
    # It is the same with many hosts.
    monkeypatch.setattr(crowd, "MOST", 3)
    monkeypatch.setattr(crowd, "IN_A_HOST", 7)
    many = tried(plugin, STAT_OF_A_REGION)
    assert (many.verdict, many.histories, many.reason) == (record.verdict, record.histories, record.reason)


def test_what_there_was_no_time_for_is_counted() -> None:
    record = tried("posix", STAT_OF_A_REGION, seconds=0.0)
    assert record.histories is not None
    assert (record.histories.tried, record.verdict) == (0, Verdict.NOT_RUN)
    assert record.histories.left_out > 20
    assert f"{record.histories.left_out} were left out: 0 s are over" in str(record.reason)


def blocks() -> Iterator[tuple[str, Iterator[small.Small]]]:
    """Each block and its histories, of a target that has all ops and promises all clauses."""
    maker = small.SmallHistories(OPS, ())
    for situation in cases.SITUATIONS:
        yield from ((f"pairs[{op}-{situation}]", maker.pairs(op, situation)) for op in cases.OPS)
        yield from ((f"reached[{op}-{situation}]", maker.reached(op, situation)) for op in cases.CHANGES)
    for entry in cases.HELD:
        opener, op = map(str, entry.values)
        yield f"held[{opener}-{op}]", maker.held(opener, op)


def test_each_block_has_histories_and_is_a_case() -> None:
    known = dict(blocks())
    assert {f"histories/{name}" for name in known} == {one.id for one in collect.cases() if one.tier == "deep"}
    assert [name for name, histories in known.items() if not list(islice(histories, 1))] == []


def test_the_contract_decides_each_step() -> None:
    for _, histories in islice(blocks(), 0, None, 20):
        for one in islice(histories, 30):
            assert valid(one.whole)
            assert valid(one.bare)
            assert len(one.situations) == len(one.whole)
            assert not set(one.situations[one.look :]) - {""}


def test_no_pair_is_tried_twice() -> None:
    maker = small.SmallHistories(OPS, ())
    for situation in (statuses.MISSING, statuses.FILE):
        made = [one.whole for one in maker.pairs("delete_file", situation)]
        assert len(made) == len(set(made)) > 100
    twin = [small.Move("delete_file", (small.B,)), small.Move("stat", (small.A,))]
    assert not list(maker._small(statuses.FILE, statuses.FILE, twin))
    assert list(maker._small(statuses.FILE, statuses.FILE, twin[::-1]))


def test_what_two_cases_met_is_added_and_what_none_met_is_named(of_posix: CaseRecord) -> None:
    other = Histories(tried=2, left_out=3, met={"stat": {statuses.FILE: {"INTERNAL": 2, "OK": 1}}, "delete_dir": {}})
    own = of_posix.histories
    assert own is not None
    both = met.histories([of_posix, replace(of_posix, histories=other)])
    assert both is not None
    assert (both.tried, both.left_out) == (own.tried + 2, own.left_out + 3)
    assert both.met["stat"][statuses.FILE] == {"INTERNAL": 2, "OK": own.met["stat"][statuses.FILE]["OK"] + 1}
    assert statuses.EMPTY_PATH in both.never["stat"]
    assert statuses.FILE not in both.never["stat"]
    # Nobody may call what would change the root.
    assert statuses.EMPTY_PATH not in both.never["delete_dir"]
    assert met.histories([replace(of_posix, histories=None)]) is None


# Tours ---------------------------------------------------------------------------------------------------------------


def test_tour_names_the_wrong_part_of_a_path() -> None:
    record = tried("fakes/faulty", "properties/tour[special]", "plus-fails:stat")
    assert "stat('100%/a+b')" in str(record.reason)


@pytest.mark.parametrize("where", [where for where in PLACES if where != "plain"])
def test_tour_blocked_by_plain_names_is_not_run(where: str) -> None:
    record = tried("fakes/faulty", f"properties/tour[{where}]", "missing-is-ok:stat")
    assert record.verdict is Verdict.NOT_RUN
    assert record.reason == "blocked by stat: the same history fails with plain names"


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


@pytest.mark.parametrize(("code", "is_broken"), [(Code.INTERNAL, True), (Code.OK, False), (Code.UNIMPLEMENTED, False)])
def test_counters_of_what_is_left_fit_the_code(code: Code, is_broken: bool) -> None:
    outcome = Outcome("delete_recursively", code, "", Undeleted(0, 0))
    broken = [one.clause for one in laws.rulings([("delete_recursively", (0, b"path"), outcome)], ()) if not one.holds]
    assert ("delete_recursively.counts-what-is-left" in broken) == is_broken
