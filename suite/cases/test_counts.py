"""Counts: of entries around a page of a store, of the bytes of their names, of paths that are asked for at once."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from itertools import product

import pytest

from ...harness.ops.codes import Code
from ..engine.case import Case
from ..engine.marks import clauses, large, many_calls
from ..engine.setup import Tree
from .test_names import KEPT, accepted, behind, used_beside_plain, written

#: What stores give in one page.
PAGE = 1000
#: An op on a page of entries may take so many times as long as another one: a store is asked for each.
SLOWER = 10
ONCE = "get_children.names-every-entry-once"
AGREE = "common.queries-agree"
MATCHES = "get_matching_paths.succeeds"
LEVELS = "get_matching_paths.levels"
GONE = "delete_recursively.deletes-everything"
RENAMED = "rename_file.directory-is-failed-precondition"
#: What most names around a page match, and every tenth one.
PATTERNS = ("*", "*7", "[a-d]*", "d?????")


def matches_itself(case: Case) -> bool:
    """Whether patterns are the plugin's. Core's default lists, and asks of each entry: it finds what is listed."""
    return "get_matching_paths" in case.fs.present


def understood(case: Case, directory: str, first: str, patterns: Iterable[str]) -> list[str]:
    """The patterns of which a narrow one of their kind finds the first name. Of the kinds other cases tell."""
    narrow = {"?": f"{first[:-1]}?", "[": f"{first[:-1]}[{first[-1]}]"}

    def means(one: str) -> bool:
        with patiently(case):
            got = case.fs.get_matching_paths(f"{case.uri(directory)}/{one}")
        return got.ok and f"{directory}/{first}" in behind(case, got.value)

    unknown = [mark for mark, one in narrow.items() if not means(one)]
    return [pattern for pattern in patterns if not any(mark in pattern for mark in unknown)]


def patiently(case: Case) -> AbstractContextManager[None]:
    """Within, a call may take as long as one on a page of entries."""
    return case.surroundings.patient(SLOWER * case.bench.target.timeout)


def lists(case: Case, directory: str, names: Collection[str]) -> None:
    """Check that these names are listed in a directory."""
    with patiently(case):
        listed = case.setup.require(case.fs.get_children(case.uri(directory))).bare
    case.check.equal(ONCE, "missing or foreign", [], sorted({*names} ^ {*listed}))
    case.check.equal(ONCE, "entries", len(names), len(listed))


def finds(case: Case, directory: str, pattern: str, names: Iterable[str]) -> None:
    """Check that a pattern finds those of these names in a directory that it means."""
    with patiently(case):
        got = case.fs.get_matching_paths(f"{case.uri(directory)}/{pattern}")
    if "get_matching_paths" not in case.check.works and case.check.unimplemented(got):
        return
    matches = behind(case, case.setup.require(got))
    expected = {f"{directory}/{name}" for name in names if fnmatchcase(name, pattern)}
    case.check.equal(MATCHES, f"missing or foreign of {pattern}", [], sorted(expected ^ {*matches}))
    case.check.equal(MATCHES, f"matches of {pattern}", len(expected), len(matches))


def seen(case: Case, names: list[str]) -> None:
    """Check with every op that lists or asks that `many` holds these names; `d` is a directory with a file in it."""
    fs, many = case.fs, case.uri("many")
    lists(case, "many", names)
    uri = f"{many}/d"
    if case.makes_directories:
        # What comes before `d/` in the order of keys fills the first page.
        case.check.status(AGREE, fs.path_exists(uri), Code.OK)
        case.check.equal(AGREE, "stat: is_directory", 1, case.setup.require(fs.stat(uri)).is_directory)
        kind = fs.is_directory(uri)
        if "is_directory" in case.check.works or not case.check.unimplemented(kind):
            case.check.equal(AGREE, "is_directory: returned", 1, kind.value)
        case.check.equal(ONCE, "entries of d", ("inside",), case.setup.require(fs.get_children(uri)).bare)
    for pattern in understood(case, "many", names[1], PATTERNS) if matches_itself(case) else ():
        finds(case, "many", pattern, names)
    if "paths_exist" in fs.present and len(names) > PAGE:
        asked = names if case.makes_directories else [name for name in names if name != "d"]
        got = fs.paths_exist([*(f"{many}/{name}" for name in asked), f"{many}/missing"])
        if not case.check.unimplemented(got):
            codes = [status.code for status in got.value.statuses or ()]
            wrong = [k for k, code in enumerate(codes) if (code is Code.OK) != (k < len(asked))]
            case.check.equal("paths_exist.fills-every-status", "wrong", [], wrong)
            case.check.equal("paths_exist.is-true-if-all-exist", "returned", False, got.value.returned)


def renamed(case: Case, directory: str) -> str:
    """Rename a directory, after one with a file in it. Give the name that it has then.

    What was in it must be the same, by names, kinds and contents where directories are renamed, else by names.
    """
    if not case.does("rename_file"):
        return directory
    case.setup.mkdir_where_known("small")
    case.setup.write("small/file", b"file")
    small = case.fs.rename_file(case.uri("small"), case.uri("small-renamed"))
    name = "small-renamed" if small.ok else "small"
    case.setup.require(case.fs.delete_file(case.uri(f"{name}/file")))
    if case.makes_directories:
        case.setup.require(case.fs.delete_dir(case.uri(name)))
    if case.check.unimplemented(small):
        return directory

    def there(path: str) -> Tree:
        if small.ok:
            return case.setup.tree()
        above = case.setup.require(case.fs.get_children(case.uri())).bare
        return dict.fromkeys((*above, *case.setup.require(case.fs.get_children(case.uri(path))).bare))

    target = f"{directory}-renamed"
    # Who copies and deletes asks twice for each entry.
    with case.surroundings.patient(3 * SLOWER * case.bench.target.timeout):
        before = there(directory)
        got = case.fs.rename_file(case.uri(directory), case.uri(target))
        after = there(directory if not got.ok and directory in before else target)
    moved = {f"{target}{path.removeprefix(directory)}": content for path, content in before.items()}
    expected = moved if got.ok else before
    odd = sorted(path for path in {*expected, *after} if path not in after or expected.get(path, "") != after[path])
    readings = {
        "supported": got.ok and not odd,
        "forbidden": got.code in (Code.FAILED_PRECONDITION, small.code) and not got.ok and not odd,
    }
    wrong = f", {len(odd)} paths are not as before, {odd[0]:.40}" if odd else ""
    case.check.reading(RENAMED, readings, f"code={got.code}, with one file in it {small.code}{wrong}", got.message)
    return target if got.ok else directory


def around(case: Case, counts: Sequence[int]) -> None:
    """Look at a directory at so many entries, every second one a directory if there are any; rename and delete it."""
    case.setup.mkdir_where_known("many")
    case.setup.mkdir_where_known("many/d")
    case.setup.write("many/d/inside", b"")
    names = ["d"]
    for count in counts:
        while len(names) < count:
            names.append(f"d-{len(names):04}")
            if len(names) % 2 == 0 and case.makes_directories:
                case.setup.mkdir(f"many/{names[-1]}")
            else:
                case.setup.write(f"many/{names[-1]}", names[-1].encode())
        with patiently(case):
            seen(case, names)
    deleted(case, renamed(case, "many"))


@many_calls(2 * PAGE + 60)
@clauses(ONCE, AGREE, "get_children.succeeds", MATCHES, "paths_exist.fills-every-status",
         "paths_exist.is-true-if-all-exist", RENAMED, GONE, "delete_recursively.succeeds")  # fmt: skip
def test_around_a_page(case: Case) -> None:
    """A directory is looked at with one entry more than a page, and with two, renamed and deleted.

    Every second entry is a directory, where there are any: the second page has a file, then one of them.
    """
    around(case, (PAGE + 1, PAGE + 2))


@large
@many_calls(3 * PAGE + 90)
@clauses(ONCE, AGREE, "get_children.succeeds", MATCHES, "paths_exist.fills-every-status",
         "paths_exist.is-true-if-all-exist", RENAMED, GONE, "delete_recursively.succeeds")  # fmt: skip
def test_around_two_pages(case: Case) -> None:
    """A directory is looked at with one entry less than a page or two, with as many and more; renamed, deleted."""
    around(case, [pages * PAGE + more for pages in (1, 2) for more in (-1, 0, 1, 2)])


@large
@many_calls(PAGE + 10)
@clauses("delete_recursively.deletes-everything", "delete_recursively.succeeds")
def test_a_page_is_deleted(case: Case) -> None:
    """A directory with as many entries as a page has is deleted at once."""
    case.setup.build(dict.fromkeys(("many", *(f"many/{k}" for k in range(PAGE)))))
    with patiently(case):
        case.setup.require(case.fs.delete_recursively(case.uri("many")))
    case.tree_is("delete_recursively.deletes-everything", {})


#: What the entries are that there are many of.
kinds = pytest.mark.parametrize("kind", ["files", "directories"])


def make(case: Case, path: str, kind: str) -> None:
    """Set up a small file or a directory."""
    if kind == "files":
        case.setup.write(path, path[-4:].encode())
    else:
        case.setup.mkdir(path)


def deleted(case: Case, directory: str) -> None:
    """Delete all there is, and check that it is gone."""
    with patiently(case):
        case.setup.require(case.fs.delete_recursively(case.uri(directory)))
    case.tree_is(GONE, {})


# Where globs stand, and where there are many.

#: In place of a level of a path: as many names as are tried.
MANY = 0
#: The levels of paths, each one name or a number of names, and how many the many are.
SHAPES: dict[str, tuple[tuple[str | int, ...], tuple[int, ...]]] = {
    "many-and-a-leaf": (("m", MANY, "f"), (PAGE, PAGE + 1, 2 * PAGE + 1)),
    "many-between": (("m", "a", MANY, "b", "f"), (PAGE, PAGE + 1)),
    "many-in-few": (("m", 3, MANY, "f"), (PAGE // 3 + 1,)),
}
#: What stands for them: for all, for most and for few.
OF_MANY = ("*", "d*", "*7", "d[0-9]*", "d????", "*[2-6]")


def named(levels: Sequence[str | int]) -> list[tuple[str, ...]]:
    """The paths of these levels, by their names."""
    names = [[one] if isinstance(one, str) else [f"d{k:04}" for k in range(one)] for one in levels]
    return list(product(*names))


def patterns(levels: Sequence[str | int], many: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Patterns of these levels with globs where there are many; with one level written otherwise; with stars alone."""
    ways = [("m",), *((one, "*") if isinstance(one, str) else many for one in levels[1:])]
    plain = [way[0] for way in ways]
    yield tuple(plain)
    for level, way in enumerate(ways):
        for other in way[1:]:
            yield (*plain[:level], other, *plain[level + 1 :])
    yield ("m", *["*"] * (len(levels) - 1))


