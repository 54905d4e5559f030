"""Answers that leave open whether a store did what was asked: nothing is done twice, and nothing is told done."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import sleep
from xml.etree import ElementTree

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, configuration, filesystem, served
from tests.faulty_http import Asked, Reply
from tests.s3_server import BUCKET, error
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

NOTHING_SAID = Reply(404)
NO_ROUTE = Reply(404, {"Content-Type": "text/html"}, b"<html>no route</html>")
BROKEN_OFF = Reply(503, {"Content-Type": "text/plain"}, b"upstream connect error; reset reason: connection termination")


@pytest.mark.parametrize("stalls", [True, False])
def test_a_marker_that_may_be_there_is_not_sent_again(tmp_path: Path, stalls: bool) -> None:
    """Whoever sends it twice meets what the first one made, and takes it for somebody else's."""
    never = threading.Event()
    with served(tmp_path, stall_timeout_s=2, retry_deadline_s=10) as (store, _, fs):
        store.put("tests/x", b"x")
        assert fs.path_exists(at("x")).ok  # from here on the connection is an old one
        store.inject(
            lambda _, right: replace(right, body=b"z", drip=never) if stalls else BROKEN_OFF,
            1,
            when=lambda asked: asked.method == "PUT",
        )
        assert fs.create_dir(at("dir")).code is (Code.DEADLINE_EXCEEDED if stalls else Code.UNAVAILABLE)
        assert [asked.method for asked in store.asked].count("PUT") == 1
        never.set()


@pytest.mark.parametrize("answer", [NOTHING_SAID, NO_ROUTE], ids=["bare", "page"])
@pytest.mark.parametrize("op", ["delete_file", "rename_file"])
def test_what_is_gone_is_gone_by_the_stores_own_word(tmp_path: Path, op: str, answer: Reply) -> None:
    done = "DELETE" if op == "delete_file" else "PUT"
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", b"x")
        if op == "delete_file":
            store.inject(lambda *_: answer, 1, when=lambda asked: asked.method == "DELETE", done=False)
        store.inject(
            lambda *_: answer,
            1,
            when=lambda asked: asked.method == "HEAD" and done in {before.method for before in store.asked[:-1]},
            done=False,
        )
        said = fs.delete_file(at("file")) if op == "delete_file" else fs.rename_file(at("file"), at("other"))
        assert ("tests/file" in store.buckets[BUCKET]) == (not said.ok)


class Blanks(bytes):
    """What is sent byte by byte, with a pause before each blank."""

    pause = 1.5

    def __iter__(self) -> Iterator[int]:
        for byte in super().__iter__():
            if byte == ord(" "):
                sleep(self.pause)
            yield byte


def test_a_store_that_says_now_and_then_that_it_is_at_work_is_waited_for(tmp_path: Path) -> None:
    def slow(_: Asked, right: Reply) -> Reply:
        return replace(right, body=Blanks(b" " * 8 + right.body.partition(b"?>")[2]), pace=1e-9)

    with served(tmp_path, stall_timeout_s=4) as (store, _, fs):
        store.put("tests/file", b"x")
        store.inject(slow, 1, when=lambda asked: "x-amz-copy-source" in asked.headers)
        assert fs.copy_file(at("file"), at("other")).ok
        assert [asked.method for asked in store.asked].count("PUT") == 1


def test_a_key_that_xml_cannot_say_is_deleted_with_the_others(tmp_path: Path) -> None:
    def is_malformed(asked: Asked) -> bool:
        parse: Callable[[bytes], object] = ElementTree.fromstring
        try:
            return asked.method == "POST" and parse(asked.body) is None
        except ElementTree.ParseError:
            return True

    with served(tmp_path) as (store, _, fs):
        for name in ("d/1", "d/2", "d/odd\ufffe", "d/\uffff"):
            store.put(f"tests/{name}", b"x")
        store.inject(lambda *_: error(400, "MalformedXML"), when=is_malformed, done=False)
        assert fs.delete_recursively(at("d")).ok
        assert not store.buckets[BUCKET]


def test_what_is_left_of_a_transfer_that_failed_is_not_used_again(tmp_path: Path) -> None:
    """libcurl keeps the buffer of one that found no address, and then refuses to change its size."""
    config = configuration("http://store.invalid:9", "http://127.0.0.1:9", retry_deadline_s=2)
    with filesystem(tmp_path, config) as fs:
        assert [fs.path_exists(at("file")).code for _ in range(2)] == [Code.UNAVAILABLE] * 2
