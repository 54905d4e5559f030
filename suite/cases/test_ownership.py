"""Ownership: an op neither writes to nor keeps what the caller owns, and what it hands over is a copy.

The host overwrites every path and buffer as soon as the op has returned, watches the wrappers and the bytes around the
buffers, and frees every block that it gets.
"""

from collections.abc import Callable

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import Filesystem
from ...harness.ops.outcomes import Outcome
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, many_calls, over_tables
from ..judge.blame import SURVIVED

CONTENT = b"the content of a file"

#: Performs an op on a filesystem, with a first and a second path.
Way = Callable[[Filesystem, str, str], Outcome[object]]


def there(op: str) -> Way:
    """Perform the op with the first path."""
    return lambda fs, path, _: getattr(fs, op)(path)


#: The ops that take paths, without those that open something.
WAYS: dict[str, Way] = {
    op: there(op)
    for op in (
        "path_exists",
        "stat",
        "is_directory",
        "get_file_size",
        "get_children",
        "create_dir",
        "recursively_create_dir",
        "delete_file",
        "delete_dir",
        "delete_recursively",
        "get_matching_paths",
        "translate_name",
    )
} | {
    "rename_file": lambda fs, path, other: fs.rename_file(path, other),
    "copy_file": lambda fs, path, other: fs.copy_file(path, other),
    "paths_exist": lambda fs, path, other: fs.paths_exist([path, other]),
}


@pytest.mark.parametrize("op", list(WAYS))
@clauses("common.wrapper-unchanged", "common.arguments-unchanged", "common.status-not-kept",
         "common.success-has-no-message", "robustness.no-crash",
         "robustness.no-hang", "robustness.no-exception")  # fmt: skip
def test_paths(case: Case, op: str) -> None:
    """The op meets a file, a directory, nothing, and a path below a file; then the filesystem goes on."""
    # Core translates names by itself, and asks the plugin nothing.
    case.needs(op, itself=op == "translate_name")
    way = WAYS[op]
    for situation in ("file", "directory", "missing", "below"):
        there = None if situation == "directory" else CONTENT
        case.setup.build({situation: None} | ({f"{situation}/path": there} if situation != "missing" else {}))
        uri = case.uri(situation, "path")
        way(case.fs, uri + "/leaf" if situation == "below" else uri, case.uri(situation, "other"))
    case.setup.content(case.setup.write("after", CONTENT))


