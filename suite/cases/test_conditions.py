"""Conditions: what a run sees only where it asks for one. Then other cases are repeated under it, too."""

from itertools import combinations

from ...harness.over_tables.files import handle_of
from ...harness.over_tables.programs import Program, run_within
from ..engine.case import Case
from ..engine.marks import clauses, condition, over_tables
from ..judge.blame import SURVIVED
from .test_robustness import round_trip
from .test_threads import BUSY, CONTENT, busy

#: Threads that do the same, rounds of it at most, and seconds for which they do it.
THREADS, ROUNDS, SECONDS = 2, 50, 0.2
#: What they do beside what is in `BUSY`.
MORE = ("measure", "append", "map", "rename", "copy", "delete", "tree", "no tree")


@condition("memcheck")
@clauses("robustness.memory-safe", *SURVIVED)
def test_memcheck(case: Case) -> None:
    """Files are written, read, mapped, copied, listed and missed, under memcheck."""
    with case.setup:
        case.setup.mkdir_where_known("directory")
    round_trip(case)


@condition("address")
@clauses("robustness.memory-safe", *SURVIVED)
def test_address(case: Case) -> None:
    """Files are written, read, mapped, copied, listed and missed, with AddressSanitizer."""
    with case.setup:
        case.setup.mkdir_where_known("directory")
    round_trip(case)


@condition("thread")
@over_tables
@clauses("robustness.no-data-race", *SURVIVED)
def test_thread(case: Case) -> None:
    """Two threads do each pair of things on paths of their own, and read one file, with ThreadSanitizer."""
    with case.setup:
        for k in range(THREADS):
            case.setup.mkdir_where_known(f"thread{k}")
            uri = case.setup.write(f"thread{k}/file0", CONTENT[: 100 * THREADS])
    # What a plugin sets up at its first call, two of these set up. Then each meets the others, at the same time: from
    # one command to the next the host is in order.
    whats = (*BUSY, *MORE)
    for both in (*zip(whats, whats, strict=True), *combinations(whats, THREADS)):
        programs = [(more if what in MORE else busy)(case, what, k) for k, what in enumerate(both)]
        run_within(case.tables, programs, ROUNDS, SECONDS if len(set(both)) == 1 else SECONDS / 10)
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        readers = [Program(case.tables) for _ in range(THREADS)]
        for reader in readers:
            reader.read(handle_of(file), 0, 4)
        run_within(case.tables, readers, ROUNDS, SECONDS)


def more(case: Case, what: str, k: int) -> Program:
    """The program of thread number k, beside those of `busy`."""
    program = Program(case.tables)
    directory = case.fs.translate(case.uri(f"thread{k}"))
    file, moved, new, tree, leaf = (
        case.translated(f"thread{k}/{name}") for name in ("file0", "file0-moved", "more", "tree", "tree/in/it")
    )
    match what:
        case "measure":
            program.number_op("get_file_size", file)
            program.number_op("is_directory", directory)
            program.paths_exist([file, new], with_statuses=True)
        case "append":
            handle = program.open("new_appendable_file", new).value
            program.append(handle, b"more")
            program.tell(handle)
            for op in ("flush", "sync", "close", "writable_file.cleanup"):
                program.handle_op(op, handle)
        case "map":
            handle = program.open("new_read_only_memory_region_from_file", file).value
            program.length(handle)
            program.data(handle, 0, 4)
            program.handle_op("read_only_memory_region.cleanup", handle)
        # What comes first meets what comes first elsewhere: between these is nothing that ThreadSanitizer takes for an
        # order, such as the reading of a file that another thread wrote.
        case "rename":
            program.path_op("rename_file", file, moved)
            program.path_op("rename_file", moved, file)
        case "copy":
            program.path_op("copy_file", file, new)
        case "delete":
            program.path_op("delete_file", new)
            program.path_op("copy_file", file, new)
        case "tree":
            program.path_op("recursively_create_dir", leaf)
        case _:
            program.delete_recursively(tree)
            program.path_op("recursively_create_dir", leaf)
    return program
