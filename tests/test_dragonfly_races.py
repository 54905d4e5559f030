"""Copies, renames and deletions of the dragonfly plugin while another writer changes the object, or where an answer
leaves open whether the store did what was asked: nothing is lost, done twice, or reported done that is not.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any
from xml.etree import ElementTree

import pytest

from tests import dragonfly_rows as do
from tests.dragonfly_client import BUILT, MISSING, at
from tests.dragonfly_rows import Given, Scene, Situation, row
from tests.faulty_http import Asked, Reply, anything, silent
from tests.s3_server import error, is_copy, is_delete, is_head, is_put
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

MINE, THEIRS = b"what was there" * 10, b"what another writer wrote meanwhile"
NOT_FOUND = (("bare", Reply(404)), ("page", Reply(404, {"Content-Type": "text/html"}, b"<html>no route</html>")))
BROKEN_OFF = Reply(503, {"Content-Type": "text/plain"}, b"upstream connect error; reset reason: connection termination")
NO_ANSWER = Reply(200, head=0)
NOT_IMPLEMENTED = error(501, "NotImplemented")

rename, copy = do.op("rename_file", "file", "moved"), do.op("copy_file", "file", "copy")
delete = do.op("delete_file", "file")


def changed(name: str, *steps: Given, after: dict[str, bytes], **config: Any) -> Situation:
    return row(name, *steps, before={"file": MINE}, after=after, **config)


def rename_message(scene: Scene) -> tuple[Code, bool]:
    got = scene.fs.rename_file(at("file"), at("moved"))
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
              do.has("store", conditional_deletes=conditional), do.meanwhile(is_put, do.puts(THEIRS)),
              (rename_message, (Code.ABORTED, True)), after={"file": THEIRS, "moved": MINE})
      for conditional in (True, False)),
    changed("a writer before the deletion of a rename", do.before(is_delete, do.puts(THEIRS)), (rename, Code.ABORTED),
            after={"file": THEIRS, "moved": MINE}),
    changed("a store without conditional deletes",
            do.store_answers(NOT_IMPLEMENTED, lambda one: "if-match" in one.headers), rename, after={"moved": MINE}),
    changed("a rename to a local file", do.meanwhile(anything, do.puts(THEIRS), server="proxy"),
            (do.op("rename_file", "file", "/moved"), Code.ABORTED),
            (local("moved"), MINE), after={"file": THEIRS}),
    row("a rename of a local file", write_local("local", MINE), do.before(is_put, write_local("local", THEIRS)),
        (do.op("rename_file", "/local", "file"), Code.ABORTED), (local("local"), THEIRS), (do.objects, {"file": MINE}),
        do.op("rename_file", "/local", "file"), (local("local"), b"there is none"), after={"file": THEIRS}),
    changed("a writer before a deletion", do.before(is_delete, do.puts(THEIRS)), (delete, Code.ABORTED),
            after={"file": THEIRS}),
    changed("another deletion before a deletion", do.before(is_delete, do.removes()), delete, after={}),
    changed("an append to what is deleted", do.begin(appends=True), do.append(b"more"), do.removes(),
            (do.close, Code.NOT_FOUND), after={}),
    changed("an append whose answer is lost, then another writer",
            do.meanwhile(is_put, do.puts(THEIRS), silent),
            (do.appended(b"more"), Code.ABORTED), after={"file": THEIRS}),
    row("a directory that another client makes", do.before(is_put, do.puts(b"", "d/")),
        (do.op("create_dir", "d"), Code.ALREADY_EXISTS), before={"": b""}, after={"": b"", "d/": b""}),
    *(row(f"a directory of unknown origin, {code.name}", do.store_answers(reply, is_put),
          (do.op("create_dir", "d"), code), before={"": b""})
      for reply, code in ((NO_ANSWER, Code.UNAVAILABLE), (error(409, "ConditionalRequestConflict"), Code.ABORTED))),
    changed("a writer before a copy", do.before(is_copy, do.puts(THEIRS)), (copy, Code.ABORTED),
            (do.objects, {"file": THEIRS}), do.write_all(MINE, "copy"), after={"file": THEIRS, "copy": MINE}),
]  # fmt: skip


class Blanks(bytes):
    """Is sent byte by byte, with a pause before each blank."""

    pause_s = 1.5

    def __iter__(self) -> Iterator[int]:
        for byte in super().__iter__():
            if byte == ord(" "):
                sleep(self.pause_s)
            yield byte


def slow(_: Asked, right: Reply) -> Reply:
    return replace(right, body=Blanks(b" " * 8 + right.body.partition(b"?>")[2]), pace=1e-9)


def is_malformed(asked: Asked) -> bool:
    parse: Callable[[bytes], object] = ElementTree.fromstring
    try:
        return asked.method == "POST" and parse(asked.body) is None
    except ElementTree.ParseError:
        return True


@do.step
def heads_404(scene: Scene, after: str, answer: Reply) -> None:
    """The first HEAD after a request of this method is answered by a 404 that is not the store's own."""
    asked = scene.store.asked
    scene.store.inject(lambda *_: answer, 1, done=False,
                       when=lambda one: is_head(one) and after in {one.method for one in asked[:-1]})  # fmt: skip


