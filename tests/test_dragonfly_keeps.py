"""What dragonfly must not lose: bytes that did not fit, objects of others, keys behind a page, files in a power cut."""

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, configuration, filesystem, preloaded, read, served, write
from tests.faulty_http import Asked, Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server, Stored, error
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.filesystem import WritableFile
from tffs_conformance.harness.ops.outcomes import Outcome
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[S3Server, HostFilesystem]]:
    with served(tmp_path, retry_deadline_s=1) as (store, _, fs):
        yield store, fs


def objects(store: S3Server) -> dict[str, bytes]:
    return {key: stored.content for key, stored in store.buckets[BUCKET].items()}


def opened(made: Outcome[WritableFile | None]) -> WritableFile:
    assert made.value is not None, made.message
    return made.value


# Writers -------------------------------------------------------------------------------------------------------------


def test_nothing_is_put_after_an_append_that_failed(tmp_path: Path) -> None:
    """Though what is appended next would fit."""
    with S3Server() as store, ProxyStub() as proxy:
        store.put("tests/file", b"old")
        config = configuration(store.url, proxy.url)
        with (
            filesystem(tmp_path, config, file_size=len(CONTENT)) as fs,
            opened(fs.new_writable_file(at("file"))) as file,
        ):
            assert file.append(b"begins").ok
            assert file.append(CONTENT).code is Code.RESOURCE_EXHAUSTED
            assert file.append(b"ends").code is Code.RESOURCE_EXHAUSTED
            assert file.flush().code is Code.RESOURCE_EXHAUSTED
            assert file.close().code is Code.RESOURCE_EXHAUSTED
        assert objects(store)["tests/file"] == b"old"


def test_a_file_that_is_dropped_replaces_no_object(both: tuple[S3Server, HostFilesystem]) -> None:
    store, fs = both
    store.put("tests/file", b"good")
    for name in ("file", "new"):
        with opened(fs.new_writable_file(at(name))) as file:
            assert file.append(b"cut").ok
    assert objects(store) == {"tests/file": b"good", "tests/new": b"cut"}


@pytest.mark.parametrize(("by_another", "left"), [(False, b"begins, goes on"), (True, b"other")])
def test_a_file_that_is_dropped_replaces_what_it_flushed(
    both: tuple[S3Server, HostFilesystem], by_another: bool, left: bytes
) -> None:
    store, fs = both
    with opened(fs.new_writable_file(at("file"))) as file:
        assert file.append(b"begins").ok
        assert file.flush().ok
        if by_another:
            store.put("tests/file", b"other")
        assert file.append(b", goes on").ok
    assert objects(store) == {"tests/file": left}


# Room ----------------------------------------------------------------------------------------------------------------

#: A disk that has room for 4 MiB of files without a name.
SMALL_DISK = """
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static size_t taken(void) {
  size_t sum = 0;
  struct stat disk, file;
  stat(getenv("DISK"), &disk);
  for (int k = 0; k < 1024; ++k) {
    if (fstat(k, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 0 && file.st_dev == disk.st_dev)
      sum += (size_t)file.st_size;
  }
  return sum;
}
ssize_t pwrite(int file, const void *bytes, size_t n, off_t offset) {
  if (taken() + n <= 4 << 20) return syscall(SYS_pwrite64, file, bytes, n, offset);
  errno = ENOSPC;
  return -1;
}
ssize_t pwrite64(int file, const void *bytes, size_t n, off_t offset) { return pwrite(file, bytes, n, offset); }
"""


def test_what_is_kept_gives_way_where_the_disk_is_full(tmp_path: Path) -> None:
    mib, log = 1 << 20, list[str]()
    environment = {"LD_PRELOAD": preloaded(tmp_path, SMALL_DISK), "DISK": str(tmp_path)}
    with S3Server() as store, ProxyStub() as proxy:
        for k in range(8):
            store.put(f"tests/{k}", bytes([k]) * mib)
        config = configuration(store.url, proxy.url, cache_dir=str(tmp_path))
        with filesystem(tmp_path, config, environment, log=log) as fs:
            for k in range(8):
                assert read(fs, at(str(k)))[::2] == (Code.OK, bytes([k]) * mib)
            assert write(fs, at("new"), bytes(3 * mib))[0] is Code.OK
            assert write(fs, at("large"), bytes(5 * mib))[0] is Code.RESOURCE_EXHAUSTED
            assert read(fs, at("0"))[0] is Code.OK
        assert "tests/large" not in objects(store)
    assert log == ["[TF_Log INFO] dragonfly: objects come through Dragonfly",
                   "[TF_Log WARNING] dragonfly: what cache_dir keeps gives way: No space left on device"]  # fmt: skip


# Stores --------------------------------------------------------------------------------------------------------------


def is_conditional(asked: Asked) -> bool:
    return asked.method == "PUT" and bool({"if-match", "if-none-match"} & asked.headers.keys())


def append(fs: HostFilesystem, store: S3Server | None = None) -> Code:
    with opened(fs.new_appendable_file(at("file"))) as file:
        assert file.append(b", goes on").ok
        if store is not None:
            store.put("tests/file", b"other")
        return file.close().code


def test_a_store_without_conditions_is_asked_before(both: tuple[S3Server, HostFilesystem]) -> None:
    store, fs = both
    store.put("tests/file", b"begins")
    store.inject(lambda _, __: error(501, "NotImplemented"), when=is_conditional, done=False)
    assert fs.create_dir(at("d")).ok
    assert append(fs) is Code.OK
    assert objects(store) == {"tests/file": b"begins, goes on", "tests/d/": b""}
    assert append(fs, store) is Code.ABORTED
    assert objects(store)["tests/file"] == b"other"


