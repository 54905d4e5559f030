"""Creating and deleting: the tree afterwards, and the counts of delete_recursively."""

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Source
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, full, smoke
from ..engine.setup import Tree


@smoke
@clauses("create_dir.succeeds", "create_dir.creates-an-empty-directory")
def test_create(case: Case) -> None:
    """A directory is created, and one in it."""
    case.check.status("create_dir.succeeds", case.fs.create_dir(case.uri("new")), Code.OK)
    case.tree_is("create_dir.creates-an-empty-directory", {"new": None})
    case.check.status("create_dir.succeeds", case.fs.create_dir(case.uri("new/inner")), Code.OK)
    case.tree_is("create_dir.creates-an-empty-directory", {"new": None, "new/inner": None})


@clauses("create_dir.exists-is-already-exists", "create_dir.error-changes-nothing")
def test_create_twice(case: Case) -> None:
    """A directory with something in it is created again."""
    before: Tree = {"new": None, "new/file": b"stays"}
    case.setup.build(before)
    case.check.status("create_dir.exists-is-already-exists", case.fs.create_dir(case.uri("new")), Code.ALREADY_EXISTS)
    case.unchanged("create_dir.error-changes-nothing", before)


@clauses("create_dir.succeeds", "create_dir.creates-an-empty-directory", "delete_dir.deletes", "delete_dir.succeeds",
         "delete_file.succeeds")  # fmt: skip
def test_create_again(case: Case) -> None:
    """A directory is created where one was deleted, then a file, then a directory again."""
    for _ in range(2):
        case.check.status("create_dir.succeeds", case.fs.create_dir(case.uri("name")), Code.OK)
        if not case.tree_is("create_dir.creates-an-empty-directory", {"name": None}):
            return
        case.setup.require(case.fs.delete_dir(case.uri("name")))
        case.tree_is("delete_dir.deletes", {})
        case.setup.require(case.fs.delete_file(case.setup.write("name", b"")))


@smoke
@clauses("recursively_create_dir.succeeds", "recursively_create_dir.creates-parents")
def test_create_recursively(case: Case) -> None:
    """A directory is created with two parents."""
    case.check.status("recursively_create_dir.succeeds", case.fs.recursively_create_dir(case.uri("a/b/c")), Code.OK)
    case.tree_is("recursively_create_dir.creates-parents", {"a": None, "a/b": None, "a/b/c": None})


@pytest.mark.parametrize(
    ("there", "path"),
    [
        pytest.param([], "a", id="one-level"),
        pytest.param(["a"], "a", id="all-of-it-exists"),
        pytest.param(["a"], "a/b", id="the-parent-exists"),
        pytest.param(["a"], "a/b/c/d/e", id="the-top-exists"),
        pytest.param(["a", "a/b", "a/b/c"], "a/b/c", id="three-levels-exist"),
        pytest.param([], "/".join("abcdefghijklmnopqrst"), id="twenty-levels"),
        pytest.param([], "a/a/a", id="the-same-name"),
        pytest.param(["ab"], "a/b", id="beside-a-look-alike"),
    ],
)
@clauses("recursively_create_dir.creates-parents", "recursively_create_dir.succeeds",
         "recursively_create_dir.keeps-what-is-there")  # fmt: skip
def test_create_recursively_where(case: Case, there: list[str], path: str) -> None:
    """A directory is created where some of its parents are there, with something in them."""
    kept: Tree = {}
    for directory in there:
        case.setup.mkdir(directory)
        case.setup.write(f"{directory}/kept", b"kept")
        kept |= {directory: None, f"{directory}/kept": b"kept"}
    case.check.status("recursively_create_dir.succeeds", case.fs.recursively_create_dir(case.uri(path)), Code.OK)
    names = path.split("/")
    made: Tree = {"/".join(names[: k + 1]): None for k in range(len(names))}
    tree = case.setup.tree()
    case.tree_is("recursively_create_dir.creates-parents", made | kept)
    case.check.equal(
        "recursively_create_dir.keeps-what-is-there", "kept", kept, {path: tree.get(path, b"") for path in kept}
    )


@clauses("recursively_create_dir.below-a-file-is-failed-precondition", "recursively_create_dir.error-changes-nothing")
def test_create_recursively_through_a_file(case: Case) -> None:
    """A file stands where a parent should be, two levels above what is to be created."""
    case.setup.mkdir("a")
    case.setup.write("a/b", b"file")
    got = case.fs.recursively_create_dir(case.uri("a/b/c/d"))
    case.check.status("recursively_create_dir.below-a-file-is-failed-precondition", got, Code.FAILED_PRECONDITION)
    case.unchanged("recursively_create_dir.error-changes-nothing", {"a": None, "a/b": b"file"})


