"""Leaks: each op is repeated, in success and in error, and the process must not hold more each time."""

from collections.abc import Callable

import pytest

from ...harness.hosting import leaks
from ...harness.hosting.state import State
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Source
from ...harness.over_tables import programs
from ...harness.over_tables.programs import Program
from ...harness.targets.backing import BackingUnableError
from ..engine.case import Case
from ..engine.marks import clauses, full, over_tables

pytestmark = over_tables

CONTENT = b"0123456789" * 100

#: What is counted, and the clause that says that it does not grow.
CLAUSES = {
    "descriptors": "robustness.leaves-no-descriptor",
    "threads": "robustness.leaves-no-thread",
    "mapped": "robustness.leaves-no-mapping",
    "heap": "robustness.leaves-no-memory",
}
WHAT = {"descriptors": "descriptors", "threads": "threads", "mapped": "bytes mapped", "heap": "bytes allocated"}

#: Adds the ops of one round to a program. Its second argument makes a path for an op of a name in the case's directory.
Steps = Callable[[Program, Callable[[str], str]], None]


def opening(op: str, name: str) -> Steps:
    """Open a file, use it where that worked, and clean it up."""

    def steps(program: Program, at: Callable[[str], str]) -> None:
        handle = program.open(op, at(name)).value
        match op:
            case "new_random_access_file":
                for offset in (0, len(CONTENT) - 1, len(CONTENT) + 1):
                    program.read(handle, offset, 100)
                program.handle_op("random_access_file.cleanup", handle)
            case "new_read_only_memory_region_from_file":
                program.data(handle, 0, 10)
                program.length(handle)
                program.handle_op("read_only_memory_region.cleanup", handle)
            case _:
                program.append(handle, CONTENT)
                program.tell(handle)
                program.handle_op("flush", handle)
                program.handle_op("close", handle)
                program.handle_op("writable_file.cleanup", handle)

    return steps


def asking(op: str, name: str) -> Steps:
    """Ask about a path."""

    def steps(program: Program, at: Callable[[str], str]) -> None:
        match op:
            case "stat":
                program.stat(at(name))
            case "paths_exist":
                program.paths_exist([at(name), at("file")], with_statuses=True)
            case "get_children":
                program.entries_op(op, at(name))
            case "is_directory" | "get_file_size":
                program.number_op(op, at(name))
            case _:
                program.path_op(op, at(name))

    return steps


def doing(*performed: tuple[str, ...]) -> Steps:
    """Perform ops that change the tree, one after the other. Together they leave it as it was."""

    def steps(program: Program, at: Callable[[str], str]) -> None:
        for op, *names in performed:
            match op:
                case "write":
                    opening("new_writable_file", names[0])(program, at)
                case "delete_recursively":
                    program.delete_recursively(at(names[0]))
                case _:
                    program.path_op(op, *map(at, names))

    return steps


def without_statuses(program: Program, at: Callable[[str], str]) -> None:
    """Ask whether paths exist, and not which of them: TensorFlow hands over no statuses then."""
    program.paths_exist([at("file"), at("missing")], with_statuses=False)
    program.paths_exist([at("file"), at("directory")], with_statuses=False)


def dropped(program: Program, at: Callable[[str], str]) -> None:
    """Write a file and clean it up without closing it."""
    handle = program.open("new_writable_file", at("new")).value
    program.append(handle, CONTENT)
    program.handle_op("writable_file.cleanup", handle)


def synced(program: Program, at: Callable[[str], str]) -> None:
    """Write a file and sync it."""
    handle = program.open("new_writable_file", at("new")).value
    program.append(handle, CONTENT)
    program.handle_op("sync", handle)
    program.handle_op("close", handle)
    program.handle_op("writable_file.cleanup", handle)


def grown(program: Program, at: Callable[[str], str]) -> None:
    """Empty a file, write it, and open it again to append."""
    opening("new_writable_file", "new")(program, at)
    opening("new_appendable_file", "new")(program, at)


#: Paths in different situations.
PLACES = ("file", "directory", "empty", "missing", "missing/leaf", "file/leaf")
NAMES_OF_PLACES = {"missing/leaf": "missing-parent", "file/leaf": "below-a-file"}

ONE_PATH = {
    f"{op}-{NAMES_OF_PLACES.get(place, place)}": (op, make(op, place))
    for make, ops in (
        (opening, ("new_random_access_file", "new_writable_file", "new_read_only_memory_region_from_file")),
        (asking, ("path_exists", "paths_exist", "stat", "is_directory", "get_file_size", "get_children")),
    )
    for op in ops
    for place in PLACES
}

ONE_PATH["paths_exist-without-statuses"] = ("paths_exist", without_statuses)

