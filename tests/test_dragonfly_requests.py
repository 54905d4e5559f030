"""How many requests each op of the dragonfly plugin sends, and which of them at the same time: the table in its README.

The servers hold each answer back until all requests that belong to the same moment have come.
"""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, read, served, write
from tests.faulty_http import Asked, Reply
from tests.s3_server import BUCKET, error
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

README = Path(__file__).parents[1] / "reference_plugins" / "dragonfly" / "README.md"
CONTENT = b"content" * 100
KEYS = ("file.bin", "other.bin", "d/file.bin", "empty/", *(f"ten/{k}.bin" for k in range(10)))
MANY = 2500
WAIT_S = 20


def append(fs: HostFilesystem, name: str) -> bool:
    opened = fs.new_appendable_file(at(name))
    assert opened.value is not None, opened.message
    with opened.value as file:
        return file.append(b"more").ok and file.close().ok


def read_all(fs: HostFilesystem, name: str) -> bool:
    return read(fs, at(name))[2] == CONTENT


#: What an op is called in the table, and how it is done.
OPS: dict[str, Callable[[HostFilesystem], bool]] = {
    "open and read": lambda fs: read_all(fs, "file.bin"),
    "the same again": lambda fs: read_all(fs, "file.bin"),
    "path_exists, stat of a file": lambda fs: fs.stat(at("file.bin")).ok,
    "path_exists, stat of a directory": lambda fs: fs.stat(at("d")).ok,
    "path_exists, stat of nothing": lambda fs: not fs.path_exists(at("nothing")).ok,
    "paths_exist of ten files": lambda fs: fs.paths_exist([at(f"ten/{k}.bin") for k in range(10)]).ok,
    "is_directory of a directory": lambda fs: fs.is_directory(at("d")).ok,
    "is_directory of a file": lambda fs: not fs.is_directory(at("file.bin")).ok,
    "is_directory of nothing": lambda fs: not fs.is_directory(at("nothing")).ok,
    "get_children": lambda fs: fs.get_children(at("d")).ok,
    "get_children of an empty directory": lambda fs: fs.get_children(at("empty")).ok,
    "write a new file": lambda fs: write(fs, at("d/new.bin"), CONTENT)[1] == "",
    "append to a file": lambda fs: append(fs, "file.bin"),
    "append to a new file": lambda fs: append(fs, "d/new.bin"),
    "create_dir": lambda fs: fs.create_dir(at("d/new")).ok,
    "recursively_create_dir of three": lambda fs: fs.recursively_create_dir(at("x/y/z")).ok,
    "recursively_create_dir of none": lambda fs: fs.recursively_create_dir(at("empty")).ok,
    "delete_file": lambda fs: fs.delete_file(at("file.bin")).ok,
    "delete_dir": lambda fs: fs.delete_dir(at("empty")).ok,
    f"delete_recursively, {MANY:,} keys": lambda fs: fs.delete_recursively(at("many")).ok,
    "copy_file": lambda fs: fs.copy_file(at("file.bin"), at("d/copy.bin")).ok,
    "rename_file": lambda fs: fs.rename_file(at("file.bin"), at("d/moved.bin")).ok,
}


def table() -> dict[str, str]:
    """The requests of each op, as the README has them."""
    lines = README.read_text(encoding="utf-8").partition("| op | requests |")[2].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    return {row[0]: row[1] for row in rows}


SAID = table()


def moments(said: str) -> list[list[str]]:
    """`10 HEAD, LIST + HEAD`: in each moment, the requests that are sent in it, sorted."""

    def requests(text: str) -> list[str]:
        number, _, name = text.rpartition(" ")
        return [name] * int(number or 1)

    return [sorted(name for part in moment.split(" + ") for name in requests(part)) for moment in said.split(", ")]


def name_of(asked: Asked) -> str:
    if "list-type" in asked.target:
        return "LIST"
    if "delete=" in asked.target:
        return "DeleteObjects"
    return "COPY" if "x-amz-copy-source" in asked.headers else asked.method


class Moments:
    """Collects requests; holds each back until all of its moment are there."""

    def __init__(self, expected: list[list[str]]) -> None:
        self.expected = expected
        self.seen: list[list[str]] = [[]]
        self.changed = threading.Condition()

    def hold(self, name: str) -> None:
        with self.changed:
            number = len(self.seen)
            self.seen[-1].append(name)
            wanted = len(self.expected[number - 1]) if number <= len(self.expected) else 1
            if len(self.seen[-1]) == wanted:
                self.seen.append([])
                self.changed.notify_all()
            elif not self.changed.wait_for(lambda: len(self.seen) > number, WAIT_S):
                self.seen.append([])  # the others do not come at the same time

    def at_store(self, asked: Asked, right: Reply) -> Reply:
        if "X-Amz-Signature" not in asked.target:  # that is the proxy
            self.hold(name_of(asked))
        return right

    def at_proxy(self, _: Asked, right: Reply) -> Reply:
        self.hold("dfdaemon")
        return right

    def all(self) -> list[list[str]]:
        return [sorted(moment) for moment in self.seen if moment]


def test_the_table_has_all_ops() -> None:
    assert list(SAID) == list(OPS)


