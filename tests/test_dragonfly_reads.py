"""What the dragonfly plugin reads and caches, also of large objects while they come, and of servers that misbehave."""

import base64
import contextlib
import gzip
import hashlib
import random
import socket
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import dragonfly_rows as do
from tests import s3_server as s3
from tests.dragonfly_client import BUILT, MISSING, at, served
from tests.dragonfly_rows import Given, Scene, Situation, row
from tests.faulty_http import ALWAYS, Asked, Fault, Reply, status, with_body, with_header, without_length
from tests.s3_server import BUCKET, S3Server, Stored, error, is_get, is_head
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

MEBI = 1 << 20
SIZE = 3 * MEBI
CONTENT = random.Random(1).randbytes(SIZE)
OTHER = CONTENT[::-1]
ALTERED = bytes([CONTENT[0] ^ 1]) + CONTENT[1:]
SMALL = bytes(100_000)
#: Bytes that come before something goes wrong, and the range of the others.
CAME = SIZE * 99 // 100
REST = f"bytes={CAME}-{SIZE - 1}"


def cut(_: Asked, right: Reply) -> Reply:
    return replace(right, cut=min(CAME, len(right.body) - 1))


def alters(scene: Scene) -> None:
    """Dragonfly has altered bytes under the tag of the object; after the first MiB they wait for the scene."""
    tag = scene.store.buckets[BUCKET]["tests/file"].etag.strip('"')

    def fault(asked: Asked, right: Reply) -> Reply:
        altered = replace(right, body=ALTERED, drip=scene.rest, free=MEBI)
        return altered if asked.headers["x-dragonfly-tag"] == tag else right

    scene.proxy.inject(fault)


def region_data(scene: Scene) -> bytes:
    region = scene.fs.new_read_only_memory_region_from_file(at("file")).value
    assert region is not None
    with region:
        return region.data(0, SIZE).value[1]


OTHER_ETAG = with_header("ETag", '"other"')
CUT_ONCE = do.proxy_does(cut, times=1)
LARGE_PAGE = Reply(200, {"Content-Type": "text/html"}, b"<html>" + bytes(2 * MEBI))


def whole(name: str, *steps: Given, below: int = MEBI, **config: Any) -> Situation:
    """A row about one object of three MiB, which is read while it comes where it has `below` bytes or more."""
    return row(name, *steps, before={"file": CONTENT}, whole_object_below=below, **config)


