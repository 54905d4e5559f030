"""Programs of threads: they meet, they answer as ops do alone, and what goes wrong in one of them is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hosted import hosted, raw_filesystem
from tffs_conformance.harness.hosting.client import HostFaultError
from tffs_conformance.harness.hosting.loader import MAX_HANGS, BlockedError, Loader
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Crashed, Death, DiedError, Hung, Read, Source, Threw
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.programs import Program
from tffs_conformance.harness.over_tables.raw import Call, RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path

THREADS = 4
ROUNDS = 200
PIECE = 512
CONTENT = b"".join(b"%07d\n" % k for k in range(4096))

OPEN = "new_random_access_file"
CLEANUP = "random_access_file.cleanup"


@contextmanager
def filesystem(plugin: str, fault: str = "", timeout: float = 20) -> Iterator[tuple[RawFilesystem, list[Call]]]:
    trace: list[Call] = []
    with hosted(plugin, fault, timeout=timeout, trace=trace) as (_, raw):
        yield raw, trace


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    return str(path)


def piece(k: int) -> bytes:
    return CONTENT[k * PIECE : (k + 1) * PIECE]


def readers(raw: RawFilesystem, handle: int) -> list[Program]:
    programs = [Program(raw) for _ in range(THREADS)]
    for k, program in enumerate(programs):
        program.read(handle, k * PIECE, PIECE)
    return programs


def openers(raw: RawFilesystem, path: str) -> list[Program]:
    programs = [Program(raw) for _ in range(THREADS)]
    for k, program in enumerate(programs):
        program.path_op("path_exists", path)
        handle = program.open(OPEN, path).value
        program.read(handle, k * PIECE, PIECE)
        program.handle_op(CLEANUP, handle)
    return programs


def closers(raw: RawFilesystem, path: str) -> Program:
    program = Program(raw)
    program.handle_op(CLEANUP, program.open(OPEN, path).value)
    return program


def test_threads_share_a_handle(file: str) -> None:
    with filesystem("posix") as (raw, trace):
        handle = raw.open(OPEN, file).value
        went = programs.run(raw, readers(raw, handle), ROUNDS)
        assert [[timed.outcome.value for timed in thread] for thread in went] == [
            [Read(PIECE, piece(k))] * ROUNDS for k in range(THREADS)
        ]
        assert len(trace) == 1 + THREADS * ROUNDS


def test_threads_open_for_themselves(file: str) -> None:
    with filesystem("posix") as (raw, _):
        went = programs.run(raw, openers(raw, file), ROUNDS)
        for k, thread in enumerate(went):
            assert [timed.outcome.op for timed in thread] == ["path_exists", OPEN, "read", CLEANUP] * ROUNDS
            assert all(timed.outcome.ok for timed in thread)
            assert {timed.outcome.value.data for timed in thread if timed.outcome.op == "read"} == {piece(k)}
        handles = [timed.outcome.value for thread in went for timed in thread if timed.outcome.op == OPEN]
        assert len(set(handles)) == THREADS * ROUNDS


def test_threads_wait_for_each_other(file: str) -> None:
    """No op of a round begins before all of the round before have ended; within a thread times only grow."""
    with filesystem("posix") as (raw, _):
        given = openers(raw, file)
        went = programs.run(raw, given, ROUNDS)
    length = len(given[0].steps)
    for round_ in range(1, ROUNDS):
        ended = max(thread[round_ * length - 1].end_ns for thread in went)
        assert all(thread[round_ * length].start_ns >= ended for thread in went)
    for thread in went:
        times = [time for timed in thread for time in (timed.start_ns, timed.end_ns)]
        assert times == sorted(times)


def test_times_are_those_of_the_plugin_alone(tmp_path: Path, file: str) -> None:
    """Around the plugin's own function the host makes buffers and an answer; of that nothing counts."""
    with filesystem("posix") as (raw, trace):
        given = openers(raw, file)
        went = programs.measure(raw, given, ROUNDS)
        whole = programs.run(raw, given[:1], ROUNDS)
        program = Program(raw)
        program.stat(str(tmp_path / "missing"))
        program.start_transaction()
        program.read(program.open(OPEN, str(tmp_path / "missing")).value, 0, 1)
        ((missing, absent, _, skipped),) = programs.measure(raw, [program])
    assert [one.op for one in went[0]] == ["path_exists", OPEN, "read", CLEANUP] * ROUNDS
    assert all(one.code is Code.OK and one.ns > 0 for thread in went for one in thread)
    for thread in went:
        times = [time for one in thread for time in (one.start_ns, one.end_ns)]
        assert times == sorted(times)
    own = sorted(one.ns for one in went[0] if one.op == "read")
    around = sorted(timed.end_ns - timed.start_ns for timed in whole[0] if timed.outcome.op == "read")
    assert own[0] < around[ROUNDS // 2]
    assert (missing.code, absent.code, skipped.code) == (Code.NOT_FOUND, None, None)
    assert not any(op == "stat" for op, _, _ in trace)


def test_a_race_is_seen(file: str) -> None:
    with filesystem("fakes/faulty", "read.shared-buffer") as (raw, _):
        handle = raw.open(OPEN, file).value
        went = programs.run(raw, readers(raw, handle), ROUNDS)
        assert any(timed.outcome.value.data != piece(k) for k, thread in enumerate(went) for timed in thread)


def test_what_was_not_opened_is_not_read(tmp_path: Path) -> None:
    with filesystem("posix") as (raw, trace):
        (went,) = programs.run(raw, openers(raw, str(tmp_path / "missing"))[:1])
    codes = [timed.outcome.code for timed in went]
    assert codes == [Code.NOT_FOUND, Code.NOT_FOUND, Code.CANCELLED, Code.CANCELLED]
    assert [op for op, _, _ in trace] == ["path_exists", OPEN]


def test_an_absent_op_is_absent() -> None:
    with filesystem("posix") as (raw, _):
        program = Program(raw)
        program.start_transaction()
        ((timed,),) = programs.run(raw, [program])
    assert (timed.outcome.code, timed.outcome.source) == (Code.UNIMPLEMENTED, Source.ABSENT)


@pytest.mark.parametrize(
    ("fault", "kind", "timeout"),
    [("crash", Crashed, 20), ("abort", Crashed, 20), ("hang", Hung, 1), ("throw", Threw, 20)],
)
def test_a_death_names_its_op(file: str, fault: str, kind: type[Death], timeout: float) -> None:
    with filesystem("fakes/faulty", f"{fault}:read", timeout) as (raw, trace):
        with pytest.raises(DiedError) as caught:
            programs.run(raw, openers(raw, file), 10)
        death = caught.value.death
        assert isinstance(death, kind)
        if not isinstance(death, Crashed) or "backtrace" in death.output:  # A sanitizer says it in its own words.
            assert death.op == "read"
        if isinstance(death, Crashed):
            assert trace[-1][2] == death
        if isinstance(death, Threw):
            assert death.type == "std::runtime_error"
            ended = [outcome for op, _, outcome in trace if op == "read"]
            assert len(ended) == THREADS * 10
            assert ended[0] == death
            # A host survives an exception.
            assert raw.path_op("path_exists", file).ok


def test_an_op_that_hangs_in_programs_is_not_called_again(file: str) -> None:
    loader = Loader(Local({"TFFS_FAULT": "hang:read"}), plugin_path("fakes/faulty"), 20)
    endings: list[type[Exception]] = []
    # The first time it may be the allocator's fault.
    for _ in range(MAX_HANGS + 2):
        loaded = loader.load()
        raw = raw_filesystem(loaded)
        assert programs.repeat(raw, closers(raw, file), 2)[0].outcome.ok
        loaded.host.timeout = 1
        try:
            programs.repeat(raw, openers(raw, file)[0], 2)
        except (DiedError, BlockedError) as error:
            endings.append(type(error))
        loaded.host.close()
    loader.close()
    assert endings == [DiedError] * (MAX_HANGS + 1) + [BlockedError]


def test_a_repeated_program_tells_its_last_round(file: str) -> None:
    with filesystem("posix") as (raw, trace):
        went = programs.repeat(raw, openers(raw, file)[1], ROUNDS)
        assert [timed.outcome.op for timed in went] == ["path_exists", OPEN, "read", CLEANUP]
        assert went[2].outcome.value == Read(PIECE, piece(1))
        # Each round opened a handle of its own, and the ops behind it met that one.
        assert went[1].outcome.value == ROUNDS
        assert len(trace) == len(went)


def test_a_handle_of_a_repeated_program_means_nothing_outside(file: str) -> None:
    with filesystem("posix") as (raw, _):
        programs.repeat(raw, openers(raw, file)[0], 2)
        with pytest.raises(HostFaultError):
            raw.read(-2, 0, 1)


@pytest.mark.parametrize("fault", ["crash:read", "throw:read"])
def test_a_repeated_program_that_does_not_come_back(file: str, fault: str) -> None:
    with filesystem("fakes/faulty", fault) as (raw, trace):
        with pytest.raises(DiedError) as caught:
            programs.repeat(raw, openers(raw, file)[0], 10)
        assert isinstance(caught.value.death, Threw if fault.startswith("throw") else Crashed)
        if isinstance(caught.value.death, Threw) or "backtrace" in caught.value.death.output:
            assert caught.value.death.op == "read"
        assert caught.value.death in [outcome for _, _, outcome in trace]