def match(case: Case, levels: Sequence[str | int], some: Iterable[tuple[str, ...]]) -> None:
    """Check what patterns find that go down to the last of these levels, up to the first that is wrong."""
    paths = named(levels)
    clause = LEVELS if len(levels) > 2 else MATCHES
    for pattern in dict.fromkeys(some):
        text = "/".join(pattern)
        with patiently(case):
            got = case.fs.get_matching_paths(case.uri() + "/" + text)
        if case.check.unimplemented(got):
            return
        matches = behind(case, case.setup.require(got))
        expected = ["/".join(path) for path in paths if all(map(fnmatchcase, path, pattern))]
        odd = sorted({*expected} ^ {*matches})
        for path in odd[:1]:
            if path in expected and not case.fs.path_exists(case.uri(path)).ok:
                case.blocked("path_exists", "what was made is not there")
        case.check.equal(clause, f"missing or foreign of {text}", [], odd)
        if odd:
            return
        case.check.equal(clause, f"matches of {text}", len(expected), len(matches))


@large
@kinds
@pytest.mark.parametrize("shape", list(SHAPES))
@many_calls(6 * PAGE)
@clauses(LEVELS, MATCHES, ONCE, RENAMED, GONE, "get_children.succeeds", "delete_recursively.succeeds")
def test_below_many(case: Case, shape: str, kind: str) -> None:
    """Patterns go down through as many directories as a page has, and more, to what is in each.

    The directories stand in one, or in few of them, and one or two levels above the last. All is renamed and deleted.
    """
    levels, counts = SHAPES[shape]
    made = set[str]()
    for count in counts:
        now = [count if level == MANY else level for level in levels]
        for path in named(now):
            for depth in range(1, len(path) + 1):
                one = "/".join(path[:depth])
                if one in made:
                    continue
                made.add(one)
                if depth == len(path):
                    make(case, one, kind)
                else:
                    case.setup.mkdir_where_known(one)
        many = levels.index(MANY)
        above = "/".join(named(now[:many])[0])
        lists(case, above, {path[many] for path in named(now)})
        if matches_itself(case):
            ways = understood(case, above, "d0000", OF_MANY)
            for depth in range(many + 1, len(now) + 1):
                match(case, now[:depth], patterns(now[:depth], ways))
    deleted(case, renamed(case, "m"))


