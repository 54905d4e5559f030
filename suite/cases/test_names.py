"""Names: whatever a name looks like, every op that takes a path means the same file."""

import functools
import os
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Entries, Outcome
from ..engine.answers import Answer
from ..engine.case import Case, Control
from ..engine.marks import clauses, over_tables
from ..engine.setup import Tree
from .names import LOOK_ALIKES, MOST_BYTES, NAMES, PLAIN, escaped, siblings

T = TypeVar("T")
CONTENT = b"content"
STAYS = b"this is another file"
KEPT = "paths.names-are-kept"
TAKEN = "paths.names-are-taken"
#: A path of one level.
LEVEL = "d"

names = pytest.mark.parametrize("name", [pytest.param(name, id=label) for label, name in NAMES.items()])


def beside_plain(body: Callable[[Case, str], None]) -> Callable[[Case, str], None]:
    """A case about a name, with one about a plain name as its control."""

    @functools.wraps(body)
    def controlled(case: Case, name: str) -> None:
        if name != PLAIN:
            longer, shorter = f"{PLAIN}-1", PLAIN[:-1]
            called = {name: PLAIN} | {one: longer if one == f"{name}-1" else shorter for one in siblings(name)}
            case.control = Control(lambda trial: body(trial, PLAIN), f"{case.id.partition('[')[0]}[{PLAIN}]", called)
        body(case, name)

    return controlled


def accepted(case: Case, name: str, got: Outcome[object], *, alone: bool = True) -> bool:
    """Whether the filesystem can have this name, beside which nothing is where it is `alone`. `got` is its creation.

    An op that fails may have made some of the parents, before it found that the whole path is too long.
    """
    readings = {
        "accepted": got.ok,
        "failed-precondition": got.code is Code.FAILED_PRECONDITION,
        "invalid-argument": got.code is Code.INVALID_ARGUMENT,
        "another-error": not got.ok,
    }
    case.check.implemented(got)
    if not case.does(got.op):
        case.missing(got.op)
    case.check.reading("paths.illegal-names", readings, f"code={got.code}", got.message, of=Answer.of(got))
    other = case.bench.claims.is_other_name(name)
    fits = len(os.fsencode(name)) <= MOST_BYTES and case.bench.claims.beyond(case.uri(name)) is None
    if TAKEN in case.clauses and (other or fits):
        reading = "taken" if got.ok else None if other else "refused"
        case.check.record(TAKEN, got.ok or not other, "code=OK", f"code={got.code}", reading=reading, of=Answer.of(got))
    if not got.ok and alone and "/" not in name:
        case.tree_is("paths.illegal-names", {})
    elif not got.ok and not alone:
        left = case.fs.path_exists(case.uri(name)).ok
        case.check.equal("paths.illegal-names", "what was refused is there", False, left)
    return got.ok


def written(case: Case, name: str, content: bytes = CONTENT, *, alone: bool = True) -> bool:
    """Set up a file of this name. Return whether the filesystem can have it."""
    if not case.writes_files:
        case.setup.write(name, content)
        return True
    got = case.fs.new_writable_file(case.uri(name))
    if not accepted(case, name, got, alone=alone):
        return False
    with case.setup, case.setup.opened(got) as file:
        kept(case, file.append(content))
        closed = file.close()
    # A filesystem that creates the file at close may refuse its name only then.
    if not closed.ok and not accepted(case, name, closed, alone=alone):
        return False
    if not case.bench.claims.is_other_name(name):
        case.surroundings.within_limits(case.uri(name))
    return True


def beside(case: Case, name: str) -> Tree:
    """Set up files whose names are like this one. Return them, but those that the filesystem cannot have."""
    there: Tree = {}
    for one in siblings(name):
        uri = case.uri(one)
        if case.bench.claims.beyond(uri) is not None:
            continue
        if not case.writes_files:
            case.setup.write(one, STAYS)
            there[one] = STAYS
            continue
        # Whether there may be such a name is said by the case of that name.
        got = case.fs.new_writable_file(uri)
        if got.ok:
            with case.setup, case.setup.opened(got) as file:
                case.setup.require(file.append(STAYS))
                if file.close().ok:
                    there[one] = STAYS
    return there


def kept(case: Case, got: Outcome[T]) -> T:
    """The value of an op on a name that the filesystem has. An error is a breach, and the end of the case."""
    case.check.status(KEPT, got, Code.OK)
    if not got.ok:
        case.blocked(got.op, f"{got.code} {got.message}")
    return got.value


