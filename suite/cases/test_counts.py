"""Counts: of entries around a page of a store."""

from contextlib import AbstractContextManager

from ...harness.ops.codes import Code
from ..engine.case import Case
from ..engine.marks import clauses, large, many_calls
from .test_names import behind

#: What stores give in one page.
PAGE = 1000
#: An op on a page of entries may take so many times as long as another one: a store is asked for each.
SLOWER = 10
ONCE = "get_children.names-every-entry-once"
AGREE = "common.queries-agree"


def _has_directories(case: Case) -> bool:
    return "create_dir" not in case.bench.claims.ops_given_up


def patiently(case: Case) -> AbstractContextManager[None]:
    """Within, a call may take as long as one on a page of entries."""
    return case.surroundings.patient(SLOWER * case.bench.target.timeout)


def seen(case: Case, names: list[str]) -> None:
    """Check with every op that lists or asks that `many` holds these names; `d` is a directory with a file in it."""
    fs, many = case.fs, case.uri("many")
    listed = case.setup.require(fs.get_children(many)).bare
    case.check.equal(ONCE, "missing or foreign", [], sorted(set(names).symmetric_difference(listed)))
    case.check.equal(ONCE, "entries", len(names), len(listed))
    uri = f"{many}/d"
    if _has_directories(case):
        # What comes before `d/` in the order of keys fills the first page.
        case.check.status(AGREE, fs.path_exists(uri), Code.OK)
        case.check.equal(AGREE, "stat: is_directory", 1, case.setup.require(fs.stat(uri)).is_directory)
        case.check.equal(AGREE, "is_directory: returned", 1, fs.is_directory(uri).value)
        case.check.equal(ONCE, "entries of d", ("inside",), case.setup.require(fs.get_children(uri)).bare)
    if fs.available("get_matching_paths"):
        for pattern, ends in (("*", ""), ("*7", "7")):
            matches = case.setup.require(fs.get_matching_paths(f"{many}/{pattern}"))
            expected = sorted(f"many/{name}" for name in names if name.endswith(ends))
            odd = sorted(set(expected).symmetric_difference(behind(case, matches)))
            case.check.equal("get_matching_paths.succeeds", f"missing or foreign of {pattern}", [], odd)
            case.check.equal("get_matching_paths.succeeds", "matches", len(expected), len(matches.names))
    if fs.available("paths_exist") and len(names) > PAGE:
        asked = names if _has_directories(case) else [name for name in names if name != "d"]
        got = fs.paths_exist([*(f"{many}/{name}" for name in asked), f"{many}/missing"])
        if not case.check.unimplemented(got):
            codes = [status.code for status in got.value.statuses or ()]
            wrong = [k for k, code in enumerate(codes) if (code is Code.OK) != (k < len(asked))]
            case.check.equal("paths_exist.fills-every-status", "wrong", [], wrong)
            case.check.equal("paths_exist.is-true-if-all-exist", "returned", False, got.value.returned)


@many_calls(2 * PAGE + 60)
@clauses(ONCE, AGREE, "get_children.succeeds", "get_matching_paths.succeeds", "paths_exist.fills-every-status",
         "paths_exist.is-true-if-all-exist", "delete_recursively.deletes-everything",
         "delete_recursively.succeeds")  # fmt: skip
def test_around_a_page(case: Case) -> None:
    """A directory is looked at with one entry less than a page, with as many, and with more, and deleted.

    Every second entry is a directory, where there are any: the second page has a file, then one of them.
    """
    case.setup.mkdir_where_known("many")
    case.setup.mkdir_where_known("many/d")
    case.setup.write("many/d/inside", b"")
    names = ["d"]
    for count in range(PAGE - 1, PAGE + 3):
        while len(names) < count:
            names.append(f"d-{len(names):04}")
            if len(names) % 2 == 0 and _has_directories(case):
                case.setup.mkdir(f"many/{names[-1]}")
            else:
                case.setup.write(f"many/{names[-1]}", b"")
        with patiently(case):
            seen(case, names)
    with patiently(case):
        case.setup.require(case.fs.delete_recursively(case.uri("many")))
    case.check.equal("delete_recursively.deletes-everything", "tree", {}, case.setup.tree())


@large
@many_calls(PAGE + 10)
@clauses("delete_recursively.deletes-everything", "delete_recursively.succeeds")
def test_a_page_is_deleted(case: Case) -> None:
    """A directory with as many entries as a page has is deleted at once."""
    case.setup.mkdir("many")
    for k in range(PAGE):
        case.setup.mkdir(f"many/{k}")
    with patiently(case):
        case.setup.require(case.fs.delete_recursively(case.uri("many")))
    case.check.equal("delete_recursively.deletes-everything", "tree", {}, case.setup.tree())
