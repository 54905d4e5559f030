"""Listings and deletions of many by a store that lists wrongly: an end, an error, and no key but those asked for."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, served
from tests.faulty_http import Asked, Reply
from tests.s3_server import BUCKET, S3Server, document, error
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

KEYS = ("tests/d/", "tests/d/a", "tests/d/b", "tests/other")
#: So many pages of a listing are read at most.
PAGES = 20


def is_list(asked: Asked) -> bool:
    return "list-type" in asked.target


def listing(content: str, token: str | None = None, truncated: str = "false", kind: str = "") -> Reply:
    more = "" if token is None else f"<NextContinuationToken>{token}</NextContinuationToken>"
    return document(f"<ListBucketResult><IsTruncated>{truncated}</IsTruncated>{kind}{more}{content}</ListBucketResult>")


def keys(*names: str) -> str:
    return "".join(f"<Contents><Key>{name}</Key></Contents>" for name in names)


def new() -> str:
    return str(time.monotonic_ns())


URL = "<EncodingType>url</EncodingType>"

#: What the store answers to every listing of the directory `d`, and what get_children says.
WRONG: dict[str, tuple[Callable[[Asked], Reply], Code, tuple[str, ...]]] = {
    "a token that comes again": (lambda _: listing(keys("tests/d/a"), "same", "true"), Code.INTERNAL, ()),
    "pages that go on for ever": (
        lambda _: listing(keys(f"tests/d/{new()}"), new(), "true"),
        Code.RESOURCE_EXHAUSTED,
        (),
    ),
    "empty pages for ever": (lambda _: listing("", new(), "true"), Code.RESOURCE_EXHAUSTED, ()),
    "no token to go on with": (lambda _: listing(keys("tests/d/a"), None, "true"), Code.INTERNAL, ()),
    "not said whether it is all": (lambda _: document("<ListBucketResult/>"), Code.INTERNAL, ()),
    "keys outside of the prefix": (lambda _: listing(keys("tests/d/a", "tests/other")), Code.INTERNAL, ()),
    "a key that is not named": (lambda _: listing("<Contents/>"), Code.INTERNAL, ()),
    "a prefix without its end": (
        lambda _: listing("<CommonPrefixes><Prefix>tests/d/a</Prefix></CommonPrefixes>"),
        Code.INTERNAL,
        (),
    ),
    "keys that are not cut": (lambda _: listing(keys("tests/d/a", "tests/d/sub/b")), Code.OK, ("a", "sub")),
    "keys twice": (lambda _: listing(keys("tests/d/a", "tests/d/a")), Code.OK, ("a",)),
    "keys encoded": (lambda _: listing(keys("tests/d/a+b%2Bc%0A"), kind=URL), Code.OK, ("a b+c\n",)),
    # An op's path ends there, and would name another key.
    "a key with a NUL": (lambda _: listing(keys("tests/d/a%00b", "tests/d/c"), kind=URL), Code.OK, ("c",)),
    "keys not encoded": (lambda _: listing(keys("tests/d/a+b%2B")), Code.OK, ("a+b%2B",)),
    "keys said to be encoded": (lambda _: listing(keys("tests/d/100% sure"), kind=URL), Code.INTERNAL, ()),
    "keys half encoded": (lambda _: listing(keys("tests/d/100%"), kind=URL), Code.INTERNAL, ()),
    # It is a right answer, for those who wait for its end.
    "a trickle": (lambda _: replace(listing(keys("tests/d/a")), pace=0.05), Code.DEADLINE_EXCEEDED, ()),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_listing(tmp_path: Path, wrong: str) -> None:
    answer, code, names = WRONG[wrong]
    # Only a trickle is given up because of the time it takes: a busy machine may need a second for any answer.
    config = {"stall_timeout_s": 1} if wrong == "a trickle" else {}
    with served(tmp_path, list_max_pages=PAGES, **config) as (store, _, fs):
        for key in KEYS:
            store.put(key, b"")
        store.inject(lambda asked, _: answer(asked), when=is_list, done=False)
        got = fs.get_children(at("d"))
        assert (got.code, tuple(got.value.names)) == (code, names)
        assert sum(map(is_list, store.asked)) <= PAGES
        store.heal()
        assert {*KEYS} == {*store.buckets["bucket"]}


#: The listings by which delete_recursively would be led astray.
ASTRAY = ["keys outside of the prefix", "a token that comes again", "not said whether it is all", "keys half encoded"]


@pytest.mark.parametrize("wrong", ASTRAY)
def test_a_wrong_listing_deletes_nothing(tmp_path: Path, wrong: str) -> None:
    with served(tmp_path) as (store, _, fs):
        for key in KEYS:
            store.put(key, b"")
        store.inject(lambda asked, _: WRONG[wrong][0](asked), when=is_list, done=False)
        assert fs.delete_recursively(at("d")).code is Code.INTERNAL
        assert {*KEYS} == {*store.buckets["bucket"]}


def test_a_first_page_with_nothing_in_it(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/d/a", b"")
        store.inject(lambda _, __: listing("", "tests%2Fd%2F", "true"), 1, is_list, done=False)
        assert fs.is_directory(at("d")).ok
        store.inject(lambda _, __: listing("", "tests%2Fd%2F", "true"), 1, is_list, done=False)
        assert fs.delete_dir(at("d")).code is Code.FAILED_PRECONDITION


def objects(store: S3Server) -> dict[str, bytes]:
    return {key: stored.content for key, stored in store.buckets[BUCKET].items()}


# Deletions -----------------------------------------------------------------------------------------------------------


def deleting(store: S3Server, body: str) -> None:
    """Nothing is deleted, and this is what the store says of it."""
    store.inject(lambda _, __: document(body), when=lambda asked: "delete=" in asked.target, done=False)


@pytest.mark.parametrize(
    ("body", "code", "left"),
    [
        ("<Error><Code>InternalError</Code></Error>", Code.INTERNAL, 3),
        ("<Error><Code>AccessDenied</Code></Error>", Code.PERMISSION_DENIED, 3),
        ("<DeleteResult>", Code.INTERNAL, 3),
        # Silence: each is deleted by itself.
        ("<DeleteResult/>", Code.OK, 0),
        (
            "<DeleteResult><Error><Key>tests/d/a</Key><Code>AccessDenied</Code></Error></DeleteResult>",
            Code.PERMISSION_DENIED,
            1,
        ),
        (
            "<DeleteResult><Error><Key>tests/d/b</Key><Code>&lt;b&gt;&#x202e;[31m</Code></Error></DeleteResult>",
            Code.INTERNAL,
            1,
        ),
        ("<DeleteResult><Deleted><Key>tests/other</Key></Deleted></DeleteResult>", Code.OK, 0),
    ],
)
def test_a_deletion_of_many(tmp_path: Path, body: str, code: Code, left: int) -> None:
    with served(tmp_path, retry_deadline_s=0) as (store, _, fs):
        for key in KEYS:
            store.put(key, b"")
        deleting(store, body)
        got = fs.delete_recursively(at("d"))
        assert (got.code, got.value.files + got.value.dirs) == (code, left)
        assert len([key for key in store.buckets["bucket"] if key.startswith("tests/d/")]) == left
        assert "tests/other" in store.buckets["bucket"]
        assert got.message.isascii()
        assert "<" not in got.message


def test_a_directory_is_deleted_page_by_page(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        for key in ("d/", "d/a/", *(f"d/a/{k:04}" for k in range(1500)), "d/b", "d/c/", "d/c/d/", "d/c/d/x", "e"):
            store.put(f"tests/{key}", b"")
        assert fs.delete_recursively(at("d")).ok
        assert objects(store) == {"tests/e": b""}
        pages = [asked.body.decode() for asked in store.asked if asked.method == "POST"]
        deleted = [key for page in pages for key in re.findall("<Key>tests/(.*?)</Key>", page)]
        assert len(deleted) == 1507
        # What is in a directory goes before its marker, and a page before the next but one is asked for.
        assert deleted[-7:] == ["d/a/", "d/b", "d/c/d/x", "d/c/d/", "d/c/", "d/", "d"]
        kinds = ["delete" if asked.method == "POST" else "list" for asked in store.asked]
        assert kinds == ["list", "list", "delete", "delete", "list"]


def test_a_listing_that_breaks_off_tells_what_is_left(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        for k in range(2500):
            store.put(f"tests/d/{k:04}", b"")
        third = [False, False, True]
        store.inject(
            lambda _, __: error(403, "AccessDenied"),
            when=lambda asked: "list-type" in asked.target and third.pop(0),
            done=False,
        )
        got = fs.delete_recursively(at("d"))
        assert (got.code, got.value.dirs) == (Code.PERMISSION_DENIED, 1)
        assert len(objects(store)) == 1500