def is_file(case: Case, uri: str) -> None:
    """Check that a file with the content is there, with all ops that ask."""
    kept(case, case.fs.path_exists(uri))
    facts = kept(case, case.fs.stat(uri))
    case.check.equal(KEPT, "stat: length, is_directory", (len(CONTENT), 0), (facts.length, facts.is_directory))
    case.check.equal(KEPT, "get_file_size: size", len(CONTENT), kept(case, case.fs.get_file_size(uri)))
    kind = case.fs.is_directory(uri)
    # Both readings of is_directory.of-a-file are right.
    case.check.status(KEPT, kind, Code.FAILED_PRECONDITION, Code.OK)
    case.check.equal(KEPT, "is_directory: returned", 0, kind.value)
    case.check.equal(KEPT, "content", CONTENT, case.setup.content(uri))


def is_directory(case: Case, uri: str, *entries: str) -> None:
    """Check that a directory with these entries is there, with all ops that ask."""
    kept(case, case.fs.path_exists(uri))
    case.check.equal(KEPT, "stat: is_directory", 1, kept(case, case.fs.stat(uri)).is_directory)
    case.check.equal(KEPT, "is_directory: returned", 1, kept(case, case.fs.is_directory(uri)))
    case.check.equal(KEPT, "get_children: entries", sorted(entries), sorted(kept(case, case.fs.get_children(uri)).bare))


# The first three have files beside them whose names are alike: no op means one of them.


@names
@clauses(KEPT, TAKEN, "paths.illegal-names")
@beside_plain
def test_file(case: Case, name: str) -> None:
    """A file of this name is written, asked about, read, found, written anew, appended to, mapped, and deleted."""
    if not written(case, name):
        return
    others = beside(case, name)
    uri = case.uri(name)
    is_file(case, uri)
    is_found(case, name, others)
    if case.writes_files:
        case.setup.write(name, CONTENT)
    appended_to(case, uri)
    gone = case.fs.delete_file(uri)
    if not case.check.unimplemented(gone):
        kept(case, gone)
        case.tree_is(KEPT, others)


def is_found(case: Case, name: str, others: Tree) -> None:
    """Check that a file is listed, matched by a pattern that means it, and told of among others."""
    found = sorted([name, *others])
    case.check.equal(KEPT, "get_children: entries", found, sorted(kept(case, case.fs.get_children(case.uri())).bare))
    is_matched(case, escaped(name), name)
    are_there(case, case.uri(name), case.uri("missing"), *map(case.uri, others))


def is_matched(case: Case, pattern: str, name: str) -> None:
    """Check that a pattern means this name alone."""
    matched = case.fs.get_matching_paths(f"{case.uri()}/{pattern}")
    if not case.check.unimplemented(matched):
        case.check.equal(KEPT, "get_matching_paths: matches", [name], behind(case, kept(case, matched)))


def are_there(case: Case, uri: str, missing: str, *others: str) -> None:
    """Check what paths_exist says of several paths, of which one is missing."""
    asked = case.fs.paths_exist([uri, missing, *others])
    if not case.check.unimplemented(asked):
        codes = [status.code for status in asked.value.statuses or ()]
        case.check.equal(KEPT, "paths_exist: codes", [Code.OK, Code.NOT_FOUND, *[Code.OK] * len(others)], codes)


@names
@clauses(KEPT, TAKEN, "paths.illegal-names")
@beside_plain
def test_directory(case: Case, name: str) -> None:
    """A directory of this name is created, filled, listed, and deleted."""
    uri = case.uri(name)
    if not accepted(case, name, case.fs.create_dir(uri)):
        return
    if not case.bench.claims.is_other_name(name):
        case.surroundings.within_limits(case.uri(name))
    others = beside(case, name)
    is_directory(case, uri)
    # Each by itself: one that only came with what is in it may go with that.
    kept(case, case.fs.recursively_create_dir(case.uri(name, name)))
    kept(case, case.fs.recursively_create_dir(case.uri(name, name, "leaf")))
    kept(case, case.fs.create_dir(case.uri(name, name, name)))
    case.setup.write(f"{name}/file", CONTENT)
    is_directory(case, uri, name, "file")
    is_directory(case, case.uri(name, name), name, "leaf")
    for inner in ("leaf", name, ""):
        kept(case, case.fs.delete_dir(case.uri(name, name, inner) if inner else case.uri(name, name)))
    kept(case, case.fs.delete_recursively(uri))
    case.tree_is(KEPT, others)


