"""The client: time-outs, deaths, no process left behind; hosts of a plugin that changes; programs of threads."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.faults.driven import all_cases, judge
from tests.hosted import hosted, raw_filesystem
from tests.test_suite import report, run, wait_until
from tffs_conformance.harness import wire
from tffs_conformance.harness.hosting import limits as host_limits
from tffs_conformance.harness.hosting.client import Host, HostFaultError
from tffs_conformance.harness.hosting.loader import ALL_HANGS, MAX_HANGS, BlockedError, Hangs, Loaded, Loader
from tffs_conformance.harness.hosting.registration import DiedRegisteringError
from tffs_conformance.harness.hosting.state import State
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.launchers.output import OUTPUT_KEPT, Output
from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Crashed, Death, DiedError, Hung, Read, Source, Threw, Watch
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.programs import Program
from tffs_conformance.harness.over_tables.raw import Call, RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.model.verdicts import Verdict

#: Seconds, for calls that do not come back. All others have more: a busy machine may need as long to load a plugin.
SHORT = 0.2


def test_interrupted_call_leaves_no_answer_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with hosted("fakes/faulty") as (loaded, raw):
        with monkeypatch.context() as during:
            during.setattr(type(loaded.host.process), "receive", interrupted)
            with pytest.raises(KeyboardInterrupt):
                raw.stat("/tmp")
        assert not loaded.host.alive


@pytest.mark.parametrize(
    "body",
    [
        wire.values_of("done", [0, b"", 0, 1, 2]),
        wire.values_of("done", [0, b"", 0, 1, 2, 3])[:-1],
        wire.values_of("done", [0, b"", 0, 1, b"", 3]),
        wire.values_of("done", [5, b"not found"])[:-1],
        wire.values_of("done", [99, b"", 0, 1, 2, 3]),
        wire.values_of("threw", [b"type"]),
    ],
)
def test_client_with_a_damaged_answer_reports_a_crash(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    with hosted("fakes/faulty") as (loaded, raw):
        with monkeypatch.context() as during:
            during.setattr(type(loaded.host.process), "receive", lambda *_: wire.Reply(body))
            with pytest.raises(DiedError, match=r"^stat did not come back: it damaged the answer"):
                raw.stat("/tmp")
        assert not loaded.host.alive


def repeated(raw: RawFilesystem, path: str) -> object:
    program = Program(raw)
    program.stat(path)
    return programs.repeat(raw, program, 2)


@pytest.mark.parametrize("call", [RawFilesystem.stat, repeated])
def test_a_hang_is_paid_for_once(call: Callable[[RawFilesystem, str], object]) -> None:
    hosts = Loader(Local({"TFFS_FAULT": "hang:stat"}), plugin_path("fakes/faulty"), 10)
    # The first time it may be the allocator's fault.
    for _ in range(MAX_HANGS + 1):
        loaded = hosts.load()
        raw = raw_filesystem(loaded)
        # What does not hang is called as before.
        assert raw.path_op("path_exists", "/tmp").ok
        loaded.host.timeout = SHORT
        with pytest.raises(DiedError):
            call(raw, "/tmp")
    with pytest.raises(BlockedError) as blocked:
        call(raw_filesystem(hosts.load()), "/tmp")
    assert blocked.value.op == "stat"
    hosts.close()


def test_an_op_that_hangs_now_and_then_is_called_again() -> None:
    hangs = Hangs(MAX_HANGS)
    hung = DiedError(Hung("stat", 1.0))
    for _ in range(ALL_HANGS - 1):
        hangs.count(hung)
        hangs.endure("stat")
        hangs.came_back(["stat"])
    hangs.count(hung)
    with pytest.raises(BlockedError, match=f"hung {ALL_HANGS} times"):
        hangs.endure("stat")


def test_output_is_bounded() -> None:
    output = Output()
    for _ in range(100):
        output.add(b"x" * 10_000)
    output.add(b"the end")
    assert len(output.text) < 2 * OUTPUT_KEPT + 100
    assert output.text.endswith("the end")
    assert "bytes left out" in output.text


def test_what_was_described_outlives_a_death() -> None:
    """Two schemes have one table: it is gone when the second is registered."""
    hosts = Loader(Local({"TFFS_FAULT": "shared-table"}), plugin_path("fakes/malformed"), 10)
    with pytest.raises(DiedRegisteringError) as caught:
        hosts.load()
    assert [entry.scheme for entry in caught.value.schemes] == ["malformed", "malformed2"]
    assert {entry.shared_blocks for entry in caught.value.schemes} == {1}
    hosts.close()


def test_a_status_that_is_kept_is_seen(tmp_path: Path) -> None:
    with hosted("fakes/faulty", "path_exists.keeps-status") as (_, raw):
        first = raw.path_op("path_exists", str(tmp_path))
        between = raw.stat(str(tmp_path))
        second = raw.path_op("path_exists", str(tmp_path))
        after = raw.stat(str(tmp_path))
        watched = [outcome.watch for outcome in (first, between, second, after)]
        assert watched == [Watch.NOTHING, Watch.NOTHING, Watch.STATUS_KEPT, Watch.NOTHING]


def test_statuses_arrive_as_asked_for(tmp_path: Path) -> None:
    path = str(tmp_path)
    with hosted("fakes/faulty", "stat.adds-to-status") as (loaded, raw):
        assert raw.stat(path).ok
        with host_limits.statuses_arrive_used(loaded.host):
            assert raw.stat(path).code is Code.ABORTED
        assert raw.stat(path).ok
        # Those of paths_exist are handed over in an array.
        with host_limits.statuses_arrive_used(loaded.host):
            existence = raw.paths_exist([path, path], with_statuses=True).value
        assert existence.statuses is not None
        assert len(existence.statuses) == 2


def test_files_are_limited_in_size(tmp_path: Path) -> None:
    with hosted("posix") as (loaded, raw):
        before = State.of(loaded.host)
        assert before.handlers[signal.SIGXFSZ - 1] == "i"
        handle = raw.open("new_writable_file", str(tmp_path / "file")).value
        with host_limits.file_size(loaded.host, 100):
            answers = [raw.append(handle, b"x" * 200), raw.handle_op("flush", handle)]
        assert not all(answer.ok for answer in answers)
        assert (tmp_path / "file").stat().st_size <= 100
        raw.handle_op("writable_file.cleanup", handle)
        other = raw.open("new_writable_file", str(tmp_path / "other")).value
        assert raw.append(other, b"x" * 200).ok
        assert raw.handle_op("close", other).ok
        assert State.of(loaded.host).handlers == before.handlers


@pytest.mark.parametrize(
    "limited",
    [
        host_limits.statuses_arrive_used,
        lambda host: host_limits.few_descriptors(host, 0),
        lambda host: host_limits.file_size(host, 1),
    ],
    ids=["preset", "descriptors", "file size"],
)
def test_a_limit_ends_with_its_block_however_that_ends(
    limited: Callable[[Host], AbstractContextManager[None]], tmp_path: Path
) -> None:
    with hosted("fakes/faulty", "stat.adds-to-status") as (loaded, raw):
        with pytest.raises(BlockedError), limited(loaded.host):
            raise BlockedError("stat", "nobody has seen it")
        file = raw.open("new_writable_file", str(tmp_path / "file"))
        for outcome in (file, raw.append(file.value, b"longer"), raw.handle_op("flush", file.value)):
            assert outcome.code is Code.OK
        assert raw.stat(str(tmp_path)).ok


def test_nothing_is_left_when_the_client_is_killed() -> None:
    """The client is killed by SIGKILL while the plugin hangs, so nobody is left to end the host but itself."""
    program = """
