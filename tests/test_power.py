"""--conditions=power: what is not durable when the power is lost is held against what sync promised."""

import mmap
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.test_suite import report, run, run_anew
from tests.test_survival import wrong
from tffs_conformance.harness.power import mounted
from tffs_conformance.harness.power.disk import (
    ROOT,
    Disk,
    Event,
    Found,
    Loss,
    Made,
    Named,
    Settled,
    Sized,
    Synced,
    Written,
)
from tffs_conformance.harness.power.mounted import Mounted, NoPowerError, lacking
from tffs_conformance.reports import document
from tffs_conformance.suite.contract.power import KEPT, NAMED, SYNCED, WHOLE, at_stake, broken, histories
from tffs_conformance.suite.contract.survival import Moment
from tffs_conformance.suite.engine.power import put, states_of

POWER = "--conditions=power"
CLASS = "power"
OWN = ("flush", "sync", "rename_file", "copy_file")
_lacks = lacking() or (None if shutil.which("strace") else "strace is not there: apt-get install strace")
needs_fuse = pytest.mark.skipif(_lacks is not None, reason=str(_lacks))

DATA, NAMES = "the names are kept, and not the data", "the data are kept, and not the names"
#: Each fault, the history that shows it, the clause that it breaks, and what is said of it.
FAULTS = {
    "sync-does-nothing": ("sync", SYNCED, f"behind sync, {DATA}: file has b''"),
    "sync-is-flush": ("sync", SYNCED, f"behind sync, {DATA}: file has b''"),
    "sync-starts-writing": ("append", SYNCED, f"behind sync, {DATA}: file has b'what was there'"),
    "syncs-too-early": ("sync-appendable", SYNCED, f"behind sync, {DATA}: file has b'the first piece, '"),
    "syncs-once": ("sync", SYNCED, f"behind sync, {DATA}: file has b'the first piece, '"),
    "syncs-another-file": ("sync-two", SYNCED, f"behind sync, {DATA}: one has b''"),
    "syncs-the-directory-only": ("sync-over", SYNCED, f"behind sync, {DATA}: file has b''"),
    "one-open-writes-through": ("sync", SYNCED, f"behind sync, {DATA}: file has b''"),
    "syncs-no-directory": ("sync", NAMED, f"behind sync, {NAMES}: file is not there"),
    "syncs-the-directory-above": ("sync-two", NAMED, f"behind sync, {NAMES}: one is not there"),
    "syncs-no-directory-above": ("sync-in-new-directory", NAMED, f"behind sync, {NAMES}: new/file is not there"),
    "creates-for-itself": ("sync-in-new-directory", NAMED, f"behind sync, {NAMES}: new/file is not there"),
    "creates-the-last": ("sync-far-below", NAMED, f"behind sync, {NAMES}: far/below/file is not there"),
    "renames-before-it-syncs": ("append", KEPT, f"in sync, {DATA}: file has b''"),
    "append-writes-anew": ("append", KEPT, f"behind new_appendable_file, {DATA}: file has b''"),
    "writes-beside": ("sync", KEPT, f"behind sync, {DATA}: beside has b''"),
    "rename-copies": ("rename-over", WHOLE, f"behind rename_file, {DATA}: target has b''"),
    "rename-elsewhere-copies": ("rename-elsewhere", WHOLE, f"behind rename_file, {DATA}: new has b''"),
    "rename-removes-first": ("checkpoint", WHOLE, f"in rename_file, {DATA}: checkpoint is not there"),
}


@needs_fuse
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_loss_of_power_shows_is_told(tmp_path: Path, fault: str) -> None:
    history, clause, said = FAULTS[fault]
    faulty = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT=power.{fault}", f"--case={CLASS}/fails[{history}]", POWER]
    done = run(tmp_path, *faulty)
    found = wrong(report(tmp_path))
    level = "violation" if clause in (SYNCED, KEPT) else "warning"
    assert (level, clause, f"{history}: power lost {said}") in found
    assert all(name.startswith(f"{CLASS}.") for _, name, _ in found)
    assert done.returncode == any(verdict == "violation" for verdict, _, _ in found)


