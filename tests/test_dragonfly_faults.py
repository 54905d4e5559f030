"""A store and a proxy that misbehave, and what the dragonfly plugin makes of it: the right bytes, or an error.

The proxy is a stub of dfdaemon's HTTP contract, not Dragonfly.
"""

import base64
import gzip
import hashlib
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.dragonfly_client import BUILT, MISSING, Servers, at, configuration, filesystem, read
from tests.faulty_http import Asked, Fault, Reply, without_length
from tests.proxy_stub import ProxyStub
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server, Stored, error
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

OLD = bytes(range(256)) * 1200
NEW = OLD[::-1]
TAG = "X-Dragonfly-Error-Type"
ALWAYS = 10**9
#: Seconds of trying again: more than recovery ever takes, and enough to see that there is none.
LONG, SHORT = 60, 0.3
NOWHERE = "http://127.0.0.1:1"

#: What a run printed: what was injected, code, bytes, message.
ROWS: list[tuple[str, str, str, str]] = []


@pytest.fixture(scope="module", autouse=True)
def _table(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and ROWS:
        reporter.write_line("")
        for row in [("injected", "code", "bytes", "message"), *ROWS]:
            reporter.write_line(f"{row[0]:<58} {row[1]:<20} {row[2]:<6} {row[3]}"[:200])


def status(code: int, **headers: str) -> Fault:
    """Another status, and no body."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _, __: Reply(code, named)


def slow_down(_: Asked, __: Reply) -> Reply:
    return Reply(503, {}, b"<Error><Code>SlowDown</Code></Error>")


def cut(_: Asked, right: Reply) -> Reply:
    return replace(right, cut=len(right.body) // 2)


def longer(_: Asked, right: Reply) -> Reply:
    return replace(right, length=len(right.body) + 10)


def shorter(_: Asked, right: Reply) -> Reply:
    return replace(right, body=right.body[:-10])


def more_than_there_is(_: Asked, right: Reply) -> Reply:
    return replace(right, body=right.body + b"more")


def with_header(name: str, value: str | None) -> Fault:
    def fault(_: Asked, right: Reply) -> Reply:
        headers = {n: v for n, v in right.headers.items() if n != name}
        return replace(right, headers=headers | ({name: value} if value is not None else {}))

    return fault


def truncated_with_error_type(_: Asked, right: Reply) -> Reply:
    return replace(right, body=right.body[:1000], headers={**right.headers, TAG: "dfdaemon"})


def html_page(_: Asked, __: Reply) -> Reply:
    return Reply(200, {"Content-Type": "text/html"}, b"<html>sign in first</html>")


def first_version(servers: Servers) -> Fault:
    stale = servers.store.put("stale", OLD)
    return lambda _, right: replace(right, body=OLD, headers={**right.headers, "ETag": stale.etag})


def altered(_: Asked, right: Reply) -> Reply:
    """One bit is another, and all else is as it was."""
    return replace(right, body=bytes([right.body[0] ^ 1]) + right.body[1:])


def held_wrongly(servers: Servers) -> Fault:
    """Dragonfly holds altered bytes for the tag that the object has."""
    tag = hashlib.md5(NEW).hexdigest()
    return lambda asked, right: altered(asked, right) if asked.headers["x-dragonfly-tag"] == tag else right


def in_parts(servers: Servers) -> None:
    """The object was put in parts, so its ETag is no MD5."""
    servers.store.buckets[BUCKET]["tests/file"] = Stored(NEW, '"0123456789abcdef0123456789abcdef-2"')


def with_checksum(name: str, value: str) -> Callable[[Servers], None]:
    def prepare(servers: Servers) -> None:
        stored = Stored(NEW, '"0123456789abcdef0123456789abcdef-2"', checksum={f"x-amz-checksum-{name}": value})
        servers.store.buckets[BUCKET]["tests/file"] = stored

    return prepare


def of_new(digest: bytes) -> str:
    return base64.b64encode(digest).decode()


def only_looks_like_md5(servers: Servers) -> None:
    servers.store.buckets[BUCKET]["tests/file"] = Stored(NEW, '"0123456789abcdef0123456789abcdef"')


def endless(_: Asked, right: Reply) -> Reply:
    """Far more than fits anywhere, all of the object in front."""
    return replace(right, body=right.body + bytes(1 << 24))


def compressed(_: Asked, right: Reply) -> Reply:
    return replace(right, headers={**right.headers, "Content-Encoding": "gzip"}, body=gzip.compress(NEW))


def get(asked: Asked) -> bool:
    return asked.method == "GET"


def head(asked: Asked) -> bool:
    return asked.method == "HEAD"


@dataclass(frozen=True)
class Case:
    injected: str
    code: Code
    at_proxy: Fault | None = None
    at_store: Fault | None = None
    times: int = ALWAYS
    prepare: Callable[[Servers], Fault | None] | None = None
    config: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


ON_READ = [
    Case("nothing", Code.OK),
    Case("body cut in the middle, once", Code.OK, cut, times=1),
    Case("body cut in the middle, always", Code.UNAVAILABLE, cut),
    Case("Content-Length too large, once", Code.OK, longer, times=1),
    Case("Content-Length too large, always", Code.UNAVAILABLE, longer),
    Case("body ends early, Content-Length agrees, once", Code.OK, shorter, times=1),
    Case("body ends early, Content-Length agrees, always", Code.DATA_LOSS, shorter),
    Case("body with bytes behind the end", Code.DATA_LOSS, more_than_there_is),
    Case("body truncated, with an error type", Code.DATA_LOSS, truncated_with_error_type),
    Case("500 dfdaemon, twice", Code.OK, status(500, X_Dragonfly_Error_Type="dfdaemon"), times=2),
    Case("500 dfdaemon, always", Code.UNAVAILABLE, status(500, X_Dragonfly_Error_Type="dfdaemon")),
    Case("500 backend, always", Code.UNAVAILABLE, status(500, X_Dragonfly_Error_Type="backend")),
    Case("500 without an error type, always", Code.INTERNAL, status(500)),
    Case("502, always", Code.UNAVAILABLE, status(502)),
    Case("507 dfdaemon: its disk is full", Code.RESOURCE_EXHAUSTED, status(507, X_Dragonfly_Error_Type="dfdaemon")),
    Case("wrong ETag, once", Code.OK, with_header("ETag", '"other"'), times=1),
    Case("wrong ETag, always", Code.DATA_LOSS, with_header("ETag", '"other"')),
    Case("no ETag", Code.DATA_LOSS, with_header("ETag", None)),
    Case("stale bytes under the same tag", Code.DATA_LOSS, prepare=first_version),
    Case("stale bytes, fallback_to_source", Code.OK, prepare=first_version, config={"fallback_to_source": True}),
    Case("one bit altered, once", Code.OK, altered, times=1),
    Case("one bit altered, always", Code.DATA_LOSS, altered),
    Case("one bit altered in what Dragonfly holds", Code.OK, prepare=held_wrongly),
    Case("one bit altered, fallback_to_source", Code.OK, altered, config={"fallback_to_source": True}),
    Case("in parts", Code.OK, prepare=in_parts),
    Case("in parts, a right CRC-32", Code.OK,
         prepare=with_checksum("crc32", of_new(zlib.crc32(NEW).to_bytes(4, "big")))),
    Case("in parts, a wrong CRC-32", Code.DATA_LOSS, prepare=with_checksum("crc32", "AAAAAA==")),
    Case("in parts, a wrong CRC-64", Code.DATA_LOSS, prepare=with_checksum("crc64nvme", "AAAAAAAAAAA=")),
    Case("in parts, a right SHA-256", Code.OK, prepare=with_checksum("sha256", of_new(hashlib.sha256(NEW).digest()))),
    Case("in parts, a wrong SHA-256", Code.DATA_LOSS, prepare=with_checksum("sha256", of_new(bytes(32)))),
    Case("in parts, a wrong CRC-32, verify none", Code.OK, prepare=with_checksum("crc32", "AAAAAA=="),
         config={"verify": "none"}),
    Case("an ETag that only looks like an MD5", Code.DATA_LOSS, prepare=only_looks_like_md5),
    Case("an ETag that only looks like an MD5, verify checksum", Code.OK, prepare=only_looks_like_md5,
         config={"verify": "checksum"}),
    Case("an ETag that is no MD5, for KMS has the key", Code.OK, prepare=only_looks_like_md5,
         at_store=with_header("x-amz-server-side-encryption", "aws:kms")),
    Case("a weak ETag in HEAD", Code.OK, at_store=with_header("ETag", f'W/"{hashlib.md5(NEW).hexdigest()}"')),
    Case("two ETags", Code.DATA_LOSS, with_header("etag", '"other"')),
    Case("bytes without end", Code.DATA_LOSS, endless),
    Case("a trickle", Code.DEADLINE_EXCEEDED, lambda _, right: replace(right, pace=0.05),
         config={"stall_timeout_s": 1}),
    Case("compressed on the way", Code.DATA_LOSS, compressed),
    Case("412, once: the object changed", Code.OK, status(412, X_Dragonfly_Error_Type="backend"), times=1),
    Case("412, always", Code.ABORTED, status(412, X_Dragonfly_Error_Type="backend")),
    Case("404 backend: deleted meanwhile", Code.NOT_FOUND, status(404, X_Dragonfly_Error_Type="backend")),
    Case("403 backend", Code.PERMISSION_DENIED, status(403, X_Dragonfly_Error_Type="backend")),
    Case("403 proxy: on its block list", Code.PERMISSION_DENIED, status(403, X_Dragonfly_Error_Type="proxy")),
    Case("401 proxy", Code.UNAUTHENTICATED, status(401, X_Dragonfly_Error_Type="proxy")),
    Case("429 proxy, once", Code.OK, status(429, X_Dragonfly_Error_Type="proxy"), times=1),
    Case("429 proxy, always", Code.UNAVAILABLE, status(429, X_Dragonfly_Error_Type="proxy")),
    Case("no task id", Code.FAILED_PRECONDITION, with_header("X-Dragonfly-Task-ID", None)),
    Case("no task id, require_p2p off", Code.OK, with_header("X-Dragonfly-Task-ID", None),
         config={"require_p2p": False}),
    Case("a page of somebody else's", Code.FAILED_PRECONDITION, html_page),
    Case("a page of somebody else's, require_p2p off", Code.DATA_LOSS, html_page, config={"require_p2p": False}),
    Case("a redirect", Code.FAILED_PRECONDITION, status(307, Location="http://127.0.0.1:1/")),
    Case("proxy down", Code.UNAVAILABLE, config={"addr": NOWHERE}),
    Case("proxy down, fallback_to_source", Code.OK, config={"addr": NOWHERE, "fallback_to_source": True}),
    Case("proxy silent", Code.DEADLINE_EXCEEDED, lambda _, right: replace(right, drip=threading.Event()),
         config={"stall_timeout_s": 1}),
    Case("store down", Code.UNAVAILABLE, config={"object_storage": {"endpoint": NOWHERE}}),
    Case("store down for dfdaemon only", Code.UNAVAILABLE, config={"object_storage": {"proxy_endpoint": NOWHERE}}),
    Case("store silent", Code.DEADLINE_EXCEEDED, at_store=lambda _, right: replace(right, drip=threading.Event()),
         config={"stall_timeout_s": 1}),
    Case("store: 503 SlowDown, twice", Code.OK, at_store=slow_down, times=2),
    Case("store: 503 SlowDown, always", Code.UNAVAILABLE, at_store=slow_down),
    Case("store: 500, once", Code.OK, at_store=status(500), times=1),
    Case("store: 500, always", Code.INTERNAL, at_store=status(500)),
    Case("store: wrong length in HEAD", Code.DATA_LOSS, at_store=with_header("Content-Length", "100")),
    Case("store: no length in HEAD", Code.OK, at_store=without_length),
    Case("store: a length of 0 in HEAD", Code.OK, at_store=with_header("Content-Length", "0")),
    Case("store: a length that is no number in HEAD", Code.UNAVAILABLE, at_store=with_header("Content-Length", "many")),
    Case("store: no ETag in HEAD", Code.OK, at_store=with_header("ETag", None)),
    Case("store: a secret key that is wrong", Code.PERMISSION_DENIED,
         config={"object_storage": {"secret_key": "wrong"}}),
    Case("no_proxy for the store", Code.OK, environment={"no_proxy": "127.0.0.1", "NO_PROXY": "*"}),
    Case("http_proxy to nowhere", Code.OK, environment={"http_proxy": NOWHERE, "ALL_PROXY": NOWHERE}),
]  # fmt: skip


@pytest.fixture
def servers() -> Iterator[Servers]:
    with S3Server() as store, ProxyStub() as proxy:
        yield Servers(store, proxy)


def told(code: Code, message: str, data: bytes, injected: str) -> None:
    """Adds a row to the table, and looks for secrets in what a user sees."""
    right = "right" if data else "none"
    ROWS.append((injected, str(code), right, message if code is not Code.OK else ""))
    for secret in (SECRET_KEY, ACCESS_KEY, "X-Amz", "x-amz", "Signature=", "?"):
        assert secret not in message


@pytest.mark.parametrize("case", ON_READ, ids=lambda case: case.injected.replace(" ", "-"))
def test_read(case: Case, servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", NEW)
    prepared = case.prepare(servers) if case.prepare else None
    fault = case.at_proxy or prepared
    if fault is not None:
        servers.proxy.inject(fault, case.times)
    if case.at_store is not None:
        servers.store.inject(case.at_store, case.times, head)
    recovers = case.code is Code.OK and "fallback_to_source" not in case.config
    given = {"retry_deadline_s": LONG if recovers else SHORT} | dict(case.config)
    config = configuration(servers.store.url, servers.proxy.url, **given)
    with filesystem(tmp_path, config, case.environment) as fs:
        code, message, data = read(fs, at("file"))
    assert data == (NEW if code is Code.OK else b"")
    told(code, message, data, case.injected)
    assert code is case.code
    if code is Code.OK and "fallback_to_source" not in case.config:
        assert any(get(asked) for asked in servers.proxy.asked)
        assert not any(
            get(asked) and "range" not in asked.headers
            for asked in servers.store.asked
            if "X-Amz-Signature" not in asked.target
        )


def test_no_room_in_the_cache(servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", OLD)
    config = configuration(servers.store.url, servers.proxy.url)
    with filesystem(tmp_path, config, file_size=len(OLD) - 1) as fs:
        code, message, data = read(fs, at("file"))
    told(code, message, data, "no room in cache_dir")
    assert (code, data) == (Code.RESOURCE_EXHAUSTED, b"")
    assert len(servers.proxy.asked) == 1


def test_without_a_tag_stale_bytes_are_found_out(servers: Servers, tmp_path: Path) -> None:
    config = configuration(servers.store.url, servers.proxy.url, task_version="none")
    servers.store.put("tests/file", OLD)
    with filesystem(tmp_path, config) as fs:
        assert read(fs, at("file"))[2] == OLD
        servers.store.put("tests/file", NEW)
        code, message, data = read(fs, at("file"))
    told(code, message, data, "task_version none, object overwritten")
    assert (code, data) == (Code.DATA_LOSS, b"")


def test_a_token_that_is_no_longer_good(servers: Servers, tmp_path: Path) -> None:
    servers.store.put("tests/file", NEW)
    # The answer to a HEAD has no body that could say so.
    servers.store.inject(lambda _, __: error(400, "ExpiredToken"), done=False)
    with filesystem(tmp_path, configuration(servers.store.url, servers.proxy.url)) as fs:
        code, message, data = read(fs, at("file"))
    told(code, message, data, "store: 400 ExpiredToken")
    assert code is Code.UNAUTHENTICATED