@smoke
@clauses("delete_file.deletes", "delete_file.succeeds", "new_random_access_file.missing-is-not-found")
def test_delete_file(case: Case) -> None:
    """A file is deleted, written again, deleted again, and looked for."""
    uri = case.setup.write("file", b"gone")
    case.setup.write("other", b"stays")
    case.setup.require(case.fs.delete_file(uri))
    case.tree_is("delete_file.deletes", {"other": b"stays"})
    case.check.status("delete_file.deletes", case.fs.delete_file(uri), Code.NOT_FOUND)
    case.setup.write("file", b"new")
    case.tree_is("delete_file.deletes", {"file": b"new", "other": b"stays"})
    case.setup.require(case.fs.delete_file(uri))
    # The last call: what an open that fails leaves behind is not laid upon delete_file.
    case.check.status(
        "new_random_access_file.missing-is-not-found", case.fs.new_random_access_file(uri), Code.NOT_FOUND
    )


#: What keeps a directory from being empty.
WITHIN: dict[str, Tree] = {
    "file": {"file": b"stays"},
    "empty-file": {"file": b""},
    "directory": {"inner": None},
    "hidden-file": {".file": b"stays"},
    "hidden-directory": {".inner": None},
    "two-hidden": {".a": b"stays", ".b": None},
    "the-same-name": {"directory": None},
    "backup": {"file~": b"stays"},
}


@pytest.mark.parametrize("what", list(WITHIN))
@clauses("delete_dir.not-empty-is-failed-precondition", "delete_dir.error-changes-nothing")
def test_delete_what_is_not_empty(case: Case, what: str) -> None:
    """A directory is deleted that holds only this."""
    before: Tree = {"directory": None, **{f"directory/{name}": content for name, content in WITHIN[what].items()}}
    case.setup.build(before)
    got = case.fs.delete_dir(case.uri("directory"))
    case.check.status("delete_dir.not-empty-is-failed-precondition", got, Code.FAILED_PRECONDITION)
    case.unchanged("delete_dir.error-changes-nothing", before)


@smoke
@clauses("delete_dir.deletes", "delete_dir.succeeds", "delete_dir.not-empty-is-failed-precondition",
         "delete_dir.error-changes-nothing")  # fmt: skip
def test_delete_dir(case: Case) -> None:
    """A directory is deleted as soon as it is empty, and not before."""
    uri = case.setup.mkdir("directory")
    case.setup.mkdir("directory/inner")
    case.setup.write("directory/file", b"stays")
    for gone, name in ((case.fs.delete_file, "file"), (case.fs.delete_dir, "inner")):
        before = case.setup.tree()
        case.check.status(
            "delete_dir.not-empty-is-failed-precondition", case.fs.delete_dir(uri), Code.FAILED_PRECONDITION
        )
        case.unchanged("delete_dir.error-changes-nothing", before)
        case.setup.require(gone(case.uri("directory", name)))
    case.setup.require(case.fs.delete_dir(uri))
    case.tree_is("delete_dir.deletes", {})


#: Trees to delete: the content by path, None for a directory. All paths are below `tree`.
TREES: dict[str, Tree] = {
    "empty": {},
    "one-file": {"file": b"x"},
    "one-directory": {"inner": None},
    "mixed": {"inner": None, "inner/empty": None, "inner/file": b"x", "file": b"x"},
    "deep": {"/".join("d" * k): None for k in range(1, 12)},
    "deep-with-a-file": {"/".join("d" * k): None for k in range(1, 6)} | {"d/d/d/d/d/file": b"x"},
    "wide": {f"file{k}": b"" for k in range(40)} | {f"inner{k}": None for k in range(40)},
    "names-of-its-own": {"tree": None, "tree/tree": b"x"},
    "glob-characters": {"*": b"x", "[a]": None, "?": b"x"},
    "hidden": {".hidden": b"x", ".inner": None, ".inner/.file": b"x"},
    "only-hidden-files": {".a": b"x", ".b": b"x"},
    "hidden-deep-down": {"a": None, "a/b": None, "a/b/.hidden": b"x", "a/.b": None, "a/.b/c": b"x"},
    "fifty-levels": {"/".join("d" * k): None for k in range(1, 51)} | {"/".join("d" * 50) + "/file": b"x"},
    "a-file-on-each-level": {
        path: content
        for k in range(1, 9)
        for path, content in (("/".join("d" * k), None), ("/".join("d" * k) + "/file", b"x"))
    },
    "many-full-directories": {
        path: content for k in range(30) for path, content in ((f"d{k}", None), (f"d{k}/file", b"x"))
    },
    "odd-names": {"a b": b"x", "-rf": None, "-rf/-rf": b"x", "name~": b"x"},
}


