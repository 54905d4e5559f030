"""A loss of power: the filesystem in which it is made, and what a disk then has."""

import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.test_conditions import needs_fuse
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
from tffs_conformance.suite.contract.survival import Moment
from tffs_conformance.suite.engine.power import put, states_of


@pytest.mark.parametrize("name", ["DEVICE", "PROGRAM", "BINDING"])
def test_lacking_part_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    everything = {"DEVICE": "/dev/null", "PROGRAM": "sh", "BINDING": "json"}
    for one, there in everything.items():
        monkeypatch.setattr(mounted, one, "no-such-thing" if one == name else there)
    assert str(lacking()).startswith("no-such-thing is not there: ")
    monkeypatch.setattr(mounted, name, everything[name])
    assert lacking() is None


# The filesystem ------------------------------------------------------------------------------------------------------


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
    while os.path.ismount(tmp_path):
        time.sleep(0.02)


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
