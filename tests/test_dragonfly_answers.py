"""Every request of the dragonfly plugin, and every answer to it that RFC 9110, S3's API or a gateway may give.

What an op says of it is the table in the plugin's README. Whatever it says, no byte is wrong, nothing is lost, no OK is
untrue, and there is an end.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, configuration, filesystem, read, write
from tests.faulty_http import Asked, FaultyServer, Reply, without_length
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server, Stored, error
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

README = Path(__file__).parents[1] / "reference_plugins" / "dragonfly" / "README.md"
OLD, NEW, MORE = b"what there was" * 100, b"what is new" * 70, b" and more"
NEIGHBOUR = b"not to be touched"
SIZE = (6 << 30) + 1  # too large for one copy
HTML = b"<!DOCTYPE html><html><body>sign in first</body></html>"
#: No op takes as long, with one try after the other.
LIMIT_S = 5


@dataclass
class World:
    """The servers, and the plugin: one that tries again for long, and one that gives up almost at once."""

    store: S3Server
    proxy: ProxyStub
    patient: HostFilesystem
    hasty: HostFilesystem

    def begin(self) -> None:
        """What is there before an op."""
        self.store.heal()
        self.proxy.heal()
        self.store.uploads.clear()
        self.store.buckets[BUCKET] = {}
        for key, content in (("file", OLD), ("d/a", OLD), ("d/b", OLD), ("d2", NEIGHBOUR), ("e/c", NEIGHBOUR)):
            self.store.put(f"tests/{key}", content)

    def content(self, key: str) -> bytes | None:
        stored = self.store.buckets[BUCKET].get(f"tests/{key}")
        return None if stored is None else stored.content


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    patient, hasty = tmp_path_factory.mktemp("patient"), tmp_path_factory.mktemp("hasty")
    with S3Server() as store, ProxyStub() as proxy:
        given = configuration(store.url, proxy.url, cache_max_bytes=0)
        with (
            filesystem(patient, given | {"retry_deadline_s": LIMIT_S}) as long,
            filesystem(hasty, given | {"retry_deadline_s": 0.02}) as short,
        ):
            world = World(store, proxy, long, short)
            world.begin()
            # A client of Dragonfly that served before is asked again where one that never did is none.
            assert {read(fs, at("file"))[0] for fs in (long, short)} == {Code.OK}
            yield world


# Requests ------------------------------------------------------------------------------------------------------------

#: An op: gives its code, and asserts what has to hold whatever it is.
Op = Callable[[World, HostFilesystem], Code]


def stat(world: World, fs: HostFilesystem) -> Code:
    got = fs.stat(at("file"))
    if got.ok:
        assert got.value.length == len(OLD)
        assert not got.value.is_directory
    return got.code


def stat_without_length(world: World, fs: HostFilesystem) -> Code:
    world.store.inject(without_length, when=is_head)
    return stat(world, fs)


def children(world: World, fs: HostFilesystem) -> Code:
    got = fs.get_children(at("d"))
    assert sorted(got.value.names) == (["a", "b"] if got.ok else [])
    return got.code


def put(world: World, fs: HostFilesystem) -> Code:
    code, _ = write(fs, at("file"), NEW)
    assert world.content("file") in ((NEW,) if code is Code.OK else (OLD, NEW))
    return code


def append(world: World, fs: HostFilesystem) -> Code:
    opened = fs.new_appendable_file(at("file"))
    assert opened.value is not None
    with opened.value as file:
        assert file.append(MORE).ok
        code = file.close().code
    assert world.content("file") in ((OLD + MORE,) if code is Code.OK else (OLD, OLD + MORE))
    return code


def rename(world: World, fs: HostFilesystem) -> Code:
    code = fs.rename_file(at("file"), at("moved")).code
    if code is Code.OK:
        assert (world.content("file"), world.content("moved")) == (None, OLD)
    assert OLD in (world.content("file"), world.content("moved"))
    return code


def rename_large(world: World, fs: HostFilesystem) -> Code:
    bucket = world.store.buckets[BUCKET]
    bucket["tests/large"] = Stored(b"", '"large"', size=SIZE)
    code = fs.rename_file(at("large"), at("moved")).code
    names = [name for name in ("large", "moved") if f"tests/{name}" in bucket]
    assert "moved" in names if code is Code.OK else names
    assert all(bucket[f"tests/{name}"].length == SIZE for name in names)
    return code


def delete(world: World, fs: HostFilesystem) -> Code:
    code = fs.delete_file(at("file")).code
    assert code is not Code.OK or world.content("file") is None
    return code


def delete_all(world: World, fs: HostFilesystem) -> Code:
    got = fs.delete_recursively(at("d"))
    left = [name for name in ("d/a", "d/b") if world.content(name) is not None]
    assert got.value.files >= len(left)
    assert not got.ok or (not left and got.value.files == 0)
    return got.code


def fetch(world: World, fs: HostFilesystem) -> Code:
    code, _, data = read(fs, at("file"))
    assert data == (OLD if code is Code.OK else b"")
    return code


def is_head(asked: Asked) -> bool:
    return asked.method == "HEAD"


@dataclass(frozen=True)
class Request:
    """A request, by what it is called in the table: the op that shows it, and how it is known."""

    op: Op
    known: Callable[[Asked], bool]
    by_proxy: bool = False


REQUESTS = {
    "HEAD": Request(stat, is_head),
    "GET byte 0": Request(stat_without_length, lambda asked: "range" in asked.headers),
    "list": Request(children, lambda asked: "list-type" in asked.target),
    "PUT": Request(put, lambda asked: asked.method == "PUT"),
    "PUT if": Request(append, lambda asked: asked.method == "PUT"),
    "copy": Request(rename, lambda asked: asked.method == "PUT"),
    "start": Request(rename_large, lambda asked: "uploads=" in asked.target),
    "part": Request(rename_large, lambda asked: asked.method == "PUT"),
    "finish": Request(rename_large, lambda asked: asked.method == "POST" and "uploadId=" in asked.target),
    "DELETE if": Request(delete, lambda asked: asked.method == "DELETE"),
    "DeleteObjects": Request(delete_all, lambda asked: "delete=" in asked.target),
    "dfdaemon": Request(fetch, lambda asked: asked.method == "GET", by_proxy=True),
}


# Answers -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What is answered instead of the right thing; `done`: the request took effect all the same."""

    make: Callable[[Reply], Reply]
    done: bool = False
    once: bool = False


