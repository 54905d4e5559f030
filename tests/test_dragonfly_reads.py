"""What the dragonfly plugin reads, keeps and asks for: objects of every name and length, old and new versions."""

import contextlib
import socket
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, Servers, at, configuration, filesystem, read
from tests.faulty_http import Asked, Reply, without_length
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server, error
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

OLD = bytes(range(256)) * 1200
NEW = OLD[::-1]


def head(asked: Asked) -> bool:
    return asked.method == "HEAD"


@pytest.fixture
def servers() -> Iterator[Servers]:
    with S3Server() as store, ProxyStub() as proxy:
        yield Servers(store, proxy)


def test_nothing_but_gets_of_objects_goes_through_the_proxy(servers: Servers, tmp_path: Path) -> None:
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        file = fs.new_writable_file(at("file")).value
        assert file is not None
        with file:
            assert file.append(NEW).ok
            assert file.close().ok
        assert read(fs, at("file"))[2] == NEW
        assert fs.copy_file(at("file"), at("copy")).ok
        assert fs.delete_recursively(at("")).ok
    asked = servers.proxy.asked
    assert [one.method for one in asked] == ["GET"]
    assert asked[0].headers["x-dragonfly-tag"] in asked[0].headers["if-match"]
    assert "range" not in asked[0].headers
    assert "authorization" not in asked[0].headers


@pytest.mark.parametrize(("times", "code"), [(2, Code.OK), (10**9, Code.UNAVAILABLE)], ids=["twice", "always"])
def test_a_client_that_served_may_serve_again(servers: Servers, tmp_path: Path, times: int, code: Code) -> None:
    """Dragonfly's client passes Dragonfly by while it starts. One that never served is no such client."""
    for name in ("first", "second"):
        servers.store.put(f"tests/{name}", NEW)

    def passed_by(_: Asked, right: Reply) -> Reply:
        return replace(right, headers={n: v for n, v in right.headers.items() if n != "X-Dragonfly-Task-ID"})

    deadline_s = 60 if code is Code.OK else 2
    config = configuration(servers.store.url, servers.proxy.url, retry_deadline_s=deadline_s)
    with filesystem(tmp_path, config) as fs:
        assert read(fs, at("first"))[0] is Code.OK
        servers.proxy.inject(passed_by, times)
        got, _, data = read(fs, at("second"))
        assert (got, data) == (code, NEW if code is Code.OK else b"")