#: The rounds by name: the op that a round is about, and the program.
CHANGES: dict[str, tuple[str, Steps]] = {
    "new_writable_file-dropped": ("new_writable_file", dropped),
    "new_writable_file-synced": ("new_writable_file", synced),
    "new_appendable_file": ("new_appendable_file", grown),
    **{
        f"new_appendable_file-{name}": ("new_appendable_file", opening("new_appendable_file", place))
        for name, place in (("directory", "directory"), ("missing-parent", "missing/leaf"))
    },
    "create_dir": ("create_dir", doing(("create_dir", "new"), ("delete_dir", "new"))),
    "create_dir-existing": ("create_dir", doing(("create_dir", "directory"))),
    "create_dir-missing-parent": ("create_dir", doing(("create_dir", "missing/leaf"))),
    "recursively_create_dir": (
        "recursively_create_dir",
        doing(("recursively_create_dir", "new/inner"), ("delete_dir", "new/inner"), ("delete_dir", "new")),
    ),
    "recursively_create_dir-existing": ("recursively_create_dir", doing(("recursively_create_dir", "directory"))),
    "recursively_create_dir-below-a-file": ("recursively_create_dir", doing(("recursively_create_dir", "file/leaf"))),
    "delete_file": ("delete_file", doing(("write", "new"), ("delete_file", "new"))),
    "delete_file-missing": ("delete_file", doing(("delete_file", "missing"))),
    "delete_file-directory": ("delete_file", doing(("delete_file", "directory"))),
    "delete_dir-missing": ("delete_dir", doing(("delete_dir", "missing"))),
    "delete_dir-file": ("delete_dir", doing(("delete_dir", "file"))),
    "delete_dir-not-empty": ("delete_dir", doing(("delete_dir", "directory"))),
    "delete_recursively": (
        "delete_recursively",
        doing(("create_dir", "new"), ("write", "new/file"), ("delete_recursively", "new")),
    ),
    "delete_recursively-missing": ("delete_recursively", doing(("delete_recursively", "missing"))),
    "rename_file": ("rename_file", doing(("rename_file", "file", "new"), ("rename_file", "new", "file"))),
    "rename_file-missing": ("rename_file", doing(("rename_file", "missing", "new"))),
    "rename_file-onto-a-directory": ("rename_file", doing(("rename_file", "file", "directory"))),
    "copy_file": ("copy_file", doing(("copy_file", "file", "new"))),
    "copy_file-missing": ("copy_file", doing(("copy_file", "missing", "new"))),
    "copy_file-missing-parent": ("copy_file", doing(("copy_file", "file", "missing/leaf"))),
}


def judged(case: Case, op: str, steps: Steps) -> None:
    """Repeat a round and count what the process holds. Caches are flushed before each count."""
    if op not in case.fs.present:
        case.missing(op)
    case.setup.write("file", CONTENT)
    case.setup.write("empty", b"")
    case.setup.mkdir_where_known("directory")
    case.setup.write("directory/file", CONTENT)
    raw, host = case.tables, case.surroundings.host
    program = Program(raw)
    steps(program, lambda name: case.fs.translate(case.uri(name)))
    unsupported = False

    def repeat(rounds: int) -> None:
        nonlocal unsupported
        first = programs.repeat(raw, program, rounds)[0].outcome
        unsupported = first.code is Code.UNIMPLEMENTED and first.source is Source.PLUGIN
        case.fs.flush_caches()

    found = leaks.leaked_per_call(host, repeat)
    if unsupported:
        case.missing(op)
    weighed = State.of(host).heap > 0
    for what, clause in CLAUSES.items():
        if what in ("mapped", "heap") and not weighed:
            continue
        none, more = f"no more {WHAT[what]} each time", f"more {WHAT[what]} each time"
        does_leak = what in found
        case.check.that(
            clause, not does_leak, none, more if does_leak else none, f"{found[what]} each time" if does_leak else ""
        )
    if not weighed:
        raise BackingUnableError("the allocator does not tell how much is allocated")


@full
@pytest.mark.parametrize("name", list(ONE_PATH))
@clauses(*CLAUSES.values())
def test_one_path(case: Case, name: str) -> None:
    """The op meets this path again and again; what it opens is used and cleaned up."""
    judged(case, *ONE_PATH[name])


@full
@pytest.mark.parametrize("name", list(CHANGES))
@clauses(*CLAUSES.values())
def test_changes(case: Case, name: str) -> None:
    """Ops change the tree and change it back, or are refused, again and again."""
    judged(case, *CHANGES[name])


@full
@pytest.mark.parametrize("name", ["matches", "no-match"])
@clauses(*CLAUSES.values())
def test_glob(case: Case, name: str) -> None:
    """Patterns that match and that do not, again and again."""
    pattern = case.uri("directory/*" if name == "matches" else "missing/*")

    def steps(program: Program, _: Callable[[str], str]) -> None:
        program.entries_op("get_matching_paths", pattern)

    judged(case, "get_matching_paths", steps)


@full
@clauses(*CLAUSES.values())
def test_translate(case: Case) -> None:
    """Names are translated, again and again."""
    uri = case.uri("file")

    def steps(program: Program, _: Callable[[str], str]) -> None:
        program.translate_name(uri)

    judged(case, "translate_name", steps)


#: Files that are open at the same time, and the bytes that are appended to each.
FILES, HELD = 32, 256 << 10


@clauses("close.gives-back-descriptors", "close.gives-back-buffers")
def test_closed(case: Case) -> None:
    """Files are written and closed; what they hold between close and cleanup is counted."""
    if "close" not in case.fs.present:
        case.missing("close")
    with case.setup:
        case.setup.write("first", CONTENT)
        before = State.of(case.surroundings.host)
        files = [case.setup.opened(case.fs.new_writable_file(case.uri(f"file{k}"))) for k in range(FILES)]
        for file in files:
            case.setup.require(file.append(bytes(HELD)))
            case.setup.require(file.close())
    closed = State.of(case.surroundings.host)
    for file in files:
        file.cleanup()
    gone = State.of(case.surroundings.host)
    held = closed.descriptors - max(before.descriptors, gone.descriptors)
    none = "no descriptor waits for cleanup"
    case.check.that(
        "close.gives-back-descriptors", held < FILES, none, none if held < FILES else f"{held} of {FILES} wait"
    )
    if not gone.heap:
        raise BackingUnableError("the allocator does not tell how much is allocated")
    # The object itself waits for its cleanup, and is small.
    each = (closed.heap + closed.mapped - gone.heap - gone.mapped) // FILES
    small = each < HELD // 4
    few = "no buffer waits for cleanup"
    case.check.that(
        "close.gives-back-buffers", small, few, few if small else "buffers wait", f"{each} bytes of each file"
    )
