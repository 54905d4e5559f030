"""What the dragonfly plugin changes, and what is left after a failure or beside another writer."""

import itertools
import random
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import dragonfly_rows as do
from tests import s3_server as s3
from tests.dragonfly_client import BUILT, MISSING, ROOT, configuration, configured, filesystem_in, loaded, unnamed
from tests.dragonfly_rows import Given, Scene, Situation, Step, row
from tests.faulty_http import Asked, Reply, When, anything, silent, with_body
from tests.proxy_stub import ProxyStub
from tests.s3_server import S3Server, Stored, document, error
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

MEBI = 1 << 20
PART = 64 * MEBI
#: More than one part; no two blocks of it are the same.
CONTENT = random.Random(1).randbytes(PART + MEBI)
OTHER = CONTENT[::-1]
CACHED = bytes(10 * MEBI)
OLD, NEW = b"what there was", bytes(range(256)) * 40
INTERNAL = error(500, "InternalError")
NOT_IMPLEMENTED = error(501, "NotImplemented")
LATE_ERROR = document("<Error><Code>InternalError</Code></Error>")  # a 200 that is none
UPLOAD, UPLOAD_AND_COPY = ["start", "part", "part", "finish"], ["start", "copy", "part", "finish"]


def changes(scene: Scene) -> list[str]:
    """The requests that change something, by the words of the README; those that go together are sorted."""

    def word(asked: Asked) -> str:
        if asked.method == "POST":
            return "finish" if s3.is_finish(asked) else "start"
        return "copy" if s3.is_copy(asked) else "part" if s3.is_part(asked) else asked.method

    words = [word(asked) for asked in scene.store.asked if asked.method not in ("GET", "HEAD")]
    runs = itertools.groupby(words, key=lambda one: "together" if one in ("copy", "part") else one)
    return [one for _, run in runs for one in sorted(run)]


def uploads(scene: Scene) -> list[list[int]]:
    """The numbers of the parts that each upload has so far."""
    return [[*parts] for parts in scene.store.uploads.values()]


def with_word(word: str) -> When:
    return lambda asked: word in asked.target and not s3.is_delete(asked)


CUT_SHORT = with_body(lambda body: body[:40])

