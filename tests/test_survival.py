"""What a killed host leaves, and what a loss of power does: where hosts are killed, and which promises are broken."""

from typing import Any

import pytest

from tffs_conformance.harness.launchers.strace import Injection, read
from tffs_conformance.suite.contract import power, survival
from tffs_conformance.suite.contract.survival import CLOSED, DONE, EITHER, FLUSHED, KEPT, SYNCED, WHOLE, Moment
from tffs_conformance.suite.engine.killing import MOST, is_on_storage, spread

#: The ops of a plugin that has all of them.
OWN = ("flush", "sync", "rename_file", "copy_file")
BESIDE: dict[str, Any] = {"beside": b"what is beside"}


def test_calls_that_change_storage_are_known() -> None:
    calls = read(
        '7 openat(AT_FDCWD</work>, "/d/a", O_WRONLY|O_CREAT, 0666) = 5</d/a>\n'
        '7 openat(AT_FDCWD</work>, "/d/a", O_RDONLY) = 6</d/a>\n'
        '7 write(1<pipe:[7]>, ""..., 1) = 1\n'
        '7 write(2</dev/null>, ""..., 1) = 1\n'
        '7 write(5</d/a>, ""..., 1) = ?\n'
    )
    assert [is_on_storage(call) for call in calls] == [True, False, False, False, True]


def test_injection_is_words_of_strace() -> None:
    assert Injection("write", 3).words == "inject=write:signal=KILL:when=3"
    assert Injection("write", 3, "EIO").words == "inject=write:error=EIO:when=3"


def test_some_of_many_calls_are_tried() -> None:
    planned = [Injection("write", number) for number in range(1, 101)]
    tried = spread(planned)
    assert (len(tried), len(set(tried))) == (MOST, MOST)
    assert (tried[0], tried[-1]) == (planned[0], planned[-1])
    assert spread(planned[:7]) == planned[:7]


@pytest.mark.parametrize(
    ("history", "number", "answered", "got", "clauses"),
    [
        # Nothing is promised of a file that is being written, but that its bytes are its own.
        ("write", 1, True, {}, []),
        ("write", 1, True, {"file": b""}, []),
        ("write", 1, True, {"file": b"the first"}, []),
        ("write", 1, True, {"file": b"the first piece, the second"}, [EITHER]),
        ("write", 2, False, {"file": b"the first piece, the second"}, []),
        ("write", 2, False, {"file": b"the second"}, [EITHER]),
        ("write", 4, False, {"file": b""}, []),
        ("write", 4, True, {"file": b"the first piece, the second one, "}, [CLOSED]),
        ("write", 4, True, {"file": b"the first piece, the second one, the third"}, []),
        ("write", 4, True, {"file": b"the first piece, the second one, the third!"}, [CLOSED]),
        # What was synced stays, and what was flushed.
        ("sync", 2, True, {"file": b"the first"}, [SYNCED]),
        ("sync", 3, False, {"file": b"the first piece, the"}, []),
        ("sync", 5, False, {"file": b""}, [SYNCED]),
        ("flush", 2, True, {}, [FLUSHED]),
        ("flush", 5, True, {"file": b""}, [CLOSED]),
        # What is written over is the old one or the new one.
        ("write-over", 0, True, {"file": b"what was there, longer than what comes after"}, []),
        ("write-over", 0, False, {"file": b"what was"}, [EITHER]),
        # What is appended to begins as it did.
        ("append", 0, False, {"file": b""}, [KEPT]),
        ("append", 1, True, {"file": b"what was there, the"}, []),
        ("append", 2, True, {"file": b"what was there"}, [SYNCED]),
        ("append", 2, True, {"file": b"what"}, [KEPT]),
        # What is moved is in one place at least.
        ("rename", 0, False, {"file": b"what was there"}, []),
        ("rename", 0, False, {"new": b"what was there"}, []),
        ("rename", 0, False, {"file": b"what was there", "new": b"what was there"}, []),
        ("rename", 0, False, {"file": b"what was there", "new": b"what"}, [WHOLE]),
        ("rename", 0, False, {}, [KEPT]),
        ("rename", 0, True, {"file": b"what was there"}, [DONE, DONE]),
        ("rename-over", 0, False, {"file": b"what was there"}, [WHOLE]),
        ("rename-over", 0, False, {"target": b"another one"}, [KEPT]),
        ("rename-elsewhere", 0, False, {"parts": None, "parts/other": b"another one", "new": b"what was there"}, []),
        ("rename-elsewhere", 0, False, {"parts": None, "parts/other": b"another one"}, [KEPT]),
        ("rename-directory", 0, False, {"d": None, "new": None, "new/a": b"what is in a", "d/in": None,
                                        "d/in/b": b"what is in b"}, []),
        ("rename-directory", 0, False, {"new": None, "new/a": b"what is in a", "new/in": None}, [KEPT]),
        ("copy", 0, False, {"file": b"what was there", "new": b"what"}, [EITHER]),
        ("copy", 0, False, {}, [KEPT]),
        ("copy-over", 0, True, {"file": b"what was there", "target": b"another one"}, [DONE]),
        ("delete_file", 0, False, {"file": b"what"}, [EITHER]),
        ("delete_file", 0, True, {"file": b"what was there"}, [DONE]),
        ("delete_recursively", 0, False, {"d": None, "d/a": b"what is in a"}, []),
        ("delete_recursively", 0, True, {"d": None}, [DONE]),
        ("directories", 0, True, {}, [DONE]),
        ("directories", 1, False, {"new": None, "far": None}, []),
    ],
)  # fmt: skip
def test_killed_host_breaks_clauses(history: str, number: int, answered: bool, got: Any, clauses: list[str]) -> None:
    one, moment = survival.histories()[history], Moment(number, answered)
    assert [name for name, _ in survival.broken(one, moment, got | BESIDE, OWN)] == clauses
    assert set(clauses) <= survival.at_stake(one, moment, OWN)
    assert sorted(name for name, _ in survival.broken(one, moment, got, OWN)) == sorted([*clauses, KEPT])