#: The levels of eight paths, and in how many of them globs stand.
STEEP: Sequence[str | int] = ("m", 2, *[1] * 7, 2, *[1] * 7, 2)
GLOBS = (5, 6, 9, len(STEEP) - 1)
#: What stands for a name in every level: each of the ways to write a glob.
WAYS = ("*", "d*", "d000?", "?????", "d000[01]", "[a-d]*")


def steep(ways: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Patterns with globs of one of these ways, or of all, in the first levels or the last; the others are names."""
    names = named(STEEP)[0][1:]
    levels = len(names)
    turns = [tuple(ways[level % len(ways)] for level in range(levels)), *((way,) * levels for way in ways)]
    for turn, count in product(turns, GLOBS):
        yield ("m", *turn[:count], *names[count:])
        yield ("m", *names[: levels - count], *turn[levels - count :])


@many_calls(len(GLOBS) * 2 * len(WAYS) + 60)
@clauses(LEVELS)
def test_globs_in_many_levels(case: Case) -> None:
    """Patterns have globs in 5, 6, 9 and 17 levels, with a few paths that they match."""
    made = {"/".join(path[:depth]): depth == len(STEEP) for path in named(STEEP) for depth in range(1, len(path) + 1)}
    for path, is_last in made.items():
        if is_last:
            case.setup.write(path, b"")
        else:
            case.setup.mkdir_where_known(path)
    # Core's default lists once more for each level.
    match(case, STEEP, steep(understood(case, "m", "d0000", WAYS) if matches_itself(case) else WAYS[:1]))


# A few of one kind among many of the other.

#: The names of the few: before the many, among them, and behind.
FEW = ("a0", "a1", "d0500-few", "z0", "z1")
#: Patterns of all and of the few.
OF_FEW = ("*", "[a-z]*", "a?", "*few", "z*")


@large
@pytest.mark.parametrize("count", [pytest.param(n, id=str(n)) for n in (PAGE + 1, 2 * PAGE + 1)])
@kinds
@many_calls(4 * PAGE)
@clauses(ONCE, AGREE, MATCHES, RENAMED, GONE, "get_children.succeeds", "delete_recursively.succeeds")
def test_few_among_many(case: Case, count: int, kind: str) -> None:
    """A directory has more than a page of one kind and few of the other: it is listed, matched, renamed, deleted."""
    case.setup.mkdir_where_known("m")
    many, other = [f"d{k:04}" for k in range(count)], "directories" if kind == "files" else "files"
    for name in many:
        make(case, f"m/{name}", kind)
    for name in FEW:
        make(case, f"m/{name}", other)
    names = {*many, *FEW}
    lists(case, "m", names)
    with patiently(case):
        for name in FEW:
            is_directory = case.setup.require(case.fs.stat(case.uri(f"m/{name}"))).is_directory
            case.check.equal(AGREE, f"stat of {name}: is_directory", int(other == "directories"), is_directory)
    for pattern in understood(case, "m", "a0", OF_FEW) if matches_itself(case) else ():
        finds(case, "m", pattern, names)
    deleted(case, renamed(case, "m"))


# How many bytes their names are.

#: The lengths of names, in bytes. With their ends, 256 or 512 of two of them fill 64 KiB.
LENGTHS = (127, 244, 255)
#: How many there are when a directory is looked at, whatever their length.
AROUND = tuple(count + more for count in (128, 256, 512) for more in (-1, 0, 1))
#: How many with their ends fill 64 KiB.
FILLED = {length: (64 << 10) // (length + 1) for length in LENGTHS}
lengths = pytest.mark.parametrize("length", [pytest.param(n, id=str(n)) for n in LENGTHS])


def crowd(case: Case, length: int, kind: str, counts: Sequence[int]) -> None:
    """Look at a directory of names of this length when it has so many; rename and delete it."""
    case.setup.mkdir_where_known("d")
    names = [f"{k:04}".ljust(length, "n") for k in range(counts[-1])]
    first = f"d/{names[0]}"
    case.surroundings.within_limits(case.uri(first))
    if not case.writes_files:
        make(case, first, kind)
    elif not (written(case, first) if kind == "files" else accepted(case, first, case.fs.create_dir(case.uri(first)))):
        return
    there = 1
    for count in counts:
        for name in names[there:count]:
            make(case, f"d/{name}", kind)
        there = count
        lists(case, "d", names[:count])
        if matches_itself(case):
            finds(case, "d", "*", names[:count])
    directory = renamed(case, "d")
    with patiently(case):
        is_asked = case.setup.optional(case.fs.delete_recursively(case.uri(directory)))
    if is_asked:
        case.tree_is(GONE, {})


@kinds
@lengths
@many_calls(max(FILLED.values()) + 10)
@clauses(ONCE, MATCHES, RENAMED, GONE, "get_children.succeeds", "delete_recursively.succeeds", KEPT,
         "paths.illegal-names")  # fmt: skip
def test_long_names(case: Case, length: int, kind: str) -> None:
    """A directory has as many names of such a length as fill 64 KiB, and one more: it is listed, renamed, deleted."""
    crowd(case, length, kind, (FILLED[length], FILLED[length] + 1))


@large
@kinds
@lengths
@many_calls(AROUND[-1] + 2 * len(AROUND))
@clauses(ONCE, MATCHES, RENAMED, GONE, "get_children.succeeds", "delete_recursively.succeeds", KEPT,
         "paths.illegal-names")  # fmt: skip
def test_hundreds_of_long_names(case: Case, length: int, kind: str) -> None:
    """A directory has hundreds of names of so many bytes: it is listed, matched, renamed and deleted."""
    crowd(case, length, kind, AROUND)


@large
@kinds
@many_calls(4 << 10)
@clauses(ONCE, MATCHES, RENAMED, GONE, "get_children.succeeds", "delete_recursively.succeeds", KEPT,
         "paths.illegal-names")  # fmt: skip
def test_a_mebibyte_of_names(case: Case, kind: str) -> None:
    """The names in a directory take 1 MiB together: it is listed, matched, renamed and deleted."""
    crowd(case, LENGTHS[-1], kind, ((4 << 10) - 1, 4 << 10, (4 << 10) + 1))


# How many paths are asked for at once, and how many levels one has.


def ask(case: Case, count: int) -> None:
    """Ask for so many paths at once, of which none is missing, or every third, or the last one."""
    there = [case.setup.write("file", b""), case.setup.write("other", b"")]
    for missing in ((), range(0, count, 3), (count - 1,)):
        lacking = {*missing}
        uris = [case.uri(f"missing{k}") if k in lacking else there[k % 2] for k in range(count)]
        for with_statuses in (True, False):
            with patiently(case):
                got = case.fs.paths_exist(uris, with_statuses=with_statuses)
            case.check.implemented(got)
            how = "with statuses" if with_statuses else "without statuses"
            case.check.equal("paths_exist.is-true-if-all-exist", f"{how}: returned", not lacking, got.value.returned)
            if with_statuses:
                codes = [status.code for status in got.value.statuses or ()]
                right = [Code.NOT_FOUND if k in lacking else Code.OK for k in range(count)]
                wrong = [k for k, code in enumerate(codes) if code is not right[k]]
                case.check.equal("paths_exist.fills-every-status", "wrong", [], wrong)


@many_calls(6 * PAGE)
@clauses("paths_exist.is-true-if-all-exist", "paths_exist.fills-every-status")
def test_a_page_is_asked_for(case: Case) -> None:
    """One path more than a page has is asked for at once, with statuses and without."""
    ask(case, PAGE + 1)


@large
@many_calls(12 * PAGE)
@clauses("paths_exist.is-true-if-all-exist", "paths_exist.fills-every-status")
def test_two_pages_are_asked_for(case: Case) -> None:
    """One path more than two pages have is asked for at once, with statuses and without."""
    ask(case, 2 * PAGE + 1)


@large
@clauses(KEPT, "paths.illegal-names", "recursively_create_dir.succeeds", "new_writable_file.succeeds",
         "new_random_access_file.succeeds")  # fmt: skip
def test_a_page_of_levels(case: Case) -> None:
    """A path of more levels than a page has entries is created, every op is performed there, and it is deleted."""
    used_beside_plain(case, "/".join(["d"] * (PAGE + 1)))