UPLOADS = [
    row("the first part goes up before the last byte is appended", do.begin(), do.append(CONTENT[:-1]),
        do.wait_for(lambda scene: uploads(scene) == [[1]]), (do.objects, {}), (do.tell, len(CONTENT) - 1),
        do.append(CONTENT[-1:]), do.close, after={"file": CONTENT}),
    *(row(f"a file of {len(content)} bytes", do.begin(), do.append(content), do.close, (changes, requests),
          after={"file": content})
      for content, requests in ((b"", ["PUT"]), (b"1", ["PUT"]), (CONTENT[:PART], ["PUT"]),
                                (CONTENT[: PART + 1], UPLOAD), (CONTENT + CONTENT[: PART - MEBI], UPLOAD))),
    row("a part is sent again", do.store_answers(error(503, "SlowDown"), with_word("partNumber=2"), 1),
        do.write_all(CONTENT), (lambda scene: scene.store.buckets[s3.BUCKET]["tests/file"].etag[-3:], '-2"'),
        after={"file": CONTENT}),
    *(row(f"an upload that fails leaves nothing, {where}", do.store_answers(reply, with_word(where)),
          (do.write_all(CONTENT), Code.INTERNAL))
      for reply, where in ((INTERNAL, "partNumber=2"), (LATE_ERROR, "/file?uploadId="))),
    row("cached objects give way to what is written", *[(do.read_all("cached"), CACHED)] * 2, (do.ranges, [None]),
        do.begin(), do.append(bytes(15 * MEBI)), (do.read_all("cached"), CACHED), (do.ranges, [None] * 2),
        before={"cached": CACHED}, after={"cached": CACHED, "file": bytes(15 * MEBI)}, cache_max_bytes=20 * MEBI),
    *(row(f"a file that is dropped, appends {appends}", do.begin(appends=appends), do.append(CONTENT), do.drop,
          (lambda scene: changes(scene)[-1], "DELETE"), before={"file": OLD}) for appends in (False, True)),
    row("a part that fails is reported by all that follow", do.refused(s3.is_part), do.begin(), do.append(CONTENT),
        do.wait_for(lambda scene: do.append(b"more")(scene) is not Code.OK),
        # It is broken off at once.
        (uploads, []), *((step, Code.PERMISSION_DENIED)
                         for step in (do.append(b"more"), *map(do.on_writer, ("flush", "sync", "tell", "close")))),
        (lambda scene: "finish" in changes(scene), False), before={"file": OLD}),
    *(row(f"{op} reports a refusal of {where}", do.refused(with_word(where)), do.begin(), do.append(CONTENT),
          (do.on_writer(op), Code.PERMISSION_DENIED), (do.objects, {}), (uploads, []),
          (do.append(b"more"), Code.FAILED_PRECONDITION if op == "close" else Code.PERMISSION_DENIED))
      for op in ("flush", "sync", "close") for where in ("partNumber=1", "partNumber=2", "/file?uploadId=")),
    row("an upload that cannot start", do.refused(s3.is_start), do.begin(), do.append(CONTENT[:PART]),
        (do.append(b"more"), Code.PERMISSION_DENIED), (do.close, Code.PERMISSION_DENIED), (changes, ["start"]),
        before={"file": OLD}),
    # The plugin looks whether the object is its own.
    *(row(f"the last answer is {how}, another writer puts {other}",
          do.meanwhile(s3.is_finish, do.puts(OTHER) if other else do.nothing, answer), (do.write_all(CONTENT), code),
          after={"file": OTHER if other else CONTENT})
      for how, answer, other, code in (("lost", silent, False, Code.OK), ("lost", silent, True, Code.ABORTED),
                                       ("cut", CUT_SHORT, False, Code.OK), ("cut", CUT_SHORT, True, Code.INTERNAL))),
    *(row(f"{op} puts all, and more can be appended", do.begin(), do.append(CONTENT),
          do.on_writer(op), (do.objects, {"file": CONTENT}),
          do.on_writer(op), (do.objects, {"file": CONTENT}), (changes, UPLOAD), do.heals, do.append(b"more"),
          (do.tell, len(CONTENT) + 4), do.close, (changes, UPLOAD_AND_COPY), after={"file": CONTENT + b"more"})
      for op in ("flush", "sync")),
    row("a weak ETag of an upload is a condition",
        do.store_does(with_body(lambda body: body.replace(b"<ETag>", b"<ETag>W/")), s3.is_finish, 1), do.begin(),
        do.append(CONTENT), do.flush, do.append(b"more"), do.close, after={"file": CONTENT + b"more"}),
    # Weakened on the way, by a proxy that then asks for it with the strong one.
    row("a weak ETag of a put is a condition",
        do.store_does(lambda _, right: replace(right, headers=right.headers | {"ETag": f"W/{right.headers['ETag']}"}),
                      s3.is_put), do.begin(appends=True), do.append(b"begins"), do.flush, do.append(b", goes on"),
        do.flush, after={"file": b"begins, goes on"}),
    row("a small file is put whole at each flush", do.begin(), *[do.append(CONTENT[: PART // 2]), do.flush] * 2,
        (changes, ["PUT", "PUT"]), do.append(b"more"), do.close, (changes, ["PUT", "PUT", *UPLOAD]),
        after={"file": CONTENT[: PART // 2] * 2 + b"more"}),
    # Also in a store that copies whatever is there.
    *(row(f"overwritten after a flush, the store compares {compares}",
          do.nothing if compares else do.store_answers(s3.with_etag("CopyPartResult", "an ETag"), s3.is_copy),
          do.begin(), do.append(CONTENT), do.flush, do.puts(OLD), do.append(b"more"), (do.close, Code.ABORTED),
          after={"file": OLD})
      for compares in (True, False)),
    row("a large object is appended to in the store", do.begin(appends=True), (do.tell, len(CONTENT)),
        do.append(b"more"), do.close, (changes, UPLOAD_AND_COPY), (do.count(s3.is_get), 0),
        before={"file": CONTENT}, after={"file": CONTENT + b"more"}),
    # A store may look for the range first.
    *(row(f"a large object is overwritten before {when}", do.meanwhile(is_next, do.puts(OLD)), also,
          (do.appended(b"more"), Code.ABORTED), before={"file": CONTENT}, after={"file": OLD})
      for when, is_next, also in (
          ("the copy", s3.is_start, do.nothing), ("the end", with_word("partNumber=2"), do.nothing),
          ("the copy, no such range", s3.is_start,
           do.store_does(lambda *_: error(400, "InvalidArgument"), with_word("partNumber=1"))))),
    row("a large object in a store without conditions",
        do.store_answers(NOT_IMPLEMENTED, lambda one: "if-match" in one.headers), do.appended(b"more"),
        before={"file": CONTENT}, after={"file": CONTENT + b"more"}),
]  # fmt: skip


WRITERS = [
    # TensorFlow drops the file that locks the cache of a data set, and looks for it later.
    *(row(f"nothing before close, all after a drop of {len(content)} bytes", do.begin(), do.append(content),
          (do.objects, {}), (do.tell, len(content)), after={"file": content}) for content in (NEW, b"")),
    row("what is overwritten is read anew", do.write_all(NEW), (do.read_all(), NEW), do.write_all(NEW[::-1]),
        (do.read_all(), NEW[::-1]), after={"file": NEW[::-1]}),
    row("a writer that could not begin", do.refused(s3.is_get),
        (do.begin(appends=True), Code.PERMISSION_DENIED), (do.count(s3.is_put), 0), before={"file": NEW}),
    row("flush puts once and only what is new", do.begin(), do.append(b"one"), *[do.flush, do.on_writer("sync")] * 2,
        (do.objects, {"file": b"one"}), do.append(b"two"), do.close, (do.count(s3.is_put), 2),
        after={"file": b"onetwo"}),
    # Answers that the table of the README does not have.
    *(row(f"a put that is answered {status} {reason}", do.store_answers(error(status, reason), s3.is_put),
          (do.write_all(NEW), code))
      for status, reason, code in (
          (200, "NobodyKnows", Code.INTERNAL), (200, "SlowDown", Code.UNAVAILABLE), (400, "SlowDown", Code.UNAVAILABLE),
          (400, "InvalidArgument", Code.INVALID_ARGUMENT), (400, "EntityTooLarge", Code.RESOURCE_EXHAUSTED),
          (422, "", Code.INTERNAL), (522, "", Code.UNAVAILABLE))),
    # The signature is of one blank.
    row("an ETag with two blanks", do.appended(b"more"), before={"file": Stored(OLD, '"of  parts"')},
        after={"file": OLD + b"more"}),
    row("an append does not overwrite another writer's", do.begin(appends=True), (do.tell, 3), do.append(b" and new"),
        do.flush, (do.objects, {"file": b"old and new"}), do.puts(OLD), do.append(b"!"), (do.close, Code.ABORTED),
        before={"file": b"old"}, after={"file": OLD}),
    # What is appended next would fit.
    row("nothing is put after an append that failed", do.begin(), do.append(b"begins"),
        *((step, Code.RESOURCE_EXHAUSTED) for step in (do.append(NEW), do.append(b"ends"), do.flush, do.close)),
        before={"file": OLD}, file_size=len(NEW)),
    row("a file that is dropped replaces no object", do.begin(), do.append(b"cut"), do.begin("new"), do.append(b"cut"),
        before={"file": OLD}, after={"file": OLD, "new": b"cut"}),
    row("a file that is dropped replaces what it flushed", do.begin(), do.append(b"begins"), do.flush,
        do.append(b", goes on"), after={"file": b"begins, goes on"}),
    row("a file that is dropped does not replace another writer's", do.begin(), do.append(b"begins"), do.flush,
        do.puts(OLD), do.append(b", goes on"), after={"file": OLD}),
    row("a store without conditions is asked before",
        do.store_answers(NOT_IMPLEMENTED,
                         lambda one: s3.is_put(one) and not {"if-match", "if-none-match"}.isdisjoint(one.headers)),
        do.op("create_dir", "d"),
        do.appended(b", goes on"), (do.objects, {"file": b"begins, goes on", "d/": b""}),
        do.begin(appends=True), do.append(b"!"), do.puts(OLD), (do.close, Code.ABORTED),
        before={"file": b"begins"}, after={"file": OLD, "d/": b""}),
]  # fmt: skip


COPIES = [
    row("an object too large for one copy", do.op("rename_file", "file", "moved"), (do.size("moved"), (6 << 30) + 1),
        before={"file": Stored(b"", '"large"', size=(6 << 30) + 1)}, after={"moved": b""}),
    row("copy_part_bytes: not more are copied at once", do.op("copy_file", "small", "copy"), (do.count(s3.is_part), 0),
        do.op("copy_file", "file", "copy"),
        (lambda scene: {one.headers["x-amz-copy-source-range"] for one in scene.store.asked if s3.is_part(one)},
         {"bytes=0-7340031", "bytes=7340032-14680063", "bytes=14680064-22020095"}), (do.count(s3.is_part), 3),
        (lambda scene: scene.objects["copy"] == CONTENT[: 21 * MEBI], True), do.heals,
        do.store_answers(error(412, "PreconditionFailed"), s3.is_part),
        (do.op("rename_file", "file", "moved"), Code.ABORTED), copy_part_bytes=10 * MEBI,
        before={"small": CONTENT[: 10 * MEBI], "file": CONTENT[: 21 * MEBI]},
        after={"small": CONTENT[: 10 * MEBI], "file": CONTENT[: 21 * MEBI], "copy": CONTENT[: 21 * MEBI]}),
]  # fmt: skip


# Another writer changes the object, or an answer leaves open whether the store did what was asked ---------------------

MINE, THEIRS = b"what was there" * 10, b"what another writer wrote meanwhile"
NOT_FOUND = (("bare", Reply(404)), ("page", Reply(404, {"Content-Type": "text/html"}, b"<html>no route</html>")))
BROKEN_OFF = Reply(503, {"Content-Type": "text/plain"}, b"upstream connect error; reset reason: connection termination")

rename, copy = do.op("rename_file", "file", "moved"), do.op("copy_file", "file", "copy")
delete = do.op("delete_file", "file")


def changed(name: str, *steps: Given, after: dict[str, bytes], **config: Any) -> Situation:
    return row(name, *steps, before={"file": MINE}, after=after, **config)


def rename_message(scene: Scene) -> tuple[Code, bool]:
    got = scene.fs.rename_file(scene.at("file"), scene.at("moved"))
    return got.code, "is changed while it is renamed" in got.message


@do.step
def write_local(scene: Scene, name: str, content: bytes) -> None:
    (scene.folder / name).write_bytes(content)


@do.step
def local(scene: Scene, name: str) -> bytes | None:
    """The content of a local file."""
    path = scene.folder / name
    return path.read_bytes() if path.exists() else b"there is none"


RACES = [
    *(changed(f"a writer after the copy of a rename, conditional deletes {conditional}",
              do.has("store", conditional_deletes=conditional), do.meanwhile(s3.is_put, do.puts(THEIRS)),
              (rename_message, (Code.ABORTED, True)), after={"file": THEIRS, "moved": MINE})
      for conditional in (True, False)),
    changed("a writer before the deletion of a rename", do.before(s3.is_delete, do.puts(THEIRS)),
            (rename, Code.ABORTED), after={"file": THEIRS, "moved": MINE}),
    changed("a store without conditional deletes",
            do.store_answers(NOT_IMPLEMENTED, lambda one: "if-match" in one.headers), rename, after={"moved": MINE}),
    changed("a rename to a local file", do.meanwhile(anything, do.puts(THEIRS), server="proxy"),
            (do.op("rename_file", "file", "/moved"), Code.ABORTED), (local("moved"), MINE), after={"file": THEIRS}),
    row("a rename of a local file", write_local("local", MINE), do.before(s3.is_put, write_local("local", THEIRS)),
        (do.op("rename_file", "/local", "file"), Code.ABORTED), (local("local"), THEIRS), (do.objects, {"file": MINE}),
        do.op("rename_file", "/local", "file"), (local("local"), b"there is none"), after={"file": THEIRS}),
    changed("a writer before a deletion", do.before(s3.is_delete, do.puts(THEIRS)), (delete, Code.ABORTED),
            after={"file": THEIRS}),
    changed("another deletion before a deletion", do.before(s3.is_delete, do.removes), delete, after={}),
    changed("an append to what is deleted", do.begin(appends=True), do.append(b"more"), do.removes,
            (do.close, Code.NOT_FOUND), after={}),
    changed("an append whose answer is lost, then another writer", do.meanwhile(s3.is_put, do.puts(THEIRS), silent),
            (do.appended(b"more"), Code.ABORTED), after={"file": THEIRS}),
    row("a directory that another client makes", do.before(s3.is_put, do.puts(b"", "d/")),
        (do.op("create_dir", "d"), Code.ALREADY_EXISTS), before={"": b""}, after={"": b"", "d/": b""}),
    *(row(f"a directory of unknown origin, {code.name}", do.store_answers(reply, s3.is_put),
          (do.op("create_dir", "d"), code), before={"": b""})
      for reply, code in ((Reply(200, head=0), Code.UNAVAILABLE),
                          (error(409, "ConditionalRequestConflict"), Code.ABORTED))),
    changed("a writer before a copy", do.before(s3.is_copy, do.puts(THEIRS)), (copy, Code.ABORTED),
            (do.objects, {"file": THEIRS}), do.write_all(MINE, "copy"), after={"file": THEIRS, "copy": MINE}),
]  # fmt: skip


def slow(_: Asked, right: Reply) -> Reply:
    return replace(right, body=b" " * 4 + right.body.partition(b"?>")[2], pace=1.5, free=4)


@do.step
def heads_404(scene: Scene, after: str, answer: Reply) -> None:
    """The first HEAD after a request of this method is answered by a 404 that is not the store's own."""
    asked = scene.store.asked
    scene.store.inject(lambda *_: answer, 1, done=False,
                       when=lambda one: s3.is_head(one) and after in {one.method for one in asked[:-1]})  # fmt: skip


IN_DOUBT = [
    # If it is sent twice, the second meets what the first made, and takes it for another client's. The first look makes
    # the connection an old one.
    *(row(f"a marker that {what} is not sent again", do.op("path_exists", "x"), does,
          (do.op("create_dir", "dir"), code), (do.count(s3.is_put), 1), before={"x": b"x"},
          after={"x": b"x", "dir/": b""}, stall_timeout_s=2, retry_deadline_s=10)
      for what, does, code in (
          ("stalls", do.stalls("store", when=s3.is_put, times=1), Code.DEADLINE_EXCEEDED),
          ("breaks off", do.store_does(lambda *_: BROKEN_OFF, s3.is_put, 1), Code.UNAVAILABLE))),
    *(changed(f"a deletion in doubt, {name} 404", do.store_answers(answer, s3.is_delete, 1),
              heads_404("DELETE", answer), (delete, Code.INTERNAL), after={"file": MINE})
      for name, answer in NOT_FOUND),
    *(changed(f"a rename in doubt, {name} 404", heads_404("PUT", answer), (rename, Code.OK), after={"moved": MINE})
      for name, answer in NOT_FOUND),
    changed("a store that is at work for long", do.store_does(slow, s3.is_copy, 1), copy, (do.count(s3.is_put), 1),
            after={"file": MINE, "copy": MINE}, stall_timeout_s=4),
    row("a key that XML cannot have is deleted with the others", do.delete_all(),
        before=dict.fromkeys(("d/1", "d/2", "d/odd\ufffe", "d/\uffff"), b"x"), after={}),
    # libcurl keeps the buffer of a transfer that found no address, and then refuses to change its size.
    row("the rest of a transfer that failed is not used again", *[(do.op("path_exists", "file"), Code.UNAVAILABLE)] * 2,
        addr="http://127.0.0.1:9", object_storage={"endpoint": "http://store.invalid:9"}),
]  # fmt: skip

LOCAL_COPIES = [
    changed("onto itself", do.op("rename_file", "file", "file"), do.op("copy_file", "file", "file"),
            after={"file": MINE}),
    row("between a local file and an object", write_local("local", MINE), do.op("copy_file", "/local", "file"),
        (do.objects, {"file": MINE}), do.op("copy_file", "file", "/back"), (local("back"), MINE),
        do.op("rename_file", "file", "/moved"), (local("moved"), MINE), (do.objects, {}),
        (do.op("copy_file", "/missing", "file"), Code.NOT_FOUND), (do.op("copy_file", "file", "/back"), Code.NOT_FOUND),
        (do.op("copy_file", "/", "file"), Code.FAILED_PRECONDITION)),
    row("a local file goes up in parts", write_local("local", CONTENT), do.op("copy_file", "/local", "file"),
        (changes, UPLOAD), after={"file": CONTENT}),
]  # fmt: skip


@pytest.mark.parametrize("situation", [*UPLOADS, *WRITERS, *COPIES, *RACES, *IN_DOUBT, *LOCAL_COPIES], ids=str)
def test_change(situation: Situation, tmp_path: Path) -> None:
    situation.run(tmp_path)


def test_parts_go_up_at_the_same_time(tmp_path: Path) -> None:
    """Three of them; the writer waits for the first before it writes a fourth, and no more is on the disk."""
    together, seen, cache = threading.Barrier(3, timeout=60), list[int](), tmp_path / "cache"
    cache.mkdir()

    def hold(asked: Asked, right: Reply) -> Reply:
        if "partNumber=4" not in asked.target:
            together.wait()
        seen.append(unnamed(cache))
        return right

    row("parts", do.store_does(hold, s3.is_part), do.begin(), do.append(bytes(3 * PART + 1)), do.close,
        (lambda _: unnamed(cache), 0), (changes, ["start", *["part"] * 4, "finish"]),
        after={"file": bytes(3 * PART + 1)}, cache_dir=str(cache)).run(tmp_path)  # fmt: skip
    assert len(seen) == 4
    assert PART <= min(seen[:3]) <= max(seen) <= 3 * PART


def test_upload_is_aborted_after_its_parts_end(tmp_path: Path) -> None:
    begun, ended = threading.Event(), threading.Event()
    early: list[bool] = []

    def slow(_: Asked, right: Reply) -> Reply:
        begun.set()
        early.append(ended.wait(0.3))
        return right

    def refused_meanwhile(_: Asked, __: Reply) -> Reply:
        begun.wait(30)
        return error(403, "AccessDenied")

    row("parts", do.store_does(slow, with_word("partNumber=1")),
        do.store_does(refused_meanwhile, s3.is_part, done=False), do.meanwhile(s3.is_delete, lambda _: ended.set()),
        (do.write_all(CONTENT), Code.PERMISSION_DENIED)).run(tmp_path)  # fmt: skip
    assert (early, ended.is_set()) == ([False], True)


#: What a process does as it ends, and the uploads that it leaves.
IN_THE_MIDST: dict[str, tuple[list[Step], list[str]]] = {
    "a part goes up": ([do.begin(), do.append(CONTENT), do.wait_for(do.count(s3.is_part))], ["upload-0"]),
    "an object comes": ([do.proxy_stalls(4), do.open_file, do.reads(0, 4)], []),
}


@pytest.mark.parametrize("midst", IN_THE_MIDST)
def test_a_process_ends_in_the_midst(tmp_path: Path, midst: str) -> None:
    """Soon, and well; the parts that went up are left to the store's own housekeeping."""
    steps, left = IN_THE_MIDST[midst]
    with S3Server() as store, ProxyStub() as proxy:
        store.put("tests/file", OLD)
        path = configured(tmp_path, configuration(store.url, proxy.url, whole_object_below=1))
        with loaded("dragonfly", {"DRAGONFLY_CONFIG_PATH": str(path)}) as found:
            scene = Scene(store, proxy, filesystem_in(found, "dragonfly", ROOT), tmp_path)
            # For longer than the host waits for its end.
            store.inject(lambda _, right: right if scene.rest.wait(90) else Reply(500), when=s3.is_part)
            for step in steps:
                assert step(scene) in (None, Code.OK, OLD[:4])
            assert found.host.quit() == "exit status 0"
            scene.rest.set()
    assert (scene.objects, list(store.uploads)) == ({"file": OLD}, left)