@pytest.mark.parametrize("shape", list(TREES))
@clauses("delete_recursively.succeeds", "delete_recursively.deletes-everything",
         "delete_recursively.counters-are-zero-on-success", "delete_recursively.writes-both-counters")  # fmt: skip
def test_delete_recursively(case: Case, shape: str) -> None:
    """A tree of this shape is deleted beside things whose names begin alike."""
    left: Tree = {"tree-file": b"stays", "trees": None, "trees/file": b"stays"}
    case.setup.build({"tree": None} | {f"tree/{path}": content for path, content in TREES[shape].items()} | left)
    got = case.fs.delete_recursively(case.uri("tree"))
    if case.check.status("delete_recursively.succeeds", got, Code.OK):
        counters = (got.value.files, got.value.dirs)
        case.check.equal("delete_recursively.counters-are-zero-on-success", "files, dirs", (0, 0), counters)
    case.tree_is("delete_recursively.deletes-everything", left)


#: The longest path that Linux takes, in bytes.
LONGEST = 4095


@full
@clauses("delete_recursively.counts-what-is-left", "delete_recursively.says-why",
         "delete_recursively.writes-both-counters")  # fmt: skip
def test_delete_recursively_midway(case: Case) -> None:
    """A deep tree is deleted that holds a directory whose path is too long for the system: it and its parents stay."""
    backing = case.surroundings.backing
    case.setup.build({"d": None, "d/file": b"goes", "d/other": None, "d/other/file": b"goes"})
    directories, deep, uri = 1, "d", case.uri("d")
    while len(case.fs.translate(uri)) + 200 < LONGEST:
        deep += "/" + "n" * 150
        uri = case.uri(deep)
        if not case.fs.create_dir(uri).ok:
            raise NoStimulusError(f"this plugin has no paths of {len(uri)} bytes")
        case.setup.write(f"{deep}/file", b"goes")
        directories += 1
    with backing.out_of_reach(case.surroundings.backing_name(deep), "x" * 250):
        got = case.fs.delete_recursively(case.uri("d"))
        left = case.fs.path_exists(case.uri("d"))
    if not left.ok:
        raise NoStimulusError("this plugin deletes it all the same, and nothing else makes it fail")
    case.check.that("delete_recursively.says-why", not got.ok, "an error", f"code={got.code}", got.message)
    counters = (got.value.files, got.value.dirs)
    # Core's default takes for a file what nobody can look at.
    left_over = (1, directories) if got.source is Source.DEFAULT else (0, directories + 1)
    case.check.equal("delete_recursively.counts-what-is-left", "files, dirs", left_over, counters)


@smoke
@clauses("delete_recursively.succeeds", "delete_recursively.deletes-everything")
def test_delete_recursively_inside(case: Case) -> None:
    """A tree inside a directory is deleted; the directory stays."""
    left: Tree = {"parent": None, "parent/file": b"stays"}
    case.setup.build(left | {"parent/tree": None, "parent/tree/file": b"gone"})
    case.check.status("delete_recursively.succeeds", case.fs.delete_recursively(case.uri("parent/tree")), Code.OK)
    case.tree_is("delete_recursively.deletes-everything", left)


@clauses("delete_recursively.of-a-file", "delete_recursively.counters-are-zero-on-success")
def test_delete_recursively_a_file(case: Case) -> None:
    """A file is deleted recursively: it is gone where the answer is OK, and stays where it is not."""
    case.setup.mkdir("parent")
    case.setup.write("parent/file", b"file")
    got = case.fs.delete_recursively(case.uri("parent/file"))
    case.check.implemented(got)
    after = case.setup.tree()
    readings = {
        "deletes": got.ok and after == {"parent": None},
        "refuses": got.code is Code.FAILED_PRECONDITION and after == {"parent": None, "parent/file": b"file"},
    }
    case.check.reading("delete_recursively.of-a-file", readings, f"code={got.code} tree={sorted(after)}", got.message)
    if got.ok:
        counters = (got.value.files, got.value.dirs)
        case.check.equal("delete_recursively.counters-are-zero-on-success", "files, dirs", (0, 0), counters)