def test_overwritten_between_open_and_read(servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", OLD)
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        file = fs.new_random_access_file(at("file")).value
        assert file is not None
        with file:
            servers.store.put("tests/file", NEW)
            assert file.read(0, len(NEW)).value.data == NEW
            servers.store.put("tests/file", OLD)
            # What was read once stays.
            assert file.read(0, len(NEW)).value.data == NEW
        assert read(fs, at("file"))[2] == OLD


def test_deleted_but_still_held_by_dragonfly(servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", OLD)
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        assert read(fs, at("file"))[2] == OLD
        del servers.store.buckets[BUCKET]["tests/file"]
        assert read(fs, at("file"))[0] is Code.NOT_FOUND


def test_an_empty_object_is_not_asked_for(servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", b"")
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        assert read(fs, at("file"))[::2] == (Code.OK, b"")
    assert servers.proxy.asked == []


def test_what_was_fetched_is_not_fetched_again(servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", OLD)
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        for _ in range(3):
            assert read(fs, at("file"))[2] == OLD
        assert len(servers.proxy.asked) == 1
        assert fs.flush_caches().ok
        assert read(fs, at("file"))[2] == OLD
        assert len(servers.proxy.asked) == 2


def test_a_cache_without_room_keeps_nothing(servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", OLD)
    config = configuration(servers.store.url, servers.proxy.url, cache_max_bytes=len(OLD) - 1)
    with filesystem(tmp_path, config) as fs:
        for _ in range(2):
            assert read(fs, at("file"))[2] == OLD
    assert len(servers.proxy.asked) == 2


@pytest.mark.parametrize(
    "key",
    [
        "a b", "a+b", "a=b&c", "a%41", "%", "a%2Fb", "ä/ö", "日本", "a?b#c", "a'(b)*!", '"q"', "a\\b", "a;b,c", "~",
        "a:b@c", "line\nbreak", "tab\tkey", " ", "+", "<&>",
    ],
)  # fmt: skip
def test_names_of_every_kind(servers: Servers, tmp_path: Path, key: str) -> None:
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        assert fs.recursively_create_dir(at("d")).ok
        file = fs.new_writable_file(at(f"d/{key}")).value
        assert file is not None
        with file:
            assert file.append(b"named").ok
            assert file.close().ok
        assert servers.store.buckets[BUCKET][f"tests/d/{key}"].content == b"named"
        assert read(fs, at(f"d/{key}"))[2] == b"named"
        assert fs.get_children(at("d")).value.names == (key.partition("/")[0],)
        assert fs.rename_file(at(f"d/{key}"), at("d/moved")).ok
        assert fs.rename_file(at("d/moved"), at(f"d/{key}")).ok
        undeleted = fs.delete_recursively(at("d"))
        assert undeleted.ok
    assert not any(name.startswith("tests/d/") for name in servers.store.buckets[BUCKET])


@pytest.mark.parametrize("ranges", [True, False], ids=["206", "200"])
@pytest.mark.parametrize("content", [b"", b"1", NEW[:1000]], ids=["empty", "one-byte", "more"])
def test_a_store_that_gives_no_length(servers: Servers, tmp_path: Path, content: bytes, ranges: bool) -> None:
    servers.store.put("tests/file", content)
    servers.store.ranges = ranges
    servers.store.inject(without_length, when=head)
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        assert fs.get_file_size(at("file")).value == len(content)
        file = fs.new_appendable_file(at("file")).value
        assert file is not None
        with file:
            assert file.append(b" and more").ok
            assert file.close().ok
        assert servers.store.buckets[BUCKET]["tests/file"].content == content + b" and more"


def test_an_object_that_nobody_tells_the_length_of(servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", NEW)
    servers.store.ranges = False
    servers.store.inject(without_length, when=head)
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        # It is longer than what is fetched to learn a length.
        assert fs.get_file_size(at("file")).code is Code.INTERNAL
        assert fs.new_appendable_file(at("file")).code is Code.INTERNAL
        assert servers.store.buckets[BUCKET]["tests/file"].content == NEW


def test_a_connection_that_nobody_takes(servers: Servers, tmp_path: Path) -> None:
    with socket.socket() as deaf, contextlib.ExitStack() as others:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        # Its queue is full: the next one waits for an answer to its first packet.
        for _ in range(2):
            other = others.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(deaf.getsockname())
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        config = configuration(address, servers.proxy.url, connect_timeout_s=1, retry_deadline_s=2)
        with filesystem(tmp_path, config) as fs:
            begun = time.monotonic()
            assert fs.stat(at("file")).code is Code.DEADLINE_EXCEEDED
            took = time.monotonic() - begun
        # The first try, and at least one more; two that take as long as they may without a configuration take ten.
        assert 1.9 < took < 10


def test_an_op_on_many_paths_has_one_budget_of_time(servers: Servers, tmp_path: Path) -> None:
    servers.store.inject(lambda _, __: error(503, "SlowDown"), done=False)
    names = [f"file-{k}.bin" for k in range(100)]
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url, retry_deadline_s=1)) as fs:
        got = fs.paths_exist([at(name) for name in names])
    assert got.value.statuses is not None
    assert {status.code for status in got.value.statuses} == {Code.UNAVAILABLE}
    # With a budget of its own each would be asked about again: the first wait is never longer than that.
    tries = Counter(asked.target for asked in servers.store.asked)
    assert len(tries) == len(names)
    assert min(tries.values()) == 1 < max(tries.values())
