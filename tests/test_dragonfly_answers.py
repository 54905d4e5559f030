"""Each answer to each request of the dragonfly plugin, and what the op returns then: a table of the plugin's README."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import pytest

from tests import dragonfly_rows as do
from tests import faulty_http
from tests import s3_server as s3
from tests.dragonfly_client import BUILT, MISSING, at, configuration, filesystem
from tests.dragonfly_rows import Scene, Step
from tests.faulty_http import ALWAYS, Asked, Fault, FaultyServer, Reply, silent
from tests.proxy_stub import ProxyStub
from tests.s3_server import S3Server, Stored, error
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

OLD, NEW, MORE = b"what there was" * 100, b"what is new" * 70, b" and more"
LARGE = Stored(b"", '"large"', size=(6 << 30) + 1)  # too large for one copy
BEFORE: dict[str, bytes | Stored] = {"file": OLD, "d/a": OLD, "d/b": OLD, "large": LARGE}
BEFORE |= dict.fromkeys(("d2", "e/c"), b"not to be touched")
HTML = b"<!DOCTYPE html><html><body>sign in first</body></html>"
#: No op takes as long, with one try after the other.
LIMIT_S = 5


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scene, Scene]]:
    """Two of them on the same servers: one that gives up almost at once, and one that tries again for long."""
    folders = [tmp_path_factory.mktemp(name) for name in ("hasty", "patient")]
    with S3Server() as store, ProxyStub() as proxy:
        given = configuration(store.url, proxy.url, cache_max_bytes=0)
        with (
            filesystem(folders[0], given | {"retry_deadline_s": 0.02}) as hasty,
            filesystem(folders[1], given | {"retry_deadline_s": LIMIT_S}) as patient,
        ):
            scenes = Scene(store, proxy, hasty, folders[0]), Scene(store, proxy, patient, folders[1])
            scenes[0].put(BEFORE)
            # A client of Dragonfly that served before is asked again where one that never did is none.
            assert [do.read_all()(scene) for scene in scenes] == [OLD] * 2
            yield scenes


# Requests ------------------------------------------------------------------------------------------------------------


@do.step
def without_length(scene: Scene, then: Step) -> object:
    scene.store.inject(faulty_http.without_length, when=s3.is_head)
    return then(scene)


@do.step
def delete_counted(scene: Scene) -> Code:
    got = scene.fs.delete_recursively(at("d"))
    left = [name for name in scene.objects if name.startswith("d/")]
    assert got.value.files >= len(left)
    assert not got.ok or (left, got.value.files) == ([], 0)
    return got.code


Changes = dict[str, bytes | None]  # None is a deletion


@dataclass(frozen=True)
class Request:
    """A request: how it is known, the op that sends it, what that returns and changes, or may have changed."""

    known: Callable[[Asked], bool]
    op: Step
    right: object = Code.OK
    done: tuple[Changes, ...] = ({},)
    failed: tuple[Changes, ...] = ({},)
    by_proxy: bool = False


UNDELETED: tuple[Changes, ...] = ({}, {"d/a": None}, {"d/b": None}, {"d/a": None, "d/b": None})
RENAMED: Changes = {"file": None, "moved": OLD}
MOVED_LARGE: tuple[Changes, ...] = ({"large": None, "moved": b""}, {"moved": b""})
RENAME_LARGE = do.op("rename_file", "large", "moved")

#: By what it is called in the table.
REQUESTS = {
    "HEAD": Request(s3.is_head, do.stat("file"), (len(OLD), 0)),
    "GET byte 0": Request(lambda one: "range" in one.headers, without_length(do.stat("file")), (len(OLD), 0)),
    "list": Request(s3.is_list, do.children("d"), ["a", "b"]),
    "PUT": Request(s3.is_put, do.write_all(NEW), done=({"file": NEW},), failed=({}, {"file": NEW})),
    "PUT if": Request(s3.is_put, do.appended(MORE), done=({"file": OLD + MORE},), failed=({}, {"file": OLD + MORE})),
    "copy": Request(s3.is_put, do.op("rename_file", "file", "moved"), done=(RENAMED,),
                    failed=({}, {"moved": OLD}, RENAMED)),
    "start": Request(s3.is_start, RENAME_LARGE, done=MOVED_LARGE, failed=({}, *MOVED_LARGE)),
    "part": Request(s3.is_put, RENAME_LARGE, done=MOVED_LARGE, failed=({}, *MOVED_LARGE)),
    "finish": Request(s3.is_finish, RENAME_LARGE, done=MOVED_LARGE, failed=({}, *MOVED_LARGE)),
    "DELETE if": Request(s3.is_delete, do.op("delete_file", "file"), done=({"file": None},),
                         failed=({}, {"file": None})),
    "DeleteObjects": Request(s3.is_delete_many, delete_counted(), done=UNDELETED[-1:], failed=UNDELETED),
    "dfdaemon": Request(s3.is_get, do.read_all(), OLD, by_proxy=True),
}  # fmt: skip


# Answers -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What is answered instead of the right thing; `done`: the request took effect all the same."""

    fault: Fault
    done: bool = False


