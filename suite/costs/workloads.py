"""The work that is measured, as a table: an op, what grows, and what nobody can do without."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...harness.over_tables.programs import Program
from .ground import Ground, entry

#: Adds the ops of one round to the program of one thread: the program, the ground, the size, the number of the thread.
Steps = Callable[[Program, Ground, int, int], None]

KIB, MIB = 1 << 10, 1 << 20
READER, WRITER, REGION = "new_random_access_file", "new_writable_file", "new_read_only_memory_region_from_file"
#: What grows: the sizes of a whole run, and those of a short one.
SIZES: Mapping[str, tuple[Sequence[int], Sequence[int]]] = {
    "bytes of the file": ((4 * KIB, 64 * KIB, 512 * KIB, 4 * MIB, 16 * MIB), (4 * KIB, 64 * KIB, MIB, 4 * MIB)),
    "entries of the directory": ((16, 64, 256, 1024, 4096), (16, 64, 256, 512)),
    "levels of the path": ((1, 4, 16, 64), (1, 4, 16)),
    "threads": ((1, 2, 4, 8), (1, 2, 4)),
    "bytes of a read": ((4 * KIB, 64 * KIB, MIB, 8 * MIB), (4 * KIB, 64 * KIB, MIB)),
}
FILE, DIRECTORY, DEPTH, THREADS, READ = SIZES
#: The size of the file of which `READ` reads pieces.
WHOLE = 16 * MIB
#: The size of the file that all threads read, and of each of their reads.
SHARED, EACH = 4 * MIB, 64 * KIB


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of work.

    `op` is the op whose time counts, and with `whole` that of all ops of a round together. `usual` is the exponent that
    nobody can do without. `wrong` says what a larger one means, and `advice` what to look for. `moves` is how many
    bytes one call reads at a size, where that is what the work is for.
    """

    op: str
    what: str
    grows: str
    steps: Steps
    needs: tuple[str, ...] = ()
    whole: bool = False
    usual: float = 0
    wrong: str = ""
    advice: str = ""
    moves: Callable[[int], int] | None = None