@names
@clauses(KEPT, "paths.illegal-names")
@beside_plain
def test_moved(case: Case, name: str) -> None:
    """A file of this name is copied and renamed, and others are to this name, where there is a file and where not."""
    if not written(case, name):
        return
    others = beside(case, name)
    uri, copy, moved = case.uri(name), case.uri("copy"), case.uri("moved")
    kept(case, case.fs.copy_file(uri, copy))
    kept(case, case.fs.rename_file(uri, moved))
    case.tree_is(KEPT, others | {"copy": CONTENT, "moved": CONTENT})
    kept(case, case.fs.copy_file(copy, uri))
    kept(case, case.fs.rename_file(moved, uri))
    kept(case, case.fs.rename_file(uri, moved))
    kept(case, case.fs.rename_file(moved, uri))
    kept(case, case.fs.copy_file(copy, uri))
    case.tree_is(KEPT, others | {"copy": CONTENT, name: CONTENT})
    for other in list(others)[:1]:
        kept(case, case.fs.copy_file(uri, case.uri(other)))
        kept(case, case.fs.rename_file(uri, case.uri(other)))
        kept(case, case.fs.rename_file(case.uri(other), uri))
        case.setup.write(other, STAYS)
    case.tree_is(KEPT, others | {"copy": CONTENT, name: CONTENT})


def appended_to(case: Case, uri: str) -> None:
    """Append to a file with the content, as far as the plugin can, and map it."""
    content = CONTENT
    # What the profile gives up hides nothing else.
    if case.does("new_appendable_file"):
        got = case.fs.new_appendable_file(uri)
        if not case.check.unimplemented(got):
            kept(case, got)
            with case.setup, case.setup.opened(got) as file:
                kept(case, file.append(CONTENT))
                kept(case, file.close())
            content *= 2
            case.check.equal(KEPT, "content", content, case.setup.content(uri))
    is_mapped(case, uri, content)


def is_mapped(case: Case, uri: str, content: bytes) -> None:
    """Check that a file with this content can be mapped, where the plugin maps files."""
    op = "new_read_only_memory_region_from_file"
    if case.does(op):
        mapped = case.fs.new_read_only_memory_region_from_file(uri)
        if not case.check.unimplemented(mapped):
            kept(case, mapped)
            with case.setup.opened(mapped) as region:
                length = region.length().value
                case.check.equal(KEPT, "length: length", len(content), length)
                case.check.equal(KEPT, "data", content, region.data(0, min(length, len(content))).value[1])


#: The ops that make nothing, each on a path where nothing is.
ON_NOTHING: dict[str, Callable[[Case, str], Outcome[object]]] = {
    **{
        op: lambda case, uri, op=op: getattr(case.fs, op)(uri)  # type: ignore[misc]
        for op in ("path_exists", "stat", "is_directory", "get_file_size", "get_children", "new_random_access_file",
                   "new_read_only_memory_region_from_file", "delete_file", "delete_dir", "delete_recursively")
    },
    "rename_file": lambda case, uri: case.fs.rename_file(uri, case.uri("moved")),
    "copy_file": lambda case, uri: case.fs.copy_file(uri, case.uri("copy")),
}  # fmt: skip


def asked_for(case: Case, uri: str) -> Iterator[tuple[str, Outcome[object]]]:
    """What each op says of a path where nothing is, but those that the plugin has not."""
    for op, perform in ON_NOTHING.items():
        got = perform(case, uri)
        if not case.check.unimplemented(got):
            yield op, got


def says_not_found(case: Case, uri: str, like: str) -> None:
    """Check that every op says NOT_FOUND of a path where nothing is, or what it says of `like`, where nothing is."""
    for op, got in asked_for(case, uri):
        expected = Code.NOT_FOUND
        if got.code is not expected:
            # Where a plain name gives the same, it is not the name.
            expected = ON_NOTHING[op](case, like).code
        case.check.that(
            KEPT,
            got.code is expected,
            f"{op}: code={expected}",
            f"{op}: code={got.code}",
            got.message,
            of=Answer.of(got),
        )


@names
@clauses(KEPT, "paths.illegal-names")
def test_of_nothing(case: Case, name: str) -> None:
    """Every op that makes nothing is asked for this name where nothing is; there is a file of this name elsewhere.

    Of a name that the filesystem cannot have, any error will do.
    """
    legal = written(case, name)
    case.setup.mkdir("empty")
    uri = case.uri("empty", name)
    if legal:
        says_not_found(case, uri, like=case.uri("empty", "nothing"))
    else:
        for op, got in asked_for(case, uri):
            case.check.that(
                "paths.illegal-names",
                not got.ok,
                f"{op}: an error",
                f"{op}: code={got.code}",
                got.message,
                of=Answer.of(got),
            )
    # What cannot be asked of one path cannot be asked of several: so is it with bytes that Python's API does not take.
    if legal and case.fs.path_exists(uri).code is not Code.UNIMPLEMENTED:
        got = case.fs.paths_exist([uri])
        codes = [status.code for status in got.value.statuses or ()]
        if got.code is not Code.UNIMPLEMENTED or "paths_exist" in case.check.works:
            case.check.equal(KEPT, "paths_exist: codes", [Code.NOT_FOUND], codes)
    left: Tree = {"empty": None} | ({name: CONTENT} if legal else {})
    case.tree_is(KEPT if legal else "paths.illegal-names", left)


