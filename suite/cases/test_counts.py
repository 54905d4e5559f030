"""Counts: of entries around a page of a store, and of objects that are held at once."""

from contextlib import ExitStack
from typing import cast

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import MemoryRegion, RandomAccessFile
from ..engine.case import Case
from ..engine.marks import clauses, many_calls
from .test_names import behind

#: What stores give in one page.
PAGE = 1000
ONCE = "get_children.names-every-entry-once"
AGREE = "common.queries-agree"
#: So many objects are held at once.
HELD = 70


def seen(case: Case, names: list[str]) -> None:
    """Check with every op that lists or asks that `many` holds these names, of which `d` is a directory."""
    fs, many = case.fs, case.uri("many")
    listed = case.setup.require(fs.get_children(many)).bare
    case.check.equal(ONCE, "missing or foreign", [], sorted(set(names).symmetric_difference(listed)))
    case.check.equal(ONCE, "entries", len(names), len(listed))
    # What comes before `d/` in the order of keys fills the first page.
    uri = f"{many}/d"
    case.check.status(AGREE, fs.path_exists(uri), Code.OK)
    case.check.equal(AGREE, "is_directory", 1, case.setup.require(fs.stat(uri)).is_directory)
    case.check.equal(AGREE, "returned", 1, fs.is_directory(uri).value)
    case.check.equal(ONCE, "entries of d", ("inside",), case.setup.require(fs.get_children(uri)).bare)
    if fs.available("get_matching_paths"):
        for pattern, ends in (("*", ""), ("*7", "7"), (names[-1].replace("d-", "?-"), names[-1])):
            matches = case.setup.require(fs.get_matching_paths(f"{many}/{pattern}"))
            expected = sorted(f"many/{name}" for name in names if name.endswith(ends))
            odd = sorted(set(expected).symmetric_difference(behind(case, matches)))
            case.check.equal("get_matching_paths.succeeds", f"missing or foreign of {pattern}", [], odd)
            case.check.equal("get_matching_paths.succeeds", "matches", len(expected), len(matches.names))
    if fs.available("paths_exist"):
        got = fs.paths_exist([*(f"{many}/{name}" for name in names), f"{many}/missing"])
        if not case.check.unimplemented(got):
            codes = [status.code for status in got.value.statuses or ()]
            wrong = [k for k, code in enumerate(codes) if (code is Code.OK) != (k < len(names))]
            case.check.equal("paths_exist.fills-every-status", "wrong", [], wrong)
            case.check.equal("paths_exist.is-true-if-all-exist", "returned", False, got.value.returned)


@many_calls(PAGE + 60)
@clauses(ONCE, AGREE, "get_children.succeeds", "get_matching_paths.succeeds", "paths_exist.fills-every-status",
         "paths_exist.is-true-if-all-exist", "delete_recursively.deletes-everything",
         "delete_recursively.succeeds")  # fmt: skip
def test_around_a_page(case: Case) -> None:
    """A directory is looked at with one entry less than a page, with as many, and with one more, and deleted."""
    case.setup.mkdir("many")
    case.setup.mkdir("many/d")
    case.setup.write("many/d/inside", b"")
    names = ["d"]
    for count in (PAGE - 1, PAGE, PAGE + 1):
        while len(names) < count:
            names.append(f"d-{len(names):04}")
            case.setup.mkdir(f"many/{names[-1]}")
        seen(case, names)
    case.setup.require(case.fs.delete_recursively(case.uri("many")))
    case.check.equal("delete_recursively.deletes-everything", "tree", {}, case.setup.tree())


@many_calls(PAGE + 10)
@clauses("delete_recursively.deletes-everything", "delete_recursively.succeeds")
def test_a_page_is_deleted(case: Case) -> None:
    """A directory with as many entries as a page has is deleted at once."""
    case.setup.mkdir("many")
    for k in range(PAGE):
        case.setup.mkdir(f"many/{k}")
    case.setup.require(case.fs.delete_recursively(case.uri("many")))
    case.check.equal("delete_recursively.deletes-everything", "tree", {}, case.setup.tree())


#: The ops that open what is held, and the clause that is checked.
HOLDS = {
    "new_random_access_file": "read.repeats",
    "new_read_only_memory_region_from_file": "data.outlives-other-ops",
}


@pytest.mark.parametrize(
    "op", [pytest.param(op, id=op, marks=clauses(clause, f"{op}.succeeds")) for op, clause in HOLDS.items()]
)
@many_calls(9 * HELD)
def test_held(case: Case, op: str) -> None:
    """Many files of different content are held at once, and looked at in turn, the last time when half have ended."""
    clause = HOLDS[op]
    uris = [case.setup.write(f"file{k}", b"%d;" % k * (k + 1)) for k in range(HELD)]
    with case.setup, ExitStack() as stack:
        held = [stack.enter_context(case.setup.opened(getattr(case.fs, op)(uri))) for uri in uris]
        for turn in (range(HELD), range(HELD - 1, -1, -1), range(1, HELD, 2)):
            if len(turn) < HELD:
                for k in range(0, HELD, 2):
                    held[k].cleanup()
            for k in turn:
                content = b"%d;" % k * (k + 1)
                if op == "new_random_access_file":
                    data = cast(RandomAccessFile, held[k]).read(0, len(content)).value.data
                else:
                    data = cast(MemoryRegion, held[k]).data(0, len(content)).value[1]
                case.check.equal(clause, f"data of file{k}", content, data)


@many_calls(9 * HELD)
@clauses("append.writes-exactly-n", "new_writable_file.succeeds", "append.succeeds", "close.succeeds")
def test_written_at_once(case: Case) -> None:
    """Many files are open for writing at once, and appended to in turn."""
    with case.setup, ExitStack() as stack:
        files = [
            stack.enter_context(case.setup.opened(case.fs.new_writable_file(case.uri(f"file{k}")))) for k in range(HELD)
        ]
        for turn in (range(HELD), reversed(range(HELD))):
            for k in turn:
                case.setup.require(files[k].append(b"%d;" % k * (k + 1)))
        for file in reversed(files):
            case.setup.require(file.close())
    for k in range(HELD):
        data = case.setup.content(case.uri(f"file{k}"))
        case.check.equal("append.writes-exactly-n", f"data of file{k}", b"%d;" % k * (2 * k + 2), data)
