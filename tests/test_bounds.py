"""Whatever a plugin answers, a record is short, and what was cut is whole in the folder of the traces."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.records import record
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Entries, Outcome, Read
from tffs_conformance.harness.over_tables.raw import Call
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.redaction import Redaction
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.plain import text
from tffs_conformance.suite.engine.bounds import COMPARED, RECORD, CallLog, Keeper, compared, fitted
from tffs_conformance.suite.engine.callformat import Cut, ValueFormat

MEBI = 1 << 20
NOTHING = Redaction({})


def read(data: bytes, message: str = "") -> Call:
    return "read", (1, 0, len(data)), Outcome("read", Code.OK, message, Read(len(data), data))


def test_results_are_cut_like_arguments() -> None:
    entries = Entries(10**6, tuple(f"file-{k}" for k in range(10**6)))
    calls: tuple[tuple[Call, int, str], ...] = (
        (read(b"\xa5" * MEBI), 300, "Read(returned=1048576, data="),
        (read(b"\xa5" * MEBI), 300, "… (1048576 bytes)"),
        (("append", (1, b"x" * MEBI), Outcome("append", Code.OK, "m" * MEBI, None)), 700, "(1048576 characters)"),
        # A million entries are shown by their number.
        (("get_children", (1, b"/d"), Outcome("get_children", Code.OK, "", entries)), 500, "and 999988 more"),
    )
    for call, most, part in calls:
        line = ValueFormat().line(call)
        assert (part in line, len(line) < most) == (True, True)
    # A path is written as people know it before it is cut.
    long = "/tmp/tffs-0123456789ab/" + "x" * 200
    form = ValueFormat(lambda said: said.replace("/tmp/tffs-0123456789ab", "{root}"))
    assert form.show(long).startswith("'{root}/xxx")
    assert form.show([long]).startswith("['{root}/xxx")


def test_a_case_forgets_long_values_beyond_its_room() -> None:
    trace = CallLog(NOTHING)
    for _ in range(12):
        trace.append(read(b"z" * MEBI))
    data: list[Any] = [outcome.value.data for _, _, outcome in trace]  # type: ignore[union-attr]
    assert [type(one) for one in data] == [bytes] * 8 + [Cut] * 4
    assert data[-1] == Cut(b"z" * 47, MEBI, hashlib.sha256(b"z" * MEBI).hexdigest())
    assert f"(1048576 bytes, sha256 {data[-1].digest})" in ValueFormat().line(trace[-1])
    trace.append(("append", (1, b"y" * MEBI), Outcome("append", Code.OK, "", None)))
    assert isinstance(trace[-1][1][1], Cut)
    trace.append(read(b"", "m" * MEBI))
    assert trace[-1][2].message == "m" * 4096 + "… (1048576 characters, and no more are known)"
    trace.append(read(b"short"))
    assert trace[-1] == read(b"short")


@pytest.mark.parametrize(
    "said",
    ["a" * 10**6, "\x1b" * 10**5, "\udcff" * 10**5, '"' * 10**5, "\U0001f600" * 10**5],
    ids=["letters", "escapes", "surrogates", "quotes", "beyond-16-bits"],
)
def test_a_record_is_short_whatever_is_in_it(said: str) -> None:
    checks = [CheckRecord("read.succeeds", Verdict.VIOLATION, compared(said), compared(said), plugin_said=said)] * 6
    long = record("a", Verdict.VIOLATION, *checks, ops=(said,) * 300, output=said, reason=said, stimulus=said)
    short = fitted(long)
    assert len(text(short)) <= RECORD
    assert short.ops[1] == "… 295 calls left out …"
    assert len(said) > COMPARED
    assert short.checks[0].got == checks[0].got
    # One that is short stays as it is.
    small = record("a", Verdict.VIOLATION, ops=("x",) * 60)
    assert fitted(small) is small


def test_what_was_compared_is_cut_in_the_same_place_whatever_else_a_case_says() -> None:
    assert compared("x" * COMPARED) == "x" * COMPARED
    assert compared("x" * (COMPARED + 1)).startswith("x" * (COMPARED - 2))
    assert f"… ({COMPARED + 1} characters, sha256 " in compared("x" * (COMPARED + 1))
    assert compared("x" * 500 + "a") != compared("x" * 500 + "b")


def test_calls_are_kept_whole(tmp_path: Path) -> None:
    data = b"\x00\xa5" * MEBI
    calls = [read(data, "m" * 2000), read(b"q" * 3000)]
    name = Keeper(str(tmp_path), NOTHING).calls("read/a[X b]", calls, ValueFormat())
    assert name == "read-a-x-b.calls.txt"
    first, second = (tmp_path / name).read_text().splitlines()
    digest = hashlib.sha256(data).hexdigest()
    assert (digest in first, "m" * 2000 in first, "q" * 3000 in second) == (True, True, True)
    assert (tmp_path / "values" / digest).read_bytes() == data
    assert [path.name for path in (tmp_path / "values").iterdir()] == [digest]


def test_what_is_kept_has_an_end(tmp_path: Path) -> None:
    keeper = Keeper(str(tmp_path), NOTHING, room=3 * MEBI)
    for number in range(10):
        keeper.calls(f"case/{number}", [read(bytes([number]) * MEBI)] * 3, ValueFormat())
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 3.1 * MEBI
    assert Keeper(str(tmp_path), NOTHING, room=0).calls("case/x", [], ValueFormat()) is None
    # Without a folder there is nothing.
    assert Keeper(None, NOTHING).calls("case/x", [read(b"")], ValueFormat()) is None


def test_a_call_of_cores_default_says_so() -> None:
    mine = Outcome("append", Code.OK, "", None)
    own, core = (ValueFormat().line(("append", (1, b"x"), one)) for one in (mine, replace(mine, called_by="copy_file")))
    assert core == f"{own} (called by core's default copy_file)"