def behind(case: Case, matches: Entries) -> list[str]:
    """The matches relative to the case's directory. The plugin may give them as URIs or as translated names."""
    heads = (case.uri() + "/", case.fs.translate(case.uri()).rstrip("/") + "/")
    return sorted(next((path.removeprefix(h) for h in heads if path.startswith(h)), path) for path in matches.names)


def used(case: Case, path: str) -> None:
    """Create the directory at a path with all its parents, perform every op there, and delete it."""
    got = case.fs.recursively_create_dir(case.uri(path))
    if not accepted(case, path, got):
        return
    # The names that are used below are short, and some more bytes make no difference.
    case.surroundings.within_limits(case.uri(f"{path}/inner/copy"))
    case.check.status("recursively_create_dir.succeeds", case.fs.recursively_create_dir(case.uri(path)), Code.OK)
    uri = case.uri(path)
    is_directory(case, uri)
    first = case.fs.create_dir(case.uri(path, "inner"))
    if not first.ok and not accepted(case, f"{path}/inner", first):
        # The limit lies between the two.
        return
    kept(case, case.fs.delete_dir(case.uri(path, "inner")))
    kept(case, case.fs.create_dir(case.uri(path, "inner")))
    file = case.setup.write(f"{path}/file", CONTENT)
    is_file(case, file)
    are_there(case, file, case.uri(path, "none"))
    is_directory(case, uri, "file", "inner")
    is_matched(case, f"{path}/f*", f"{path}/file")
    for op, target in (("copy_file", "copy"), ("rename_file", "moved")):
        got = getattr(case.fs, op)(file, case.uri(path, "inner", target))
        if not case.check.unimplemented(got):
            kept(case, got)
            file = case.uri(path, "inner", target) if op == "rename_file" else file
            is_file(case, case.uri(path, "inner", target))
    appended_to(case, file)
    kept(case, case.fs.delete_file(file))
    case.check.status(KEPT, case.fs.stat(file), Code.NOT_FOUND)
    kept(case, case.fs.delete_recursively(case.uri(path, "inner")))
    case.check.status(KEPT, case.fs.stat(case.uri(path, "inner")), Code.NOT_FOUND)
    top = path.partition("/")[0]
    gone = case.fs.delete_recursively(case.uri(top))
    kept(case, gone)
    case.check.equal(KEPT, "delete_recursively: undeleted files, dirs", (0, 0), (gone.value.files, gone.value.dirs))
    case.tree_is(KEPT, {})


def used_beside_plain(case: Case, path: str) -> None:
    """Use a path as above, with the shortest one as its control."""
    if path != LEVEL:
        # Each by itself: a long path is cut where it is shown.
        called = {path + end: LEVEL + end for end in ("", "/file", "/inner", "/inner/copy", "/inner/moved")}
        case.control = Control(lambda trial: used(trial, LEVEL), "names/deep[1]", called)
    used(case, path)


@pytest.mark.parametrize("depth", [pytest.param(n, id=str(n)) for n in (1, 2, 16, 100, 300)])
@clauses(KEPT, "paths.illegal-names", "recursively_create_dir.succeeds", "new_writable_file.succeeds",
         "new_random_access_file.succeeds")  # fmt: skip
def test_deep(case: Case, depth: int) -> None:
    """A path of so many levels is created at once, every op is performed there, and all of it is deleted at once."""
    used_beside_plain(case, "/".join([LEVEL] * depth))


@pytest.mark.parametrize("length", [pytest.param(n, id=str(n)) for n in (200, 500, 1000, 2000, 3000, 3900, 5000)])
@clauses(KEPT, "paths.illegal-names", "recursively_create_dir.succeeds", "new_writable_file.succeeds",
         "new_random_access_file.succeeds")  # fmt: skip
