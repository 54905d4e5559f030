"""Failing system calls and allocations: what strace writes is read, which are planned to fail, what a failure loses.

What stays open is waited for: who closes late is not blamed, and who never does is told so once.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.hosted import hosted
from tests.test_runtime import ERRNOS
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.registration import Scheme
from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.launchers.strace import Call, read
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.suite.contract.system_calls import calls, codes
from tffs_conformance.suite.engine import closing
from tffs_conformance.suite.engine.allocating import LIBRARY, FailedAllocation, RegistrationOutcome, plan
from tffs_conformance.suite.engine.closing import Closing
from tffs_conformance.suite.engine.contents import harmed, missing
from tffs_conformance.suite.engine.disturbing import Attempt
from tffs_conformance.suite.engine.failing import FailedCall, failures, is_unreported
from tffs_conformance.suite.engine.stimulus import Performance

NOTHING = Performance.__new__(Performance)


def test_calls_are_read_with_their_files() -> None:
    found = read(
        '7 read(3<pipe:[1]>, ""..., 9) = 9\n'
        '7 openat(AT_FDCWD</work>, "/d/a", O_WRONLY|O_CREAT, 0666) = 5</d/a>\n'
        '8 write(5</d/a>, ""..., 1 <unfinished ...>\n'
        "7 close(5</d/a>) = -1 EIO (Input/output error) (INJECTED)\n"
        "8 <... write resumed>) = 1\n"
        "7 close(6</d/caf\\303\\251>) = 0\n"
        "7 +++ exited with 0 +++\n"
    )
    assert [(call.name, call.number) for call in found] == [
        ("read", 1), ("openat", 1), ("write", 1), ("close", 1), ("close", 2),
    ]  # fmt: skip
    assert [set(call.within("/d")) for call in found] == [set(), {"a"}, {"a"}, {"a"}, {"café"}]
    assert not any(call.within("/d/b") for call in found)
    assert found[1].within("/d/a") == ("",)
    assert [call.injected for call in found] == [False, False, False, True, False]
    assert [call.succeeded for call in found] == [True, True, True, False, True]
    assert [call.descriptor for call in found] == ["3", "5", "5", "5", "6"]


def test_plan_has_first_last_and_middle_calls() -> None:
    made = [Call("7", "write", number, ("/d/a",), "write(") for number in range(3, 10)]
    made += [Call("7", "fcntl", 1, ("/d/a",), "fcntl(3</d/a>, F_GETFL) = 0")]
    made += [Call("7", "fcntl", 2, ("/d/a",), "fcntl(3</d/a>, F_DUPFD_CLOEXEC, 0) = 4</d/a>")]
    made += [Call("7", "dup", 5, ("/d/odd-4711",), "dup(4</d/odd-4711>) = 5</d/odd-4711>")]
    planned = list(failures(Attempt(NOTHING, NOTHING, {}, {}, tuple(made), "/d"), {"a"}))
    assert {(one.call, one.number, one.file, one.occurrence, one.of) for one in planned} == {
        ("write", 1, "a", 1, 7), ("write", 7, "a", 7, 7), ("write", 4, "a", 4, 7),
        ("fcntl", 2, "a", 1, 1), ("dup", 5, None, 1, 1),
    }  # fmt: skip
    assert {one.error for one in planned if one.call == "write"} == set(calls()["write"].errors)
    assert str(planned[0]) == "write 1 of 7 fails with ENOSPC"


def test_codes_are_those_of_the_runtime() -> None:
    needed = {error for failing in calls().values() for error in failing.errors}
    assert {error: ERRNOS.get(error, Code.UNKNOWN) for error in needed} == dict(codes())


WROTE, SYNCED = 'write(5</d/a>, ""..., 1) = 1\n', "fsync(5</d/a>) = 0\n"
UNSYNCED, UNCLOSED = "fsync(5</d/a>) = -1 {} (INJECTED)\n", "close(5</d/a>) = -1 {} (INJECTED)\n"
OPENED = 'openat(AT_FDCWD</>, "/d/a", O_WRONLY|O_CREAT, 0666) = 5</d/a>\n'
LOOKED = 'openat(AT_FDCWD</>, "/d/a", O_RDONLY) = 5</d/a>\n'
MADE_ROOM, MAPPED = "ftruncate(5</d/a>, 9) = 0\n", "mmap(NULL, 9, PROT_WRITE, MAP_SHARED, 5</d/a>, 0) = 0x7f00\n"
ANEW = tuple(line.replace("5</d/a>", "6</d/b>").replace("/d/a", "/d/b") for line in (OPENED, WROTE, SYNCED))


DSYNC = OPENED.replace("O_CREAT", "O_CREAT|O_DSYNC")
SYNCED_ALL, MAPPED_SYNC = "syncfs(4</d>) = 0\n", "msync(0x7f00, 9, MS_SYNC) = 0\n"
LOST = (
    (OPENED, WROTE, UNSYNCED), (OPENED, WROTE, UNSYNCED, SYNCED), (OPENED, WROTE, SYNCED, WROTE, UNSYNCED),
    (OPENED, WROTE, SYNCED, OPENED, WROTE, UNSYNCED), (LOOKED, UNSYNCED), (OPENED, WROTE, UNCLOSED),
    (OPENED, WROTE, SYNCED, WROTE, UNCLOSED), (OPENED, WROTE, SYNCED, OPENED, WROTE, UNCLOSED),
    (OPENED, WROTE, "fsync(4</d>) = 0\n", UNCLOSED), (OPENED, MADE_ROOM, MAPPED, UNCLOSED),
    (OPENED, WROTE, SYNCED_ALL, WROTE, UNCLOSED),
    # Not all is written to another file.
    (OPENED, WROTE, WROTE, UNSYNCED, *ANEW), (OPENED, WROTE, UNSYNCED, *ANEW[:-1]), (OPENED, UNSYNCED, *ANEW),
)  # fmt: skip
SAFE = (
    (OPENED, WROTE, UNSYNCED, WROTE, SYNCED), (OPENED, WROTE, SYNCED, UNSYNCED), (OPENED, WROTE, SYNCED, UNCLOSED),
    (OPENED, UNCLOSED), (LOOKED, UNCLOSED),
    # Durable by other ways.
    (DSYNC, WROTE, UNCLOSED), (OPENED, WROTE, SYNCED_ALL, UNCLOSED), (OPENED, MADE_ROOM, MAPPED, MAPPED_SYNC, UNCLOSED),
    (OPENED, WROTE, "fsync(6</d/a>) = 0\n", UNCLOSED),
    # A directory keeps names.
    (OPENED, WROTE, SYNCED, "fsync(4</d>) = -1 {} (INJECTED)\n"),
    (OPENED, WROTE, SYNCED, "fsync(4</d/e>) = -1 {} (INJECTED)\n"),
    # All is written to another file.
    (OPENED, WROTE, UNSYNCED, *ANEW), (OPENED, WROTE, UNCLOSED, *ANEW),
)  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "error", "lost"),
    [
        *((lines, "EIO", True) for lines in LOST),
        *((lines, "EIO", False) for lines in SAFE),
        *((lines, "EINTR", False) for lines in ((OPENED, WROTE, UNSYNCED, SYNCED), (OPENED, WROTE, UNCLOSED))),
    ],
)
def test_failure_loses_what_is_not_durable(lines: tuple[str, ...], error: str, lost: bool) -> None:
    made = tuple(read("".join(f"7 {line}" for line in lines).replace("{}", error)))
    (failed,) = (call for call in made if call.injected)
    failure = FailedCall(failed.name, 1, "a", 1, 1, error)
    assert is_unreported(failure, Attempt(NOTHING, NOTHING, {"e": None}, {}, made, "/d"), durable=True) == lost


@pytest.mark.parametrize(
    ("before", "whole", "got", "said"),
    [
        ({"a": b"1"}, {"a": b"1"}, {"a": b"1"}, None),
        ({"a": b"1"}, {"a": b"1"}, {}, "a is gone"),
        ({"a": b"1"}, {"a": b"1"}, {"a": b""}, "a has b''"),
        # Appended to.
        ({"a": b"1"}, {"a": b"123"}, {"a": b"12"}, None),
        ({"a": b"1"}, {"a": b"123"}, {"a": b"2"}, "a has b'2'"),
        # Replaced.
        ({"a": b"1"}, {"a": b"2"}, {"a": b"2"}, None),
        ({"a": b"1"}, {"a": b"2"}, {"a": b""}, "a has b''"),
        ({"a": b"1"}, {"a": b"2"}, {}, "a is gone"),
        # Moved.
        ({"a": b"1"}, {"b": b"1"}, {"a": b"1"}, None),
        ({"a": b"1"}, {"b": b"1"}, {"b": b"1"}, None),
        ({"a": b"1"}, {"b": b"1"}, {"b": b""}, "a is gone"),
        # Deleted.
        ({"a": b"1"}, {}, {}, None),
        ({"a": b"1"}, {}, {"a": b""}, "a has b''"),
    ],
)
def test_content_that_is_harmed_is_named(before: Any, whole: Any, got: Any, said: str | None) -> None:
    assert harmed(before, whole, got, ()) == said
    assert harmed(before, whole, got, before) is None


@pytest.mark.parametrize(
    ("before", "whole", "got", "said"),
    [
        ({}, {"a": b"1"}, {"a": b"1", "of the plugin": b""}, None),
        ({}, {"a": b"1"}, {}, "a is not there"),
        ({}, {"a": b"1"}, {"a": b""}, "a has b'' instead of b'1'"),
        ({"a": b"1"}, {}, {"a": b"1"}, "a is still there"),
        ({}, {"a": None}, {"a": None}, None),
    ],
)
def test_content_that_is_missing_is_named(before: Any, whole: Any, got: Any, said: str | None) -> None:
    assert missing(before, whole, got) == said


# What stays open ------------------------------------------------------------------------------------------------------


class Clock:
    """Stands for the module `time`."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(closing, "time", one)
    return one


