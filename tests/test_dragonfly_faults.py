"""A store and a proxy that misbehave, and what the dragonfly plugin makes of it: the right bytes, or an error.

The proxy is a stub of dfdaemon's HTTP contract, not Dragonfly.
"""

import base64
import gzip
import hashlib
import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import dragonfly_rows as do
from tests.dragonfly_client import BUILT, MISSING
from tests.dragonfly_rows import Given, Scene, Situation, row
from tests.faulty_http import ALWAYS, Asked, Fault, Reply, status, with_header
from tests.s3_server import Stored, is_head
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

OLD = bytes(range(256)) * 1200
NEW = OLD[::-1]
MD5 = hashlib.md5(NEW).hexdigest()
#: Seconds of trying again: more than recovery ever takes, and enough to see that there is none.
LONG_S, SHORT_S = 60, 0.3
NOWHERE = "http://127.0.0.1:1"


def answers(code: int, error_type: str | None = None) -> Fault:
    headers = {} if error_type is None else {"X_Dragonfly_Error_Type": error_type}
    return lambda *_: status(code, **headers)


def with_body(change: Callable[[bytes], bytes], **headers: str) -> Fault:
    return lambda _, right: replace(right, body=change(right.body), headers=right.headers | headers)


def longer(_: Asked, right: Reply) -> Reply:
    return replace(right, length=len(right.body) + 10)


def silent(_: Asked, right: Reply) -> Reply:
    return replace(right, drip=threading.Event())


def shorter(body: bytes) -> bytes:
    return body[:-10]


def altered(body: bytes) -> bytes:
    """One bit is another, and all else is as it was."""
    return bytes([body[0] ^ 1]) + body[1:]


def altered_under_tag(asked: Asked, right: Reply) -> Reply:
    """Dragonfly has altered bytes for the tag of the object."""
    return replace(right, body=altered(right.body)) if asked.headers["x-dragonfly-tag"] == MD5 else right


def stored(etag: str = "0123456789abcdef0123456789abcdef-2", **checksum: bytes) -> Stored:
    """The object with an ETag that is no MD5, as of one that was put in parts, and a checksum."""
    headers = {f"x-amz-checksum-{name}": base64.b64encode(digest).decode() for name, digest in checksum.items()}
    return Stored(NEW, f'"{etag}"', checksum=headers)


PAGE = Reply(200, {"Content-Type": "text/html"}, b"<html>sign in first</html>")
#: What Dragonfly has under the tag of the new version.
STALE = with_body(lambda _: OLD, ETag=f'"{hashlib.md5(OLD).hexdigest()}"')
OTHER_ETAG = with_header("ETag", '"other"')
NO_TASK_ID = with_header("X-Dragonfly-Task-ID", None)
LOOKS_LIKE_MD5 = stored("0123456789abcdef0123456789abcdef")
WRONG_CRC = stored(crc32=bytes(4))


def reads_from_proxy(scene: Scene) -> tuple[set[str], bool]:
    """The methods of requests to the proxy, and whether the plugin asked the store itself for the whole object."""
    spans = [do.span(one) for one in scene.store.asked if one.method == "GET" and "X-Amz-Signature" not in one.target]
    return {one.method for one in scene.proxy.asked}, None in spans


def case(
    injected: str,
    code: Code,
    at_proxy: Fault | None = None,
    *,
    at_store: Fault | None = None,
    times: int = ALWAYS,
    stored: Stored | None = None,
    **config: Any,
) -> Situation:
    """A read while a server does this; that of the store is done to HEAD."""
    recovers = code is Code.OK and "fallback_to_source" not in config
    steps: list[Given] = [
        do.proxy_does(at_proxy, times=times) if at_proxy else do.nothing,
        do.store_does(at_store, is_head, times) if at_store else do.nothing,
        (do.read_all(), NEW if code is Code.OK else code),
        (reads_from_proxy, ({"GET"}, False)) if recovers else do.nothing,
    ]
    before = {"file": stored or Stored.of(NEW)}
    return row(injected, *steps, before=before, **{"retry_deadline_s": LONG_S if recovers else SHORT_S, **config})


