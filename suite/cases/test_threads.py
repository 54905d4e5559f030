"""Threads: the host's threads repeat ops at the same time."""

import zlib
from collections.abc import Sequence

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Entries, Existence, Read, Source, Statistics
from ...harness.over_tables.files import handle_of
from ...harness.over_tables.programs import Program, Timed, run, run_within
from ..engine.answers import Answer
from ..engine.case import Case
from ..engine.marks import clauses, full, over_tables

pytestmark = over_tables

THREADS = 4
ROUNDS = 100
#: Seconds for which a slow plugin is kept busy, at most. It is less than the shortest call time-out in use.
SECONDS = 1.0
#: Content in which every place looks different.
CONTENT = b"".join(b"%07d\n" % k for k in range(4096))
PIECE = 512
#: How often a file is replaced in each round.
REPLACED = 4
#: What an op that looks at a file may answer while it is replaced: a store that pins the version it reads aborts.
NO_NEWS = (Code.OK, Code.OUT_OF_RANGE, Code.UNIMPLEMENTED, Code.ABORTED)


def wrong(went: list[list[Timed]], expected: Sequence[object]) -> str:
    """The first outcome that differs from what its thread expects, as text. Empty where all are right."""
    for number, (thread, value) in enumerate(zip(went, expected, strict=True)):
        for round_, timed in enumerate(thread):
            if not timed.outcome.ok or timed.outcome.value != value:
                got = timed.outcome
                return f"thread {number}, round {round_}: {got.op} code={got.code} {str(got.value)[:60]}"
    return ""


@full
@clauses("read.is-thread-safe")
def test_read(case: Case) -> None:
    """Four threads read one file at different offsets."""
    uri = case.setup.write("file", CONTENT)
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        programs, expected = [], []
        for k in range(THREADS):
            program = Program(case.tables)
            offset = k * 7 * PIECE
            program.read(handle_of(file), offset, PIECE)
            programs.append(program)
            expected.append(file.read(offset, PIECE).value)
        went = run_within(case.tables, programs, ROUNDS, SECONDS)
    found = wrong(went, expected)
    case.check.that("read.is-thread-safe", not found, "the bytes at the offset, every time", found or "the same")


@full
@clauses("data.is-thread-safe")
def test_region(case: Case) -> None:
    """Four threads look at one region."""
    uri = case.setup.write("file", CONTENT)
    with case.setup, case.setup.opened(case.fs.new_read_only_memory_region_from_file(uri)) as region:
        programs, expected = [], []
        for k in range(THREADS):
            program = Program(case.tables)
            program.data(handle_of(region), k * PIECE, PIECE)
            programs.append(program)
            expected.append((region.data(0, 0).value[0], CONTENT[k * PIECE : (k + 1) * PIECE]))
        went = run_within(case.tables, programs, ROUNDS, SECONDS)
    found = wrong(went, expected)
    case.check.that("data.is-thread-safe", not found, "one address and its bytes, every time", found or "the same")


#: What each thread does to a file and a directory of its own, by what it begins with. All ops that take a path are
#: among these: kinds and sizes with "query", copies with "list", appending with "write", regions and a
#: file of all with "read", trees with "create", renaming with "flush". Each finds the same every time, whichever of its
#: ops there are.
BUSY = ("query", "list", "write", "read", "create", "glob", "flush")