def framed(right: Reply, how: Literal["chunks", "end"]) -> Reply:
    headers = {name: value for name, value in right.headers.items() if name != "Content-Length"}
    return replace(right, framed=how, headers=headers)


def cut(right: Reply) -> Reply:
    return replace(framed(right, "end"), framed="length", length=9999)


def page(status: int) -> Answer:
    return Answer(lambda _: Reply(status, {"Content-Type": "text/html"}, HTML))


def refusal(status: int, code: str = "", once: bool = False, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def make(_: Reply) -> Reply:
        reply = error(status, code) if code else Reply(status)
        return replace(reply, headers=reply.headers | named)

    return Answer(make, once=once)


ANSWERS = {
    "in chunks": Answer(lambda right: framed(right, "chunks"), done=True),
    "without a length": Answer(lambda right: framed(right, "end"), done=True),
    "none, once": Answer(lambda right: replace(right, silent=True), done=True, once=True),
    "none": Answer(lambda right: replace(right, silent=True), done=True),
    "cut, once": Answer(cut, done=True, once=True),
    "cut": Answer(cut, done=True),
    "cut in its head, once": Answer(lambda right: replace(right, head=30), done=True, once=True),
    "cut in its head": Answer(lambda right: replace(right, head=30), done=True),
    "all but the head's end, once": Answer(lambda right: replace(right, head=-2), done=True, once=True),
    "all but the head's end": Answer(lambda right: replace(right, head=-2), done=True),
    "200, a page": page(200),
    "200, empty": Answer(lambda _: Reply(200, framed="chunks")),
    "200, half of the XML": Answer(lambda right: replace(right, body=right.body[: len(right.body) // 2]), done=True),
    "200 InternalError, once": refusal(200, "InternalError", once=True),
    "200 InternalError": refusal(200, "InternalError"),
    "200 AccessDenied": refusal(200, "AccessDenied"),
    "204": refusal(204),
    "206, another range": refusal(206, "", Content_Range="bytes 5-9/10"),
    "304": refusal(304),
    "301 PermanentRedirect": refusal(301, "PermanentRedirect", Location="http://127.0.0.1:1/"),
    "307 TemporaryRedirect": refusal(307, "TemporaryRedirect", Location="http://127.0.0.1:1/"),
    "400 ExpiredToken": refusal(400, "ExpiredToken"),
    "401": refusal(401),
    "403 AccessDenied": refusal(403, "AccessDenied"),
    "404, a page": page(404),
    "404, a gateway's": Answer(lambda _: Reply(404, {"Content-Type": "text/plain"}, b"404 page not found\n")),
    "404 NoSuchBucket": refusal(404, "NoSuchBucket"),
    "404 NoSuchKey": refusal(404, "NoSuchKey"),
    "404 NoSuchUpload": refusal(404, "NoSuchUpload"),
    "405 MethodNotAllowed": refusal(405, "MethodNotAllowed"),
    "409 OperationAborted, once": refusal(409, "OperationAborted", once=True),
    "409 OperationAborted": refusal(409, "OperationAborted"),
    "412 PreconditionFailed": refusal(412, "PreconditionFailed"),
    "416 InvalidRange": refusal(416, "InvalidRange"),
    "429, once": refusal(429, once=True, Retry_After="0"),
    "429": refusal(429),
    "500 InternalError, once": refusal(500, "InternalError", once=True),
    "500 InternalError": refusal(500, "InternalError"),
    "501 NotImplemented": refusal(501, "NotImplemented"),
    "502, a page": page(502),
    "503 SlowDown, once": refusal(503, "SlowDown", once=True),
    "503 SlowDown": refusal(503, "SlowDown"),
    "503, Retry-After: 3600": refusal(503, Retry_After="3600"),
    "507": refusal(507),
}


def outcome(world: World, request: Request, answer: Answer) -> Code:
    """What the op says; asserts that it ends, and that nothing beside it was touched."""
    world.begin()
    server: FaultyServer = world.proxy if request.by_proxy else world.store
    times = 1 if answer.once else 10**9
    server.inject(lambda _, right: answer.make(right), times, request.known, done=answer.done)
    begun = time.monotonic()
    code = request.op(world, world.patient if answer.once else world.hasty)
    # A busy machine takes its time beside; without a limit of ours the plugin would try for half a minute.
    assert time.monotonic() - begun < 4 * LIMIT_S
    assert (world.content("d2"), world.content("e/c")) == (NEIGHBOUR, NEIGHBOUR)
    assert any(request.known(asked) for asked in server.asked)
    return code


# The table -----------------------------------------------------------------------------------------------------------

NO_SUCH_THING = "–"


def table() -> dict[tuple[str, str], str]:
    """What the README says of each answer to each request."""
    said: dict[tuple[str, str], str] = {}
    for line in README.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 4 or cells[0] not in ANSWERS:
            continue
        answer, _, status, but = cells
        said |= {(answer, request): status for request in REQUESTS}
        for exception in filter(None, but.split("; ")):
            names, _, other = exception.partition(": ")
            for request in names.split(", "):
                assert (answer, request) in said, f"there is no request {request}"
                said[answer, request] = other
    return said


SAID = table()


def test_the_table_has_all_answers() -> None:
    assert {answer for answer, _ in SAID} == set(ANSWERS)


@pytest.mark.parametrize(("answer", "request_name"), [cell for cell, status in SAID.items() if status != NO_SUCH_THING])
def test_answer(world: World, answer: str, request_name: str) -> None:
    assert outcome(world, REQUESTS[request_name], ANSWERS[answer]).name == SAID[answer, request_name]