LARGE = [
    whole("first bytes do not wait for the last", do.proxy_stalls(MEBI), do.open_file,
          (do.reads(1000, 5000), CONTENT[1000:6000]), do.goes_on, (do.reads(SIZE - 10, 20), CONTENT[-10:]),
          (do.read_all(), CONTENT), (do.ranges, [None])),
    whole("a small object is compared before a byte is read",
          do.proxy_does(lambda _, right: replace(right, body=ALTERED)), do.open_file,
          (do.reads(1000, 10), Code.DATA_LOSS), below=SIZE + 1),
    *(whole(f"a break goes on from there, whole below {below}, ranges {ranges}", do.has("proxy", ranges=ranges),
            CUT_ONCE, (do.read_all(), CONTENT), (do.ranges, [None, REST]),
            (lambda scene: len({one.headers["if-match"] for one in scene.proxy.asked}), 1),
            below=below, retry_deadline_s=10)
      for below in (MEBI, SIZE + 1) for ranges in (True, False)),
    whole("a break that only the store can mend", CUT_ONCE, do.proxy_answers(status(503)), (do.read_all(), CONTENT),
          (do.asked_store(do.span, lambda one: "range" in one.headers), [REST]),
          fallback_to_source=True, retry_deadline_s=2),
    whole("what came before a break can be read", CUT_ONCE, do.proxy_answers(status(503)), do.open_file,
          (do.reads(0, 100), CONTENT[:100]), (do.reads(CAME, 1), Code.UNAVAILABLE),
          (do.reads(CAME - 100, 100), CONTENT[CAME - 100 : CAME]), (do.reads(CAME - 100, 101), Code.UNAVAILABLE),
          # The next read asks for what is missing, and for no more.
          do.heals, (do.reads(CAME - 100, 200), CONTENT[CAME - 100 : CAME + 100]),
          (do.reads(SIZE - 1, 2), CONTENT[-1:]), (do.ranges, [REST])),
    whole("altered bytes that were read end in data loss", alters, do.open_file,
          # Before the last byte comes, there is nothing to compare.
          (do.reads(0, 100), ALTERED[:100]), do.goes_on,
          *((do.reads(offset, 1), Code.DATA_LOSS) for offset in (SIZE - 1, 0, 1000, SIZE - 1)),
          # The next to open it gets what Dragonfly has under another tag, all of it compared first.
          do.open_file, (do.reads(0, 100), CONTENT[:100]),
          (do.asked_proxy(lambda one: one.headers["x-dragonfly-tag"].partition(".")[2]), ["", "", "again2"]),
          retry_deadline_s=10),
    # The last byte is among those that are asked for, so all of them wait.
    whole("altered bytes that were not read are fetched anew", do.goes_on, alters, (do.read_all(), CONTENT),
          (region_data, CONTENT), retry_deadline_s=10),
    whole("another version is not read", do.proxy_does(OTHER_ETAG), do.open_file, (do.reads(0, 10), Code.DATA_LOSS)),
    whole("a page is not read", do.proxy_answers(LARGE_PAGE), do.open_file,
          (do.reads(0, 10), Code.FAILED_PRECONDITION)),
    *(whole(f"a rest that is another is refused, {span}", CUT_ONCE,
            do.proxy_does(with_header("Content-Range", f"bytes {span}")), (do.read_all(), Code.INTERNAL))
      for span in (f"0-{SIZE - 1}/{SIZE}", f"{CAME}-{SIZE - 1}/{SIZE + 1}")),
    # Some of the old version was read, so it is not mixed with the new one.
    whole("overwritten while it comes", CUT_ONCE, do.proxy_answers(status(412, X_Dragonfly_Error_Type="backend")),
          do.open_file, (do.reads(0, 10), CONTENT[:10]), (do.reads(CAME, 1), Code.ABORTED)),
    row("overwritten before a byte was read", do.open_file, do.puts(OTHER), (do.reads(0, 10), OTHER[:10]),
        before={"file": CONTENT}, after={"file": OTHER}, whole_object_below=MEBI),
    # The second read does not wait for the rest, and has nothing of the first.
    whole("a file that is closed ends its transfer", do.proxy_stalls(MEBI, times=1), do.open_file,
          (do.reads(0, 10), CONTENT[:10]), do.drop, (do.read_all(), CONTENT), (do.ranges, [None, None])),
    row("what comes counts as cached", do.proxy_stalls(MEBI, s3.with_word("file"), 1),
        (do.read_all("small"), SMALL), (do.read_all("small"), SMALL), (do.ranges, [None]),
        do.open_file, (do.reads(0, 10), CONTENT[:10]), (do.read_all("small"), SMALL), (do.ranges, [None] * 3),
        before={"file": CONTENT, "small": SMALL}, whole_object_below=MEBI, cache_max_bytes=SIZE + len(SMALL) - 1),
    whole("ranges of an object that is not read whole", do.open_file,
          *((do.reads(offset, n), CONTENT[offset : offset + n])
            for offset, n in ((2 * MEBI, 4096), (2 * MEBI + 8192, 4096), (SIZE - 10, 20), (65530, 12), (SIZE, 1))),
          (do.asked_store(do.span, is_get), [f"bytes={k << 16}-{((k + 1) << 16) - 1}" for k in (32, 47, 0, 1)]),
          (do.ranges, []), read_ahead=1 << 16),
    row("ranges that peers may have go through Dragonfly", do.open_file,
        (do.reads(5 * MEBI - 5, 10), (CONTENT * 3)[5 * MEBI - 5 : 5 * MEBI + 5]),
        (do.ranges, [f"bytes=0-{5 * MEBI - 1}", f"bytes={5 * MEBI}-{3 * SIZE - 1}"]),
        before={"file": CONTENT * 3}, whole_object_below=MEBI, read_ahead=5 * MEBI),
    whole("ranges of a store that has none any more", do.open_file, (do.reads(0, 10), CONTENT[:10]),
          do.has("store", ranges=False), (do.reads(MEBI, 10), Code.INTERNAL), read_ahead=1 << 16),
    row("ranges of what is overwritten", do.open_file, (do.reads(0, 10), CONTENT[:10]), do.puts(OTHER),
        (do.reads(MEBI, 10), Code.ABORTED), before={"file": CONTENT}, after={"file": OTHER},
        whole_object_below=MEBI, read_ahead=1 << 16),
    row("an object of parts is not compared", (do.read_all(), CONTENT), whole_object_below=MEBI,
        before={"file": Stored(CONTENT, '"0123456789abcdef0123456789abcdef-2"')}),
]  # fmt: skip

