"""Files that the dragonfly plugin puts while they are written: when parts go up, what is on the disk, what is left."""

import itertools
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, ROOT, at, configuration, read, served, unnamed, write
from tests.faulty_http import Asked, Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server, document, error
from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.filesystem import WritableFile
from tffs_conformance.harness.ops.guard import Guard
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

MEBI = 1 << 20
PART = 64 * MEBI
#: More than one part; no two blocks of it are the same.
CONTENT = random.Random(1).randbytes(PART + MEBI)
OLD = b"what there was"
COPIED = "<CopyPartResult><ETag>an ETag</ETag></CopyPartResult>"
UPLOAD_AND_COPY = ["start", "copy", "part", "finish"]


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


def opened(fs: HostFilesystem, name: str = "file", *, appends: bool = False) -> WritableFile:
    made = (fs.new_appendable_file if appends else fs.new_writable_file)(at(name))
    assert made.value is not None, made.message
    return made.value


def append(file: WritableFile, content: bytes, block: int = 3 * MEBI + 7) -> None:
    for first in range(0, len(content), block):
        got = file.append(content[first : first + block])
        assert got.ok, got.message


def is_part(asked: Asked) -> bool:
    return "partNumber=" in asked.target


def is_finish(asked: Asked) -> bool:
    return asked.method == "POST" and "uploadId=" in asked.target


def changes(store: S3Server) -> list[str]:
    """The requests that change something, by the words of the README.

    The copy and the parts of one upload are on their way together: they are in the order of the alphabet.
    """

    def word(asked: Asked) -> str:
        if asked.method == "POST":
            return "finish" if is_finish(asked) else "start"
        if "x-amz-copy-source" in asked.headers:
            return "copy"
        return "part" if is_part(asked) else asked.method

    said = [word(asked) for asked in store.asked if asked.method not in ("GET", "HEAD")]
    runs = itertools.groupby(said, key=lambda one: "together" if one in ("copy", "part") else one)
    return [one for _, run in runs for one in sorted(run)]