@do.step
def put_stalls(scene: Scene) -> None:
    """The answer to the next PUT does not come until the scene goes on."""
    scene.store.inject(lambda _, right: replace(right, body=b"z", drip=scene.rest), 1, is_put)


#: The connection is an old one when the marker is sent.
OLD_CONNECTION = do.op("path_exists", "x")
MARKER_ONCE = (do.count(is_put), 1)

IN_DOUBT = [
    # If it is sent twice, the second meets what the first made, and takes it for another client's.
    row("a marker that stalls is not sent again", OLD_CONNECTION, put_stalls(),
        (do.op("create_dir", "dir"), Code.DEADLINE_EXCEEDED), MARKER_ONCE, before={"x": b"x"},
        after={"x": b"x", "dir/": b""}, stall_timeout_s=2, retry_deadline_s=10),
    row("a marker that breaks off is not sent again", OLD_CONNECTION, do.store_does(lambda *_: BROKEN_OFF, is_put, 1),
        (do.op("create_dir", "dir"), Code.UNAVAILABLE), MARKER_ONCE, before={"x": b"x"},
        after={"x": b"x", "dir/": b""}, stall_timeout_s=2, retry_deadline_s=10),
    *(changed(f"a deletion in doubt, {name} 404", do.store_answers(answer, is_delete, 1), heads_404("DELETE", answer),
              (delete, Code.INTERNAL), after={"file": MINE}) for name, answer in NOT_FOUND),
    *(changed(f"a rename in doubt, {name} 404", heads_404("PUT", answer), (rename, Code.OK), after={"moved": MINE})
      for name, answer in NOT_FOUND),
    changed("a store that is at work for long", do.store_does(slow, is_copy, 1), copy, (do.count(is_put), 1),
            after={"file": MINE, "copy": MINE}, stall_timeout_s=4),
    row("a key that XML cannot have is deleted with the others",
        do.store_answers(error(400, "MalformedXML"), is_malformed), do.delete_all(),
        before=dict.fromkeys(("d/1", "d/2", "d/odd\ufffe", "d/\uffff"), b"x"), after={}),
    # libcurl keeps the buffer of a transfer that found no address, and then refuses to change its size.
    row("the rest of a transfer that failed is not used again", *[(do.op("path_exists", "file"), Code.UNAVAILABLE)] * 2,
        addr="http://127.0.0.1:9", object_storage={"endpoint": "http://store.invalid:9"}, retry_deadline_s=2),
]  # fmt: skip

COPIES = [
    changed("onto itself", do.op("rename_file", "file", "file"), do.op("copy_file", "file", "file"),
            after={"file": MINE}),
    row("between a local file and an object", write_local("local", MINE), do.op("copy_file", "/local", "file"),
        (do.objects, {"file": MINE}), do.op("copy_file", "file", "/back"), (local("back"), MINE),
        do.op("rename_file", "file", "/moved"), (local("moved"), MINE), (do.objects, {}),
        (do.op("copy_file", "/missing", "file"), Code.NOT_FOUND), (do.op("copy_file", "file", "/back"), Code.NOT_FOUND),
        (do.op("copy_file", "/", "file"), Code.FAILED_PRECONDITION)),
]  # fmt: skip


@pytest.mark.parametrize("situation", [*RACES, *IN_DOUBT, *COPIES], ids=str)
def test_change(situation: Situation, tmp_path: Path) -> None:
    situation.run(tmp_path)