def test_who_closes_late_has_the_whole_time_again_and_again(clock: Clock) -> None:
    waiting, closes_at = Closing(10), []
    for _ in range(3):
        closes_at.append(clock.now + 9)
        assert waiting.wait(lambda: int(clock.now < closes_at[-1]), 0) == 0


def test_who_never_closes_is_waited_for_until_that_is_told(clock: Clock) -> None:
    waiting = Closing(10)
    assert waiting.wait(lambda: 3, 1) == 3
    assert 10 <= clock.now < 11
    waiting.is_told = True
    assert waiting.wait(lambda: 3, 1) == 3
    assert clock.now < 11


MORE, AGAIN = "a descriptor stays open", "a descriptor is closed once more"


@pytest.mark.parametrize(
    ("left", "waited", "said"),
    [(3, True, None), (4, True, MORE), (4, False, None), (2, True, AGAIN), (2, False, AGAIN)],
)
def test_who_is_not_waited_for_is_blamed_for_what_no_waiting_mends(left: int, waited: bool, said: str | None) -> None:
    # Two descriptors were open before, and a close fails that strace does not make.
    failed = Call("7", "close", 1, ("/d/a",), "close(3</d/a>) = -1 EIO (Input/output error) (INJECTED)")
    whole = Attempt(NOTHING, NOTHING, {}, {}, open_before=2, open=2)
    attempt = Attempt(NOTHING, NOTHING, {}, {}, (failed,), "/d", open_before=2, open=left, waited=waited)
    assert attempt.closed_wrongly(whole) == said
    assert attempt.stays_open(whole) == (said == MORE)


