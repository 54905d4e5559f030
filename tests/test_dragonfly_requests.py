"""Which requests each op of the dragonfly plugin sends, which at the same time, and over how many connections."""

import threading
import time
from contextlib import suppress
from itertools import islice
from operator import attrgetter
from pathlib import Path

import pytest

from tests import dragonfly_rows as do
from tests.dragonfly_client import BUILT, MISSING, at, served
from tests.dragonfly_rows import Given, Scene, Situation, row
from tests.faulty_http import Asked, Reply, anything
from tests.s3_server import error, is_copy, is_delete_many, is_list
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.over_tables.programs import Program

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

CONTENT, OTHER, SMALL = b"content" * 100, b"tnetnoc" * 100, b"small"
KEYS = ("file.bin", "other.bin", "d/file.bin", "empty/", *(f"ten/{k}.bin" for k in range(10)))
MANY = 2500


@do.step
def all_exist(scene: Scene, names: list[str]) -> Code:
    got = scene.fs.paths_exist([at(name) for name in names])
    assert got.value.statuses is not None
    assert {one.code for one in got.value.statuses} == {got.code}
    return got.code


#: What an op is called in the table, and how it is done.
OPS: dict[str, Given] = {
    "open and read": (do.read_all("file.bin"), CONTENT),
    "the same again": (do.read_all("file.bin"), CONTENT),
    "path_exists, stat of a file": (do.stat("file.bin"), (len(CONTENT), 0)),
    "path_exists, stat of a directory": (do.stat("d"), (0, 1)),
    "path_exists, stat of nothing": (do.op("path_exists", "nothing"), Code.NOT_FOUND),
    "paths_exist of ten files": all_exist([f"ten/{k}.bin" for k in range(10)]),
    "is_directory of a directory": do.op("is_directory", "d"),
    "is_directory of a file": (do.op("is_directory", "file.bin"), Code.FAILED_PRECONDITION),
    "is_directory of nothing": (do.op("is_directory", "nothing"), Code.NOT_FOUND),
    "get_children": (do.children("d"), ["file.bin"]),
    "get_children of an empty directory": (do.children("empty"), []),
    "write a new file": do.write_all(CONTENT, "d/new.bin"),
    "append to a file": do.appended(b"more", "file.bin"),
    "append to a new file": do.appended(b"more", "d/new.bin"),
    "create_dir": do.op("create_dir", "d/new"),
    "recursively_create_dir of three": do.op("recursively_create_dir", "x/y/z"),
    "recursively_create_dir of none": do.op("recursively_create_dir", "empty"),
    "delete_file": do.op("delete_file", "file.bin"),
    "delete_dir": do.op("delete_dir", "empty"),
    f"delete_recursively, {MANY:,} keys": do.delete_all("many"),
    "copy_file": do.op("copy_file", "file.bin", "d/copy.bin"),
    "rename_file": do.op("rename_file", "file.bin", "d/moved.bin"),
}


README_REQUESTS = {op: requests for op, requests, _ in do.table("| op | requests |")}


def moments(text: str) -> list[list[str]]:
    """`10 HEAD, LIST + HEAD`: in each moment, the requests that are sent in it, sorted."""
    parts = [[part.rpartition(" ") for part in moment.split(" + ")] for moment in text.split(", ")]
    return [sorted(name for number, _, name in moment for _ in range(int(number or 1))) for moment in parts]


def name_of(asked: Asked) -> str:
    if "x-dragonfly-use-p2p" in asked.headers:
        return "dfdaemon"
    known = {"LIST": is_list, "DeleteObjects": is_delete_many, "COPY": is_copy}
    return next((name for name, is_known in known.items() if is_known(asked)), asked.method)


@pytest.mark.parametrize("op", sorted({*OPS, *README_REQUESTS}))
def test_requests_of_op_are_those_of_table(tmp_path: Path, op: str) -> None:
    """Each answer is held back until all requests of its moment are there."""
    wanted, seen = moments(README_REQUESTS[op]), list[str]()
    barriers = [threading.Barrier(len(moment), timeout=20) for moment in wanted]
    places = iter([barrier for barrier in barriers for _ in range(barrier.parties)])

    def hold(asked: Asked, right: Reply) -> Reply:
        seen.append(name_of(asked))
        with suppress(threading.BrokenBarrierError):
            next(places, threading.Barrier(1)).wait()
        return right

    many = {f"many/{k}": CONTENT for k in range(MANY)} if "delete_recursively" in op else {}
    with served(tmp_path, retry_deadline_s=60) as (store, proxy, fs):
        scene = Scene(store, proxy, fs, tmp_path)
        scene.put({key: b"" if key.endswith("/") else CONTENT for key in KEYS} | many)
        step, expected = given if isinstance(given := OPS[op], tuple) else (given, Code.OK)
        if op == "the same again":
            assert step(scene) == expected
        store.inject(hold, when=lambda asked: "X-Amz-Signature" not in asked.target)  # that is the proxy
        proxy.inject(hold)
        assert step(scene) == expected
    names = iter(seen)
    assert [*(sorted(islice(names, len(moment))) for moment in wanted), [*names]] == [*wanted, []]
    assert not any(barrier.broken for barrier in barriers)


# Answers that are remembered ----------------------------------------------------------------------------------------

READ, SIZE = (do.read_all("file.bin"), CONTENT), (do.size("file.bin"), len(CONTENT))
BOTH = {"file.bin": CONTENT, "small.bin": SMALL}

