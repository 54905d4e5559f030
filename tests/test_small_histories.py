"""Small histories, all of them: which there are, how a block of them is tried, and which faults it finds."""

from collections.abc import Iterator
from itertools import islice

import pytest
from msgspec.structs import replace

from tests.faults.driven import all_cases, judge
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.reports.model.histories import Histories
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.cases import test_histories as cases
from tffs_conformance.suite.contract import statuses
from tffs_conformance.suite.engine import collect
from tffs_conformance.suite.judge import met
from tffs_conformance.suite.properties import block, crowd, small
from tffs_conformance.suite.properties.shrink import valid

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


STAT_OF_A_REGION = "held[new_read_only_memory_region_from_file-stat]"


@pytest.fixture(autouse=True)
def _as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block, "SECONDS", 3600.0)


def tried(plugin: str, name: str, fault: str = "") -> CaseRecord:
    """The record of a block."""
    (listed,) = [one for one in all_cases("deep") if one.id == f"histories/{name}"]
    return judge(plugin, fault, [listed], timeout=60).records[0]


@pytest.mark.parametrize(("fault", "name", "clause"), FAULTS, ids=[fault for fault, _, _ in FAULTS])
def test_what_takes_several_ops_is_found_and_shrunk(fault: str, name: str, clause: str) -> None:
    record = tried("fakes/faulty", name, fault)
    broken = [check.clause for check in record.checks if check.verdict is Verdict.VIOLATION]
    assert broken == [clause], record.reason
    assert record.reason
    assert "small histories were tried" in record.reason
    assert len(record.ops) < 20


@pytest.mark.parametrize("plugin", ["posix", "memory"])
def test_a_right_plugin_has_no_difference(plugin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tried(plugin, STAT_OF_A_REGION)
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


def test_what_there_was_no_time_for_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block, "SECONDS", 0.0)
    record = tried("posix", STAT_OF_A_REGION)
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


def test_what_two_cases_met_is_added_and_what_none_met_is_named() -> None:
    record = tried("posix", STAT_OF_A_REGION)
    other = Histories(tried=2, left_out=3, met={"stat": {statuses.FILE: {"INTERNAL": 2, "OK": 1}}, "delete_dir": {}})
    own = record.histories
    assert own is not None
    both = met.histories([record, replace(record, histories=other)])
    assert both is not None
    assert (both.tried, both.left_out) == (own.tried + 2, own.left_out + 3)
    assert both.met["stat"][statuses.FILE] == {"INTERNAL": 2, "OK": own.met["stat"][statuses.FILE]["OK"] + 1}
    assert statuses.EMPTY_PATH in both.never["stat"]
    assert statuses.FILE not in both.never["stat"]
    # Nobody may call what would change the root.
    assert statuses.EMPTY_PATH not in both.never["delete_dir"]
    assert met.histories([replace(record, histories=None)]) is None
