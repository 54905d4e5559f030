"""Exits: a process that ends by itself while its threads are in ops, or while something is open."""

from collections.abc import Mapping

import pytest

from ...harness.ops.outcomes import DiedError
from ...harness.over_tables.files import handle_of
from ...harness.over_tables.programs import Program, keep_busy, run
from ..engine.case import Case
from ..engine.marks import clauses, condition, over_tables
from .test_robustness import WORDS

pytestmark = over_tables

ENDS, STATUS = "processes.exit-ends", "processes.exit-keeps-the-status"
CLOSED, SYNCED = "processes.exit-keeps-what-was-closed", "processes.exit-keeps-what-was-synced"
#: What the process ends with.
EXIT_STATUS = 7
#: How many threads there are, and how often each has performed its ops when the process ends.
THREADS, ROUNDS = 4, 3
#: What a file has, and a piece of it.
CONTENT, PIECE = b"abcdefghijklmnop", 4

each_way = pytest.mark.parametrize("way", ["exit", "quick_exit"])


@condition("processes")
@clauses(ENDS, STATUS, CLOSED)
@each_way
@pytest.mark.parametrize(
    "what",
    ["query", "list", "glob", "read", "open", "region", "write", "create", "rename", "delete", "flush_caches",
     pytest.param("append", id="append", marks=clauses(SYNCED))],
)  # fmt: skip
def test_beside_threads(case: Case, what: str, way: str) -> None:
    """Four threads do the same again and again, each on names of its own, and the process ends beside them."""
    programs = [_program(case, what, f"thread{number}") for number in range(THREADS)]
    case.needs(*(step.op for step in programs[0].steps), itself=True)
    case.setup.write("closed", CONTENT)
    with case.setup:
        for timed in (timed for thread in run(case.tables, programs) for timed in thread):
            case.setup.require(timed.outcome)
    # What becomes of it is to be told before the host is taken for one that hangs.
    right = keep_busy(case.tables, programs, ROUNDS, max(1, int(case.surroundings.host.timeout / 2)))
    _exit(case, what, way)
    synced = {}
    if what == "append" and "sync" in (step.op for step in programs[0].steps):
        synced = {f"thread{number}/log": CONTENT * (1 + count) for number, count in enumerate(right)}
    _kept(case, what, way, synced)


@condition("processes")
@clauses(ENDS, STATUS, CLOSED)
@each_way
@pytest.mark.parametrize(
    "what",
    ["reader", "region", *(pytest.param(what, id=what, marks=clauses(SYNCED)) for what in ("writer", "appender"))],
)
def test_with_open(case: Case, what: str, way: str) -> None:
    """A file or a region is used and stays open, and the process ends."""
    case.setup.write("closed", CONTENT)
    synced = {}
    with case.setup:
        match what:
            case "reader":
                case.setup.opened(case.fs.new_random_access_file(case.uri("closed"))).read(0, PIECE)
            case "region":
                case.setup.opened(case.fs.new_read_only_memory_region_from_file(case.uri("closed"))).data(0, PIECE)
            case _:
                old = b"" if what == "writer" else CONTENT
                uri = case.uri("open") if what == "writer" else case.setup.write("open", old)
                opens = case.fs.new_writable_file if what == "writer" else case.fs.new_appendable_file
                file = case.setup.opened(opens(uri))
                case.setup.require(file.append(CONTENT))
                # What core answers for a plugin promises nothing.
                if "sync" in case.fs.present:
                    case.setup.require(file.sync())
                    synced = {"open": old + CONTENT}
    _exit(case, what, way)
    _kept(case, what, way, synced)


def _exit(case: Case, what: str, way: str) -> None:
    """End the process, and say how it ended."""
    loaded = case.surroundings.loaded
    try:
        ending = loaded.exit(EXIT_STATUS, way)
    except DiedError:
        ending = "it did not end"
    output = loaded.host.output
    case.surroundings.died_with(output)
    # It says in which op it was; what follows is a backtrace.
    said = next((line for line in output.splitlines() if line.startswith("the host ")), output[-WORDS:])
    ended, right = ending.startswith("exit status"), f"exit status {EXIT_STATUS}"
    case.check.that(ENDS, ended, "it ends", "it ends" if ended else f"{what}, {way}: {ending}", said)
    if ended:
        case.check.that(STATUS, ending == right, right, right if ending == right else f"{what}, {way}: {ending}", said)


def _kept(case: Case, what: str, way: str, synced: Mapping[str, bytes]) -> None:
    """Look in another process at what was stored before."""
    if case.bench.facts.hosts_differ:
        return
    case.surroundings.end_host()
    found = {name: _content(case, name) for name in ("closed", *synced)}
    lost = found["closed"] != CONTENT
    got = f"{what}, {way}: closed has {found['closed']!r}" if lost else "what was closed"
    case.check.that(CLOSED, not lost, "what was closed", got)
    for name, begin in synced.items():
        lost = not (found[name] or b"").startswith(begin)
        got = f"{what}, {way}: {name} has {found[name]!r}" if lost else "what was synced"
        case.check.that(SYNCED, not lost, "what was synced", got)


def _content(case: Case, name: str) -> bytes | None:
    """What is in a file; None where there is none."""
    with case.setup:
        return case.setup.content(case.uri(name)) if case.fs.path_exists(case.uri(name)).ok else None


def _program(case: Case, what: str, directory: str) -> Program:
    """What a thread does in its directory. All of it answers OK, however often it is performed."""
    case.setup.mkdir_where_known(directory)
    file = case.fs.translate(case.setup.write(f"{directory}/file", CONTENT))
    above, new = (case.fs.translate(case.uri(*names)) for names in ((directory,), (directory, "new")))
    program = Program(case.tables)
    match what:
        case "query":
            program.path_op("path_exists", file)
            program.stat(file)
        case "list":
            program.entries_op("get_children", above)
        case "glob":
            program.entries_op("get_matching_paths", case.uri(directory, "*"))
        case "create":
            program.path_op("create_dir", new)
            program.path_op("delete_dir", new)
        case "rename":
            program.path_op("rename_file", file, new)
            program.path_op("rename_file", new, file)
        case "flush_caches":
            program.flush_caches()
            program.stat(file)
        case "read" | "append":
            _use_what_is_open(case, program, directory, what)
        case _:
            _open(program, what, file, new)
    return program


def _use_what_is_open(case: Case, program: Program, directory: str, what: str) -> None:
    """A file that was opened before is read or written, and not closed."""
    with case.setup:
        if what == "read":
            reader = case.setup.opened(case.fs.new_random_access_file(case.uri(directory, "file")))
            program.read(handle_of(reader), 0, PIECE)
        else:
            log = case.setup.opened(case.fs.new_writable_file(case.uri(directory, "log")))
            program.append(handle_of(log), CONTENT)
            if "sync" in case.fs.present:
                program.handle_op("sync", handle_of(log))


def _open(program: Program, what: str, file: str, new: str) -> None:
    """Something is opened, used and cleaned up each time."""
    match what:
        case "open":
            handle = program.open("new_random_access_file", file).value
            program.read(handle, 0, PIECE)
            program.handle_op("random_access_file.cleanup", handle)
        case "region":
            handle = program.open("new_read_only_memory_region_from_file", file).value
            program.data(handle, 0, PIECE)
            program.handle_op("read_only_memory_region.cleanup", handle)
        case _:
            handle = program.open("new_writable_file", new).value
            program.append(handle, CONTENT)
            program.handle_op("close", handle)
            program.handle_op("writable_file.cleanup", handle)
            if what == "delete":
                program.path_op("delete_file", new)