REMEMBERED = [
    row("answers are remembered", READ, (do.op("path_exists", "missing.bin"), Code.NOT_FOUND), do.heals,
        *[READ, SIZE] * 3, (do.count(anything), 0), metadata_ttl_s=600, before={"file.bin": CONTENT}),
    # After a change by this plugin, no look is answered from before it.
    *(row(f"own change: {change}", SIZE, step,
          (do.size("file.bin"), len(after["file.bin"]) if "file.bin" in after else Code.NOT_FOUND),
          metadata_ttl_s=600, before=BOTH, after=after)
      for change, step, after in (
          ("write", do.write_all(b"new", "file.bin"), BOTH | {"file.bin": b"new"}),
          ("append", do.appended(b"more", "file.bin"), BOTH | {"file.bin": CONTENT + b"more"}),
          ("copy", do.op("copy_file", "small.bin", "file.bin"), BOTH | {"file.bin": SMALL}),
          ("rename to", do.op("rename_file", "small.bin", "file.bin"), {"file.bin": SMALL}),
          ("delete", do.op("delete_file", "file.bin"), {"small.bin": SMALL}),
          ("rename from", do.op("rename_file", "file.bin", "moved.bin"), {"moved.bin": CONTENT, "small.bin": SMALL}),
          ("delete all", do.delete_all(""), {}))),
    row("flush_caches", SIZE, do.puts(b"theirs", "file.bin"), SIZE, do.op("flush_caches"), (do.size("file.bin"), 6),
        metadata_ttl_s=600, before={"file.bin": CONTENT}, after={"file.bin": b"theirs"}),
    row("answers are forgotten after a while", SIZE, do.puts(b"theirs", "file.bin"),
        do.wait_for(lambda scene: do.size("file.bin")(scene) == len(b"theirs")), metadata_ttl_s=0.3,
        before={"file.bin": CONTENT}, after={"file.bin": b"theirs"}),
    row("a change of another writer", READ, do.puts(OTHER, "file.bin"),
        (lambda scene: do.read_all("file.bin")(scene) in (CONTENT, OTHER), True),
        do.op("rename_file", "file.bin", "moved.bin"), metadata_ttl_s=600, cache_max_bytes=0,
        before={"file.bin": CONTENT}, after={"moved.bin": OTHER}),
]  # fmt: skip


@pytest.mark.parametrize("situation", REMEMBERED, ids=str)
def test_remembered_answers(situation: Situation, tmp_path: Path) -> None:
    situation.run(tmp_path)


# Many threads -------------------------------------------------------------------------------------------------------


def codes(fs: HostFilesystem, threads: int, times: int) -> set[Code]:
    """Many threads ask for one file, each of them some times."""
    asking = [Program(fs.raw) for _ in range(threads)]
    for program in asking:
        for _ in range(times):
            program.path_op("path_exists", at("file.bin"))
    return {timed.outcome.code for thread in programs.run(fs.raw, asking) for timed in thread}


@pytest.mark.parametrize(("max_connections", "most"), [(None, 32), (4, 4)], ids=["default", "4"])
def test_connections_of_many_threads_are_few(tmp_path: Path, max_connections: int | None, most: int) -> None:
    threads, times = 64, 10

    def slow(_: Asked, right: Reply) -> Reply:
        time.sleep(1)
        return right

    with served(tmp_path, max_connections=max_connections) as (store, _, fs):
        store.put("tests/file.bin", CONTENT)
        # Whoever waits for a connection gets it, however long another one has it.
        store.inject(slow, most)
        assert codes(fs, threads, times) == {Code.OK}
        assert len(store.asked) == threads * times
        assert store.connections <= most


def test_readers_have_connections_to_both_servers(tmp_path: Path) -> None:
    with served(tmp_path, cache_max_bytes=0, max_connections=4) as (store, proxy, fs):
        store.put("tests/file.bin", CONTENT)
        reading = [Program(fs.raw) for _ in range(16)]
        for program in reading * 3:
            handle = program.open("new_random_access_file", at("file.bin")).value
            program.read(handle, 0, len(CONTENT))
            program.handle_op("random_access_file.cleanup", handle)
        for thread in programs.run(fs.raw, reading):
            assert [timed.outcome.code for timed in thread] == [Code.OK] * 9
        assert proxy.connections <= 4
        # The proxy asks the store, too, on connections of its own.
        assert store.connections <= 4 + len(proxy.asked)


def test_one_connection_is_enough_for_parallel_requests(tmp_path: Path) -> None:
    names = [f"dir-{k}" for k in range(20)]
    large = bytes(65 << 20)
    markers = {"": b""} | {f"{name}/{below}": b"" for name in names for below in ("", "a/", "a/b/")}
    row("one", *(do.op("recursively_create_dir", f"{name}/a/b") for name in names), all_exist(names),
        do.write_all(large, "large"), do.op("rename_file", "large", "moved"), (attrgetter("store.connections"), 1),
        after=markers | {"moved": large}, max_connections=1).run(tmp_path)  # fmt: skip


def test_a_storm_of_refusals_fails_no_thread(tmp_path: Path) -> None:
    threads, times = 16, 4
    with served(tmp_path, retry_deadline_s=60) as (store, _, fs):
        store.put("tests/file.bin", CONTENT)
        # So many are refused, and all that come later are answered.
        store.inject(lambda *_: error(503, "SlowDown"), threads * times, done=False)
        assert codes(fs, threads, 1) == {Code.OK}
        assert len(store.asked) == threads * (times + 1)