def test_an_etag_that_was_weakened_is_still_one(both: tuple[S3Server, HostFilesystem]) -> None:
    """By somebody on the way, who then asks for it with the strong one."""
    store, fs = both
    store.inject(
        lambda _, right: replace(right, headers=right.headers | {"ETag": f"W/{right.headers['ETag']}"}),
        when=lambda asked: asked.method == "PUT",
    )
    with opened(fs.new_appendable_file(at("file"))) as file:
        for part in (b"begins", b", goes on"):
            assert file.append(part).ok
            assert file.flush().ok
    assert objects(store) == {"tests/file": b"begins, goes on"}


class CountingServer(S3Server):
    """Its tokens say how many names stand before the page, and not which."""

    def _list(self, bucket: dict[str, Stored], given: dict[str, str]) -> Reply:
        before = int(given.get("continuation-token", "0"))
        names = sorted(key for key in bucket if key.startswith(given["prefix"]))
        left = names[before:]
        first = {key: bucket[key] for key in left}
        reply = super()._list(first, {key: value for key, value in given.items() if key != "continuation-token"})
        most = int(given.get("max-keys", 1000))
        token = b"<NextContinuationToken>%d</NextContinuationToken>" % (before + most)
        begin, mark, rest = reply.body.partition(b"<NextContinuationToken>")
        return replace(reply, body=begin + token + rest.partition(b"</NextContinuationToken>")[2]) if mark else reply


def test_all_is_deleted_where_pages_are_counted(tmp_path: Path) -> None:
    with CountingServer() as store, ProxyStub() as proxy:
        for k in range(5000):
            store.put(f"tests/d/{k:04}", b"")
        with filesystem(tmp_path, configuration(store.url, proxy.url)) as fs:
            assert fs.delete_recursively(at("d")).ok
        assert objects(store) == {}


# A key that is an object and a prefix --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["both", "both.bin"])
def test_what_is_both_is_a_file_to_all_ops(both: tuple[S3Server, HostFilesystem], name: str) -> None:
    store, fs = both
    for key in (name, f"{name}/file", f"{name}-more"):
        store.put(f"tests/{key}", CONTENT)
    assert fs.is_directory(at(name)).code is Code.FAILED_PRECONDITION
    assert write(fs, at(name), b"new") == (Code.OK, "")
    assert read(fs, at(name))[2] == b"new"


def test_a_name_among_many_is_what_it_is(both: tuple[S3Server, HostFilesystem]) -> None:
    """More names begin with `d` than are looked at in one request."""
    store, fs = both
    for k in range(150):
        store.put(f"tests/d!{k:03}", b"")
    assert fs.is_directory(at("d")).code is Code.NOT_FOUND
    store.put("tests/d/file", b"")
    assert fs.is_directory(at("d")).ok
    store.put("tests/d", b"")
    assert fs.is_directory(at("d")).code is Code.FAILED_PRECONDITION


def test_what_is_both_is_deleted_whole(both: tuple[S3Server, HostFilesystem]) -> None:
    store, fs = both
    for key in ("d", "d/file", "d/below/file", "d-more"):
        store.put(f"tests/{key}", CONTENT)
    assert fs.delete_recursively(at("d")).ok
    assert list(objects(store)) == ["tests/d-more"]


# Local files ---------------------------------------------------------------------------------------------------------

#: Counts what is made durable, and what is deleted in the store after that.
NOTES_SYNC = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
int fsync(int file) {
  struct stat facts;
  fstat(file, &facts);
  FILE *notes = fopen(getenv("NOTES"), "a");
  fprintf(notes, "%s\\n", S_ISDIR(facts.st_mode) ? "directory" : "file");
  fclose(notes);
  return 0;
}
"""


def test_an_object_that_becomes_a_file_outlives_a_power_cut(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    environment = {"LD_PRELOAD": preloaded(tmp_path, NOTES_SYNC), "NOTES": str(notes)}
    seen: list[str] = []

    def deleted(_: Asked, right: Reply) -> Reply:
        seen.extend(notes.read_text().splitlines() if notes.exists() else ())
        return right

    with S3Server() as store, ProxyStub() as proxy:
        store.put("tests/file", CONTENT)
        store.inject(deleted, when=lambda asked: asked.method == "DELETE")
        with filesystem(tmp_path, configuration(store.url, proxy.url), environment) as fs:
            assert fs.raw.path_op("rename_file", at("file"), str(tmp_path / "moved")).ok
    assert (tmp_path / "moved").read_bytes() == CONTENT
    # All directories above may be new.
    assert (seen[0], set(seen[1:])) == ("file", {"directory"})


@pytest.mark.parametrize("op", ["copy_file", "rename_file"])
def test_a_file_that_is_brought_has_the_mode_of_a_new_one(
    both: tuple[S3Server, HostFilesystem], tmp_path: Path, op: str
) -> None:
    store, fs = both
    store.put("tests/file", CONTENT)
    (tmp_path / "like").touch()
    (tmp_path / "private").touch(0o640)
    for target, mode in (("new", (tmp_path / "like").stat().st_mode), ("private", stat.S_IFREG | 0o640)):
        store.put("tests/file", CONTENT)
        assert fs.raw.path_op(op, at("file"), os.fspath(tmp_path / target)).ok
        assert oct((tmp_path / target).stat().st_mode) == oct(mode)
