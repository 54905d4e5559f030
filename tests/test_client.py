"""The client: time-outs, deaths, and no process left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import psutil
import pytest

from tests.hosted import hosted, raw_filesystem
from tests.test_suite import wait_until
from tffs_conformance.harness import wire
from tffs_conformance.harness.hosting import limits as host_limits
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.loader import ALL_HANGS, MAX_HANGS, BlockedError, Hangs, Loader
from tffs_conformance.harness.hosting.registration import DiedRegisteringError
from tffs_conformance.harness.hosting.state import State
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.launchers.output import OUTPUT_KEPT, Output
from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import DiedError, Hung, Watch
from tffs_conformance.harness.targets.shipped import plugin_path

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


def test_a_hang_is_paid_for_once() -> None:
    hosts = Loader(Local({"TFFS_FAULT": "hang:stat"}), plugin_path("fakes/faulty"), 10)
    # The first time it may be the allocator's fault.
    for _ in range(MAX_HANGS + 1):
        loaded = hosts.load()
        loaded.host.timeout = SHORT
        with pytest.raises(DiedError):
            raw_filesystem(loaded).stat("/tmp")
    with pytest.raises(BlockedError) as blocked:
        raw_filesystem(hosts.load()).stat("/tmp")
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


LIMITS: dict[str, Callable[[Host], AbstractContextManager[None]]] = {
    "preset": host_limits.statuses_arrive_used,
    "descriptors": lambda host: host_limits.few_descriptors(host, 0),
    "file size": lambda host: host_limits.file_size(host, 1),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_ends_with_its_block_however_that_ends(limit: str, tmp_path: Path) -> None:
    with hosted("fakes/faulty", "stat.adds-to-status") as (loaded, raw):
        with pytest.raises(BlockedError), LIMITS[limit](loaded.host):
            raise BlockedError("stat", "nobody has seen it")
        file = raw.open("new_writable_file", str(tmp_path / "file"))
        assert [one.code for one in (file, raw.append(file.value, b"longer"), raw.handle_op("flush", file.value))] == [
            Code.OK
        ] * 3
        assert raw.stat(str(tmp_path)).ok


def test_large_blocks_count(tmp_path: Path) -> None:
    with hosted("fakes/faulty", "leaks-memory:stat") as (loaded, raw):
        before = State.of(loaded.host).heap
        if not before:
            pytest.skip("the allocator of a sanitizer keeps no such account")
        raw.stat(str(tmp_path))
        assert State.of(loaded.host).heap - before >= 1 << 20


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
    wait_until(lambda: not alive(host))


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False