from tests.hosted import hosted
with hosted("fakes/faulty", "hang:stat", timeout=60) as (loaded, raw):
    print(loaded.host.process.facts.pid, flush=True)
    raw.stat("/tmp")
"""
    here = Path(__file__).parent.parent
    environment = {**os.environ, NATIVE_DIRECTORY_VARIABLE: str(native_directory())}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=here, env=environment
    ) as client:
        assert client.stdout is not None
        host = int(client.stdout.readline())
        client.send_signal(signal.SIGKILL)
    ended = {"pid": host, "status": psutil.STATUS_ZOMBIE}
    wait_until(lambda: all(one.pid != host or one.info == ended for one in psutil.process_iter([*ended])))


# Hosts for a plugin that is not the same each time it is loaded -------------------------------------------------------


def test_plugin_with_other_schemes_each_time_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    either, chance = [Local({"TFFS_FAULT": fault}) for fault in ("two-schemes", "api:filesystem")], random.Random(0)
    changing = Local()
    monkeypatch.setattr(changing, "start", lambda: chance.choice(either).start())
    loader = Loader(changing, plugin_path("fakes/malformed"), 10.0)
    try:
        loader.load().host.close()
        before = len(os.listdir("/proc/self/fd"))
        seen = []
        for _ in range(20):
            loaded = loader.load()
            seen.append(tuple(loaded.registration.registered))
            loaded.host.close()
        assert set(seen) == {("malformed", "malformed2"), ("malformed",)}
        assert len(os.listdir("/proc/self/fd")) <= before + 3, "a host that was not used is ended"
    finally:
        loader.close()
        for one in either:
            one.close()


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (["--tier=smoke"], "conformant"),
        pytest.param(["--tier=quick"], "conformant", marks=pytest.mark.nightly),
        (["--case=registration/*", "--case=lifetimes/filesystem-ends-last"], "incomplete"),
    ],
)
def test_plugin_for_one_process_is_judged_like_others(tmp_path: Path, given: list[str], verdict: str) -> None:
    environment = ("--env=TFFS_CHOICES=one-process", f"--env=TFFS_CHOICES_LOCK={tmp_path / 'lock'}")
    done = run(tmp_path, "-q", "--plugin=posix_choices", *environment, *given)
    assert "Left behind" not in done.stdout
    found = report(tmp_path)
    wrong = [(case["id"], case.get("reason")) for case in found["cases"] if case["verdict"] in ("not run", "violation")]
    assert wrong == []
    assert found["verdict"] == verdict


@pytest.mark.parametrize(("fault", "cases"), [("read.one-less", "read/plain"), ("history.crash", "properties/tree")])
def test_hosts_of_a_case_load_no_plugin_twice(fault: str, cases: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases that fail prepare once more what they prepared, and properties try histories: one host after the other."""
    loaded: list[Loaded] = []
    beside: list[int] = []
    load = Loader.load

    def counted(loader: Loader) -> Loaded:
        beside.append(sum(one.host.alive for one in loaded))
        loaded.append(load(loader))
        return loaded[-1]

    monkeypatch.setattr(Loader, "load", counted)
    judged = judge("fakes/faulty", fault, [one for one in all_cases("full") if one.id.startswith(cases)])
    assert any(record.verdict is Verdict.VIOLATION for record in judged.records)
    assert len(beside) > len(judged.records)
    assert not any(beside)


