"""How a case ends: what its record says, and that it is short."""

import re
from pathlib import Path

import pytest

from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import DiedError, Entries, Hung, Outcome, Read
from tffs_conformance.harness.targets.backing import BackingUnableError
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.engine.attempts import evidence_of, run_case
from tffs_conformance.suite.engine.case import Case
from tffs_conformance.suite.engine.ending import recorded
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.workbench import Workbench

SECRET = "wJalr+secret/of=tests-0123456789-abcdefghijklmnopqrstuvwxyzABCDEFGHI"


def begun(traces: Path, **environment: str) -> Case:
    target = Target("posix", plugin_path("posix"), "posix", "posix:///tmp/tffs-0123456789ab", environment,
                    traces=str(traces), secrets=tuple(environment))  # fmt: skip
    return Case(Workbench(target), "read/a[b]", ("read.succeeds",), "It reads.", tier="smoke")


def concluded(case: Case) -> CaseRecord:
    return recorded(case, evidence_of(case, None))


def test_a_case_that_made_no_check_is_an_error_of_the_suite(tmp_path: Path) -> None:
    record = concluded(begun(tmp_path))
    assert (record.verdict, record.ended, record.reason) == (Verdict.ERROR, "broken", "the case made no check")
    assert record.checks == (CheckRecord("read.succeeds", Verdict.ERROR),)


@pytest.mark.parametrize(
    ("raised", "said"),
    [(IndexError("out"), "IndexError: out\n"), (HostLostError("ssh was cut"), ""), (BackingUnableError("none"), "")],
)
def test_record_of_an_error_of_the_suite_has_its_traceback(tmp_path: Path, raised: Exception, said: str) -> None:
    case = begun(tmp_path)

    def body(one: Case) -> None:
        raise raised

    record = recorded(case, run_case(case, body))
    assert (record.output.startswith("Traceback"), "in body\n" in record.output) == (bool(said), bool(said))
    assert record.output.endswith(said)


def test_a_record_knows_its_tier_and_keeps_no_calls_of_what_is_right(tmp_path: Path) -> None:
    case = begun(tmp_path)
    case.surroundings.trace.append(
        ("read", (1, 0, 1 << 20), Outcome("read", Code.OK, "", Read(1 << 20, b"x" * (1 << 20))))
    )
    case.check.that("read.succeeds", True, "a", "a")
    record = concluded(case)
    assert (record.tier, record.ops, record.cut, record.verdict) == ("smoke", (), None, Verdict.CONFORM)
    assert list(tmp_path.iterdir()) == []


def test_the_calls_of_what_is_wrong_are_short_in_the_record_and_whole_beside_it(tmp_path: Path) -> None:
    case = begun(tmp_path, TOKEN="hunter22")
    data = b"hunter22" + b"x" * (1 << 20)
    case.surroundings.trace.append(
        ("read", (1, 0, len(data)), Outcome("read", Code.OK, "at hunter22", Read(len(data), data)))
    )
    case.check.that("read.succeeds", False, "a", "b hunter22", "c hunter22")
    record = concluded(case)
    assert record.cut == "read-a-b.calls.txt"
    assert len(record.ops[0]) < 200
    assert "[at <TOKEN>]" in record.ops[0]
    assert "hunter22" not in str(record)
    kept = (tmp_path / record.cut).read_text()
    assert f"({len(data)} bytes, sha256 " in kept
    assert "[at <TOKEN>]" in kept
    (value,) = (tmp_path / "values").iterdir()
    assert value.read_bytes() == b"<TOKEN>" + data[8:]


@pytest.mark.parametrize("at", [*range(50), *range(4096 - len(SECRET), 4100)])
@pytest.mark.parametrize("kind", ["message", "name", "data", "forgotten"])
def test_no_cut_leaves_a_part_of_a_secret(tmp_path: Path, at: int, kind: str) -> None:
    case = begun(tmp_path, TOKEN=SECRET)
    text = "-" * at + SECRET + "-" * 5000
    data = text.encode() + (b"-" * (9 << 20) if kind == "forgotten" else b"")
    answer: dict[str, Outcome[object]] = {
        "message": Outcome("read", Code.INTERNAL, text, None),
        "name": Outcome("read", Code.OK, "", Entries(1, (text,))),
    }
    outcome = answer.get(kind, Outcome("read", Code.OK, "", Read(len(data), data)))
    case.surroundings.trace.append(("read", (1, 0, 1), outcome))
    case.check.equal("read.succeeds", "answer", "", text if kind == "name" else data)
    case.check.that("read.succeeds", False, "x", text, text)
    record = concluded(case)
    assert record.cut
    for told in (str(record), *(path.read_text() for path in tmp_path.rglob("*.*"))):
        assert SECRET[:4] not in told
        assert "-" * min(at, 40) in told


@pytest.mark.parametrize("size", [1, 3, 7, 8, 100])
@pytest.mark.parametrize(
    ("step", "handles", "offset"),
    [(1, 1, 1), (-1, 1, 1), (1, 99, 1), (1, 1, 0), (-1, 2, 1)],
    ids=["forwards", "backwards", "opened-anew", "at-one-offset", "opened-twice"],
)
def test_reads_in_pieces_together_show_no_secret(
    tmp_path: Path, size: int, step: int, handles: int, offset: int
) -> None:
    case, data = begun(tmp_path, TOKEN=SECRET), f"before {SECRET} and {SECRET}".encode()
    pieces = {at: data[at : at + size] for at in range(0, len(data), size)}
    for number, at in enumerate([*pieces][::step]):
        opened = Outcome("new_random_access_file", Code.OK, "", number % handles)
        case.surroundings.trace.append((opened.op, (9, b"/a"), opened))
        answer = Outcome("read", Code.OK, "", Read(size, pieces[at]))
        case.surroundings.trace.append(("read", (number % handles, at * offset, size), answer))
    case.check.equal("read.succeeds", "pieces", [], [*pieces.values()][:12])
    record = concluded(case)
    for texts in (record.ops[::step], [record.checks[0].got]):
        together = "".join(re.findall(r"b'([^']*)'", "".join(texts)))
        assert together
        assert not any(SECRET[at : at + 8] in together for at in range(len(SECRET) - 7))


@pytest.mark.parametrize("texts", [("short",), ()])
def test_what_was_not_cut_is_not_kept_twice(tmp_path: Path, texts: tuple[str, ...]) -> None:
    case = begun(tmp_path)
    for text in texts:
        case.surroundings.trace.append(("stat", (1, b"/a"), Outcome("stat", Code.NOT_FOUND, text, None)))
    case.check.that("read.succeeds", False, "a", "b")
    assert concluded(case).cut is None
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
        one.surroundings.trace.append(("read", (1, 0, 1), Outcome("read", Code.OK, "", Read(1, b"x"))))
        one.check.that("read.succeeds", True, "a", "a")

    record = recorded(case, run_case(case, body))
    if hangs_again:
        assert (record.verdict, tries) == (Verdict.CONFORM, 3)
        assert "MALLOC_PERTURB_" in str(record.reason)
    else:
        assert record.checks == (CheckRecord("read.succeeds", Verdict.NOT_RUN),)
        assert str(record.reason).startswith("read did not answer within 1 s once, and came back")