@full
@pytest.mark.parametrize("what", BUSY)
@clauses("common.filesystem-is-thread-safe")
def test_filesystem(case: Case, what: str) -> None:
    """Four threads do the same on paths of their own, the first who do so; each finds what it finds alone."""
    programs = []
    for k in range(THREADS):
        case.setup.mkdir(f"thread{k}")
        if not case.surroundings.bench.seeds(case.fs, "create_dir"):
            # Nobody makes it again where the plugin only deletes directories.
            case.setup.mkdir(f"thread{k}/inner")
        for name in range(k + 1):
            case.setup.write(f"thread{k}/file{name}", CONTENT[1000 * k : 1100 * k + 100])
        programs.append(busy(case, what, k))
    # What a plugin sets up at the first call is set up by several threads at once.
    together = run_within(case.tables, programs, ROUNDS // 4, SECONDS)
    alone = [run(case.tables, [program])[0] for program in programs]
    got = [[answer(timed) for timed in thread] for thread in together]
    expected = [[answer(timed) for timed in thread] * (len(got[k]) // len(thread)) for k, thread in enumerate(alone)]
    differing = [
        (k, *pair) for k in range(THREADS) for pair in zip(expected[k], got[k], strict=True) if len(set(pair)) > 1
    ]
    said = f"thread {differing[0][0]}: {differing[0][1]} alone, {differing[0][2]} together" if differing else "the same"
    op = differing[0][2].partition(" ")[0] if differing else None
    case.check.reading("common.filesystem-is-thread-safe", {"safe": not differing}, said, of=Answer(op))


def answer(timed: Timed) -> str:
    """The part of an answer that must be the same every time."""
    got = timed.outcome
    match got.value:
        case Entries(names=names):
            value = f" {sorted(names)}"
        case Statistics(length=length, is_directory=kind) if got.ok:
            value = f" {length} {kind}"
        case Read(data=data) | (_, bytes(data)):
            value = f" {data[:20]!r} {len(data)} {zlib.crc32(data):08x}"
        case Existence(returned=returned, statuses=statuses):
            value = f" {returned} {[str(one.code) for one in statuses or ()]}"
        case int(number) if got.ok and got.op in ("is_directory", "get_file_size"):
            value = f" {number}"
        case str(name):
            value = f" {name}"
        case _:
            value = ""
    return f"{got.op} {got.code}{value}"


def busy(case: Case, what: str, k: int) -> Program:
    """The program of thread number k."""
    program = Program(case.tables)
    directory, file = (case.fs.translate(case.uri(f"thread{k}{name}")) for name in ("", "/file0"))
    missing, copy, moved, new, inner, tree, leaf = (
        case.translated(f"thread{k}{name}")
        for name in ("/file0-missing", "-copy", "-moved", "/new", "/inner", "/tree", "/tree/in/it")
    )
    match what:
        case "query":
            program.path_op("path_exists", file)
            program.stat(file)
            program.path_op("path_exists", missing)
            program.number_op("is_directory", directory if k % 2 else file)
            program.number_op("get_file_size", file)
            program.paths_exist([file, missing], with_statuses=True)
        case "list":
            program.entries_op("get_children", directory)
            program.path_op("copy_file", file, copy)
            _read(program, copy, 400)
            program.path_op("delete_file", copy)
            program.path_op("path_exists", copy)
        case "flush":
            program.stat(file)
            program.flush_caches()
            program.stat(file)
            # This program waits for no listing that is late.
            program.entries_op("get_children", inner if "listing_delay_ms" in case.bench.claims.limits else directory)
            program.path_op("rename_file", file, moved)
            _read(program, moved, 400)
            program.path_op("rename_file", moved, file)
        case "glob":
            program.entries_op("get_matching_paths", case.uri(f"thread{k}/*"))
            program.translate_name(case.uri(f"thread{k}/file0"))
        case "read":
            for one in (file, case.fs.translate(case.uri("thread0/file0"))):
                _read(program, one, 50 * (k + 1))
            region = program.open("new_read_only_memory_region_from_file", file).value
            program.data(region, 0, 100 * (k + 1))
            program.handle_op("read_only_memory_region.cleanup", region)
        case "write":
            # Nobody empties what is appended to where the plugin makes no files.
            for op in ("new_writable_file", "new_appendable_file")[: 1 + case.writes_files]:
                handle = program.open(op, new).value
                program.append(handle, b"%d" % k * 100 * (k + 1))
                program.handle_op("close", handle)
                program.handle_op("writable_file.cleanup", handle)
            program.stat(new)
            program.path_op("delete_file", new)
        case _:
            for op in ("delete_dir", "path_exists", "create_dir", "create_dir"):
                program.path_op(op, inner)
            program.path_op("recursively_create_dir", leaf)
            program.path_op("path_exists", leaf)
            if "delete_recursively" in case.fs.present:
                program.delete_recursively(tree)
            program.path_op("path_exists", tree)
    return program


def _read(program: Program, file: str, n: int) -> None:
    handle = program.open("new_random_access_file", file).value
    program.read(handle, 0, n)
    program.handle_op("random_access_file.cleanup", handle)


@full
@clauses("rename_file.is-atomic", "rename_file.succeeds")
def test_rename_is_atomic(case: Case) -> None:
    """One thread replaces a file by renaming another one onto it, three look whether it is there."""
    # Core's default copies and deletes. It empties the target first, for which the plugin is not to blame.
    case.needs("rename_file", itself=True)
    if not case.writes_files:
        case.missing("new_writable_file")
    target, other = (case.fs.translate(uri) for uri in (case.setup.write("target", b"old"), case.uri("other")))
    raw = case.tables
    writer = Program(raw)
    for _ in range(REPLACED):
        handle = writer.open("new_writable_file", other).value
        writer.append(handle, b"new")
        writer.handle_op("close", handle)
        writer.handle_op("writable_file.cleanup", handle)
        writer.path_op("rename_file", other, target)
    readers = []
    for k in range(THREADS - 1):
        reader = Program(raw)
        for _ in range(8 * REPLACED):
            if k == 0:
                # It asks more often than others open, for the moment in which nothing is there is short.
                reader.path_op("path_exists", target)
                continue
            handle = reader.open("new_random_access_file", target).value
            reader.read(handle, 0, 3)
            reader.handle_op("random_access_file.cleanup", handle)
        readers.append(reader)
    # Several times over, for one call of the host may not take longer than any call.
    several = [run_within(raw, [writer, *readers], ROUNDS, SECONDS) for _ in range(3)]
    went = [[timed for thread in threads for timed in thread] for threads in zip(*several, strict=True)]
    for timed in went[0]:
        if timed.outcome.op == "rename_file":
            case.setup.require(timed.outcome)
    outcomes = [timed.outcome for thread in went[1:] for timed in thread]
    looks = [got for got in outcomes if got.op in ("new_random_access_file", "path_exists", "read")]
    failed = next((got for got in looks if got.source is Source.PLUGIN and got.code not in NO_NEWS), None)
    if failed is None and not any(got.ok for got in looks):
        case.missing("new_random_access_file")
    read = [got for got in looks if got.op == "read" and got.code in (Code.OK, Code.OUT_OF_RANGE)]
    contents = {got.value.data for got in read}
    bad = sorted(contents - {b"old", b"new"})
    said = f"content={bad}" if bad else "the old or the new file"
    if failed is not None:
        said = "nothing was there" if failed.code is Code.NOT_FOUND else f"{failed.op}: code={failed.code}"
    case.check.that("rename_file.is-atomic", failed is None and not bad, "the old or the new file", said)


@full
@clauses("common.filesystem-is-thread-safe", "robustness.no-crash", "robustness.no-hang")
def test_changes(case: Case) -> None:
    """Two threads create and delete what two others list and ask about."""
    case.needs("create_dir", "delete_dir", "get_children", itself=True)
    directory = case.fs.translate(case.setup.mkdir("directory"))
    makers, askers = [], []
    for k in range(2):
        new = case.translated("directory", f"new{k}")
        maker = Program(case.tables)
        maker.path_op("create_dir", new)
        maker.path_op("delete_dir", new)
        asker = Program(case.tables)
        asker.entries_op("get_children", directory)
        asker.stat(new)
        makers.append(maker)
        askers.append(asker)
    went = run_within(case.tables, [*makers, *askers], ROUNDS, SECONDS)
    failed = [timed.outcome for thread in went[:2] for timed in thread if not timed.outcome.ok]
    listed = {name for thread in went[2:] for timed in thread for name in getattr(timed.outcome.value, "bare", ())}
    foreign = sorted(listed - {"new0", "new1"})
    said = f"{failed[0].op}: code={failed[0].code}" if failed else f"foreign={foreign}" if foreign else "all succeed"
    of = Answer(failed[0].op if failed else "get_children")
    case.check.reading("common.filesystem-is-thread-safe", {"safe": not failed and not foreign}, said, of=of)


@full
@clauses("new_writable_file.moves-between-threads", "append.succeeds", "close.succeeds")
def test_another_thread(case: Case) -> None:
    """A file is opened in one thread, written and closed in a second one, and cleaned up in a third."""
    clause = "new_writable_file.moves-between-threads"
    # What fails in one thread as well is not about threads.
    case.setup.write("alone", b"piece")
    with case.setup:
        file = case.setup.opened(case.fs.new_writable_file(case.uri("file")))
    second, third = Program(case.tables), Program(case.tables)
    for _ in range(3):
        second.append(handle_of(file), b"piece")
    second.tell(handle_of(file))
    second.handle_op("flush", handle_of(file))
    second.handle_op("close", handle_of(file))
    third.handle_op("writable_file.cleanup", handle_of(file))
    for program in (second, third):
        for timed in run(case.tables, [program])[0]:
            if timed.outcome.source is Source.PLUGIN:
                case.check.status(clause, timed.outcome, Code.OK)
    case.check.equal(clause, "content", b"piece" * 3, case.setup.content(case.uri("file")))