def page(status: int, kind: str = "text/html", body: bytes = HTML) -> Answer:
    return Answer(lambda *_: Reply(status, {"Content-Type": kind}, body))


def by_name(name: str, **headers: str) -> Answer:
    """A status, and the code of an error where there is one."""
    code, _, reason = name.split(",", maxsplit=1)[0].partition(" ")
    reply = error(int(code), reason) if reason else Reply(int(code))
    named = {header.replace("_", "-"): value for header, value in headers.items()}
    return Answer(lambda *_: replace(reply, headers=reply.headers | named))


#: What breaks on the way.
BROKEN = {
    "none": Answer(silent, done=True),
    "cut": Answer(faulty_http.announcing(9999), done=True),
    "cut in its head": Answer(lambda _, right: replace(right, head=30), done=True),
    "all but the head's end": Answer(lambda _, right: replace(right, head=-2), done=True),
}
#: By what it is called in the table. What ends in `once` comes once.
ANSWERS = {
    **BROKEN,
    **{f"{name}, once": answer for name, answer in BROKEN.items()},
    "in chunks": Answer(lambda *it: replace(faulty_http.without_length(*it), framed="chunks"), done=True),
    "without a length": Answer(faulty_http.without_length, done=True),
    "200, a page": page(200),
    "200, empty": Answer(lambda *_: Reply(200, framed="chunks")),
    "200, half of the XML": Answer(faulty_http.with_body(lambda body: body[: len(body) // 2]), done=True),
    "206, another range": by_name("206", Content_Range="bytes 5-9/10"),
    "404, a page": page(404),
    "404, a gateway's": page(404, "text/plain", b"404 page not found\n"),
    "429, once": by_name("429", Retry_After="0"),
    "502, a page": page(502),
    "503, Retry-After: 3600": by_name("503", Retry_After="3600"),
    **{name: by_name(name, Location="http://127.0.0.1:1/")
       for name in ("301 PermanentRedirect", "307 TemporaryRedirect")},
    **{name: by_name(name) for name in (
        "200 InternalError, once", "200 InternalError", "200 AccessDenied", "204", "304", "400 ExpiredToken", "401",
        "403 AccessDenied", "404 NoSuchBucket", "404 NoSuchKey", "404 NoSuchUpload", "405 MethodNotAllowed",
        "409 OperationAborted, once", "409 OperationAborted", "412 PreconditionFailed", "416 InvalidRange", "429",
        "500 InternalError, once", "500 InternalError", "501 NotImplemented", "503 SlowDown, once", "503 SlowDown",
        "507")},
}  # fmt: skip


def table() -> dict[tuple[str, str], str]:
    """The code of each answer to each request in the README."""
    codes: dict[tuple[str, str], str] = {}
    for answer, _, status, but in do.table("| answer | what the plugin does |"):
        assert answer in ANSWERS, f"there is no answer {answer}"
        codes |= {(answer, request): status for request in REQUESTS}
        for exception in filter(None, but.split("; ")):
            names, _, other = exception.partition(": ")
            for request in names.split(", "):
                assert (answer, request) in codes, f"there is no request {request}"
                codes[answer, request] = other
    return codes


README_CODES = table()


@pytest.mark.parametrize(
    ("answer", "request_name"), [cell for cell in product(ANSWERS, REQUESTS) if README_CODES[cell] != "–"]
)
def test_answer(plugins: tuple[Scene, Scene], answer: str, request_name: str) -> None:
    """The op ends, and returns what the table says; nothing is wrong, and nothing beside it touched."""
    once, request = answer.endswith("once"), REQUESTS[request_name]
    scene = plugins[once]
    do.heals(scene)
    scene.store.uploads.clear()
    scene.store.buckets[s3.BUCKET].clear()
    scene.put(BEFORE)
    server: FaultyServer = scene.proxy if request.by_proxy else scene.store
    server.inject(ANSWERS[answer].fault, 1 if once else ALWAYS, request.known, ANSWERS[answer].done)
    begun = time.monotonic()
    got = request.op(scene)
    # A busy machine takes its time beside; without a limit of ours the plugin would try for half a minute.
    assert time.monotonic() - begun < 4 * LIMIT_S
    code = Code.OK if got == request.right else got
    assert isinstance(code, Code)
    changes = {name: scene.objects.get(name) for name in {*BEFORE, *scene.objects}}
    before: Changes = {name: one.content if isinstance(one, Stored) else one for name, one in BEFORE.items()}
    assert changes in [before | one for one in (request.done if code is Code.OK else request.failed)]
    large = [one.length for name, one in scene.store.buckets[s3.BUCKET].items() if one.size is not None]
    assert {*large} == {LARGE.length}
    assert any(map(request.known, server.asked))
    assert code.name == README_CODES[answer, request_name]
