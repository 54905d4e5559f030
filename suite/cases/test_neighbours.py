"""Neighbours: what stands beside a path under a name that tools make up of it is a file or a directory like all others.

Names for sums, parts, copies, locks and markers: a plugin that uses one itself may not take another's for its own.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome
from ..engine.case import Case
from ..engine.marks import clauses, many_calls
from .names import escaped
from .test_bulk import write
from .test_names import CONTENT, KEPT, accepted, behind, is_file, is_mapped, kept, says_not_found, written

#: How tools call what belongs to a file or a directory, by what it is.
NEIGHBOURS: Mapping[str, str] = {
    "sum": ".{}.crc",
    "plain-sum": "{}.md5",
    "temporary": "{}.tmp",
    "hidden-temporary": ".{}.tmp",
    "part": "{}.part",
    "first-part": "{}.0",
    "copying": "{}._COPYING_",
    "swap": ".{}.swp",
    "whole-part": "{}.partial",
    "incomplete": "{}.incomplete",
    "in-progress": "{}.inprogress",
    "temporary-before": "tmp_{}",
    "hidden-from-jobs": "_{}",
    "backup": "{}~",
    "old": "{}.old",
    "new": "{}.new",
    "saved": "{}.bak",
    "lock": "{}.lock",
    "hidden": ".{}",
    "hidden-by-mac": "._{}",
    "marker": "{}_$folder$",
    "metadata": "{}.meta",
    "deleted": "{}.deleted",
}

#: What tools leave in a directory under a name of its own.
INSIDE = (".keep", ".gitkeep", "_SUCCESS", "_temporary", "_metadata", "_delta_log", ".DS_Store", "._.DS_Store",
          "Thumbs.db", "desktop.ini", "lost+found", ".Trash", ".snapshot", ".hdfs", ".part", "_$folder$")  # fmt: skip

kinds = pytest.mark.parametrize("kind", ["files", "directories"])


def made(case: Case, kind: str, *paths: str) -> dict[str, bytes]:
    """Set up all neighbours of these paths. Return the path and the content of each, but of those that are refused.

    A directory has the content in a file.
    """
    there = {}
    for path in paths:
        for like in NEIGHBOURS.values():
            name = like.format(path)
            if kind == "directories":
                if not accepted(case, name, case.fs.create_dir(case.uri(name)), alone=False):
                    continue
                name += "/inside"
            # Each has other bytes, as one may come to be where another was.
            content = name.encode()
            if written(case, name, content, alone=False):
                there[name] = content
    return there


def synced(case: Case) -> Outcome[Any]:
    """Write a new file, and see to it that it lasts before more is appended."""
    case.needs("sync")
    with case.setup, case.setup.opened(case.fs.new_writable_file(case.uri("new"))) as file:
        case.setup.require(file.append(CONTENT))
        got = file.sync()
        case.setup.require(file.append(CONTENT))
        case.setup.require(file.close())
    return got


#: The calls by name: the op, the paths whose neighbours are there, and the call.
CALLS: Mapping[str, tuple[str, Sequence[str], Callable[[Case], Outcome[Any]]]] = {
    "written": ("new_writable_file", ("new",), lambda case: case.fs.new_writable_file(case.uri("new"))),
    "written-over": ("new_writable_file", ("file",), lambda case: case.fs.new_writable_file(case.uri("file"))),
    "synced": ("sync", ("new",), synced),
    "made-by-append": ("new_appendable_file", ("new",), lambda case: case.fs.new_appendable_file(case.uri("new"))),
    "appended": ("new_appendable_file", ("file",), lambda case: case.fs.new_appendable_file(case.uri("file"))),
    "renamed": ("rename_file", ("file", "new"), lambda case: case.fs.rename_file(case.uri("file"), case.uri("new"))),
    "renamed-over": (
        "rename_file",
        ("file", "target"),
        lambda case: case.fs.rename_file(case.uri("file"), case.uri("target")),
    ),
    "copied": ("copy_file", ("file", "new"), lambda case: case.fs.copy_file(case.uri("file"), case.uri("new"))),
    "copied-over": (
        "copy_file",
        ("file", "target"),
        lambda case: case.fs.copy_file(case.uri("file"), case.uri("target")),
    ),
    "file-deleted": ("delete_file", ("file",), lambda case: case.fs.delete_file(case.uri("file"))),
    "created": ("create_dir", ("new",), lambda case: case.fs.create_dir(case.uri("new"))),
    "all-created": (
        "recursively_create_dir",
        ("new",),
        lambda case: case.fs.recursively_create_dir(case.uri("new/inner")),
    ),
    "directory-deleted": ("delete_dir", ("empty",), lambda case: case.fs.delete_dir(case.uri("empty"))),
    "all-deleted": ("delete_recursively", ("full",), lambda case: case.fs.delete_recursively(case.uri("full"))),
}


@many_calls(2 * len(NEIGHBOURS))
@kinds
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=name, marks=clauses(f"{op}.succeeds", KEPT, "paths.illegal-names"))
        for name, (op, _, _) in CALLS.items()
    ],
)
def test_beside(case: Case, name: str, kind: str) -> None:
    """Something is changed that has files or directories beside it; they stay as they are."""
    op, about, call = CALLS[name]
    case.setup.build({"file": CONTENT, "target": CONTENT})
    if op in ("delete_dir", "delete_recursively"):
        case.setup.build({"empty": None, "full": None, "full/file": CONTENT})
    there = made(case, kind, *about)
    got = call(case)
    case.check.implemented(got)
    case.check.status(f"{op}.succeeds", got, Code.OK)
    if got.ok and op in ("new_writable_file", "new_appendable_file"):
        write(case, got, CONTENT)
    for path, content in there.items():
        reader = case.fs.new_random_access_file(case.uri(path))
        case.check.implemented(reader)
        now = f"code={reader.code}".encode()
        if reader.ok:
            with case.setup, case.setup.opened(reader) as file:
                now = file.read(0, len(content) + 1).value.data
        case.check.equal(KEPT, f"content of {path}", content, now)


@many_calls(8 * len(NEIGHBOURS))
@kinds
@clauses(KEPT, "paths.illegal-names")
def test_found(case: Case, kind: str) -> None:
    """Files or directories with such names stand beside a file; it and each are asked about, listed, matched, deleted.

    Each is looked at after the file itself was.
    """
    file = case.setup.write("file", CONTENT)
    there = made(case, kind, "file")
    names = [path.partition("/")[0] for path in there]
    is_file(case, file)
    is_mapped(case, file, CONTENT)
    for path, content in there.items():
        length = kept(case, case.fs.stat(case.uri(path))).length
        case.check.equal(KEPT, f"stat of {path}: length", len(content), length)
        case.check.equal(KEPT, f"content of {path}", content, case.setup.content(case.uri(path)))
    for name in names:
        kept(case, case.fs.path_exists(case.uri(name)))
        if kind == "directories":
            case.check.equal(KEPT, f"is_directory of {name}", 1, kept(case, case.fs.is_directory(case.uri(name))))
    listed = kept(case, case.fs.get_children(case.uri())).bare
    case.check.equal(
        KEPT, "get_children: missing or foreign", [], sorted({"file", *names}.symmetric_difference(listed))
    )
    for name in names:
        matched = case.fs.get_matching_paths(case.uri() + "/" + escaped(name))
        if case.check.unimplemented(matched):
            break
        case.check.equal(KEPT, "get_matching_paths: matches", [name], behind(case, kept(case, matched)))
    if kind == "files":
        for name in names:
            gone = case.fs.delete_file(case.uri(name))
            if case.check.unimplemented(gone):
                return
            kept(case, gone)
        case.tree_is(KEPT, {"file": CONTENT})


@many_calls(2 * len(NEIGHBOURS))
@kinds
@clauses(KEPT, "paths.illegal-names")
def test_of_nothing(case: Case, kind: str) -> None:
    """Every op that makes nothing is asked for a path where nothing is but such files or directories beside it."""
    there = made(case, kind, "name")
    case.setup.mkdir_where_known("empty")
    says_not_found(case, case.uri("name"), like=case.uri("empty", "nothing"))
    for path, content in there.items():
        case.check.equal(KEPT, f"content of {path}", content, case.setup.content(case.uri(path)))


@many_calls(64 * len(NEIGHBOURS))
@clauses(KEPT, "paths.illegal-names")
def test_onto(case: Case) -> None:
    """Each such file is copied and renamed onto the path beside which it stands, where a file is and where nothing is.

    What was renamed is renamed back.
    """
    file = case.uri("file")
    for path, content in made(case, "files", "file").items():
        beside = case.uri(path)
        for move, is_there in product(("copy_file", "rename_file"), (True, False)):
            if is_there:
                case.setup.write("file", CONTENT)
            got = getattr(case.fs, move)(beside, file)
            if case.check.unimplemented(got):
                continue
            kept(case, got)
            case.check.equal(KEPT, f"{path}: content of the target", content, case.setup.content(file))
            if move == "rename_file":
                case.check.status(KEPT, case.fs.path_exists(beside), Code.NOT_FOUND)
                kept(case, case.fs.rename_file(file, beside))
            else:
                gone = case.fs.delete_file(file)
                if not case.check.unimplemented(gone):
                    kept(case, gone)
            case.check.equal(KEPT, f"{path}: content", content, case.setup.content(beside))


@many_calls(12 * len(INSIDE))
@kinds
@clauses(KEPT, "paths.illegal-names", "delete_dir.not-empty-is-failed-precondition")
def test_within(case: Case, kind: str) -> None:
    """Files or directories with names that tools leave behind are all that a directory holds, each of one."""
    for k, name in enumerate(INSIDE):
        directory, path = case.setup.mkdir_where_known(f"d{k}"), f"d{k}/{name}"
        if kind == "files" and not written(case, path):
            continue
        if kind == "directories" and not accepted(case, path, case.fs.create_dir(case.uri(path))):
            continue
        case.check.equal(KEPT, "get_children: entries", (name,), kept(case, case.fs.get_children(directory)).bare)
        matched = case.fs.get_matching_paths(f"{directory}/{escaped(name)}")
        if not case.check.unimplemented(matched):
            case.check.equal(KEPT, "get_matching_paths: matches", [path], behind(case, kept(case, matched)))
        if case.makes_directories and not case.check.unimplemented(refused := case.fs.delete_dir(directory)):
            case.check.status("delete_dir.not-empty-is-failed-precondition", refused, Code.FAILED_PRECONDITION)
        kept(case, case.fs.path_exists(case.uri(path)))
        gone = case.fs.delete_recursively(directory)
        if not case.check.unimplemented(gone):
            kept(case, gone)
            case.check.status(KEPT, case.fs.path_exists(case.uri(path)), Code.NOT_FOUND)