@needs_fuse
def test_a_right_plugin_is_not_blamed(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=posix", f"--case={CLASS}/*", POWER)
    assert done.returncode == 0, done.stdout
    whole = document.load(tmp_path / "tffs-report" / "report.json")
    verdicts: dict[str, set[str]] = {}
    for one in whole.cases:
        assert (one.reason == "rename_file takes no directories") == ("rename-directory" in one.id)
        assert one.verdict == ("absent" if one.reason else "conform"), one
        for check in one.checks:
            verdicts.setdefault(check.clause, set()).add(check.verdict)
    # Nobody is right without having been tried.
    assert verdicts.keys() == {name for name in whole.clauses if name.startswith(f"{CLASS}.")}
    assert all("conform" in given for given in verdicts.values())
    assert len(whole.cases) == len(histories())


@needs_fuse
@pytest.mark.parametrize(
    "choices",
    ["all", "late-creation", "all,no-optional-ops", "no-sync", "sync-aside", "sync-by-mapping", "sync-each-write"],
)
def test_whatever_is_decided_otherwise_is_right(tmp_path: Path, choices: str) -> None:
    given = ["--plugin=posix_choices", f"--env=TFFS_CHOICES={choices}", POWER, "--fail-on=warning,not-run"]
    tried = ("sync", "append", "rename-over", "sync-far-below")
    done = run(tmp_path, *given, *(f"--case={CLASS}/fails[{name}]" for name in tried))
    assert done.returncode == 0, done.stdout


@needs_fuse
@pytest.mark.parametrize(
    ("claimed", "verdict"), [("true", "violation"), ("false", "absent")], ids=["claimed", "given-up"]
)
def test_the_profile_decides_of_renames(tmp_path: Path, claimed: str, verdict: str) -> None:
    (tmp_path / "mine.toml").write_text(f"[claims]\natomic_rename = {claimed}\n")
    faulty = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=power.rename-removes-first", "--plugin-profile=mine.toml"]
    run(tmp_path, *faulty, f"--case={CLASS}/fails[rename-over]", POWER)
    (record,) = report(tmp_path)["cases"]
    assert verdict in {one["verdict"] for one in record["checks"] if one["clause"] == WHOLE}


@pytest.mark.parametrize(
    ("given", "verdict", "reason"),
    [
        pytest.param(["--plugin=posix_choices", "--env=TFFS_CHOICES=sync-the-filesystem"], "not run",
                     "calls syncfs(2), of which a filesystem in user space is not told", marks=needs_fuse),
        pytest.param(["--plugin=objectstore_minimal", "--plugin-profile=object-store", "--env=TFFS_BUCKET={}/bucket"],
                     "not run", "keeps nothing in files below its root on this machine", marks=needs_fuse),
        (["--plugin=memory"], "absent", "its storage lives in its process, and ends with it"),
    ],
)  # fmt: skip
def test_plugin_whose_power_cannot_be_lost_is_not_tried(
    tmp_path: Path, given: list[str], verdict: str, reason: str
) -> None:
    run(tmp_path, *(word.format(tmp_path) for word in given), f"--case={CLASS}/fails[sync]", POWER)
    (record,) = report(tmp_path)["cases"]
    assert (record["verdict"], record["reason"]) == (verdict, reason)


def test_without_fuse_it_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    run_anew(tmp_path, "--plugin=posix", f"--case={CLASS}/fails[sync]", POWER, PATH=str(tmp_path / "bin"))
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "not run"
    assert record["reason"] in (_lacks, "fusermount3 is not there: apt-get install fuse3")


@pytest.mark.parametrize("name", ["DEVICE", "PROGRAM", "BINDING"])
def test_what_is_lacking_is_told_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    everything = {"DEVICE": "/dev/null", "PROGRAM": "sh", "BINDING": "json"}
    for one, there in everything.items():
        monkeypatch.setattr(mounted, one, "no-such-thing" if one == name else there)
    told = lacking()
    assert told is not None
    assert told.startswith("no-such-thing is not there: ")
    monkeypatch.setattr(mounted, name, everything[name])
    assert lacking() is None


# The filesystem ------------------------------------------------------------------------------------------------------


@needs_fuse
def test_the_filesystem_does_what_filesystems_do(tmp_path: Path) -> None:
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
def test_the_filesystem_hears_of_every_way_to_make_bytes_durable(tmp_path: Path) -> None:
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
        found = Disk(disk.events()).after(Loss.DATA)
    assert found == {"fsync": b"x", "fdatasync": b"x", "nothing": b"", "dsync": b"x", "mapped": b"x"}


@needs_fuse
def test_a_write_is_durable_by_the_open_it_goes_through(tmp_path: Path) -> None:
    with Mounted(str(tmp_path)) as disk:

        def told(do: Callable[..., object], *arguments: object) -> set[type[Event]]:
            before = disk.mark()
            do(*arguments)
            # Newer kernels call fsync(2) behind such a write as well.
            return {type(event) for event in disk.events()[before:]}

        durable, lost = {Written, Synced}, {Written}
        (tmp_path / "source").write_bytes(b"x")
        source = os.open(tmp_path / "source", os.O_RDONLY)
        os.close(os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR | os.O_DSYNC))
        plain = os.open(tmp_path / "file", os.O_RDWR)
        # Another open with O_DSYNC is closed, and then there.
        assert told(os.write, plain, b"x") == lost
        through = os.open(tmp_path / "file", os.O_RDWR | os.O_DSYNC)
        for descriptor, events in ((plain, lost), (through, durable), (plain, lost)):
            assert told(os.write, descriptor, b"x") == events
            assert told(os.copy_file_range, source, descriptor, 1, 0) == events
            assert told(os.posix_fallocate, descriptor, 0, os.fstat(descriptor).st_size + 1) == {Sized}
        assert told(os.pwritev, plain, [b"x"], 0, os.RWF_DSYNC) == durable

        def write_mapped() -> None:
            with mmap.mmap(through, 1) as memory:
                memory[0:1] = b"m"

        # O_DSYNC is about write(2): a mapping waits for msync(2).
        assert told(write_mapped) == lost
        for descriptor in source, plain, through:
            os.close(descriptor)


@needs_fuse
def test_the_filesystem_goes_with_whoever_mounted_it(tmp_path: Path) -> None:
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
def test_a_filesystem_that_cannot_be_mounted_says_why(tmp_path: Path) -> None:
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
        # What is written behind fsync(2) is lost; what is cut off may be, and the old bytes with it.
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
def test_what_is_kept(events: list[Event], data: Any, names: Any, both: Any) -> None:
    disk = Disk(events)
    assert [disk.after(loss) for loss in Loss] == [data, names, both]


def test_power_is_lost_behind_each_step_and_within() -> None:
    events = [*made(2, "a", b"one", durable=True), Written(2, 3, b"!"), Synced(2)]
    states = list(states_of(events, [5, 5, 7]))
    told = [(moment, found) for moment, loss, found in states if loss is Loss.DATA]
    assert told == [
        (Moment(0, True), {"a": b"one"}), (Moment(1, False), {"a": b"one"}), (Moment(1, True), {"a": b"one!"})
    ]  # fmt: skip
    assert len(states) == 3 * len(Loss)


def test_what_a_disk_has_is_put_in_place_of_what_is_there(tmp_path: Path) -> None:
    states: tuple[Found, ...] = ({"d": None, "d/a": b"one", "l": "d/a"}, {"d": b"other"})
    for content in states:
        put(str(tmp_path), content)
        assert sorted(os.listdir(tmp_path)) == sorted(name for name in content if "/" not in name)
    assert (tmp_path / "d").read_bytes() == b"other"


# What is wrong with what is left -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "number", "answered", "got", "with_names", "without"),
    [
        # Nothing is promised before a sync, by close either.
        ("sync", 1, True, {}, [], []),
        ("sync", 2, False, {"file": b""}, [], []),
        ("two-files", 6, True, {}, [], []),
        # What was synced is there, and its name is as good as it can be.
        ("sync", 2, True, {}, [SYNCED], [NAMED]),
        ("sync", 2, True, {"file": b"the first"}, [SYNCED], [NAMED]),
        ("sync", 3, True, {"file": b"the first piece, "}, [], []),
        ("sync", 6, True, {"file": b"the first piece, the second one, "}, [], []),
        ("sync-over", 1, True, {"file": b"what was there, longer than what comes after"}, [], []),
        ("sync-over", 2, True, {"file": b"what was there, longer than what comes after"}, [SYNCED], [NAMED]),
        # What was durable stays.
        ("append", 1, True, {"file": b"what"}, [KEPT], [KEPT]),
        ("append", 4, True, {"file": b"what was there, the first piece"}, [], []),
        ("copy", 0, True, {"file": b"what was there"}, [], []),
        ("copy", 0, True, {"new": b"what was there"}, [KEPT], [KEPT]),
        ("delete_file", 0, False, {"file": b""}, [], []),
        # What is renamed is in one place at least, whole.
        ("rename", 0, False, {"file": b"what was there"}, [], []),
        ("rename", 0, True, {"file": b"what was there"}, [], []),
        ("rename", 0, True, {"new": b"what was there"}, [], []),
        ("rename", 0, True, {}, [KEPT], [KEPT]),
        ("rename-over", 0, True, {"file": b"what was there", "target": b"another one"}, [], []),
        ("rename-over", 0, False, {"file": b"what was there"}, [WHOLE], [WHOLE]),
        ("rename-over", 0, True, {"target": b""}, [WHOLE, KEPT], [WHOLE, KEPT]),
        ("rename-elsewhere", 0, True, {"parts": None, "parts/other": b"another one", "new": b""},
         [WHOLE, KEPT], [WHOLE, KEPT]),
        ("sync-and-rename", 4, True, {}, [SYNCED], [NAMED]),
        ("sync-and-rename", 4, True, {"file.tmp": b"what was written"}, [], []),
    ],
)  # fmt: skip
def test_what_is_broken(
    history: str, number: int, answered: bool, got: Any, with_names: list[str], without: list[str]
) -> None:
    one, moment, beside = histories()[history], Moment(number, answered), {"beside": b"what is beside"}
    for names, clauses in ((True, with_names), (False, without)):
        assert [name for name, _ in broken(one, moment, got | beside, OWN, names=names)] == clauses
        assert set(clauses) <= at_stake(one, moment, OWN, names=names)
        lost = [name for name, _ in broken(one, moment, got, OWN, names=names)]
        assert sorted(lost) == sorted([*clauses, KEPT])


def test_nobody_promises_what_core_does() -> None:
    lost: dict[str, bytes | None] = {"beside": b"what is beside"}
    assert not list(broken(histories()["rename"], Moment(0, True), lost, (), names=True))
    assert at_stake(histories()["rename"], Moment(0, True), (), names=True) == {KEPT}
    assert not list(broken(histories()["sync"], Moment(2, True), lost, ("flush",), names=True))
    assert SYNCED not in at_stake(histories()["sync"], Moment(2, True), ("flush",), names=True)
