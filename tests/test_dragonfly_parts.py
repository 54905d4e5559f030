"""Objects that the dragonfly plugin uploads or copies in parts: some at the same time, all of them or none."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, served, write
from tests.faulty_http import Asked, Fault, Reply
from tests.s3_server import BUCKET, S3Server, Stored, document, error
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

MEBI = 1 << 20


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[S3Server, HostFilesystem]]:
    with served(tmp_path) as (store, _, fs):
        yield store, fs


@pytest.fixture
def store(both: tuple[S3Server, HostFilesystem]) -> S3Server:
    return both[0]


@pytest.fixture
def fs(both: tuple[S3Server, HostFilesystem]) -> HostFilesystem:
    return both[1]


def objects(store: S3Server) -> dict[str, bytes]:
    return {key: stored.content for key, stored in store.buckets[BUCKET].items()}


def slow_down(_: Asked, __: Reply) -> Reply:
    return error(503, "SlowDown")


def late(_: Asked, __: Reply) -> Reply:
    """A 200 that is none."""
    return document("<Error><Code>InternalError</Code></Error>")


def test_a_large_file_is_put_in_parts(fs: HostFilesystem, store: S3Server) -> None:
    block = bytes(range(256)) * (MEBI // 256)
    file = fs.new_writable_file(at("large")).value
    assert file is not None
    with file:
        for _ in range(65):
            assert file.append(block).ok
        store.inject(slow_down, 1, done=False, when=lambda asked: "partNumber=2" in asked.target)
        assert file.close().ok
    assert objects(store)["tests/large"] == block * 65
    assert store.buckets[BUCKET]["tests/large"].etag.endswith('-2"')
    assert store.uploads == {}


def is_part(asked: Asked) -> bool:
    return "partNumber=" in asked.target


def test_parts_are_sent_at_the_same_time(fs: HostFilesystem, store: S3Server) -> None:
    both = threading.Barrier(2, timeout=30)

    def together(_: Asked, right: Reply) -> Reply:
        both.wait()
        return right

    store.inject(together, when=is_part)
    assert write(fs, at("large"), bytes(65 * MEBI))[0] is Code.OK


def test_an_upload_is_broken_off_when_all_its_parts_have_ended(fs: HostFilesystem, store: S3Server) -> None:
    begun, ended = threading.Event(), threading.Event()
    early: list[bool] = []

    def slow(_: Asked, right: Reply) -> Reply:
        begun.set()
        early.append(ended.wait(0.3))
        return right

    def refused_meanwhile(_: Asked, __: Reply) -> Reply:
        begun.wait(30)
        return error(403, "AccessDenied")

    def end(_: Asked, right: Reply) -> Reply:
        ended.set()
        return right

    store.inject(slow, when=lambda asked: "partNumber=1" in asked.target)
    store.inject(refused_meanwhile, when=is_part, done=False)
    store.inject(end, when=lambda asked: asked.method == "DELETE")
    assert write(fs, at("large"), bytes(65 * MEBI))[0] is Code.PERMISSION_DENIED
    assert (early, ended.is_set()) == ([False], True)
    assert (objects(store), store.uploads) == ({}, {})


@pytest.mark.parametrize(
    ("fault", "where"),
    [(lambda _, __: error(500, "InternalError"), "partNumber=2"), (late, "/large?uploadId=")],
    ids=["a-part", "the-end"],
)
def test_an_upload_that_fails_leaves_nothing(fs: HostFilesystem, store: S3Server, fault: Fault, where: str) -> None:
    store.inject(fault, when=lambda asked: where in asked.target and asked.method != "DELETE", done=False)
    assert write(fs, at("large"), bytes(65 * MEBI))[0] is Code.INTERNAL
    assert objects(store) == {}
    assert store.uploads == {}


def test_an_object_too_large_for_one_copy(fs: HostFilesystem, store: S3Server) -> None:
    store.buckets[BUCKET]["tests/large"] = Stored(b"", '"large"', size=(6 << 30) + 1)
    assert fs.rename_file(at("large"), at("moved")).ok
    assert fs.get_file_size(at("moved")).value == (6 << 30) + 1
    assert fs.path_exists(at("large")).code is Code.NOT_FOUND


def test_what_is_larger_than_copy_part_bytes_is_copied_in_parts(tmp_path: Path) -> None:
    content = random.Random(1).randbytes(21 * MEBI)
    with served(tmp_path, copy_part_bytes=10 * MEBI) as (store, _, fs):
        store.put("tests/small", content[: 10 * MEBI])
        store.put("tests/large", content)
        assert fs.copy_file(at("small"), at("copy")).ok
        assert not any(map(is_part, store.asked))
        assert fs.copy_file(at("large"), at("copy")).ok
        spans = [asked.headers["x-amz-copy-source-range"] for asked in store.asked if is_part(asked)]
        assert sorted(spans) == ["bytes=0-7340031", "bytes=14680064-22020095", "bytes=7340032-14680063"]
        assert objects(store)["tests/copy"] == content
        store.heal()
        store.inject(lambda _, __: error(412, "PreconditionFailed"), when=is_part, done=False)
        assert fs.rename_file(at("large"), at("moved")).code is Code.ABORTED
        assert ("tests/large" in objects(store), "tests/moved" in objects(store), store.uploads) == (True, False, {})
