"""What a killed host leaves, and what a loss of power does: where hosts are killed, and which promises are broken.

Also the filesystem in which power is lost, and what a disk then has.
"""

import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.test_conditions import needs_fuse
from tests.test_suite import wait_until
from tffs_conformance.harness.launchers.strace import Injection, read
from tffs_conformance.harness.power import mounted
from tffs_conformance.harness.power.disk import (
    ROOT,
    Disk,
    Event,
    Found,
    Made,
    Named,
    PowerLoss,
    Settled,
    Sized,
    Synced,
    Written,
)
from tffs_conformance.harness.power.mounted import Mounted, NoPowerError, lacking
from tffs_conformance.suite.contract import power, survival
from tffs_conformance.suite.contract.survival import CLOSED, DONE, EITHER, FLUSHED, KEPT, SYNCED, WHOLE, Moment
from tffs_conformance.suite.engine.killing import MOST, is_on_storage, spread
from tffs_conformance.suite.engine.power import put, states_of

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


# The filesystem in which power is lost --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["DEVICE", "PROGRAM", "BINDING"])
def test_lacking_part_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    everything = {"DEVICE": "/dev/null", "PROGRAM": "sh", "BINDING": "json"}
    for one, there in everything.items():
        monkeypatch.setattr(mounted, one, "no-such-thing" if one == name else there)
    assert str(lacking()).startswith("no-such-thing is not there: ")
    monkeypatch.setattr(mounted, name, everything[name])
    assert lacking() is None


@needs_fuse
def test_mounted_filesystem_does_what_filesystems_do(tmp_path: Path) -> None:
    with Mounted(str(tmp_path)) as disk:
        for name in [f"many-{k}" for k in range(300)]:
            (tmp_path / name).touch()
        assert len(os.listdir(tmp_path)) == 300
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "a").write_bytes(b"one")
        os.link(tmp_path / "d" / "a", tmp_path / "b")
        (tmp_path / "link").symlink_to("d/a")
        with (tmp_path / "link").open("ab") as file:
            file.write(b" two")
        assert (tmp_path / "b").read_bytes() == b"one two"
        assert (tmp_path / "b").stat().st_nlink == 2
        with pytest.raises(OSError, match="not empty"):
            (tmp_path / "d").rmdir()
        with (tmp_path / "b").open("rb") as file:
            (tmp_path / "c").write_bytes(b"other")
            before = disk.mark()
            os.rename(tmp_path / "c", tmp_path / "b")
            # It was open, and is replaced at once all the same.
            assert disk.mark() == before + 1
            assert (file.read(), (tmp_path / "b").read_bytes()) == (b"one two", b"other")
        descriptor = os.open(tmp_path / "b", os.O_RDWR)
        os.unlink(tmp_path / "b")
        os.ftruncate(descriptor, 3)
        os.posix_fallocate(descriptor, 0, 9)
        assert os.pread(descriptor, 99, 0) == b"oth" + bytes(6)
        os.close(descriptor)
        assert not {"b", "c"} & {*os.listdir(tmp_path)}
        assert os.statvfs(tmp_path).f_bavail > 0
    assert not os.path.ismount(tmp_path)
    assert not os.listdir(tmp_path)


@needs_fuse
def test_mounted_filesystem_sees_each_way_of_syncing(tmp_path: Path) -> None:
    program = (
        "import mmap, os, sys\n"
        "def opened(name, flags=0): return os.open(sys.argv[1] + '/' + name, os.O_CREAT | os.O_RDWR | flags)\n"
        "for name, sync in ('fsync', os.fsync), ('fdatasync', os.fdatasync), ('nothing', id):\n"
        "    sync((os.write(file := opened(name), b'x'), file)[1])\n"
        "os.write(opened('dsync', os.O_DSYNC), b'x')\n"
        "os.truncate(file := opened('mapped'), 1)\n"
        "with mmap.mmap(file, 1) as memory:\n"
        "    memory[0:1] = b'x'\n"
        "    memory.flush()\n"
    )
    with Mounted(str(tmp_path)) as disk:
        subprocess.run([sys.executable, "-c", program, tmp_path], check=True)
        found = Disk(disk.events()).after(PowerLoss.DATA)
    assert found == {"fsync": b"x", "fdatasync": b"x", "nothing": b"", "dsync": b"x", "mapped": b"x"}


