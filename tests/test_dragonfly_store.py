"""What the dragonfly plugin makes of its configuration and of the store: writes, parts, copies, listings, deletions."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, ROOT, at, configuration, filesystem, read, registered, write
from tests.faulty_http import Asked, Fault, Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server, document, error
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

CONTENT = bytes(range(256)) * 40
MEBI = 1 << 20
#: Enough for a second and a third try, and not for many.
RETRY_S = 0.5
ALWAYS = 10**9
LATE_ERROR = "<Error><Code>InternalError</Code></Error>"


@pytest.fixture
def store() -> Iterator[S3Server]:
    with S3Server() as server:
        yield server


@pytest.fixture
def fs(store: S3Server, tmp_path: Path) -> Iterator[HostFilesystem]:
    with (
        ProxyStub() as proxy,
        filesystem(tmp_path, configuration(store.url, proxy.url, retry_deadline_s=RETRY_S)) as fs,
    ):
        yield fs


def objects(store: S3Server) -> dict[str, bytes]:
    return {key: stored.content for key, stored in store.buckets[BUCKET].items()}


def is_put(asked: Asked) -> bool:
    return asked.method == "PUT"


def late(_: Asked, __: Reply) -> Reply:
    """A 200 that is none."""
    return document(LATE_ERROR)


def slow_down(_: Asked, __: Reply) -> Reply:
    return error(503, "SlowDown")


def lost(_: Asked, right: Reply) -> Reply:
    """The reply breaks off, after the request was done."""
    return replace(right, length=10, cut=0, body=b"")


# Configuration -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        (None, Code.NOT_FOUND, "DRAGONFLY_CONFIG_PATH"),
        ("{", Code.INVALID_ARGUMENT, "JSON"),
        ('{"addr": "http://h:1", "object_storage": {"acces_key": "a"}}', Code.INVALID_ARGUMENT, "acces_key"),
        ('{"addr": "h:1"}', Code.INVALID_ARGUMENT, "addr"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, text: str | None, code: Code, named: str) -> None:
    path = tmp_path / "config.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    entry = registered(path)
    assert (entry.code, named in entry.message) == (code, True), entry.message


def test_without_a_configuration(tmp_path: Path) -> None:
    entry = registered("")
    assert (entry.code, "DRAGONFLY_CONFIG_PATH" in entry.message) == (Code.NOT_FOUND, True)


def test_a_relative_path_and_keys_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: S3Server
) -> None:
    config = configuration(store.url, "http://127.0.0.1:1")
    keys = {
        "AWS_ACCESS_KEY_ID": config["object_storage"].pop("access_key"),
        "AWS_SECRET_ACCESS_KEY": config["object_storage"].pop("secret_key"),
    }
    (tmp_path / "relative.json").write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    entry = registered("relative.json", keys)
    assert entry.code is Code.OK, entry.message


#: What a process may have under the names of libcurl and OpenSSL: not what the plugin was built for.
CAPTORS = """
#include <stdlib.h>
#define CAPTOR(name) void name(void) { abort(); }
CAPTOR(curl_easy_init) CAPTOR(curl_easy_perform) CAPTOR(curl_global_init) CAPTOR(curl_slist_append)
CAPTOR(OPENSSL_init_ssl) CAPTOR(OPENSSL_init_crypto) CAPTOR(EVP_MD_CTX_new) CAPTOR(EVP_sha256) CAPTOR(HMAC)
"""


def test_it_runs_on_its_own_curl_and_crypto(tmp_path: Path, store: S3Server) -> None:
    (tmp_path / "captors.c").write_text(CAPTORS, encoding="utf-8")
    library = tmp_path / "libcaptors.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "captors.c"], check=True)
    store.put("tests/file", CONTENT)
    with (
        ProxyStub() as proxy,
        filesystem(tmp_path, configuration(store.url, proxy.url), {"LD_PRELOAD": str(library)}) as fs,
    ):
        assert read(fs, at("file"))[2] == CONTENT
    agents = {asked.headers["user-agent"] for asked in proxy.asked + store.asked if "user-agent" in asked.headers}
    assert len(agents) == 1
    assert " libcurl/" in agents.pop()


# Writing -------------------------------------------------------------------------------------------------------------


def test_nothing_is_there_before_close_and_all_after_a_drop(fs: HostFilesystem, store: S3Server) -> None:
    # TensorFlow drops the file that locks the cache of a data set, and looks for it later.
    for content in (CONTENT, b""):
        store.buckets[BUCKET].clear()
        file = fs.new_writable_file(at("file")).value
        assert file is not None
        with file:
            assert not content or file.append(content).ok
            assert objects(store) == {}
            assert file.tell().value == len(content)
        assert objects(store) == {"tests/file": content}


def test_a_writer_that_could_not_begin_leaves_what_was_there(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/file", CONTENT)
    store.inject(lambda _, __: error(403, "AccessDenied"), when=lambda asked: asked.method == "GET")
    assert fs.new_appendable_file(at("file")).code is Code.PERMISSION_DENIED
    assert objects(store) == {"tests/file": CONTENT}
    assert not any(is_put(asked) for asked in store.asked)


def test_flush_puts_once_and_only_what_is_new(fs: HostFilesystem, store: S3Server) -> None:
    file = fs.new_writable_file(at("file")).value
    assert file is not None
    with file:
        assert file.append(b"one").ok
        for _ in range(2):
            assert file.flush().ok
            assert file.sync().ok
        assert objects(store) == {"tests/file": b"one"}
        assert file.append(b"two").ok
        assert file.close().ok
    assert objects(store) == {"tests/file": b"onetwo"}
    assert len([asked for asked in store.asked if is_put(asked)]) == 2


@pytest.mark.parametrize(
    ("fault", "times", "code"),
    [
        (slow_down, 1, Code.OK),
        (slow_down, ALWAYS, Code.UNAVAILABLE),
        (lost, 1, Code.OK),
        (lost, ALWAYS, Code.UNAVAILABLE),
        (lambda _, __: error(500, "InternalError"), ALWAYS, Code.INTERNAL),
        (lambda _, __: error(403, "AccessDenied"), ALWAYS, Code.PERMISSION_DENIED),
        (lambda _, __: error(400, "EntityTooLarge"), ALWAYS, Code.RESOURCE_EXHAUSTED),
    ],
)
def test_close_tells(fs: HostFilesystem, store: S3Server, fault: Fault, times: int, code: Code) -> None:
    store.inject(fault, times, is_put, done=fault is lost)
    assert write(fs, at("file"), CONTENT)[0] is code
    if code is Code.OK:
        assert objects(store) == {"tests/file": CONTENT}


def test_an_appending_writer_does_not_overwrite_others(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/file", b"old")
    file = fs.new_appendable_file(at("file")).value
    assert file is not None
    with file:
        assert file.tell().value == 3
        assert file.append(b" and new").ok
        assert file.flush().ok
        assert objects(store)["tests/file"] == b"old and new"
        store.put("tests/file", b"somebody else's")
        assert file.append(b"!").ok
        assert file.close().code is Code.ABORTED
    assert objects(store)["tests/file"] == b"somebody else's"


# Copies --------------------------------------------------------------------------------------------------------------


def test_a_copy_that_fails_late(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/file", CONTENT)
    store.inject(late, when=is_put, done=False)
    assert fs.copy_file(at("file"), at("copy")).code is Code.INTERNAL
    assert fs.rename_file(at("file"), at("moved")).code is Code.INTERNAL
    assert fs.path_exists(at("file")).ok


def test_onto_itself(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/file", CONTENT)
    assert fs.rename_file(at("file"), at("file")).ok
    assert fs.copy_file(at("file"), at("file")).ok
    assert objects(store) == {"tests/file": CONTENT}


def test_between_a_local_file_and_an_object(fs: HostFilesystem, store: S3Server, tmp_path: Path) -> None:
    (tmp_path / "local").write_bytes(CONTENT)
    assert fs.raw.path_op("copy_file", str(tmp_path / "local"), at("object")).ok
    assert objects(store) == {"tests/object": CONTENT}
    assert fs.raw.path_op("copy_file", at("object"), str(tmp_path / "back")).ok
    assert (tmp_path / "back").read_bytes() == CONTENT
    assert fs.raw.path_op("rename_file", at("object"), str(tmp_path / "moved")).ok
    assert (tmp_path / "moved").read_bytes() == CONTENT
    assert objects(store) == {}
    assert fs.raw.path_op("copy_file", str(tmp_path / "missing"), at("object")).code is Code.NOT_FOUND
    assert fs.raw.path_op("copy_file", at("missing"), str(tmp_path / "back")).code is Code.NOT_FOUND
    assert fs.raw.path_op("copy_file", str(tmp_path), at("object")).code is Code.FAILED_PRECONDITION


# Listings and deletions ----------------------------------------------------------------------------------------------


def test_listings_of_several_pages(fs: HostFilesystem, store: S3Server) -> None:
    names = [f"n{k:04}" for k in range(2345)]
    for name in names:
        store.put(f"tests/d/{name}", b"")
    store.put("tests/d/below/x", b"")
    assert sorted(fs.get_children(at("d")).value.names) == ["below", *names]
    assert len(fs.get_matching_paths(at("d/n00*")).value.names) == 100
    assert fs.delete_recursively(at("d")).ok
    assert objects(store) == {}


def test_a_pattern_in_a_bucket_that_is_not_there(fs: HostFilesystem) -> None:
    for pattern in ("dragonfly://other/a", "dragonfly://other/a*"):
        got = fs.get_matching_paths(pattern)
        assert (got.code, got.value.names) == (Code.OK, ())


def test_a_pattern_asks_for_what_it_begins_with(fs: HostFilesystem, store: S3Server) -> None:
    for key in ("tests/m-1/a.txt", "tests/m-2/b.txt", "tests/m-2/c.bin", "tests/other/d.txt"):
        store.put(key, b"")
    got = fs.get_matching_paths(at("m-*/*.txt"))
    assert got.value.names == (at("m-1/a.txt"), at("m-2/b.txt"))
    assert len(store.asked) == 3


def test_what_cannot_be_deleted_is_counted(fs: HostFilesystem, store: S3Server) -> None:
    for key in ("tests/d/", "tests/d/a", "tests/d/b"):
        store.put(key, b"")
    kept = "<DeleteResult><Error><Key>tests/d/a</Key><Code>AccessDenied</Code></Error></DeleteResult>"
    store.inject(lambda _, __: document(kept), 1, lambda asked: asked.method == "POST", done=False)
    got = fs.delete_recursively(at("d"))
    assert (got.code, got.value.files, got.value.dirs) == (Code.PERMISSION_DENIED, 1, 0)


@pytest.mark.parametrize("body", [b"", b"<ListBucketResult><Contents><Key>a", b"<html></html>"])
def test_a_listing_that_is_none(fs: HostFilesystem, store: S3Server, body: bytes) -> None:
    store.inject(lambda _, __: Reply(200, {}, body), when=lambda asked: "list-type" in asked.target)
    assert fs.get_children(at("d")).code is Code.INTERNAL


def test_directories_are_markers_or_prefixes(fs: HostFilesystem, store: S3Server) -> None:
    store.put("tests/implied/file", b"")
    assert fs.is_directory(at("implied")).ok
    assert fs.create_dir(at("implied/made")).ok
    assert "tests/implied/made/" in objects(store)
    assert fs.create_dir(at("nowhere/made")).code is Code.NOT_FOUND
    assert fs.create_dir(at("implied/file/made")).code is Code.FAILED_PRECONDITION
    assert fs.recursively_create_dir(at("a/b")).ok
    assert {"tests/a/", "tests/a/b/"} <= set(objects(store))
    assert fs.delete_file(at("implied/file")).ok
    assert fs.delete_dir(at("implied/made")).ok
    assert fs.is_directory(at("implied")).code is Code.NOT_FOUND


def test_a_bucket_is_a_directory_that_stays(fs: HostFilesystem, store: S3Server) -> None:
    assert fs.stat(f"dragonfly://{BUCKET}").value.is_directory == 1
    assert fs.stat("dragonfly://other").code is Code.NOT_FOUND
    assert fs.get_children(f"dragonfly://{BUCKET}").value.names == ()
    assert fs.raw.delete_recursively(f"dragonfly://{BUCKET}/").code is Code.FAILED_PRECONDITION
    assert fs.raw.path_op("delete_dir", f"dragonfly://{BUCKET}/").code is Code.FAILED_PRECONDITION


def test_components_that_lead_elsewhere(fs: HostFilesystem) -> None:
    for name in ("a/../b", "./a", "a//b", "a/"):
        assert fs.raw.stat(f"{ROOT}/{name}").code is Code.INVALID_ARGUMENT


def test_a_read_of_what_the_plugin_wrote(fs: HostFilesystem) -> None:
    assert write(fs, at("file"), CONTENT)[0] is Code.OK
    assert read(fs, at("file"))[2] == CONTENT
    assert write(fs, at("file"), CONTENT[::-1])[0] is Code.OK
    assert read(fs, at("file"))[2] == CONTENT[::-1]
