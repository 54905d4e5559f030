"""Rounds: what ops do again and again while it is counted what the process holds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...harness.over_tables.programs import Program
from ..engine.case import Case

CONTENT = b"0123456789" * 100

#: Adds the ops of one round to a program. Its second argument makes a path for an op of a name in the case's directory.
Steps = Callable[[Program, Callable[[str], str]], None]


def opening(op: str, name: str, content: bytes = CONTENT) -> Steps:
    """Open a file of so many bytes, use it where that worked, and clean it up."""

    def steps(program: Program, at: Callable[[str], str]) -> None:
        handle = program.open(op, at(name)).value
        match op:
            case "new_random_access_file":
                for offset, n in ((0, len(content)), (len(content) - 1, 100), (len(content) + 1, 100)):
                    program.read(handle, offset, n)
                program.handle_op("random_access_file.cleanup", handle)
            case "new_read_only_memory_region_from_file":
                program.data(handle, 0, 10)
                program.length(handle)
                program.handle_op("read_only_memory_region.cleanup", handle)
            case _:
                program.append(handle, content)
                program.append(handle, b"")
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
                case "write-nothing":
                    handle = program.open("new_writable_file", at(names[0])).value
                    program.handle_op("close", handle)
                    program.handle_op("writable_file.cleanup", handle)
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


def together(*parts: Steps) -> Steps:
    """One after the other."""

    def steps(program: Program, at: Callable[[str], str]) -> None:
        for part in parts:
            part(program, at)

    return steps


def grown(program: Program, at: Callable[[str], str]) -> None:
    """Empty a file, write it, and open it again to append."""
    opening("new_writable_file", "new")(program, at)
    opening("new_appendable_file", "new")(program, at)


# What an op meets, by size.


@dataclass(frozen=True, slots=True)
class Sizes:
    """Entries of a directory, bytes of a file, levels of a path, bytes of a name, calls for one file."""

    entries: int
    content: int
    levels: int
    name: int
    calls: int


#: Beyond what small buffers and batches hold; and what is larger than most.
USUAL = Sizes(entries=70, content=(132 << 10) + 1, levels=24, name=200, calls=20)
HUGE = Sizes(entries=1001, content=(4 << 20) + 1, levels=200, name=255, calls=200)

#: A directory with two in it, of which one has some levels.
TREE = ("tree", "tree/a", "tree/b", "tree/a/c", "tree/a/c/d", "tree/a/c/d/e")


def sized(case: Case, op: str, sizes: Sizes, *, crowds: bool) -> dict[str, Steps]:
    """Set up what is so large, and give the rounds in which the op meets it.

    What the filesystem refuses has no round. Of `crowds` every op has one, else those that name the entries.
    """
    rounds = dict[str, Steps]()
    deep = "/".join(["t"] * sizes.levels)
    for place, path, content in (
        ("large", "large", bytes(sizes.content)),
        ("deep", deep, CONTENT),
        ("long-name", "n" * sizes.name, CONTENT),
    ):
        if (steps := on_a_file(op, path, content)) and placed(case, path, content):
            rounds[place] = steps
    if (steps := in_a_crowd(case, op)) and (crowds or op in ("get_children", "get_matching_paths")):
        crowd(case, sizes.entries)
        rounds["crowd"] = steps
    return rounds | at_once(case, op, sizes)


def placed(case: Case, path: str, content: bytes) -> bool:
    """Set up a file, unless the filesystem does not have such ones."""
    claims, uri = case.bench.claims, f"{case.uri()}/{path}"
    if claims.beyond(uri) or claims.too_large(len(content)):
        return False
    if not case.writes_files:
        case.setup.write(path, content)
        return True
    parent = path.rpartition("/")[0]
    with case.setup:
        if parent and case.makes_directories and not case.fs.recursively_create_dir(case.uri(parent)).ok:
            return False
        file = case.fs.new_writable_file(uri).value
        if file is None:
            return False
        with file:
            return file.append(content).ok and file.close().ok


def crowd(case: Case, entries: int) -> None:
    """Set up a directory with so many entries: files, and directories where there are any."""
    case.setup.mkdir_where_known("crowd")
    for k in range(entries):
        if k % 4 == 0 or not case.makes_directories:
            case.setup.write(f"crowd/{k:04}", b"")
        else:
            case.setup.mkdir(f"crowd/{k:04}")


def on_a_file(op: str, path: str, content: bytes) -> Steps | None:
    """What an op does with the file at this path; it is the same afterwards."""
    again = opening("new_writable_file", path, content)
    match op:
        case "new_random_access_file" | "new_writable_file" | "new_read_only_memory_region_from_file":
            return opening(op, path, content)
        case "new_appendable_file":
            return together(opening("new_writable_file", path), opening(op, path, content))
        case "delete_file":
            return together(again, doing((op, path)))
        case "copy_file" if len(content) > len(CONTENT):
            return doing((op, path, "other"))
        case "rename_file" | "copy_file":
            return doing((op, path, "other"), (op, "other", path))
        case "create_dir":
            # As long as the path of the file.
            new = f"{path[:-4]}-new"
            return doing((op, new), ("delete_dir", new))
        case "path_exists" | "paths_exist" | "stat" | "is_directory" | "get_file_size":
            return asking(op, path)
    return None


def in_a_crowd(case: Case, op: str) -> Steps | None:
    """What an op does with a directory of many entries; it is the same afterwards."""
    match op:
        case "get_children" | "path_exists" | "paths_exist" | "stat" | "is_directory" | "get_file_size":
            return asking(op, "crowd")
        case "get_matching_paths":
            pattern = f"{case.uri('crowd')}/*"
            return lambda program, _: entries_of(program, pattern)
        case "rename_file":
            return doing((op, "crowd", "other"), (op, "other", "crowd"))
        case "delete_dir" | "delete_file" | "create_dir" | "recursively_create_dir":
            return doing((op, "crowd"))
        case "new_random_access_file" | "new_writable_file" | "new_read_only_memory_region_from_file":
            return opening(op, "crowd")
    return None


def entries_of(program: Program, pattern: str) -> None:
    """Match a pattern. Core does not translate it."""
    program.entries_op("get_matching_paths", pattern)


def translated(program: Program, uri: str) -> None:
    """Translate a name."""
    program.translate_name(uri)


def at_once(case: Case, op: str, sizes: Sizes) -> dict[str, Steps]:
    """The rounds in which an op meets a number of calls, of paths or of levels, a tree, or its own file."""
    levels = "/".join(["new"] * sizes.levels)
    match op:
        case "new_random_access_file" | "new_writable_file":
            return {"many-calls": calling(op, sizes.calls)}
        case "paths_exist":
            return {"many-paths": lambda program, at: many_asked(program, at, sizes.entries)}
        case "recursively_create_dir":
            return {"levels": doing((op, levels), ("delete_recursively", "new"))}
        case "delete_recursively":
            planted = doing(*(("create_dir", one) for one in TREE), ("write", f"{TREE[-1]}/file"))
            return {"tree": together(planted, doing((op, "tree")))}
        case "rename_file" | "copy_file":
            case.setup.write("itself", CONTENT)
            found = {"onto-itself": doing((op, "itself", "itself"))}
            if op == "rename_file":
                for one in TREE:
                    case.setup.mkdir_where_known(one)
                case.setup.write(f"{TREE[-1]}/file", CONTENT)
                found["tree"] = doing((op, "tree", "other"), (op, "other", "tree"))
            return found
    return {}


def calling(op: str, calls: int) -> Steps:
    """Read a file, or append to one, so many times."""

    def steps(program: Program, at: Callable[[str], str]) -> None:
        handle = program.open(op, at("file" if op == "new_random_access_file" else "new")).value
        for k in range(calls):
            if op == "new_random_access_file":
                program.read(handle, k, 10)
            else:
                program.append(handle, CONTENT[:10])
        if op == "new_random_access_file":
            program.handle_op("random_access_file.cleanup", handle)
        else:
            program.handle_op("close", handle)
            program.handle_op("writable_file.cleanup", handle)

    return steps


def many_asked(program: Program, at: Callable[[str], str], count: int) -> None:
    """Ask for so many paths at once, of which every second is there."""
    asked: Sequence[str] = [at("file" if k % 2 else "missing") for k in range(count)]
    program.paths_exist(asked, with_statuses=True)