# Programs of threads: they meet, they answer as ops do alone, and what goes wrong in one of them is told --------------

THREADS = 4
ROUNDS = 200
PIECE = 512
CONTENT = b"".join(b"%07d\n" % k for k in range(4096))

OPEN = "new_random_access_file"
CLEANUP = "random_access_file.cleanup"


@contextmanager
def filesystem(plugin: str, fault: str = "", timeout: float = 20) -> Iterator[tuple[RawFilesystem, list[Call]]]:
    with hosted(plugin, fault, timeout=timeout, trace=(trace := list[Call]())) as (_, raw):
        yield raw, trace


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    return str(path)


def piece(k: int) -> bytes:
    return CONTENT[k * PIECE : (k + 1) * PIECE]


def openers(raw: RawFilesystem, path: str) -> list[Program]:
    made = [Program(raw) for _ in range(THREADS)]
    for k, program in enumerate(made):
        program.path_op("path_exists", path)
        handle = program.open(OPEN, path).value
        program.read(handle, k * PIECE, PIECE)
        program.handle_op(CLEANUP, handle)
    return made


def in_order(thread: Sequence[Any]) -> bool:
    """Whether times only grow."""
    times = [time for one in thread for time in (one.start_ns, one.end_ns)]
    return times == sorted(times)


def test_threads_share_a_handle(file: str) -> None:
    with filesystem("posix") as (raw, trace):
        handle = raw.open(OPEN, file).value
        given = [Program(raw) for _ in range(THREADS)]
        for k, program in enumerate(given):
            program.read(handle, k * PIECE, PIECE)
        went = programs.run(raw, given, ROUNDS)
        assert [[timed.outcome.value for timed in thread] for thread in went] == [
            [Read(PIECE, piece(k))] * ROUNDS for k in range(THREADS)
        ]
        assert len(trace) == 1 + THREADS * ROUNDS