def _open_and_read(program: Program, ground: Ground, size: int, thread: int) -> None:
    handle = program.open(READER, ground.file(f"file-{size}", size)).value
    program.read(handle, size // 2, 1)
    program.handle_op("random_access_file.cleanup", handle)


def _read_one(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.read(ground.reader(f"file-{size}", size), size // 2, 1)


def _write(program: Program, ground: Ground, size: int, thread: int) -> None:
    ground.write(program, ground.at(f"written-{thread}"), size)


def _stat_file(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.stat(ground.file(f"file-{size}", size))


def _there_and_back(program: Program, ground: Ground, size: int, thread: int) -> None:
    here, there = ground.file(f"moved-{size}", size), ground.at("moved-away")
    program.path_op("rename_file", here, there)
    program.path_op("rename_file", there, here)


def _copy(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.path_op("copy_file", ground.file(f"file-{size}", size), ground.at("copied"))


def _map(program: Program, ground: Ground, size: int, thread: int) -> None:
    handle = program.open(REGION, ground.file(f"file-{size}", size)).value
    program.handle_op("read_only_memory_region.cleanup", handle)


def _list(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.entries_op("get_children", ground.directory(f"entries-{size}"))


def _match(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.entries_op("get_matching_paths", ground.directory(f"entries-{size}") + "/*")


def _stat_entry(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.stat(f"{ground.directory(f'entries-{size}')}/{entry(size // 2)}")


def _one_more(program: Program, ground: Ground, size: int, thread: int) -> None:
    path = ground.directory(f"entries-{size}") + "/one-more"
    ground.write(program, path, 0)
    program.path_op("delete_file", path)


def _stat_deep(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.stat(ground.deep(size))


def _make_deep(program: Program, ground: Ground, size: int, thread: int) -> None:
    path = ground.deep(size) + "/made"
    program.path_op("create_dir", path)
    program.path_op("delete_dir", path)


def _stat_together(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.stat(ground.file("shared", SHARED))


def _open_together(program: Program, ground: Ground, size: int, thread: int) -> None:
    handle = program.open(READER, ground.file("shared", SHARED)).value
    program.handle_op("random_access_file.cleanup", handle)


def _read_together(program: Program, ground: Ground, size: int, thread: int) -> None:
    program.read(ground.reader("shared", SHARED), thread * EACH % SHARED, EACH)


def _read_piece(program: Program, ground: Ground, size: int, thread: int) -> None:
    handle = ground.reader("whole", WHOLE)
    for place in range(0, 4 * size, size):
        program.read(handle, place % WHOLE, size)


ALL_BYTES = "ask the storage for the bytes that are wanted, and for no others"
ONCE = "look for a loop over all entries inside a loop over entries: a search from the front, a page that begins anew"
ONE_ENTRY = "an op on one entry should not look at the others"
BY_NAME = "rename in the storage where it can; where it cannot, copy there and not through this process"

WORKLOADS: tuple[Workload, ...] = (
    Workload("read", "open, read one byte, clean up", FILE, _open_and_read, (READER,), whole=True,
             wrong="a read of one byte fetches the object", advice=ALL_BYTES),
    Workload("read", "read one byte of an open file", FILE, _read_one, (READER,),
             wrong="each read of one byte fetches the object", advice=ALL_BYTES),
    Workload("stat", "stat of a file", FILE, _stat_file, ("stat",),
             wrong="stat reads the file", advice="take the size from the storage's own record"),
    Workload("rename_file", "rename a file", FILE, _there_and_back, ("rename_file",),
             wrong="rename copies every byte", advice=BY_NAME),
    Workload("copy_file", "copy a file", FILE, _copy, ("copy_file",), usual=1,
             wrong="copying costs more than its bytes", advice="look for a copy that reads again what it has read"),
    Workload("append", "write a file and close it", FILE, _write, (WRITER,), whole=True, usual=1,
             wrong="writing costs more than its bytes",
             advice="look for an append that writes again what was appended before"),
    Workload(REGION, "map a file into memory", FILE, _map, (REGION,), whole=True, usual=1,
             wrong="mapping costs more than its bytes", advice="look for a buffer that grows by copying"),
    Workload("get_children", "list a directory", DIRECTORY, _list, ("get_children",), usual=1,
             wrong="listing is {power}", advice=ONCE),
    Workload("get_matching_paths", "match * in a directory", DIRECTORY, _match, ("get_matching_paths",), usual=1,
             wrong="matching is {power}", advice=ONCE),
    Workload("stat", "stat of one entry", DIRECTORY, _stat_entry, ("stat",),
             wrong="stat looks at all entries", advice=ONE_ENTRY),
    Workload(WRITER, "create one more entry", DIRECTORY, _one_more, (WRITER, "delete_file"),
             wrong="creating a file looks at all entries", advice=ONE_ENTRY),
    Workload("delete_file", "delete one entry", DIRECTORY, _one_more, (WRITER, "delete_file"),
             wrong="deleting a file looks at all entries", advice=ONE_ENTRY),
    Workload("stat", "stat of a directory far down", DEPTH, _stat_deep, ("stat", "create_dir"), usual=1,
             wrong="a path costs more than its levels", advice="look for a walk from the root at every level"),
    Workload("create_dir", "create a directory far down", DEPTH, _make_deep, ("create_dir", "delete_dir"), usual=1,
             wrong="a path costs more than its levels", advice="look for a walk from the root at every level"),
    Workload("stat", "stat in several threads", THREADS, _stat_together, ("stat",), usual=1,
             wrong="threads wait for each other more than in turn", advice="look for locks that are tried again"),
    Workload(READER, "open a file in several threads", THREADS, _open_together, (READER,), usual=1,
             wrong="threads wait for each other more than in turn", advice="look for locks that are tried again"),
    Workload("read", "read 64 KiB in several threads", THREADS, _read_together, (READER,), usual=1,
             wrong="threads wait for each other more than in turn", advice="look for locks that are tried again",
             moves=lambda size: EACH),
    Workload("read", "read a file from front to back", READ, _read_piece, (READER,), usual=1,
             wrong="a longer read costs more for each byte", advice="look for a buffer that grows by copying",
             moves=lambda size: size),
)  # fmt: skip


def tour(program: Program, ground: Ground) -> None:
    """Add each op once, where nothing is special about it. What the plugin lacks is left out."""
    file, scratch = ground.file("plain", 4 * KIB), ground.at("tour")
    directory = ground.directory("entries-16")
    has = ground.has
    if has("path_exists"):
        program.path_op("path_exists", file)
    if has("is_directory"):
        program.number_op("is_directory", directory)
    if has("get_file_size"):
        program.number_op("get_file_size", file)
    if has("stat"):
        program.stat(file)
    if has("paths_exist"):
        program.paths_exist([file, scratch], with_statuses=True)
    if has("translate_name"):
        program.translate_name(ground.uri)
    for op, asked in (("get_children", directory), ("get_matching_paths", f"{directory}/*")):
        if has(op):
            program.entries_op(op, asked)
    if has(READER):
        handle = program.open(READER, file).value
        program.read(handle, 0, 4 * KIB)
        program.handle_op("random_access_file.cleanup", handle)
    if has(REGION):
        handle = program.open(REGION, file).value
        program.data(handle, 0, 1)
        program.length(handle)
        program.handle_op("read_only_memory_region.cleanup", handle)
    _tour_of_changes(program, ground, file, scratch)


def _tour_of_changes(program: Program, ground: Ground, file: str, scratch: str) -> None:
    has = ground.has
    writable = [op for op in (WRITER, "new_appendable_file") if has(op)]
    for op in writable:
        handle = program.open(op, f"{scratch}-file").value
        program.append(handle, bytes(4 * KIB))
        if has("tell"):
            program.tell(handle)
        for step in ("flush", "sync", "close"):
            if has(step):
                program.handle_op(step, handle)
        program.handle_op("writable_file.cleanup", handle)
    if writable and has("rename_file"):
        program.path_op("rename_file", f"{scratch}-file", f"{scratch}-new")
        program.path_op("rename_file", f"{scratch}-new", f"{scratch}-file")
    if has("copy_file"):
        program.path_op("copy_file", file, f"{scratch}-file")
    if has("delete_file") and (writable or has("copy_file")):
        program.path_op("delete_file", f"{scratch}-file")
    if has("create_dir", "delete_dir"):
        program.path_op("create_dir", f"{scratch}-dir")
        program.path_op("delete_dir", f"{scratch}-dir")
    if has("recursively_create_dir", "delete_recursively"):
        program.path_op("recursively_create_dir", f"{scratch}-dir/below")
        program.delete_recursively(f"{scratch}-dir")
    if has("flush_caches"):
        program.path_op("flush_caches")
