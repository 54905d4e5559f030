"""What a reader is told first: lost data, whatever else is wrong."""

from collections.abc import Mapping

import pytest

from tests.records import CLAUSES, clause, record, report_of
from tffs_conformance.reports.model.consequences import told
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict

NAMES: Mapping[str, str] = {"load.loads": "", "rename.moves": "rename_file", "read.reads": "read"}
TOLD = CLAUSES | {name: clause("MUST", "listing", op) for name, op in NAMES.items()}
#: What is told first where nothing is lost: it shows before an op is called.
LOADING = record(
    "0", Verdict.VIOLATION, CheckRecord("load.loads", Verdict.VIOLATION, "loads", "does not"), executed=False
)


@pytest.mark.parametrize(
    ("name", "expected", "got", "cause", "is_first"),
    [
        ("rename.moves", "tree has {'b': b'stays'}", "tree has {}", None, True),
        ("rename.moves", "content=b'kept'", "content=b''", None, True),
        ("rename.moves", "content below=b'kept'", "content below=None", None, True),
        # A file that has other bytes may have been read wrongly.
        ("rename.moves", "content=b'kept'", "content=b'kep'", None, False),
        ("rename.moves", "tree has {'b': b''}", "tree has {}", None, False),
        ("rename.moves", "tree has {'b': None}", "tree has {}", None, False),
        ("rename.moves", "code=OK", "code=NOT_FOUND", None, False),
        # What another op spoilt was never there.
        ("rename.moves", "tree has {'b': b'stays'}", "tree has {}", "append", False),
        ("read.reads", "content=b'kept'", "content=b''", None, False),
    ],
)
def test_lost_data_is_told_before_all_else(
    name: str, expected: str, got: str, cause: str | None, is_first: bool
) -> None:
    wrong = CheckRecord(name, Verdict.VIOLATION, expected, got)
    violations, _ = told(report_of(LOADING, record("1", Verdict.VIOLATION, wrong, cause=cause), clauses=TOLD))
    assert (violations[0].clause == name) == is_first


def test_the_loss_is_shown_and_not_what_else_is_wrong() -> None:
    small = record("1", Verdict.VIOLATION, CheckRecord("rename.moves", Verdict.VIOLATION, "code=OK", "code=UNKNOWN"))
    lost = CheckRecord("rename.moves", Verdict.VIOLATION, "tree has {'b': b'stays'}", "tree has {}")
    violations, _ = told(report_of(LOADING, small, record("2", Verdict.VIOLATION, lost, ops=("1", "2")), clauses=TOLD))
    assert list(violations[0].cases) == ["2", "1"]