# Failing allocations --------------------------------------------------------------------------------------------------


def test_plan_begins_with_first_middle_and_last() -> None:
    planned = plan([("stat", 0), ("read", 1), ("translate_name", 4), ("append", 5), ("append", 2)])
    assert [(one.op, one.call, one.number) for one in planned] == [
        ("read", 2, 1), ("append", 4, 1), ("append", 4, 3), ("append", 4, 5), ("append", 5, 1), ("append", 5, 2),
        ("append", 4, 2), ("append", 4, 4),
    ]  # fmt: skip
    assert str(planned[2]) == "allocation 3 of 5 in append fails"
    assert str(planned[0]) == "allocation in read fails"


ALLOCATOR = {"LD_PRELOAD": str(native_directory() / LIBRARY)}


def counted(host: Host, call: int, number: int) -> list[tuple[str, int]]:
    reply = host.call("allocations", call, number)
    assert reply is not None
    return [(reply.take_text(), reply.take_number()) for _ in iter(lambda: reply.more, False)]


def test_allocations_of_the_runtime_are_not_counted(tmp_path: Path) -> None:
    path = str(tmp_path / "a name for which a message needs memory")
    with hosted("posix", environment=ALLOCATOR) as (loaded, raw):
        assert counted(loaded.host, 0, 0) == []
        raw.path_op("path_exists", path)
        # The message of its status is longer than a string holds by itself.
        assert counted(loaded.host, 1, 1) == [("path_exists", 0)]
        got = raw.path_op("path_exists", path)
        assert (got.code, got.message.endswith("No such file or directory")) == (Code.NOT_FOUND, True)
        assert counted(loaded.host, -1, 0) == [("path_exists", 0)]
        raw.path_op("path_exists", path)
        assert counted(loaded.host, -1, 0) == []


def test_only_the_named_allocation_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with hosted("posix", environment=ALLOCATOR) as (loaded, raw):
        counted(loaded.host, 0, 0)
        raw.entries_op("get_children", str(tmp_path))
        # What was listed is given back by functions of the plugin, too.
        first = counted(loaded.host, 1, 2)
        assert first[0][1] > 2
        codes = [raw.entries_op("get_children", str(tmp_path)).code for _ in range(2)]
        assert codes == [Code.RESOURCE_EXHAUSTED, Code.OK]
        assert len(counted(loaded.host, -1, 0)) == len(first) + 1


def test_host_with_another_allocator_says_so() -> None:
    with (
        hosted("posix") as (loaded, _),
        pytest.raises(HostLostError, match="cannot perform allocations: its allocator is not the one"),
    ):
        loaded.host.call("allocations", 0, 0)


def test_allocation_in_init_is_of_its_scheme() -> None:
    schemes = tuple(Scheme(index, name, {}, 0, init_called=True) for index, name in enumerate(("one", "two")))
    attempt = RegistrationOutcome(None, [("TF_InitPlugin", 2), ("init", 0), ("init", 3)], frozenset(), schemes)
    assert [attempt.of(FailedAllocation("", call, 1, 3)) for call in (1, 2, 3, 4)] == [None, *schemes, None]
    assert [attempt.made(call) for call in (1, 3, 4)] == [2, 3, 0]