@pytest.mark.parametrize("op", OPS)
def test_requests(tmp_path: Path, op: str) -> None:
    with served(tmp_path, retry_deadline_s=60) as (store, proxy, fs):
        for key in (*KEYS, *(f"many/{k}" for k in range(MANY if "delete_recursively" in op else 0))):
            store.put(f"tests/{key}", CONTENT if not key.endswith("/") else b"")
        if op == "the same again":
            assert OPS[op](fs)
        collected = Moments(moments(SAID[op]))
        store.inject(collected.at_store)
        proxy.inject(collected.at_proxy)
        assert OPS[op](fs)
        assert collected.all() == collected.expected


def test_a_question_that_a_file_did_not_need_may_fail(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        store.put("tests/file", CONTENT)
        store.inject(lambda _, __: error(403, "AccessDenied"), when=lambda asked: "list-type" in asked.target)
        assert fs.stat(at("file")).value.length == len(CONTENT)
        assert fs.stat(at("nothing")).code is Code.PERMISSION_DENIED


@pytest.mark.parametrize("name", ["both", "both.bin"])
def test_an_object_that_is_called_like_a_directory(tmp_path: Path, name: str) -> None:
    with served(tmp_path) as (store, _, fs):
        for key in (name, f"{name}/file.bin"):
            store.put(f"tests/{key}", CONTENT)
        assert read_all(fs, name)
        assert not fs.stat(at(name)).value.is_directory
        assert fs.get_children(at(name)).value.names == ("file.bin",)
        assert fs.create_dir(at(f"{name}/new")).code is Code.FAILED_PRECONDITION
        assert fs.recursively_create_dir(at(f"{name}/new/er")).code is Code.FAILED_PRECONDITION
        assert write(fs, at(f"{name}/new.bin"), CONTENT)[0] is Code.FAILED_PRECONDITION


def test_a_name_among_many_is_found(tmp_path: Path) -> None:
    with served(tmp_path) as (store, _, fs):
        for key in (*(f"d/{k:04}" for k in range(200)), "d/z", "d/y/file.bin"):
            store.put(f"tests/{key}", CONTENT)
        for name in ("0001", "z", "y"):
            assert fs.create_dir(at(f"d/{name}")).code is Code.ALREADY_EXISTS
        assert fs.create_dir(at("d/x")).ok
        assert fs.recursively_create_dir(at("d/y")).ok
        assert fs.recursively_create_dir(at("d/z/below")).code is Code.FAILED_PRECONDITION
        assert "tests/d/y/" not in store.buckets[BUCKET]


# Answers that are remembered ----------------------------------------------------------------------------------------


def test_answers_are_remembered_where_that_is_asked_for(tmp_path: Path) -> None:
    with served(tmp_path, metadata_ttl_s=600) as (store, _, fs):
        store.put("tests/file.bin", CONTENT)
        assert read_all(fs, "file.bin")
        assert not fs.path_exists(at("missing.bin")).ok
        store.heal()
        for _ in range(3):
            assert read_all(fs, "file.bin")
            assert fs.get_file_size(at("file.bin")).value == len(CONTENT)
        assert store.asked == []


@pytest.mark.parametrize(
    ("change", "size"),
    [
        (lambda fs: write(fs, at("file.bin"), b"new")[1] == "", 3),
        (lambda fs: append(fs, "file.bin"), len(CONTENT) + 4),
        (lambda fs: fs.copy_file(at("small.bin"), at("file.bin")).ok, 5),
        (lambda fs: fs.rename_file(at("small.bin"), at("file.bin")).ok, 5),
        (lambda fs: fs.delete_file(at("file.bin")).ok, None),
        (lambda fs: fs.rename_file(at("file.bin"), at("moved.bin")).ok, None),
        (lambda fs: fs.delete_recursively(at("")).ok, None),
        (lambda fs: fs.flush_caches().ok, 6),
    ],
    ids=["write", "append", "copy", "rename-to", "delete", "rename-from", "delete-all", "flush"],
)
def test_own_changes_are_seen_at_once(
    tmp_path: Path, change: Callable[[HostFilesystem], bool], size: int | None
) -> None:
    with served(tmp_path, metadata_ttl_s=600) as (store, _, fs):
        store.put("tests/file.bin", CONTENT)
        store.put("tests/small.bin", b"small")
        assert fs.get_file_size(at("file.bin")).value == len(CONTENT)
        if size == 6:
            store.put("tests/file.bin", b"theirs")
        assert change(fs)
        got = fs.get_file_size(at("file.bin"))
        assert (got.value if got.ok else None) == size


def test_what_somebody_else_changed_is_read_as_it_is(tmp_path: Path) -> None:
    with served(tmp_path, metadata_ttl_s=600, cache_max_bytes=0) as (store, _, fs):
        store.put("tests/file.bin", CONTENT)
        assert read_all(fs, "file.bin")
        store.put("tests/file.bin", CONTENT[::-1])
        assert read(fs, at("file.bin"))[2] in (CONTENT, CONTENT[::-1])
        assert fs.rename_file(at("file.bin"), at("moved.bin")).ok
        assert store.buckets[BUCKET]["tests/moved.bin"].content == CONTENT[::-1]