NO_TASK_ID = with_header("X-Dragonfly-Task-ID", None)
OLD = bytes(range(256)) * 1200
NEW = OLD[::-1]
#: Names that a URL, a signature or XML has to quote.
NAMES = [f"d/{name}" for name in (
    "a b", "a+b", "a=b&c", "a%41", "%", "a%2Fb", "ä/ö", "日本", "a?b#c", "a'(b)*!", '"q"', "a\\b", "a;b,c", "~",
    "a:b@c", "line\nbreak", "tab\tkey", " ", "+", "<&>")]  # fmt: skip


def headers_of_proxy(asked: Asked) -> tuple[object, ...]:
    tagged = asked.headers["x-dragonfly-tag"] in asked.headers["if-match"]
    filtered = len(asked.headers["x-dragonfly-filtered-query-params"].split(","))
    return asked.method, tagged, "range" in asked.headers, "authorization" in asked.headers, filtered


def statuses(scene: Scene) -> set[Code]:
    got = scene.fs.paths_exist([at(f"file-{k}.bin") for k in range(100)]).value.statuses
    assert got is not None
    return {one.code for one in got}


def tries(scene: Scene) -> tuple[int, int, bool]:
    """How many paths were asked for, the least requests about one, and whether another has more."""
    asked = Counter(one.target for one in scene.store.asked)
    return len(asked), min(asked.values()), max(asked.values()) > 1


SMALL_OBJECTS = [
    row("only gets of objects go through the proxy", do.op("create_dir", "d"), do.write_all(NEW, "d/file"),
        (do.read_all("d/file"), NEW), do.op("copy_file", "d/file", "d/copy"), do.delete_all(),
        (do.asked_proxy(headers_of_proxy), [("GET", True, False, False, 7)]), before={"": b""}),
    # Dragonfly's client passes Dragonfly by while it starts.
    row("a client that served may serve again", (do.read_all("first"), NEW), do.proxy_does(NO_TASK_ID, times=2),
        (do.read_all(), NEW), before={"first": NEW, "file": NEW}, retry_deadline_s=60),
    row("a client that served serves no more", (do.read_all("first"), NEW), do.proxy_does(NO_TASK_ID),
        (do.read_all(), Code.UNAVAILABLE), before={"first": NEW, "file": NEW}, retry_deadline_s=2),
    row("overwritten between open and read", do.open_file, do.puts(NEW), (do.reads(0, len(NEW)), NEW),
        # What was read once stays.
        do.puts(OLD), (do.reads(0, len(NEW)), NEW), do.drop, (do.read_all(), OLD), before={"file": OLD}),
    row("deleted, and Dragonfly still has it", (do.read_all(), OLD), do.removes, (do.read_all(), Code.NOT_FOUND),
        before={"file": OLD}, after={}),
    row("an empty object is not asked for", (do.read_all(), b""), (do.ranges, []), before={"file": b""}),
    row("what was fetched is not fetched again", *[(do.read_all(), OLD)] * 3, (do.ranges, [None]),
        do.op("flush_caches"), (do.read_all(), OLD), (do.ranges, [None] * 2), before={"file": OLD}),
    row("a cache without room has nothing", *[(do.read_all(), OLD)] * 2, (do.ranges, [None] * 2),
        before={"file": OLD}, cache_max_bytes=len(OLD) - 1),
    row("what was read least recently gives way", *((do.read_all(name), OLD) for name in "abacac"),
        (do.ranges, [None] * 3), (do.read_all("b"), OLD), (do.ranges, [None] * 4),
        before={name: Stored(OLD, f'"of parts, {name}-2"') for name in "abc"}, cache_max_bytes=2 * len(OLD)),
    row("no room in cache_dir", (do.read_all(), Code.RESOURCE_EXHAUSTED), (do.ranges, [None]), before={"file": OLD},
        file_size=len(OLD) - 1),
    row("without a tag stale bytes are found out", (do.read_all(), OLD), do.puts(NEW), (do.read_all(), Code.DATA_LOSS),
        before={"file": OLD}, after={"file": NEW}, task_version="none"),
    # The answer to a HEAD has no body that could name the reason.
    row("a token that has expired", do.store_answers(error(400, "ExpiredToken")), (do.read_all(), Code.UNAUTHENTICATED),
        before={"file": NEW}),
    row("names to quote", do.op("recursively_create_dir", "d"),
        *(one for name in NAMES for one in (
            do.write_all(name.encode(), name), (do.read_all(name), name.encode()),
            do.op("rename_file", name, "d/moved"), do.op("rename_file", "d/moved", name))),
        (do.objects, {"": b"", "d/": b"", **{name: name.encode() for name in NAMES}}),
        (do.children("d"), sorted(name.split("/")[1] for name in NAMES)), do.delete_all(), after={"": b""}),
    *(row(f"no length in HEAD, {len(content)} bytes, ranges {ranges}", do.has("store", ranges=ranges),
          do.store_does(without_length, is_head), (do.size("file"), len(content)), do.appended(b" and more"),
          before={"file": content}, after={"file": content + b" and more"})
      for content in (b"", b"1", NEW[:1000]) for ranges in (True, False)),
    # It is longer than what is fetched to learn a length.
    row("no length anywhere", do.has("store", ranges=False), do.store_does(without_length, is_head),
        (do.size("file"), Code.INTERNAL), (do.op("new_appendable_file", "file"), Code.INTERNAL), before={"file": NEW}),
    # With a budget of its own each would be asked about again: the first wait is never longer than that.
    row("an op on many paths has one budget of time", do.store_answers(error(503, "SlowDown")),
        (statuses, {Code.UNAVAILABLE}), (tries, (100, 1, True)), retry_deadline_s=1),
]  # fmt: skip


