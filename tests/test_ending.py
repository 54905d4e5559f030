"""How a case ends: what its record says, and that it is short."""

from pathlib import Path

import pytest

from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import DiedError, Hung, Outcome, Read
from tffs_conformance.harness.targets.backing import BackingUnableError
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.engine.case import Case
from tffs_conformance.suite.engine.ending import conclude, run_case
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.workbench import Workbench


def begun(traces: Path, **environment: str) -> Case:
    target = Target("posix", plugin_path("posix"), "posix", "posix:///tmp/tffs-0123456789ab", environment,
                    traces=str(traces), secrets=tuple(environment))  # fmt: skip
    return Case(Workbench(target), "read/a[b]", ("read.succeeds",), "It reads.", tier="smoke")


def test_a_case_that_made_no_check_is_an_error_of_the_suite(tmp_path: Path) -> None:
    record = conclude(begun(tmp_path), None)
    assert (record.verdict, record.ended, record.reason) == (Verdict.ERROR, "broken", "the case made no check")
    assert record.checks == (CheckRecord("read.succeeds", Verdict.ERROR),)


def test_a_record_knows_its_tier_and_keeps_no_calls_of_what_is_right(tmp_path: Path) -> None:
    case = begun(tmp_path)
    case.surroundings.trace.append(
        ("read", (1, 0, 1 << 20), Outcome("read", Code.OK, "", Read(1 << 20, b"x" * (1 << 20))))
    )
    case.check.that("read.succeeds", True, "a", "a")
    record = conclude(case, None)
    assert (record.tier, record.ops, record.cut, record.verdict) == ("smoke", (), None, Verdict.CONFORM)
    assert list(tmp_path.iterdir()) == []


def test_the_calls_of_what_is_wrong_are_short_in_the_record_and_whole_beside_it(tmp_path: Path) -> None:
    case = begun(tmp_path, TOKEN="hunter22")
    data = b"hunter22" + b"x" * (1 << 20)
    case.surroundings.trace.append(
        ("read", (1, 0, len(data)), Outcome("read", Code.OK, "at hunter22", Read(len(data), data)))
    )
    case.check.that("read.succeeds", False, "a", "b hunter22", "c hunter22")
    record = conclude(case, None)
    assert record.cut == "read-a-b.calls.txt"
    assert len(record.ops[0]) < 200
    assert "[at <TOKEN>]" in record.ops[0]
    assert "hunter22" not in str(record)
    kept = (tmp_path / record.cut).read_text()
    assert f"({len(data)} bytes, sha256 " in kept
    assert "[at <TOKEN>]" in kept
    (value,) = (tmp_path / "values").iterdir()
    assert value.read_bytes() == b"<TOKEN>" + data[8:]


@pytest.mark.parametrize("texts", [("short",), ()])
def test_what_was_not_cut_is_not_kept_twice(tmp_path: Path, texts: tuple[str, ...]) -> None:
    case = begun(tmp_path)
    for text in texts:
        case.surroundings.trace.append(("stat", (1, b"/a"), Outcome("stat", Code.NOT_FOUND, text, None)))
    case.check.that("read.succeeds", False, "a", "b")
    assert conclude(case, None).cut is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hangs_again", [True, False])
def test_only_what_hangs_again_hangs_for_the_allocator(tmp_path: Path, hangs_again: bool) -> None:
    case, tries = begun(tmp_path), 0

    def body(one: Case) -> None:
        nonlocal tries
        tries += 1
        if tries == 1 or (tries == 3 and hangs_again):
            case.bench.loader.filling = False
            raise DiedError(Hung("read", 1))
        one.check.that("read.succeeds", True, "a", "a")

    if hangs_again:
        run_case(case, body)
        record = conclude(case, None)
        assert (record.verdict, tries) == (Verdict.CONFORM, 3)
        assert "MALLOC_PERTURB_" in str(record.reason)
    else:
        with pytest.raises(BackingUnableError, match=r"^read did not answer within 1 s once, and came back") as raised:
            run_case(case, body)
        assert conclude(case, raised.value).checks == (CheckRecord("read.succeeds", Verdict.NOT_RUN),)