def test_long(case: Case, length: int) -> None:
    """A path of so many bytes is created, every op is performed there, and all of it is deleted; or it is refused."""
    used_beside_plain(case, "/".join(["n" * 99] * (length // 100)))


#: The ops that are asked for a path where nothing is.
ASKING = ("path_exists", "stat", "is_directory", "get_file_size", "new_random_access_file")
#: What is done to `name` beside a sibling with a similar name, and the clause that is checked.
BESIDE = {
    "delete_file": "delete_file.deletes",
    "delete_dir": "delete_dir.deletes",
    "delete_recursively": "delete_recursively.deletes-everything",
    "rename_file": "rename_file.source-is-gone",
}


@pytest.mark.parametrize("other", [pytest.param(name, id=name.replace(" ", "-space-")) for name in LOOK_ALIKES])
@pytest.mark.parametrize(
    "op",
    [
        pytest.param(op, id=op, marks=clauses(name, f"{op}.succeeds", f"{op}.error-changes-nothing"))
        for op, name in BESIDE.items()
    ],
)
def test_beside(case: Case, op: str, other: str) -> None:
    """Something is deleted or renamed beside a file and a directory whose names begin alike; they stay in any case."""
    stays: dict[str, bytes | None] = {other: b"stays", f"{other}.d": None, f"{other}.d/inside": b"stays"}
    case.setup.build(stays)
    left = dict(stays)
    if op in ("delete_dir", "delete_recursively"):
        uri = case.setup.mkdir("name")
        if op == "delete_recursively":
            case.setup.write("name/inside", CONTENT)
    else:
        uri = case.setup.write("name", CONTENT)
    got: Outcome[object]
    if op == "rename_file":
        got = case.fs.rename_file(uri, case.uri("moved"))
        left["moved"] = CONTENT
    else:
        got = getattr(case.fs, op)(uri)
    if not got.ok:
        tree = case.setup.tree()
        others = {path: content for path, content in tree.items() if path in stays}
        case.check.equal(f"{op}.error-changes-nothing", "tree beside", stays, others)
    case.setup.require(got)
    case.tree_is(BESIDE[op], left)


@pytest.mark.parametrize("other", [pytest.param(name, id=name.replace(" ", "-space-")) for name in LOOK_ALIKES])
@clauses(*(f"{op}.missing-is-not-found" for op in ASKING))
def test_missing_beside(case: Case, other: str) -> None:
    """Nothing is at a path, but a file or a directory whose name begins alike stands beside it."""
    case.setup.build({other: b"stays", f"{other}.d": None})
    for op in ASKING:
        case.check.status(f"{op}.missing-is-not-found", getattr(case.fs, op)(case.uri("name")), Code.NOT_FOUND)


@over_tables
@clauses(KEPT, "translate_name.succeeds")
def test_dots(case: Case) -> None:
    """Names that begin with two dots, as those of Kubernetes' volumes, are names, and lead nowhere else."""
    uri = case.uri("directory")
    elsewhere = {case.fs.translate_name(one).value for one in (uri, case.uri())}
    for name in ("..data", "...data", "..2026_11_24"):
        got = case.fs.translate_name(f"{uri}/{name}")
        case.check.that("translate_name.succeeds", got.value is not None, "a name", "a name" if got.value else "NULL")
        other = got.value not in elsewhere
        case.check.that(KEPT, other, f"a name for {name}", "a name" if other else "that of a directory above")


@pytest.mark.parametrize(
    ("one", "other", "clause"),
    [
        pytest.param("name", "NAME", "paths.letter-case", id="letter-case", marks=clauses("paths.letter-case")),
        pytest.param("\u00e9", "e\u0301", "paths.unicode-forms", id="unicode", marks=clauses("paths.unicode-forms")),
    ],
)
@clauses(KEPT, "paths.illegal-names")
def test_pairs(case: Case, one: str, other: str, clause: str) -> None:
    """Two names that some filesystems take for one."""
    if written(case, one):
        exists = case.fs.path_exists(case.uri(other))
        case.check.implemented(exists)
        case.check.note(clause, "one name" if exists.ok else "two names")


@pytest.mark.parametrize("host", [pytest.param(host, id=host or "none") for host in ("", "host", "another.host")])
@clauses("paths.host-part")
def test_host(case: Case, host: str) -> None:
    """The case's directory is asked for through another host."""
    uri = paths.parse(case.uri())
    got = case.fs.path_exists(f"{uri.scheme}://{host}{uri.path}")
    case.check.note("paths.host-part", f"code={got.code}", got.message)


@over_tables
@clauses("paths.untranslated")
def test_untranslated(case: Case) -> None:
    """An op gets the URI of a file as it is."""
    got = case.tables.path_op("path_exists", case.setup.write("file", CONTENT))
    readings = {"understood": got.ok, "not-found": got.code is Code.NOT_FOUND, "refused": True}
    case.check.reading("paths.untranslated", readings, f"code={got.code}", got.message, of=Answer.of(got))