@needs_fuse
def test_write_is_durable_by_its_own_open(tmp_path: Path) -> None:
    with Mounted(str(tmp_path)) as disk:

        def events_of(do: Callable[..., object], *arguments: object) -> set[type[Event]]:
            before = disk.mark()
            do(*arguments)
            # Newer kernels call fsync(2) after a write with O_DSYNC as well.
            return {type(event) for event in disk.events()[before:]}

        durable, lost = {Written, Synced}, {Written}
        (tmp_path / "source").write_bytes(b"x")
        source = os.open(tmp_path / "source", os.O_RDONLY)
        os.close(os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR | os.O_DSYNC))
        plain = os.open(tmp_path / "file", os.O_RDWR)
        # Another open with O_DSYNC is closed, and then there.
        assert events_of(os.write, plain, b"x") == lost
        through = os.open(tmp_path / "file", os.O_RDWR | os.O_DSYNC)
        for descriptor, events in ((plain, lost), (through, durable), (plain, lost)):
            assert events_of(os.write, descriptor, b"x") == events
            assert events_of(os.copy_file_range, source, descriptor, 1, 0) == events
            assert events_of(os.posix_fallocate, descriptor, 0, os.fstat(descriptor).st_size + 1) == {Sized}
        assert events_of(os.pwritev, plain, [b"x"], 0, os.RWF_DSYNC) == durable

        def write_mapped() -> None:
            with mmap.mmap(through, 1) as memory:
                memory[0:1] = b"m"

        # O_DSYNC is about write(2): a mapping waits for msync(2).
        assert events_of(write_mapped) == lost
        for descriptor in source, plain, through:
            os.close(descriptor)


@needs_fuse
def test_mounted_filesystem_ends_with_its_process(tmp_path: Path) -> None:
    program = (
        "import sys, signal; from tffs_conformance.harness.power.mounted import Mounted\n"
        "with Mounted(sys.argv[1]) as disk: print(disk.mark(), flush=True); signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"0\n"
        assert os.path.ismount(tmp_path)
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not os.path.ismount(tmp_path))


@needs_fuse
def test_filesystem_that_cannot_be_mounted_says_why(tmp_path: Path) -> None:
    with pytest.raises(NoPowerError, match="no"), Mounted(str(tmp_path / "no")):
        pass


# The disk ------------------------------------------------------------------------------------------------------------


def made(node: int, name: str, data: bytes = b"", *, durable: bool = False, directory: int = ROOT) -> list[Event]:
    return [
        Made(node), Named(((directory, name, node),)), Written(node, 0, data),
        *([Synced(node), Synced(directory)] if durable else []),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "data", "names", "both"),
    [
        (made(2, "a", b"one"), {"a": b""}, {}, {}),
        ([*made(2, "a", b"one"), Synced(2)], {"a": b"one"}, {}, {}),
        ([*made(2, "a", b"one"), Synced(ROOT)], {"a": b""}, {"a": b"one"}, {"a": b""}),
        ([*made(2, "a", b"one"), Settled()], {"a": b"one"}, {"a": b"one"}, {"a": b"one"}),
        # What is written after fsync(2) is lost; what is cut off may be, and the old bytes with it.
        ([*made(2, "a", b"one", durable=True), Written(2, 3, b"!")], {"a": b"one"}, {"a": b"one!"}, {"a": b"one"}),
        ([*made(2, "a", b"one", durable=True), Sized(2, 0), Written(2, 0, b"two")],
         {"a": b""}, {"a": b"two"}, {"a": b"one"}),
        # A rename is one change.
        ([*made(2, "a", b"one", durable=True), *made(3, "b", b"two"), Named(((ROOT, "b", None), (ROOT, "a", 3)))],
         {"a": b""}, {"a": b"one"}, {"a": b"one"}),
        ([*made(2, "a", b"one", durable=True), Made(4, True), Named(((ROOT, "d", 4),)),
          Named(((ROOT, "a", None), (4, "a", 2))), Synced(4)],
         {"d": None, "d/a": b"one"}, {"d": None, "d/a": b"one"}, {"d": None, "d/a": b"one"}),
        # A directory whose own entry is not durable is lost with what is in it.
        ([Made(4, True), Named(((ROOT, "d", 4),)), *made(2, "a", b"one", durable=True, directory=4)],
         {"d": None, "d/a": b"one"}, {}, {}),
        ([Made(5, link="a"), Named(((ROOT, "l", 5),)), Synced(ROOT)], {"l": "a"}, {"l": "a"}, {"l": "a"}),
    ],
)  # fmt: skip
def test_disk_after_loss_has_durable_parts(events: list[Event], data: Any, names: Any, both: Any) -> None:
    disk = Disk(events)
    assert [disk.after(loss) for loss in PowerLoss] == [data, names, both]


def test_power_is_lost_after_and_within_steps() -> None:
    events = [*made(2, "a", b"one", durable=True), Written(2, 3, b"!"), Synced(2)]
    states = list(states_of(events, [5, 5, 7]))
    seen = [(moment, found) for moment, loss, found in states if loss is PowerLoss.DATA]
    assert seen == [
        (Moment(0, True), {"a": b"one"}), (Moment(1, False), {"a": b"one"}), (Moment(1, True), {"a": b"one!"})
    ]  # fmt: skip
    assert len(states) == 3 * len(PowerLoss)


def test_content_of_disk_replaces_directory(tmp_path: Path) -> None:
    states: tuple[Found, ...] = ({"d": None, "d/a": b"one", "l": "d/a"}, {"d": b"other"})
    for content in states:
        put(str(tmp_path), content)
        assert sorted(os.listdir(tmp_path)) == sorted(name for name in content if "/" not in name)
    assert (tmp_path / "d").read_bytes() == b"other"