ON_READ = [
    case("nothing", Code.OK),
    case("Content-Length too large, once", Code.OK, longer, times=1),
    case("Content-Length too large, always", Code.UNAVAILABLE, longer),
    case("body ends early, Content-Length agrees, once", Code.OK, with_body(shorter), times=1),
    case("body ends early, Content-Length agrees, always", Code.DATA_LOSS, with_body(shorter)),
    case("body with bytes after the end", Code.DATA_LOSS, with_body(lambda body: body + b"more")),
    case("body truncated, with an error type", Code.DATA_LOSS,
         with_body(lambda body: body[:1000], **{"X-Dragonfly-Error-Type": "dfdaemon"})),
    case("500 dfdaemon, twice", Code.OK, answers(500, "dfdaemon"), times=2),
    case("500 dfdaemon, always", Code.UNAVAILABLE, answers(500, "dfdaemon")),
    case("500 backend, always", Code.UNAVAILABLE, answers(500, "backend")),
    case("507 dfdaemon: its disk is full", Code.RESOURCE_EXHAUSTED, answers(507, "dfdaemon")),
    case("wrong ETag, once", Code.OK, OTHER_ETAG, times=1),
    case("wrong ETag, always", Code.DATA_LOSS, OTHER_ETAG),
    case("no ETag", Code.DATA_LOSS, with_header("ETag", None)),
    case("stale bytes under the same tag", Code.DATA_LOSS, at_proxy=STALE),
    case("stale bytes, fallback_to_source", Code.OK, at_proxy=STALE, fallback_to_source=True),
    case("one bit altered, once", Code.OK, with_body(altered), times=1),
    case("one bit altered, always", Code.DATA_LOSS, with_body(altered)),
    case("one bit altered in what Dragonfly has", Code.OK, at_proxy=altered_under_tag),
    case("one bit altered, fallback_to_source", Code.OK, with_body(altered), fallback_to_source=True),
    case("in parts", Code.OK, stored=stored()),
    case("in parts, a right CRC-32", Code.OK, stored=stored(crc32=zlib.crc32(NEW).to_bytes(4, "big"))),
    case("in parts, a wrong CRC-32", Code.DATA_LOSS, stored=WRONG_CRC),
    case("in parts, a wrong CRC-64", Code.DATA_LOSS, stored=stored(crc64nvme=bytes(8))),
    case("in parts, a right SHA-256", Code.OK, stored=stored(sha256=hashlib.sha256(NEW).digest())),
    case("in parts, a wrong SHA-256", Code.DATA_LOSS, stored=stored(sha256=bytes(32))),
    case("in parts, a wrong CRC-32, verify none", Code.OK, stored=WRONG_CRC, verify="none"),
    case("an ETag that only looks like an MD5", Code.DATA_LOSS, stored=LOOKS_LIKE_MD5),
    case("an ETag that only looks like an MD5, verify checksum", Code.OK, stored=LOOKS_LIKE_MD5,
         verify="checksum"),
    case("a weak ETag in HEAD", Code.OK, at_store=with_header("ETag", f'W/"{MD5}"')),
    *(case(f"an ETag that is no MD5, {name}", Code.OK, stored=LOOKS_LIKE_MD5, at_store=with_header(name, value))
      for name, value in (("x-amz-server-side-encryption", "aws:kms"),
                          ("x-amz-server-side-encryption-customer-algorithm", "AES256"))),
    case("an ETag that the store's key leaves an MD5", Code.DATA_LOSS, stored=LOOKS_LIKE_MD5,
         at_store=with_header("x-amz-server-side-encryption", "AES256")),
    case("in parts, a sum of sums", Code.OK, stored=WRONG_CRC,
         at_store=with_header("x-amz-checksum-type", "COMPOSITE")),
    case("in parts, a sum of two sums", Code.OK,
         stored=Stored(NEW, '"of parts"', checksum={"x-amz-checksum-crc32": "AAAAAA==-2"})),
    case("in parts, of two checksums the quicker", Code.DATA_LOSS,
         stored=stored(crc32c=bytes(4), sha1=hashlib.sha1(NEW).digest())),
    case("two ETags", Code.DATA_LOSS, with_header("etag", '"other"')),
    case("bytes without end", Code.DATA_LOSS, with_body(lambda body: body + bytes(1 << 24))),
    case("a trickle", Code.DEADLINE_EXCEEDED, lambda _, right: replace(right, pace=0.05), stall_timeout_s=1),
    case("compressed on the way", Code.DATA_LOSS,
         with_body(lambda _: gzip.compress(NEW), **{"Content-Encoding": "gzip"})),
    case("412, once: the object changed", Code.OK, answers(412, "backend"), times=1),
    case("412, always", Code.ABORTED, answers(412, "backend")),
    case("404 backend: deleted meanwhile", Code.NOT_FOUND, answers(404, "backend")),
    case("403 backend", Code.PERMISSION_DENIED, answers(403, "backend")),
    case("403 proxy: on its block list", Code.PERMISSION_DENIED, answers(403, "proxy")),
    case("401 proxy", Code.UNAUTHENTICATED, answers(401, "proxy")),
    case("429 proxy, once", Code.OK, answers(429, "proxy"), times=1),
    case("429 proxy, always", Code.UNAVAILABLE, answers(429, "proxy")),
    case("no task id", Code.FAILED_PRECONDITION, NO_TASK_ID),
    case("no task id, require_p2p off", Code.OK, NO_TASK_ID, require_p2p=False),
    case("a page of another server's", Code.FAILED_PRECONDITION, lambda *_: PAGE),
    case("a page of another server's, require_p2p off", Code.DATA_LOSS, lambda *_: PAGE, require_p2p=False),
    case("a redirect", Code.FAILED_PRECONDITION, lambda *_: status(307, Location=f"{NOWHERE}/")),
    case("proxy down", Code.UNAVAILABLE, addr=NOWHERE),
    case("proxy down, fallback_to_source", Code.OK, fallback_to_source=True, addr=NOWHERE),
    case("proxy silent", Code.DEADLINE_EXCEEDED, silent, stall_timeout_s=1),
    case("store down", Code.UNAVAILABLE, object_storage={"endpoint": NOWHERE}),
    case("store down for dfdaemon only", Code.UNAVAILABLE, object_storage={"proxy_endpoint": NOWHERE}),
    case("store silent", Code.DEADLINE_EXCEEDED, at_store=silent, stall_timeout_s=1),
    case("store: wrong length in HEAD", Code.DATA_LOSS, at_store=with_header("Content-Length", "100")),
    case("store: a length of 0 in HEAD", Code.OK, at_store=with_header("Content-Length", "0")),
    case("store: a length that is no number in HEAD", Code.UNAVAILABLE, at_store=with_header("Content-Length", "many")),
    case("store: no ETag in HEAD", Code.OK, at_store=with_header("ETag", None)),
    case("store: a secret key that is wrong", Code.PERMISSION_DENIED,
         object_storage={"secret_key": "wrong"}),
    case("no_proxy for the store", Code.OK, environment={"no_proxy": "127.0.0.1", "NO_PROXY": "*"}),
    case("http_proxy to nowhere", Code.OK, environment={"http_proxy": NOWHERE, "ALL_PROXY": NOWHERE}),
]  # fmt: skip


@pytest.mark.parametrize("situation", ON_READ, ids=str)
def test_read(situation: Situation, tmp_path: Path) -> None:
    situation.run(tmp_path)