# A store and a proxy that misbehave: the right bytes come, or an error ------------------------------------------------

MD5 = hashlib.md5(NEW).hexdigest()
NOWHERE = "http://127.0.0.1:1"


def answers(code: int, error_type: str) -> Fault:
    return lambda *_: status(code, X_Dragonfly_Error_Type=error_type)


def stalls(_: Asked, right: Reply) -> Reply:
    return replace(right, drip=threading.Event())


def altered(body: bytes) -> bytes:
    """One bit is another, and all else is as it was."""
    return bytes([body[0] ^ 1]) + body[1:]


def stored(etag: str = "0123456789abcdef0123456789abcdef-2", **checksum: bytes) -> Stored:
    """The object with an ETag that is no MD5, as of one that was put in parts, and a checksum."""
    headers = {f"x-amz-checksum-{name}": base64.b64encode(digest).decode() for name, digest in checksum.items()}
    return Stored(NEW, f'"{etag}"', checksum=headers)


PAGE = Reply(200, {"Content-Type": "text/html"}, b"<html>sign in first</html>")
SHORTER = with_body(lambda body: body[:-10])
#: What Dragonfly has under the tag of the new version.
STALE = with_body(lambda _: OLD, ETag=f'"{hashlib.md5(OLD).hexdigest()}"')
LOOKS_LIKE_MD5 = stored("0123456789abcdef0123456789abcdef")
WRONG_CRC = stored(crc32=bytes(4))


def reads_from_proxy(scene: Scene) -> tuple[set[str], bool]:
    """The methods of requests to the proxy, and whether the plugin asked the store itself for the whole object."""
    spans = [do.span(one) for one in scene.store.asked if one.method == "GET" and "X-Amz-Signature" not in one.target]
    return {one.method for one in scene.proxy.asked}, None in spans


def case(injected: str, code: Code, at_proxy: Fault | None = None, *, at_store: Fault | None = None,
         times: int = ALWAYS, stored: Stored | None = None, **config: Any) -> Situation:  # fmt: skip
    """A read while a server does this; that of the store is done to HEAD."""
    recovers = code is Code.OK and "fallback_to_source" not in config
    # More seconds of trying again than recovery ever takes, or enough to see that there is none.
    config = {"retry_deadline_s": 60 if recovers else 0.3, **config}
    return row(injected, do.proxy_does(at_proxy, times=times) if at_proxy else do.nothing,
               do.store_does(at_store, is_head, times) if at_store else do.nothing,
               (do.read_all(), NEW if code is Code.OK else code),
               (reads_from_proxy, ({"GET"}, False)) if recovers else do.nothing,
               before={"file": stored or Stored.of(NEW)}, **config)  # fmt: skip