#: Around what arrays and buffers often hold.
COUNTS = (0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
LENGTHS = (1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200)


@many_calls(600)
@clauses("common.results-distinct", "common.results-terminated", *SURVIVED)
def test_entries(case: Case) -> None:
    """Lists of so many entries are handed over, and names of so many bytes."""
    clause, fs = "common.results-terminated", case.fs
    uri = case.setup.mkdir("directory")
    names: list[str] = []
    waiting = [name for length in LENGTHS if case.bench.claims.beyond(f"{uri}/{(name := 'n' * length)}") is None]
    for count in COUNTS:
        while len(names) < count:
            names.append(waiting.pop() if waiting else f"{len(names)}")
            # Not empty: that some plugins lose such files is told elsewhere.
            case.setup.write(f"directory/{names[-1]}", CONTENT)
        listed = case.setup.require(fs.get_children(uri)).bare
        case.check.equal(clause, "entries", sorted(names), sorted(listed))
        matches = fs.get_matching_paths(f"{uri}/*")
        if case.setup.optional(matches):
            matched = sorted(match.rpartition("/")[2] for match in matches.value.names)
            case.check.equal(clause, "matches", sorted(names), matched)


def token_text(case: Case) -> Outcome[object]:
    """The token of a new transaction as text. The transaction is ended."""
    raw, token = case.tables, case.setup.token()
    text = raw.decode_transaction_token(token)
    raw.end_transaction(token)
    return Outcome(text.op, text.code, text.message, text.value is not None)


#: The ops other than listings that hand over blocks, each with a call that gives the same every time.
HANDED_OVER: dict[str, Callable[[Case], Outcome[object]]] = {
    "translate_name": lambda case: case.tables.translate_name(case.uri("name" * 10)),
    "decode_transaction_token": token_text,
    "get_filesystem_configuration": lambda case: case.tables.get_filesystem_configuration(),
}


@over_tables
@pytest.mark.parametrize("op", [pytest.param(op, id=op, marks=clauses(f"{op}.succeeds")) for op in HANDED_OVER])
@clauses("common.results-distinct", *SURVIVED)
def test_handed_over(case: Case, op: str) -> None:
    """The same is asked for again and again; the host frees what it gets before it asks again."""
    case.needs(op, itself=True)
    first = HANDED_OVER[op](case)
    case.check.status(f"{op}.succeeds", first, Code.OK)
    if not first.value:
        raise NoStimulusError(f"{op} hands nothing over")
    for _ in range(3):
        same = HANDED_OVER[op](case).value == first.value
        case.check.that(
            "common.results-distinct", same, "the same again", "the same again" if same else "something else"
        )


@pytest.mark.parametrize("opened", ["new_random_access_file", "new_writable_file", "new_appendable_file",
                                    "new_read_only_memory_region_from_file"])  # fmt: skip
@clauses("common.arguments-not-kept", "common.wrapper-unchanged", "common.object-untouched-on-error")
def test_open(case: Case, opened: str) -> None:
    """A file is opened, and used when the path that was handed over means something else."""
    clause = "common.arguments-not-kept"
    uri = case.setup.write("file", CONTENT)
    case.setup.write("other", b"another file")
    got = case.setup.opened(getattr(case.fs, opened)(uri))
    # Ops with other paths reuse the memory of the path.
    case.fs.path_exists(case.uri("other"))
    getattr(case.fs, opened)(case.uri("missing/path"))
    with got:
        match opened:
            case "new_random_access_file":
                case.check.equal(clause, "data", CONTENT, got.read(0, len(CONTENT)).value.data)
            case "new_read_only_memory_region_from_file":
                case.check.equal(clause, "data", CONTENT, got.data(0, len(CONTENT)).value[1])
            case _:
                case.setup.require(got.append(b"appended"))
                case.setup.require(got.close())
    if opened in ("new_writable_file", "new_appendable_file"):
        expected = b"appended" if opened == "new_writable_file" else CONTENT + b"appended"
        # Whether the third path came to be is a matter of its directory.
        tree = case.setup.tree()
        found = {name: tree.get(name) for name in ("file", "other")}
        case.check.equal(clause, "files", {"file": expected, "other": b"another file"}, found)


@pytest.mark.parametrize("size", [pytest.param(n, id=str(n)) for n in (1, 100, 4096, 70_000)])
@clauses("common.arguments-not-kept", "common.arguments-unchanged", "common.status-not-kept")
def test_append(case: Case, size: int) -> None:
    """Pieces are appended; the buffer of each means something else when the file is closed."""
    case.surroundings.within_size(4 * size)
    pieces = [bytes([65 + k]) * size for k in range(4)]
    with case.setup.opened(case.fs.new_writable_file(case.uri("file"))) as file:
        for piece in pieces:
            case.setup.require(file.append(piece))
        case.setup.require(file.flush())
        case.setup.require(file.close())
    content = case.setup.content(case.uri("file"))
    case.check.equal("common.arguments-not-kept", "content", b"".join(pieces), content)


@pytest.mark.parametrize("n", [pytest.param(n, id=str(n)) for n in (1, 2, 63, 64, 4095, 4096, 4097, 200_000)])
@clauses("robustness.no-overrun", "common.wrapper-unchanged", "read.returns-the-bytes")
def test_read(case: Case, n: int) -> None:
    """A buffer of so many bytes, with guards on both sides, is read into: whole, in part, and not at all."""
    uri = case.setup.write("file", CONTENT * 5000)
    with case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        whole = file.read(3, n)
        file.read(len(CONTENT) * 5000 - 1, n)
        file.read(len(CONTENT) * 5000, n)
    case.check.equal("read.returns-the-bytes", "data", (CONTENT * 5000)[3 : 3 + n], whole.value.data)
