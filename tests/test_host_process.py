"""What a host tells of its own process, and how it ends where a plugin does what no plugin may do."""

import contextlib
import os
import random
import resource
import shutil
import subprocess
import tracemalloc
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.faults.driven import judge, of_clause
from tests.hosted import hosted
from tffs_conformance.harness import wire
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.hosting.registration import again, register
from tffs_conformance.harness.hosting.state import State
from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Crashed, DiedError, Watch
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.programs import Program
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.model.verdicts import Verdict

# Ends -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["alone", "in a thread"])
@pytest.mark.parametrize(
    ("fault", "how"),
    [
        ("ends-thread", "it ended the thread that called it"),
        ("comes-back-twice", "it came back twice, for a process that it forked returned as well"),
        ("closes-all", "it closed or replaced descriptors of the process that are not its own"),
        ("replaces-all", "it closed or replaced descriptors of the process that are not its own"),
    ],
)
def test_who_does_not_come_back_as_it_should_is_named(fault: str, how: str, way: str) -> None:
    with hosted("fakes/faulty", f"{fault}:path_exists") as (_, raw):
        program = Program(raw)
        program.path_op("path_exists", "/tmp")

        with pytest.raises(DiedError) as died:  # noqa: PT012 - which of them finds out is a matter of time
            for _ in range(20):
                if way == "alone":
                    raw.path_op("path_exists", "/tmp")
                else:
                    programs.run(raw, [program, program])
    assert isinstance(died.value.death, Crashed)
    assert (died.value.death.op, died.value.death.how) == ("path_exists", how)
    assert str(died.value.death) == f"path_exists did not come back: {how}"