ON_READ = [
    case("body ends early, Content-Length agrees, once", Code.OK, SHORTER, times=1),
    case("body ends early, Content-Length agrees, always", Code.DATA_LOSS, SHORTER),
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
    case("one bit altered, always", Code.DATA_LOSS, with_body(altered)),
    # It has that under the tag of the object, and no other.
    case("one bit altered in what Dragonfly has", Code.OK, lambda asked, right: replace(
        right, body=altered(right.body) if asked.headers["x-dragonfly-tag"] == MD5 else right.body)),
    case("one bit altered, fallback_to_source", Code.OK, with_body(altered), fallback_to_source=True),
    case("in parts", Code.OK, stored=stored()),
    case("in parts, a right CRC-32", Code.OK, stored=stored(crc32=zlib.crc32(NEW).to_bytes(4, "big"))),
    case("in parts, a wrong CRC-32", Code.DATA_LOSS, stored=WRONG_CRC),
    case("in parts, a wrong CRC-64", Code.DATA_LOSS, stored=stored(crc64nvme=bytes(8))),
    case("in parts, a right SHA-256", Code.OK, stored=stored(sha256=hashlib.sha256(NEW).digest())),
    case("in parts, a wrong SHA-256", Code.DATA_LOSS, stored=stored(sha256=bytes(32))),
    case("in parts, a wrong CRC-32, verify none", Code.OK, stored=WRONG_CRC, verify="none"),
    case("an ETag that only looks like an MD5", Code.DATA_LOSS, stored=LOOKS_LIKE_MD5),
    case("an ETag that only looks like an MD5, verify checksum", Code.OK, stored=LOOKS_LIKE_MD5, verify="checksum"),
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
    case("proxy down", Code.UNAVAILABLE, addr=NOWHERE),
    case("proxy down, fallback_to_source", Code.OK, fallback_to_source=True, addr=NOWHERE),
    case("proxy silent", Code.DEADLINE_EXCEEDED, stalls, stall_timeout_s=1),
    case("store down", Code.UNAVAILABLE, object_storage={"endpoint": NOWHERE}),
    case("store down for dfdaemon only", Code.UNAVAILABLE, object_storage={"proxy_endpoint": NOWHERE}),
    case("store silent", Code.DEADLINE_EXCEEDED, at_store=stalls, stall_timeout_s=1),
    case("store: wrong length in HEAD", Code.DATA_LOSS, at_store=with_header("Content-Length", "100")),
    case("store: a length of 0 in HEAD", Code.OK, at_store=with_header("Content-Length", "0")),
    case("store: a length that is no number in HEAD", Code.UNAVAILABLE, at_store=with_header("Content-Length", "many")),
    case("store: no ETag in HEAD", Code.OK, at_store=with_header("ETag", None)),
    case("store: a secret key that is wrong", Code.PERMISSION_DENIED, object_storage={"secret_key": "wrong"}),
    case("no_proxy for the store", Code.OK, environment={"no_proxy": "127.0.0.1", "NO_PROXY": "*"}),
    case("http_proxy to nowhere", Code.OK, environment={"http_proxy": NOWHERE, "ALL_PROXY": NOWHERE}),
]  # fmt: skip


@pytest.mark.parametrize("situation", [*LARGE, *SMALL_OBJECTS, *ON_READ], ids=str)
def test_read(situation: Situation, tmp_path: Path) -> None:
    situation.run(tmp_path)


def test_more_files_than_may_grow(tmp_path: Path) -> None:
    most, size, never = 16, 1 << 17, threading.Event()
    contents = [CONTENT[k : k + size] for k in range(most + 1)]
    # Half of the connections are left to others.
    with served(tmp_path, whole_object_below=1, max_connections=2 * most) as (store, proxy, fs):
        proxy.inject(lambda _, right: replace(right, drip=never, free=size // 2), most)
        opened: list[Any] = []
        for k, content in enumerate(contents):
            store.put(f"tests/{k}", content)
            opened.append(fs.new_random_access_file(at(str(k))).value)
            # The last of them is fetched as small ones are.
            assert opened[-1].read(0, 10).value.data == content[:10]
        never.set()
        for file, content in zip(opened, contents, strict=True):
            assert file.read(size - 1, 1).value.data == content[-1:]
            file.cleanup()


@contextlib.contextmanager
def deaf() -> Iterator[socket.socket]:
    """A socket whose queue is full: the next to connect waits for an answer to its first packet."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, contextlib.ExitStack() as others:
        for _ in range(2):
            other = others.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(server.getsockname())
        yield server


@pytest.mark.parametrize("heals", [False, True], ids=["never", "connects-later"])
def test_stat_of_a_server_that_does_not_connect(tmp_path: Path, heals: bool) -> None:
    with deaf() as server, contextlib.ExitStack() as healthy:
        port = server.getsockname()[1]

        def heal() -> None:
            server.close()
            healthy.enter_context(S3Server(port)).put("tests/file", NEW)

        with served(tmp_path, object_storage={"endpoint": f"http://127.0.0.1:{port}"}, connect_timeout_s=1,
                    retry_deadline_s=30 if heals else 2) as (_, _, fs):  # fmt: skip
            begun = time.monotonic()
            if heals:
                threading.Timer(1.5, heal).start()
            assert fs.path_exists(at("file")).code is (Code.OK if heals else Code.DEADLINE_EXCEEDED)
            # The first try, and at least one more; two that take as long as they may without a configuration take ten.
            assert heals or 1.9 < time.monotonic() - begun < 10
