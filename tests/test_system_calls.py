"""Failing system calls: what strace writes is read, which calls are planned to fail, and what a failure loses."""

import re
from pathlib import Path
from typing import Any

import pytest

from tffs_conformance.harness.launchers.strace import Call, read
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.suite.contract.system_calls import calls, codes
from tffs_conformance.suite.engine.contents import harmed, missing
from tffs_conformance.suite.engine.disturbing import Attempt
from tffs_conformance.suite.engine.failing import FailedCall, failures, is_unreported
from tffs_conformance.suite.engine.stimulus import Performance

CLONE = Path(__file__).parents[1]
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
    text = (CLONE / "harness" / "runtime" / "errno_code.cc").read_text()
    known: dict[str, Code] = {}
    for block in re.findall(r"((?:\s+case E\w+:)+)\s+return TF_(\w+);", text):
        known |= dict.fromkeys(re.findall(r"E\w+", block[0]), Code[block[1]])
    needed = {error for failing in calls().values() for error in failing.errors}
    assert {error: known.get(error, Code.UNKNOWN) for error in needed} == dict(codes())


WROTE, SYNCED = 'write(5</d/a>, ""..., 1) = 1\n', "fsync(5</d/a>) = 0\n"
UNSYNCED, UNCLOSED = "fsync(5</d/a>) = -1 {} (INJECTED)\n", "close(5</d/a>) = -1 {} (INJECTED)\n"
OPENED = 'openat(AT_FDCWD</>, "/d/a", O_WRONLY|O_CREAT, 0666) = 5</d/a>\n'
LOOKED = 'openat(AT_FDCWD</>, "/d/a", O_RDONLY) = 5</d/a>\n'
MADE_ROOM, MAPPED = "ftruncate(5</d/a>, 9) = 0\n", "mmap(NULL, 9, PROT_WRITE, MAP_SHARED, 5</d/a>, 0) = 0x7f00\n"
ANEW = (
    'openat(AT_FDCWD</>, "/d/b", O_WRONLY|O_CREAT, 0666) = 6</d/b>\n', 'write(6</d/b>, ""..., 1) = 1\n',
    "fsync(6</d/b>) = 0\n",
)  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "error", "lost"),
    [
        ((OPENED, WROTE, UNSYNCED), "EIO", True),
        ((OPENED, WROTE, UNSYNCED, SYNCED), "EIO", True),
        ((OPENED, WROTE, UNSYNCED, SYNCED), "EINTR", False),
        ((OPENED, WROTE, UNSYNCED, WROTE, SYNCED), "EIO", False),
        # What was there is safe already.
        ((OPENED, WROTE, SYNCED, UNSYNCED), "EIO", False),
        ((OPENED, WROTE, SYNCED, WROTE, UNSYNCED), "EIO", True),
        ((OPENED, WROTE, SYNCED, OPENED, WROTE, UNSYNCED), "EIO", True),
        ((LOOKED, UNSYNCED), "EIO", True),
        ((OPENED, WROTE, UNCLOSED), "EIO", True),
        ((OPENED, WROTE, UNCLOSED), "EINTR", False),
        ((OPENED, WROTE, SYNCED, UNCLOSED), "EIO", False),
        ((OPENED, WROTE, SYNCED, WROTE, UNCLOSED), "EIO", True),
        ((OPENED, WROTE, SYNCED, OPENED, WROTE, UNCLOSED), "EIO", True),
        ((OPENED, UNCLOSED), "EIO", False),
        ((LOOKED, UNCLOSED), "EIO", False),
        # Durable by other ways.
        ((OPENED.replace("O_CREAT", "O_CREAT|O_DSYNC"), WROTE, UNCLOSED), "EIO", False),
        ((OPENED, WROTE, "syncfs(4</d>) = 0\n", UNCLOSED), "EIO", False),
        ((OPENED, WROTE, "fsync(4</d>) = 0\n", UNCLOSED), "EIO", True),
        ((OPENED, WROTE, "fsync(6</d/a>) = 0\n", UNCLOSED), "EIO", False),
        ((OPENED, MADE_ROOM, MAPPED, "msync(0x7f00, 9, MS_SYNC) = 0\n", UNCLOSED), "EIO", False),
        ((OPENED, MADE_ROOM, MAPPED, UNCLOSED), "EIO", True),
        ((OPENED, WROTE, "syncfs(4</d>) = 0\n", WROTE, UNCLOSED), "EIO", True),
        # A directory keeps names.
        ((OPENED, WROTE, SYNCED, "fsync(4</d>) = -1 {} (INJECTED)\n"), "EIO", False),
        ((OPENED, WROTE, SYNCED, "fsync(4</d/e>) = -1 {} (INJECTED)\n"), "EIO", False),
        # All is written to another file.
        ((OPENED, WROTE, UNSYNCED, *ANEW), "EIO", False),
        ((OPENED, WROTE, UNCLOSED, *ANEW), "EIO", False),
        ((OPENED, WROTE, WROTE, UNSYNCED, *ANEW), "EIO", True),
        ((OPENED, WROTE, UNSYNCED, *ANEW[:-1]), "EIO", True),
        ((OPENED, UNSYNCED, *ANEW), "EIO", True),
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