def test_an_op_that_ends_its_thread_without_a_word_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer of a host of which a thread just went away, as `threads` puts it together."""
    with hosted("fakes/faulty") as (_, raw):
        lost = wire.values_of("done", [1, 2, wire.values_of("lost")])
        monkeypatch.setattr(raw, "call", lambda *_, **__: wire.Reply(lost, len(wire.values_of("done"))))
        program = Program(raw)
        program.stat("/tmp")
        with pytest.raises(DiedError) as died:
            programs.run(raw, [program])
    assert str(died.value) == "stat did not come back: it ended the thread that called it"


def test_a_message_is_cut() -> None:
    with hosted("fakes/faulty", "long-message:stat", {"TFFS_MESSAGE_BYTES": str(20 << 20)}) as (_, raw):
        got = raw.stat("/no/such/file")
    assert (got.code, got.watch) == (Code.NOT_FOUND, Watch.LONG_MESSAGE)
    assert got.message == "m" * (64 << 10) + f"... ({20 << 20} bytes)"


def test_results_that_no_frame_can_hold_are_told_by_their_size() -> None:
    with hosted("fakes/faulty", "translate_name.endless") as (_, raw), pytest.raises(DiedError) as died:
        raw.translate_name("/tmp")
    size = 5 + len("done") + 9 + 5 + 9 + 9 + 5 + (300 << 20)
    said = f"translate_name did not come back: it gave results of {size} bytes, and {256 << 20} are the most"
    assert str(died.value.death) == said


def test_a_buffer_of_a_negative_length_is_a_number() -> None:
    with hosted("fakes/faulty", "options.negative-length") as (_, raw):
        got = raw.get_filesystem_configuration()
    values = {option.name: option.values for option in got.value.options}
    assert values == {"number": (7,), "real": (0.25,), "bytes": (-1,)}


@pytest.mark.parametrize("before", [4096, 1 << 20])
def test_who_reads_behind_what_is_appended_crashes(tmp_path: Path, before: int) -> None:
    with hosted("fakes/faulty", "append.reads-behind") as (_, raw):
        handle = raw.open("new_writable_file", str(tmp_path / "file")).value
        raw.append(handle, b"x" * before)
        with pytest.raises(DiedError) as died:
            raw.append(handle, b"y" * 5)
    assert isinstance(died.value.death, Crashed)
    assert died.value.death.op == "append"
    # A sanitizer says it in its own words.
    assert died.value.death.how == "signal SIGSEGV" or "backtrace" not in died.value.death.output


def test_a_buffer_has_nothing_behind_it_after_a_larger_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    with hosted("fakes/faulty", "read.scribbles-far-behind") as (_, raw):
        handle = raw.open("new_random_access_file", str(tmp_path / "file")).value
        raw.read(handle, 0, 1 << 20)
        with pytest.raises(DiedError):
            raw.read(handle, 0, 5)


def test_entries_of_an_error_are_nobodys(tmp_path: Path) -> None:
    with hosted("fakes/faulty", "get_children.stale-pointer") as (found, raw):
        for _ in range(10):
            got = raw.entries_op("get_children", str(tmp_path / "no"))
            assert (got.code, got.value.returned) == (Code.NOT_FOUND, -1)
        assert found.host.alive


# State ----------------------------------------------------------------------------------------------------------------


def test_the_state_before_the_plugin_came() -> None:
    with hosted("fakes/malformed", "signals-in-init-plugin") as (found, _):
        before, after = State.before_load(found.host), State.of(found.host)
    assert before.handlers == after.handlers
    pairs = zip(before.actions.split(), after.actions.split(), strict=True)
    assert [number for number, (one, other) in enumerate(pairs, 1) if one != other] == [11]


#: What the faulty plugin prints on standard output.
PRINTED = "the faulty plugin was here\n"


@pytest.mark.parametrize(
    ("fault", "field"),
    [
        ("changes-umask", "umask"), ("changes-locale", "locale"), ("changes-rounding", "floating_point"),
        ("blocks-signals", "blocked"), ("changes-environment", "environment"), ("prints-stdout", "printed"),
        ("leaves-child", "children"), ("leaves-daemon", "children"), ("closes-streams", "streams"),
        ("changes-signals", "actions"),
    ],
)  # fmt: skip
def test_what_an_op_changes_is_seen(fault: str, field: str) -> None:
    with hosted("fakes/faulty", f"{fault}:path_exists") as (found, raw):
        before = State.of(found.host)
        raw.path_op("path_exists", "/tmp")
        after = State.of(found.host)
        assert after.printed == (len(PRINTED) if field == "printed" else 0)
        assert (PRINTED in found.host.output) == (field == "printed")
    assert getattr(before, field) != getattr(after, field)
    ignored = {field, "heap", "mapped", "mappings", "handlers", "streams", "descriptors"}
    others = [name for name in State.__slots__ if name not in ignored]
    assert [name for name in others if getattr(before, name) != getattr(after, name)] == []


# What a plugin leaves behind ------------------------------------------------------------------------------------------


def living(mark: str) -> set[int]:
    """The processes in whose environment this mark is."""
    found = psutil.process_iter(["environ"])
    return {process.pid for process in found if (process.info["environ"] or {}).get("TFFS_TEST_MARK") == mark}


@pytest.mark.parametrize("end", ["closed", "told to exit", "crashed"])
@pytest.mark.parametrize("fault", ["leaves-child", "leaves-daemon"])
def test_no_process_of_a_plugin_outlives_its_host(fault: str, end: str) -> None:
    mark = f"{uuid.uuid4()}"
    with hosted("fakes/faulty", f"{fault}:path_exists", {"TFFS_TEST_MARK": mark}) as (found, raw):
        raw.path_op("path_exists", "/tmp")
        before = living(mark)
        assert State.of(found.host).children == 1
        assert found.host.process.facts is not None
        if end == "closed":
            found.host.close()
            # A killed host is waited for when somebody asks what it used.
            assert found.host.process.facts is not None
        elif end == "told to exit":
            assert found.host.quit() == "exit status 0"
        else:
            found.host.process.abort()
            found.host.close()
        after = living(mark)
    assert before - after
    assert living(mark) == set()


def test_a_plugin_is_registered_again() -> None:
    with hosted("fakes/faulty") as (found, raw):
        for _ in range(3):
            second = again(found.host)
            assert [(entry.scheme, entry.code) for entry in second.schemes] == [("faulty", Code.ALREADY_EXISTS)]
        assert raw.path_op("path_exists", "/tmp").ok


def test_too_few_descriptors_are_told_of_and_blamed_on_nobody() -> None:
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 256
    few = Local(program=("/bin/sh", "-c", f'ulimit -n 64; exec {native_directory() / "tffs-host"} "$@"', "sh"))
    said = "a process may open no more than 64 descriptors here, and a host needs 256: raise `ulimit -n`"
    with pytest.raises(HostLostError, match=f"^{said}$"):
        register(Host(few, 20), plugin_path("posix"))


@pytest.mark.parametrize("name", ["with a blank.so", "with:a-colon.so"])
def test_symbols_of_a_plugin_with_any_name_are_named(tmp_path: Path, name: str) -> None:
    shutil.copy(plugin_path("fakes/unresolved"), tmp_path / name)
    host = Host(Local(), 20)
    assert [(symbol.name, symbol.demangled) for symbol in register(host, tmp_path / name).missing] == [
        ("TF_NoSuchFunction", "TF_NoSuchFunction"),
        ("_ZN3tsl5mutex6unlockEv", "tsl::mutex::unlock()"),
    ]
    host.close()


# Hangs ----------------------------------------------------------------------------------------------------------------

#: Seconds after which a call is taken for one that hangs; a busy machine may need one for any other.
PATIENCE = 2


def test_what_hangs_because_memory_is_filled_is_loaded_without() -> None:
    loader = Loader(Local({"TFFS_FAULT": "hangs-when-filled"}), plugin_path("fakes/malformed"), PATIENCE)
    for _ in range(3):
        found = loader.load()
        assert list(found.registration.registered) == ["malformed"]
        found.host.close()
    assert not loader.filling
    assert not loader.hung
    loader.close()


def test_what_hangs_in_any_case_is_told() -> None:
    loader = Loader(Local({"TFFS_FAULT": "hang-in-init-plugin"}), plugin_path("fakes/malformed"), PATIENCE)
    with pytest.raises(DiedError, match=f"TF_InitPlugin did not answer within {PATIENCE} s"):
        loader.load()
    loader.close()


def test_a_hang_only_where_memory_is_filled_is_not_blamed() -> None:
    judged = judge("fakes/faulty", "hangs-when-filled:read", of_clause("read.succeeds")[:1], timeout=PATIENCE)
    assert [record.verdict for record in judged.records] == [Verdict.CONFORM]


# Damaged frames -------------------------------------------------------------------------------------------------------

#: The exit status of a host whose client or machine is at fault: harness/host/environment.h.
BROKEN_ENVIRONMENT = 71

#: How the client takes the values of a frame.
TAKERS: tuple[Callable[[wire.Reply], object], ...] = (
    wire.Reply.take, wire.Reply.take_number, wire.Reply.take_bytes, wire.Reply.take_text, wire.Reply.take_status,
    lambda reply: [*reply.take_texts()], lambda reply: reply.is_a(b"done"),
)  # fmt: skip
#: Each byte of a stream that is changed, counted from its start or its end, and what it becomes.
CHANGES = st.lists(st.tuples(st.integers(-40, 40), st.integers(0, 255)), max_size=4)
VALUES = st.lists(st.integers(-(2**63), 2**64 - 1) | st.binary(max_size=40), max_size=6)


def changed(stream: bytes, changes: Sequence[tuple[int, int]]) -> bytes:
    content = bytearray(stream)
    for place, byte in changes:
        if -len(content) <= place < len(content):
            content[place] = byte
    return bytes(content)


def frames_in(stream: bytes) -> Iterator[wire.Reply]:
    """The frames that the client finds in these bytes; WireError ends them."""
    reading, writing = os.pipe()
    with open(reading, "rb"), open(writing, "wb", buffering=0) as pipe, contextlib.suppress(wire.WireError):
        wire.widen(writing)
        assert pipe.write(stream) == len(stream)
        pipe.close()
        frames, more = wire.Frames(), True
        while more:
            more = frames.read(reading)
            while reply := frames.take():
                yield reply


def size_of_values(reply: wire.Reply, take: Callable[[wire.Reply], object]) -> int:
    """The bytes of byte strings that are taken before the frame ends or WireError is raised."""
    size = 0
    with contextlib.suppress(wire.WireError):
        while reply.more:
            value = take(reply)
            size += len(value) if isinstance(value, bytes) else 0
            if isinstance(value, bool):
                break
    return size


@given(st.lists(VALUES, min_size=1, max_size=3), CHANGES, st.integers(0, 10), st.sampled_from((0, 70_000)))
def test_damaged_frames_give_values_or_wire_errors(
    requests: list[list[wire.Value]], changes: list[tuple[int, int]], cut: int, padding: int
) -> None:
    whole = b"".join(wire.encode("done", [*values, b"x" * padding]) for values in requests)
    stream = changed(whole, changes)[: len(whole) - cut]
    for take in TAKERS:
        tracemalloc.start()
        size = sum(size_of_values(reply, take) for reply in frames_in(stream))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert size <= len(stream)
        assert peak < 8 * len(stream) + (1 << 20)


@given(VALUES, st.sampled_from(TAKERS))
def test_undamaged_frames_are_found_whole(values: list[wire.Value], take: Callable[[wire.Reply], object]) -> None:
    frame = wire.encode("done", values)
    first, second = frames_in(frame + frame)
    signed = [value - 2**64 if isinstance(value, int) and value >= 2**63 else value for value in values]
    assert [second.take() for _ in range(1 + len(values))] == [b"done", *signed]
    assert not second.more
    size_of_values(first, take)


@contextlib.contextmanager
def host_without_plugin(stream: bytes) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A host that was sent these bytes, and its answers. Its input ends with the block."""
    with subprocess.Popen(
        [native_directory() / "tffs-host"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        host.stdin.write(stream)
        host.stdin.flush()
        yield host, host.stdout
        host.stdin.close()
        host.wait()


def test_host_answers_damaged_requests() -> None:
    chosen = random.Random(0)
    given: list[tuple[str, tuple[wire.Value, ...]]] = [
        ("stat", (0, b"/x")), ("describe", (0,)), ("load", (b"/no.so",)), ("append", (1, b"abc")),
    ]  # fmt: skip
    requests = [wire.values_of(*one) for one in given]
    stream, count = b"", 300
    for _ in range(count):
        body = bytearray(chosen.choice(requests))
        for _ in range(chosen.choice((1, 2, 8))):
            body[chosen.randrange(len(body))] = chosen.choice((0, ord("i"), ord("s"), 0xFF, chosen.randrange(256)))
        del body[chosen.choice((len(body), chosen.randrange(len(body)))) :]
        stream += len(body).to_bytes(4, "little") + body
    answers: list[wire.Value] = []
    with host_without_plugin(stream) as (host, output):
        frames = wire.Frames()
        while len(answers) < count and frames.read(output.fileno()):
            while reply := frames.take():
                answers.append(reply.take())
        assert host.poll() is None
    assert host.returncode == 0
    assert len(answers) == count
    assert set(answers) == {b"bad", b"done"}


@pytest.mark.parametrize("length", [0, 5, 100, wire.LARGEST_BODY, wire.LARGEST_BODY + 1, 2**32 - 1])
def test_host_ends_after_wrong_frame_length(length: int) -> None:
    with host_without_plugin(length.to_bytes(4, "little") + wire.values_of("stat", (0, b"/x"))) as (host, _):
        pass
    assert host.returncode == 0


@pytest.mark.parametrize("values", [("quit", (b"x",)), ("quit", (1,)), ("relay", (b"NAME",)), ("relay", (1, 2))])
def test_host_names_a_damaged_last_request(values: tuple[str, tuple[wire.Value, ...]]) -> None:
    with host_without_plugin(wire.encode(*values)) as (host, _):
        assert host.stderr is not None
        assert host.wait() == BROKEN_ENVIRONMENT
        assert host.stderr.read().startswith(b"tffs-host: a request is damaged: ")
