"""The dragonfly plugin under many threads, and on servers that refuse for a while: few connections, no losses."""

import contextlib
import socket
import threading
import time
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, configuration, filesystem, served, write
from tests.proxy_stub import ProxyStub
from tests.s3_server import S3Server, error
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.over_tables.programs import Program

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

THREADS, TIMES = 64, 10
CONTENT = bytes(range(256)) * 16


def codes(fs: HostFilesystem, threads: int, times: int) -> set[Code]:
    """What many threads are told who ask for one file, each of them some times."""
    asking = [Program(fs.raw) for _ in range(threads)]
    for program in asking:
        for _ in range(times):
            program.path_op("path_exists", at("file.bin"))
    return {timed.outcome.code for thread in programs.run(fs.raw, asking) for timed in thread}


@pytest.mark.parametrize(("config", "most"), [({}, 32), ({"max_connections": 4}, 4)], ids=["default", "4"])
def test_connections_of_many_threads(tmp_path: Path, config: dict[str, int], most: int) -> None:
    with served(tmp_path, **config) as (store, _, fs):
        store.put("tests/file.bin", CONTENT)
        begun = time.monotonic()
        assert codes(fs, THREADS, TIMES) == {Code.OK}
        print(f"{THREADS * TIMES} requests, {store.connections} connections, {time.monotonic() - begun:.1f} s")
        assert len(store.asked) == THREADS * TIMES
        assert store.connections <= most


def test_readers_have_connections_to_both_servers(tmp_path: Path) -> None:
    with served(tmp_path, cache_max_bytes=0, max_connections=4) as (store, proxy, fs):
        store.put("tests/file.bin", CONTENT)
        reading = [Program(fs.raw) for _ in range(16)]
        for program in reading * 3:
            handle = program.open("new_random_access_file", at("file.bin")).value
            program.read(handle, 0, len(CONTENT))
            program.handle_op("random_access_file.cleanup", handle)
        for thread in programs.run(fs.raw, reading):
            assert [timed.outcome.code for timed in thread] == [Code.OK] * 9
        assert proxy.connections <= 4
        # The proxy asks the store, too, on connections of its own.
        assert store.connections <= 4 + len(proxy.asked)


def test_one_connection_is_enough_for_all_that_is_sent_at_the_same_time(tmp_path: Path) -> None:
    with served(tmp_path, max_connections=1) as (store, _, fs):
        names = [at(f"dir-{k}") for k in range(20)]
        for name in names:
            assert fs.recursively_create_dir(f"{name}/a/b").ok
        statuses = fs.paths_exist(names).value.statuses
        assert statuses is not None
        assert {status.code for status in statuses} == {Code.OK}
        assert write(fs, at("large"), bytes(65 << 20))[0] is Code.OK
        assert fs.rename_file(at("large"), at("moved")).ok
        assert store.connections == 1


def test_a_storm_of_refusals_loses_nobody(tmp_path: Path) -> None:
    threads, times = 16, 4
    with served(tmp_path, retry_deadline_s=60) as (store, _, fs):
        store.put("tests/file.bin", CONTENT)
        # So many are refused, and all who come later are answered.
        store.inject(lambda _, __: error(503, "SlowDown"), threads * times, done=False)
        assert codes(fs, threads, 1) == {Code.OK}
        assert len(store.asked) == threads * (times + 1)


def test_who_is_not_connected_in_time_tries_again(tmp_path: Path) -> None:
    with socket.socket() as deaf, contextlib.ExitStack() as others:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        port = deaf.getsockname()[1]
        # Its queue is full: the next one waits for an answer to its first packet.
        for _ in range(2):
            other = others.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(deaf.getsockname())
        healthy: list[S3Server] = []

        def heal() -> None:
            deaf.close()
            healthy.append(store := S3Server(port))
            store.put("tests/file.bin", CONTENT)

        with ProxyStub() as proxy:
            config = configuration(f"http://127.0.0.1:{port}", proxy.url, connect_timeout_s=1, retry_deadline_s=30)
            with filesystem(tmp_path, config) as fs:
                healing = threading.Timer(1.5, heal)
                healing.start()
                assert fs.path_exists(at("file.bin")).ok
                healing.join()
        healthy[0].stop()
