"""Somebody else writes while the dragonfly plugin renames, deletes or appends: nothing of it is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, served, write
from tests.faulty_http import Asked, Reply
from tests.s3_server import S3Server, error
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

MINE, THEIRS = b"what was there" * 10, b"what somebody else wrote meanwhile"


def before(store: S3Server, known: Callable[[Asked], bool], write_first: Callable[[], object], times: int = 1) -> None:
    """Somebody else is faster than the next request of this kind."""

    def fault(asked: Asked, _: Reply) -> Reply:
        write_first()
        return store.answer(asked)

    store.inject(fault, times, known, done=False)


def of(method: str) -> Callable[[Asked], bool]:
    return lambda asked: asked.method == method


def content(store: S3Server, key: str) -> bytes | None:
    stored = store.buckets["bucket"].get(f"tests/{key}")
    return None if stored is None else stored.content


@pytest.mark.parametrize("conditional", [True, False], ids=["If-Match", "without-If-Match"])
def test_a_writer_after_the_copy_of_a_rename(tmp_path: Path, conditional: bool) -> None:
    with served(tmp_path) as (store, _, fs):
        store.conditional_deletes = conditional
        store.put("tests/file", MINE)

        def copied_then_written(asked: Asked, _: Reply) -> Reply:
            reply = store.answer(asked)
            store.put("tests/file", THEIRS)
            return reply

        store.inject(copied_then_written, 1, of("PUT"), done=False)
        got = fs.rename_file(at("file"), at("moved"))
        assert (got.code, "is changed while it is renamed" in got.message) == (Code.ABORTED, True)
        assert (content(store, "file"), content(store, "moved")) == (THEIRS, MINE)


def test_a_writer_right_before_the_deletion_of_a_rename(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", MINE)
        before(store, of("DELETE"), lambda: store.put("tests/file", THEIRS))
        assert fs.rename_file(at("file"), at("moved")).code is Code.ABORTED
        assert content(store, "file") == THEIRS


def test_a_store_without_conditional_deletes(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", MINE)
        store.inject(
            lambda _, __: error(501, "NotImplemented"), when=lambda asked: "if-match" in asked.headers, done=False
        )
        assert fs.rename_file(at("file"), at("moved")).ok
        assert (content(store, "file"), content(store, "moved")) == (None, MINE)


def test_a_rename_to_a_local_file(tmp_path: Path) -> None:
    with served(tmp_path) as (store, proxy, fs):
        store.put("tests/file", MINE)

        def fetched_then_written(asked: Asked, right: Reply) -> Reply:
            store.put("tests/file", THEIRS)
            return right

        proxy.inject(fetched_then_written, 1)
        assert fs.raw.path_op("rename_file", at("file"), str(tmp_path / "moved")).code is Code.ABORTED
        assert (content(store, "file"), (tmp_path / "moved").read_bytes()) == (THEIRS, MINE)


def test_a_rename_of_a_local_file(tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_bytes(MINE)
    with served(tmp_path) as (store, _, fs):
        before(store, of("PUT"), lambda: local.write_bytes(THEIRS))
        assert fs.raw.path_op("rename_file", str(local), at("file")).code is Code.ABORTED
        assert (local.read_bytes(), content(store, "file")) == (THEIRS, MINE)
        assert fs.raw.path_op("rename_file", str(local), at("file")).ok
        assert (local.exists(), content(store, "file")) == (False, THEIRS)


def test_a_writer_right_before_a_deletion(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", MINE)
        before(store, of("DELETE"), lambda: store.put("tests/file", THEIRS))
        assert fs.delete_file(at("file")).code is Code.ABORTED
        assert content(store, "file") == THEIRS


def test_a_deletion_that_somebody_else_was_faster_with(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", MINE)
        before(store, of("DELETE"), store.buckets["bucket"].clear)
        assert fs.delete_file(at("file")).ok


def test_an_append_to_what_somebody_else_deleted(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", MINE)
        file = fs.new_appendable_file(at("file")).value
        assert file is not None
        with file:
            assert file.append(b"more").ok
            store.buckets["bucket"].clear()
            assert file.close().code is Code.NOT_FOUND
        assert content(store, "file") is None


def test_an_append_whose_answer_is_lost_and_then_somebody_else_writes(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", MINE)
        file = fs.new_appendable_file(at("file")).value
        assert file is not None

        def lost_then_written(asked: Asked, right: Reply) -> Reply:
            store.put("tests/file", THEIRS)
            return Reply(200, silent=True)

        store.inject(lost_then_written, 1, of("PUT"))
        with file:
            assert file.append(b"more").ok
            assert file.close().code is Code.ABORTED
        assert content(store, "file") == THEIRS


def test_a_directory_that_somebody_else_makes(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/", b"")
        before(store, of("PUT"), lambda: store.put("tests/d/", b""))
        assert fs.create_dir(at("d")).code is Code.ALREADY_EXISTS


@pytest.mark.parametrize(
    ("reply", "code"),
    [(Reply(200, silent=True), Code.UNAVAILABLE), (error(409, "ConditionalRequestConflict"), Code.ABORTED)],
    ids=["no-answer", "conflict"],
)
def test_a_directory_that_nobody_knows_who_made(tmp_path: Path, reply: Reply, code: Code) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/", b"")
        store.inject(lambda _, __: reply, when=of("PUT"), done=False)
        assert fs.create_dir(at("d")).code is code


def test_a_file_is_put_where_a_copy_was_begun(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", MINE)
        before(store, lambda asked: "x-amz-copy-source" in asked.headers, lambda: store.put("tests/file", THEIRS))
        assert fs.copy_file(at("file"), at("copy")).code is Code.ABORTED
        assert (content(store, "file"), content(store, "copy")) == (THEIRS, None)
        assert write(fs, at("copy"), MINE)[0] is Code.OK
