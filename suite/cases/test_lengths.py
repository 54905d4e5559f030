"""Lengths: a name of each length there is means the same to every op, and so does a path."""

import itertools
from collections import defaultdict
from collections.abc import Iterator

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome
from ..engine.case import Case, Control
from ..engine.marks import clauses, large, many_calls
from .names import MOST_BYTES, PLAIN
from .test_names import KEPT, accepted, behind, written

#: A directory with the longest name, and a slash. Paths in one are as many bytes longer as there are names.
LEVEL = "n" * (MOST_BYTES - 1)
#: What each op answered, and, where it answered OK, whether what it did can be seen.
Answers = Iterator[tuple[Outcome[object], bool]]


def _written(case: Case, name: str) -> None:
    written(case, name)


def content(case: Case, uri: str) -> bytes | None:
    """What is in a file; nothing where it does not open."""
    opened = case.fs.new_random_access_file(uri)
    if opened.value is None:
        return None
    with opened.value as file:
        return file.read(0, 2 * MOST_BYTES).value.data


def asked(case: Case, uri: str, inside: bytes) -> Answers:
    """Perform the ops that change nothing on a file that is there."""
    fs = case.fs
    yield fs.path_exists(uri), True
    facts = fs.stat(uri)
    yield facts, (facts.value.length, facts.value.is_directory) == (len(inside), 0)
    size = fs.get_file_size(uri)
    yield size, size.value == len(inside)
    opened = fs.new_random_access_file(uri)
    if opened.value is not None:
        opened.value.cleanup()
    yield opened, opened.ok and content(case, uri) == inside
    mapped = fs.new_read_only_memory_region_from_file(uri)
    if mapped.value is not None:
        with mapped.value as region:
            yield mapped, region.length().value == len(inside)
    else:
        yield mapped, False


def changed(case: Case, uri: str, other: str, inside: bytes) -> Answers:
    """Perform the other ops on it, and on a path of the same length where nothing is before and after."""
    fs = case.fs
    copied = fs.copy_file(uri, other)
    yield copied, copied.ok and content(case, other) == inside == content(case, uri)
    if copied.ok and case.does("new_appendable_file"):
        appended = fs.new_appendable_file(other)
        if appended.value is not None:
            with case.setup, appended.value as file:
                case.setup.require(file.append(b"more"))
                case.setup.require(file.close())
        yield appended, appended.ok and content(case, other) == inside + b"more"
    if copied.ok:
        deleted = fs.delete_file(other)
        yield deleted, fs.path_exists(other).code is Code.NOT_FOUND
    for source, target in ((uri, other), (other, uri)):
        moved = fs.rename_file(source, target)
        yield moved, moved.ok and content(case, target) == inside and content(case, source) is None
        if not moved.ok:
            break
    if not case.makes_directories:
        return
    for make, remove in ((fs.create_dir, fs.delete_dir), (fs.recursively_create_dir, fs.delete_recursively)):
        made = make(other)
        is_directory = fs.is_directory(other)
        yield made, not made.ok or is_directory.value == 1
        if made.ok:
            yield is_directory, is_directory.value == 1
            listed = fs.get_children(other)
            yield listed, listed.value.bare == ()
            removed: Outcome[object] = remove(other)
            yield removed, fs.path_exists(other).code is Code.NOT_FOUND


def of_each_length(case: Case, place: str, *, changes: bool) -> None:
    """Try names of each length in one directory, each with a content of its own, then delete every second.

    An op does with each what it does with others: what goes wrong with all is no matter of lengths. A filesystem may
    end somewhere; up to there it has all.
    """
    # What a file of a plain name cannot have is no matter of lengths, either.
    case.control = Control(lambda trial: _written(trial, PLAIN), "names/file[plain]", {f"{place}/n": PLAIN})
    fs, had, spoiled = case.fs, list[int](), set[int]()
    went: dict[str, dict[bool, list[int]]] = defaultdict(lambda: {True: [], False: []})
    for length in range(1, MOST_BYTES + 1):
        uri, other = case.uri(place, "n" * length), case.uri(place, "m" * length)
        if case.bench.claims.beyond(uri) is not None:
            break
        inside = b"c" * length
        if not written(case, f"{place}/{'n' * length}", inside):
            continue
        had.append(length)
        for got, right in asked(case, uri, inside):
            if not case.check.unimplemented(got):
                went[got.op][got.ok and right].append(length)
        for got, right in changed(case, uri, other, inside) if changes else ():
            if not case.check.unimplemented(got):
                went[got.op][got.ok and right].append(length)
                if not (got.ok and right):
                    # Nobody knows what is there after that.
                    spoiled.add(length)
    if not had:
        return
    there = [length for length in had if length not in spoiled]
    together(case, place, there, [])
    if case.does("delete_file") and case.writes_files:
        gone = [length for length in there[::2] if fs.delete_file(case.uri(place, "n" * length)).ok]
        together(case, place, [length for length in there if length not in gone], gone)
        went["delete_file"][True] += gone
        went["delete_file"][False] += [length for length in there[::2] if length not in gone]
    refused = sorted({*range(1, had[-1])} - {*had})
    case.check.equal(KEPT, "lengths that are refused, below one that it has", [], refused)
    for op, of in went.items():
        if of[True]:
            case.check.equal(KEPT, f"{op}: lengths that it gets wrong", [], sorted({*of[False]}))


def together(case: Case, place: str, there: list[int], gone: list[int]) -> None:
    """Check that what tells of many files at once tells of those that are there, and of none that is deleted."""
    fs = case.fs
    told = {"get_children": {*case.setup.require(fs.get_children(case.uri(place))).bare}}
    matched = fs.get_matching_paths(case.uri(place) + "/n*")
    if case.setup.optional(matched):
        found = behind(case, matched.value)
        told["get_matching_paths"] = {path.removeprefix(f"{place}/") for path in found}
    names = ["n" * length for length in (*there, *gone)]
    exist = fs.paths_exist([case.uri(place, name) for name in names])
    if not case.check.unimplemented(exist):
        statuses = exist.value.statuses or ()
        if {status.code for status in statuses} != {Code.UNIMPLEMENTED}:
            told["paths_exist"] = {*itertools.compress(names, (status.code is Code.OK for status in statuses))}
    for op, names_told in told.items():
        wrong = [n for n in there if "n" * n not in names_told] + [n for n in gone if "n" * n in names_told]
        case.check.equal(KEPT, f"{op}: lengths that it gets wrong", [], sorted(wrong))


@many_calls(15 * MOST_BYTES)
@clauses(KEPT, "paths.illegal-names")
def test_names(case: Case) -> None:
    """A file of each length of a name stands in one directory; each is asked about, read, and told of among others."""
    case.setup.mkdir_where_known("d")
    of_each_length(case, "d", changes=False)


@large
@many_calls(45 * MOST_BYTES)
@pytest.mark.parametrize("depth", [pytest.param(n, id=str(n)) for n in range(4)])
@clauses(KEPT, "paths.illegal-names")
def test_paths(case: Case, depth: int) -> None:
    """So it is so many directories of the longest name deep: paths have all lengths. Every op is performed on each."""
    place = "/".join(["d", *[LEVEL] * depth])
    if accepted(case, place, case.fs.recursively_create_dir(case.uri(place))):
        of_each_length(case, place, changes=case.writes_files)