def wait_for(what: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


# Parts ---------------------------------------------------------------------------------------------------------------


def test_the_first_part_is_up_before_the_last_byte_is_appended(fs: HostFilesystem, store: S3Server) -> None:
    with opened(fs) as file:
        append(file, CONTENT[:-1])
        wait_for(lambda: [[*parts] for parts in store.uploads.values()] == [[1]])
        assert objects(store) == {}
        assert file.tell().value == len(CONTENT) - 1
        append(file, CONTENT[-1:])
        assert file.close().ok
    assert objects(store) == {"tests/file": CONTENT}


@pytest.mark.parametrize(
    ("size", "requests"),
    [
        (0, ["PUT"]),
        (1, ["PUT"]),
        (PART, ["PUT"]),
        (PART + 1, ["start", "part", "part", "finish"]),
        (2 * PART, ["start", "part", "part", "finish"]),
        (2 * PART + 1, ["start", "part", "part", "part", "finish"]),
    ],
)
def test_sizes(fs: HostFilesystem, store: S3Server, size: int, requests: list[str]) -> None:
    content = (CONTENT * 2)[:size]
    with opened(fs) as file:
        append(file, content)
        assert file.close().ok
    assert objects(store) == {"tests/file": content}
    assert (changes(store), store.uploads) == (requests, {})


def test_nothing_but_the_parts_under_way_is_on_the_disk(tmp_path: Path) -> None:
    """Three at the same time go up: the writer waits for the first of them before it writes a fourth."""
    together, seen = threading.Barrier(3, timeout=60), list[int]()
    cache = tmp_path / "cache"
    cache.mkdir()

    def hold(asked: Asked, right: Reply) -> Reply:
        if "partNumber=4" not in asked.target:
            together.wait()
        seen.append(unnamed(cache))
        return right

    with served(tmp_path, cache_dir=str(cache)) as (store, _, fs):
        store.inject(hold, when=is_part)
        with opened(fs) as file:
            append(file, bytes(3 * PART + 1))
            assert file.close().ok
        assert unnamed(cache) == 0
        assert store.buckets[BUCKET]["tests/file"].length == 3 * PART + 1
    assert len(seen) == 4
    assert PART <= min(seen[:3]) <= max(seen) <= 3 * PART


def test_what_is_kept_gives_way_to_what_is_written(tmp_path: Path) -> None:
    with served(tmp_path, cache_max_bytes=20 * MEBI) as (store, proxy, fs):
        store.put("tests/kept", bytes(10 * MEBI))
        for _ in range(2):
            assert read(fs, at("kept"))[0] is Code.OK
        assert len(proxy.asked) == 1
        with opened(fs) as file:
            append(file, bytes(15 * MEBI))
            assert read(fs, at("kept"))[0] is Code.OK
        assert len(proxy.asked) == 2


def test_a_local_file_goes_up_while_it_is_read(fs: HostFilesystem, store: S3Server, tmp_path: Path) -> None:
    (tmp_path / "local").write_bytes(CONTENT)
    assert fs.raw.path_op("copy_file", str(tmp_path / "local"), at("file")).ok
    assert (objects(store), changes(store)) == ({"tests/file": CONTENT}, ["start", "part", "part", "finish"])


# What goes wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begins", ["anew", "behind"])
def test_a_file_that_is_dropped_is_broken_off(fs: HostFilesystem, store: S3Server, begins: str) -> None:
    store.put("tests/file", OLD)
    with opened(fs, appends=begins == "behind") as file:
        append(file, CONTENT)
    assert (objects(store), store.uploads) == ({"tests/file": OLD}, {})
    assert changes(store)[-1] == "DELETE"


def test_a_part_that_fails_is_told_by_the_next_append_and_all_that_follow(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/file", OLD)
    store.inject(lambda _, __: error(403, "AccessDenied"), when=is_part, done=False)
    with opened(fs) as file:
        append(file, CONTENT)
        wait_for(lambda: not file.append(b"more").ok)
        # It is broken off at once.
        assert store.uploads == {}
        said = [op() for op in (lambda: file.append(b"more"), file.flush, file.sync, file.tell, file.close)]
    assert {got.code for got in said} == {Code.PERMISSION_DENIED}
    assert (objects(store), changes(store).count("finish")) == ({"tests/file": OLD}, 0)


@pytest.mark.parametrize("op", ["flush", "sync", "close"])
@pytest.mark.parametrize("where", ["partNumber=1", "partNumber=2", "/file?uploadId="])
def test_what_fails_is_told(fs: HostFilesystem, store: S3Server, op: str, where: str) -> None:
    store.inject(
        lambda _, __: error(403, "AccessDenied"), done=False,
        when=lambda asked: where in asked.target and asked.method != "DELETE",
    )  # fmt: skip
    with opened(fs) as file:
        append(file, CONTENT)
        assert getattr(file, op)().code is Code.PERMISSION_DENIED
        assert (objects(store), store.uploads) == ({}, {})
        assert op == "close" or file.append(b"more").code is Code.PERMISSION_DENIED
    assert (objects(store), store.uploads) == ({}, {})


def test_a_part_that_passes_goes_on(fs: HostFilesystem, store: S3Server) -> None:
    store.inject(lambda _, __: error(503, "SlowDown"), 1, when=is_part, done=False)
    assert write(fs, at("file"), CONTENT)[0] is Code.OK
    assert objects(store) == {"tests/file": CONTENT}


def test_where_a_large_file_cannot_begin_nothing_is_lost_but_it(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/file", OLD)
    store.inject(lambda _, __: error(403, "AccessDenied"), when=lambda asked: "uploads=" in asked.target, done=False)
    with opened(fs) as file:
        append(file, CONTENT[:PART])
        assert [file.append(b"more").code, file.close().code] == [Code.PERMISSION_DENIED] * 2
    assert (objects(store), changes(store)) == ({"tests/file": OLD}, ["start"])


@pytest.mark.parametrize(
    ("by_another", "cut", "code"),
    [
        (False, False, Code.OK),
        (True, False, Code.ABORTED),
        (False, True, Code.OK),
        (True, True, Code.INTERNAL),
    ],
)
def test_where_the_last_answer_is_lost_or_cut_the_object_is_looked_at(
    fs: HostFilesystem, store: S3Server, by_another: bool, cut: bool, code: Code
) -> None:
    def lost(_: Asked, right: Reply) -> Reply:
        if by_another:
            store.put("tests/file", CONTENT[::-1])
        return replace(right, body=right.body[:40]) if cut else replace(right, silent=True)

    store.inject(lost, 1, when=is_finish)
    assert write(fs, at("file"), CONTENT)[0] is code
    assert objects(store) == {"tests/file": CONTENT[::-1] if by_another else CONTENT}


# What is put before the end ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["flush", "sync"])
def test_what_is_flushed_is_there_and_goes_on(fs: HostFilesystem, store: S3Server, op: str) -> None:
    with opened(fs) as file:
        append(file, CONTENT)
        for _ in range(2):
            assert getattr(file, op)().ok
            assert objects(store) == {"tests/file": CONTENT}
        assert changes(store) == ["start", "part", "part", "finish"]
        store.heal()
        append(file, b"more")
        assert file.tell().value == len(CONTENT) + 4
        assert file.close().ok
    assert objects(store) == {"tests/file": CONTENT + b"more"}
    assert (changes(store), store.uploads) == (UPLOAD_AND_COPY, {})


def test_a_weak_etag_of_what_was_put_is_a_condition_like_others(fs: HostFilesystem, store: S3Server) -> None:
    store.inject(lambda _, right: replace(right, body=right.body.replace(b"<ETag>", b"<ETag>W/")), 1, when=is_finish)
    with opened(fs) as file:
        append(file, CONTENT)
        assert file.flush().ok
        append(file, b"more")
        assert file.close().ok
    assert objects(store) == {"tests/file": CONTENT + b"more"}


def test_a_small_file_is_put_whole_at_each_flush(fs: HostFilesystem, store: S3Server) -> None:
    with opened(fs) as file:
        for _ in range(2):
            append(file, CONTENT[: PART // 2])
            assert file.flush().ok
        assert changes(store) == ["PUT", "PUT"]
        append(file, b"more")
        assert file.close().ok
    assert objects(store) == {"tests/file": CONTENT[: PART // 2] * 2 + b"more"}
    assert changes(store) == ["PUT", "PUT", "start", "part", "part", "finish"]


@pytest.mark.parametrize("compares", [True, False])
def test_what_somebody_else_put_since_a_flush_stays(fs: HostFilesystem, store: S3Server, compares: bool) -> None:
    """Also in a store that copies whatever is there."""
    if not compares:
        store.inject(
            lambda _, __: document(COPIED), when=lambda asked: "x-amz-copy-source" in asked.headers, done=False
        )
    with opened(fs) as file:
        append(file, CONTENT)
        assert file.flush().ok
        store.put("tests/file", OLD)
        append(file, b"more")
        assert file.close().code is Code.ABORTED
    assert (objects(store), store.uploads) == ({"tests/file": OLD}, {})


def test_a_large_object_is_appended_to_in_the_store(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/file", CONTENT)
    with opened(fs, appends=True) as file:
        assert file.tell().value == len(CONTENT)
        append(file, b"more")
        assert file.close().ok
    assert objects(store) == {"tests/file": CONTENT + b"more"}
    assert changes(store) == UPLOAD_AND_COPY
    assert "GET" not in {asked.method for asked in store.asked}


@pytest.mark.parametrize("when", ["before the copy", "before the copy, no such range", "before the end"])
def test_a_large_object_that_somebody_else_changes_stays_as_it_is(
    fs: HostFilesystem, store: S3Server, when: str
) -> None:
    """A store may look for the range first."""

    def change(_: Asked, right: Reply) -> Reply:
        store.put("tests/file", OLD)
        return right

    store.put("tests/file", CONTENT)
    where = "partNumber=2" if when == "before the end" else "uploads="
    store.inject(change, 1, when=lambda asked: where in asked.target)
    if "range" in when:
        store.inject(lambda _, __: error(400, "InvalidArgument"), when=lambda asked: "partNumber=1" in asked.target)
    with opened(fs, appends=True) as file:
        append(file, b"more")
        assert file.close().code is Code.ABORTED
    assert (objects(store), store.uploads) == ({"tests/file": OLD}, {})


def test_a_large_object_in_a_store_without_conditions(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/file", CONTENT)
    store.inject(lambda _, __: error(501, "NotImplemented"), when=lambda asked: "if-match" in asked.headers, done=False)
    with opened(fs, appends=True) as file:
        append(file, b"more")
        assert file.close().ok
    assert objects(store) == {"tests/file": CONTENT + b"more"}


# The end of a process ------------------------------------------------------------------------------------------------


def test_a_process_ends_while_a_part_goes_up(tmp_path: Path) -> None:
    """Soon, and well; what went up is left to the store's own housekeeping."""
    held, path = threading.Event(), tmp_path / "dragonfly.json"

    def hold(_: Asked, right: Reply) -> Reply:
        held.wait(60)
        return right

    with S3Server() as store, ProxyStub() as proxy:
        store.put("tests/file", OLD)
        store.inject(hold, when=is_part)
        path.write_text(json.dumps(configuration(store.url, proxy.url)), encoding="utf-8")
        loader = Loader(Local({"DRAGONFLY_CONFIG_PATH": str(path)}), plugin_path("dragonfly"), 30)
        loaded = loader.load()
        entry = loaded.registration.registered["dragonfly"]
        assert entry.filesystem is not None, entry.message
        file = opened(HostFilesystem(RawFilesystem(loaded.call, entry.filesystem, []), entry.present, Guard(ROOT)))
        append(file, CONTENT)
        wait_for(lambda: any(map(is_part, store.asked)))
        assert loaded.host.quit() == "exit status 0"
        loader.close()
        held.set()
    assert (objects(store), list(store.uploads)) == ({"tests/file": OLD}, ["upload-0"])
