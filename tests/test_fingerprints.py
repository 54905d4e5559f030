"""Two runs on one plugin find the same, word for word: a waiver of one fits the other."""

import re
from collections import Counter

import pytest

from tests.faults.driven import all_cases, judge
from tffs_conformance.reports.model.redaction import Redaction
from tffs_conformance.suite.engine.checks import Checks

#: Faults of which the checks got bytes and deaths; paths and listings.
BY_DAY = "read.garbage,crash:copy_file"
AT_NIGHT = ("crash:stat", "get_children.full-paths", "get_matching_paths.only-names", "rename_file.copies")
MODULES = ("read", "listing", "glob", "move", "tree", "status")


def found(fault: str) -> Counter[tuple[str, ...]]:
    cases = [case for case in all_cases("quick") if case.id.partition("/")[0] in MODULES][::7]
    judged = judge("fakes/faulty", fault, cases)
    return Counter(
        (record.id, record.verdict, record.reason or "", check.clause, check.verdict, check.expected, check.got)
        for record in judged.records
        for check in record.checks
    )


@pytest.mark.parametrize("fault", [BY_DAY, *(pytest.param(fault, marks=pytest.mark.nightly) for fault in AT_NIGHT)])
def test_two_runs_find_the_same(fault: str) -> None:
    once, again = found(fault), found(fault)
    assert once == again
    assert any("violation" in one for one in once)
    assert [one for one in once if re.search(r"tffs-[0-9a-f]{12}", " ".join(one))] == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("mine://bucket/tmp/tffs-0123456789ab/read-a-1234/file", "{case}/file"),
        ("/tmp/tffs-0123456789ab/read-a-1234/file", "{case}/file"),
        ("open /tmp/tffs-0123456789ab: no", "open {root}: no"),
        ("bucket tffs-0123456789ab", "bucket {root}"),
        ("at 0x7f001234abcd in 0x1f", "at {address} in 0x1f"),
        ("pid=1234 Thread 77, process 9", "pid={id} Thread {id}, process {id}"),
        ("12345 bytes", "12345 bytes"),
        ("mtime=1732224000123456789 of 1048576", "mtime={time} of 1048576"),
        ("a/.tmp.Xy12Zq and tmp_k3j9dF", "a/.{temporary} and {temporary}"),
        ("/tmp/temporary-directory tmp tmp-file", "/tmp/temporary-directory tmp tmp-file"),
        ("token hunter22", "token <T>"),
    ],
)
def test_what_differs_from_run_to_run_is_not_told(said: str, expected: str) -> None:
    directory = "mine://bucket/tmp/tffs-0123456789ab/read-a-1234"
    assert Checks("read/a", (), directory, Redaction({"T": "hunter22"})).presentable(said) == expected