def test_killed_host_breaks_no_promise_of_core() -> None:
    half = {"file": b"what was there", "target": b"what", **BESIDE}
    for name in ("rename-over", "copy-over"):
        history = survival.histories()[name]
        assert not list(survival.broken(history, Moment(0, False), half, ()))
        assert survival.at_stake(history, Moment(0, False), ()) == {KEPT}
    empty, sync = {"file": b"", **BESIDE}, survival.histories()["sync"]
    assert [name for name, _ in survival.broken(sync, Moment(2, True), empty, ("flush",))] == [FLUSHED]
    assert not list(survival.broken(sync, Moment(2, True), empty, ()))


@pytest.mark.parametrize(
    ("history", "number", "answered", "got", "clauses"),
    [
        # Nothing is promised before a sync, by close either.
        ("sync", 1, True, {}, []),
        ("sync", 2, False, {"file": b""}, []),
        ("two-files", 6, True, {}, []),
        # What was synced is there, and its name is as good as it can be.
        ("sync", 2, True, {}, [power.SYNCED]),
        ("sync", 2, True, {"file": b"the first"}, [power.SYNCED]),
        ("sync", 3, True, {"file": b"the first piece, "}, []),
        ("sync", 6, True, {"file": b"the first piece, the second one, "}, []),
        ("sync-over", 1, True, {"file": b"what was there, longer than what comes after"}, []),
        ("sync-over", 2, True, {"file": b"what was there, longer than what comes after"}, [power.SYNCED]),
        # What was durable stays.
        ("append", 1, True, {"file": b"what"}, [power.KEPT]),
        ("append", 4, True, {"file": b"what was there, the first piece"}, []),
        ("copy", 0, True, {"file": b"what was there"}, []),
        ("copy", 0, True, {"new": b"what was there"}, [power.KEPT]),
        ("delete_file", 0, False, {"file": b""}, []),
        # What is renamed is in one place at least, whole.
        ("rename", 0, False, {"file": b"what was there"}, []),
        ("rename", 0, True, {"file": b"what was there"}, []),
        ("rename", 0, True, {"new": b"what was there"}, []),
        ("rename", 0, True, {}, [power.KEPT]),
        ("rename-over", 0, True, {"file": b"what was there", "target": b"another one"}, []),
        ("rename-over", 0, False, {"file": b"what was there"}, [power.WHOLE]),
        ("rename-over", 0, True, {"target": b""}, [power.WHOLE, power.KEPT]),
        ("rename-elsewhere", 0, True, {"parts": None, "parts/other": b"another one", "new": b""},
         [power.WHOLE, power.KEPT]),
        ("sync-and-rename", 4, True, {}, [power.SYNCED]),
        ("sync-and-rename", 4, True, {"file.tmp": b"what was written"}, []),
    ],
)  # fmt: skip
def test_lost_power_breaks_clauses(history: str, number: int, answered: bool, got: Any, clauses: list[str]) -> None:
    one, moment = power.histories()[history], Moment(number, answered)
    # A file that was synced is whole where its name is durable; otherwise that clause is about its name.
    without = [power.NAMED if name == power.SYNCED else name for name in clauses]
    for names, broken in ((True, clauses), (False, without)):
        assert [name for name, _ in power.broken(one, moment, got | BESIDE, OWN, names=names)] == broken
        assert set(broken) <= power.at_stake(one, moment, OWN, names=names)
        lost = [name for name, _ in power.broken(one, moment, got, OWN, names=names)]
        assert sorted(lost) == sorted([*broken, power.KEPT])


def test_lost_power_breaks_no_promise_of_core() -> None:
    rename, sync, synced = power.histories()["rename"], power.histories()["sync"], Moment(2, True)
    assert not list(power.broken(rename, Moment(0, True), BESIDE, (), names=True))
    assert power.at_stake(rename, Moment(0, True), (), names=True) == {power.KEPT}
    assert not list(power.broken(sync, synced, BESIDE, ("flush",), names=True))
    assert power.SYNCED not in power.at_stake(sync, synced, ("flush",), names=True)