def test_threads_open_for_themselves_and_wait_for_each_other(file: str) -> None:
    """No op of a round begins before all of the round before have ended; within a thread times only grow."""
    with filesystem("posix") as (raw, _):
        given = openers(raw, file)
        went = programs.run(raw, given, ROUNDS)
    for k, thread in enumerate(went):
        assert [timed.outcome.op for timed in thread] == ["path_exists", OPEN, "read", CLEANUP] * ROUNDS
        assert all(timed.outcome.ok for timed in thread)
        assert {timed.outcome.value.data for timed in thread if timed.outcome.op == "read"} == {piece(k)}
        assert in_order(thread)
    handles = [timed.outcome.value for thread in went for timed in thread if timed.outcome.op == OPEN]
    assert len(set(handles)) == THREADS * ROUNDS
    length = len(given[0].steps)
    for round_ in range(1, ROUNDS):
        ended = max(thread[round_ * length - 1].end_ns for thread in went)
        assert all(thread[round_ * length].start_ns >= ended for thread in went)


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
    assert all(map(in_order, went))
    own = sorted(one.ns for one in went[0] if one.op == "read")
    around = sorted(timed.end_ns - timed.start_ns for timed in whole[0] if timed.outcome.op == "read")
    assert own[0] < around[ROUNDS // 2]
    assert (missing.code, absent.code, skipped.code) == (Code.NOT_FOUND, None, None)
    assert not any(op == "stat" for op, _, _ in trace)


def test_what_was_not_opened_is_not_read_and_an_absent_op_is_absent(tmp_path: Path) -> None:
    with filesystem("posix") as (raw, trace):
        program = openers(raw, str(tmp_path / "missing"))[0]
        program.start_transaction()
        (went,) = programs.run(raw, [program])
    codes = [timed.outcome.code for timed in went]
    assert codes == [Code.NOT_FOUND, Code.NOT_FOUND, Code.CANCELLED, Code.CANCELLED, Code.UNIMPLEMENTED]
    assert went[-1].outcome.source is Source.ABSENT
    assert [op for op, _, _ in trace] == ["path_exists", OPEN]


@pytest.mark.parametrize(
    ("fault", "kind", "timeout", "repeated"),
    [
        ("crash", Crashed, 20, False), ("abort", Crashed, 20, False), ("hang", Hung, 1, False),
        ("throw", Threw, 20, False), ("crash", Crashed, 20, True), ("throw", Threw, 20, True),
    ],
)  # fmt: skip
def test_a_death_names_its_op(file: str, fault: str, kind: type[Death], timeout: float, repeated: bool) -> None:
    with filesystem("fakes/faulty", f"{fault}:read", timeout) as (raw, trace):
        given = openers(raw, file)
        with pytest.raises(DiedError) as caught:
            programs.repeat(raw, given[0], 10) if repeated else programs.run(raw, given, 10)
        death = caught.value.death
        assert isinstance(death, kind)
        if not isinstance(death, Crashed) or "backtrace" in death.output:  # A sanitizer says it in its own words.
            assert death.op == "read"
        outcomes = [outcome for _, _, outcome in trace]
        assert death in outcomes
        if isinstance(death, Threw):
            assert death.type == "std::runtime_error"
            # A host survives an exception.
            assert raw.path_op("path_exists", file).ok
        if not repeated:
            ended = [outcome for op, _, outcome in trace if op == "read"]
            assert not isinstance(death, Crashed) or outcomes[-1] == death
            assert not isinstance(death, Threw) or (len(ended), ended[0]) == (THREADS * 10, death)


def test_a_repeated_program_tells_its_last_round(file: str) -> None:
    with filesystem("posix") as (raw, trace):
        went = programs.repeat(raw, openers(raw, file)[1], ROUNDS)
        assert [timed.outcome.op for timed in went] == ["path_exists", OPEN, "read", CLEANUP]
        assert went[2].outcome.value == Read(PIECE, piece(1))
        # Each round opened a handle of its own, and the ops behind it met that one.
        assert went[1].outcome.value == ROUNDS
        assert len(trace) == len(went)
        # A handle of it means nothing outside.
        with pytest.raises(HostFaultError):
            raw.read(-2, 0, 1)
