"""Changes: whatever changes a path, every op that looks sees it at once, whether it had looked before or not.

Each look has a directory of its own, where it is the first one after the change: no other op refreshes there what it
may remember. Others look before, too, as `earlier` says: an op may answer from what they have seen.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from itertools import product
from typing import Any

import pytest

from ...harness.hosting.loader import BlockedError
from ...harness.ops.codes import Code
from ...harness.ops.guard import Guard
from ...harness.ops.outcomes import Outcome
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, large, many_calls, over_tables
from .large import LEAST

AGREE, REFLECT = "common.queries-agree", "flush_caches.results-reflect-the-store"
#: What is at a path: the content of a file, a directory with these names in it, or nothing.
State = bytes | tuple[str, ...] | None
EMPTY: State = ()
#: The name of a method of the filesystem, or `write` or `append`, and its arguments.
Step = tuple[str, str] | tuple[str, str, str | bytes]
#: The steps before; what is at the path then; the change; what is there then.
Change = tuple[list[Step], State, list[Step], State]
OLD = b"the old content"
#: Bytes of a small read.
PART = 7
#: Where the change is: a directory of this name is there.
PATH = "up/path"

#: The steps that make a tree there.
TREE: list[Step] = [("create_dir", PATH), ("write", f"{PATH}/file", b"x")]


def onto(op: str, old: bytes, new: bytes) -> Change:
    """A file takes the place of another one."""
    return ([("write", PATH, old), ("write", "other", new)], old, [(op, "other", PATH)], new)


CHANGES: dict[str, Change] = {
    "written": ([], None, [("write", PATH, b"12345")], b"12345"),
    "written-with-nothing": ([], None, [("write", PATH, b"")], b""),
    "made-by-append": ([], None, [("append", PATH, b"12345")], b"12345"),
    "anew-longer": ([("write", PATH, OLD)], OLD, [("write", PATH, b"n" * 5000)], b"n" * 5000),
    "anew-shorter": ([("write", PATH, OLD)], OLD, [("write", PATH, b"n")], b"n"),
    "anew-as-long": ([("write", PATH, OLD)], OLD, [("write", PATH, OLD[::-1])], OLD[::-1]),
    "emptied": ([("write", PATH, OLD)], OLD, [("write", PATH, b"")], b""),
    "appended": ([("write", PATH, OLD)], OLD, [("append", PATH, b"more")], OLD + b"more"),
    "renamed-here": ([("write", "other", b"other")], None, [("rename_file", "other", PATH)], b"other"),
    "renamed-onto": onto("rename_file", OLD, OLD[::-1]),
    "renamed-away": ([("write", PATH, OLD)], OLD, [("rename_file", PATH, "other")], None),
    "renamed-and-back": (
        [("write", PATH, OLD)],
        OLD,
        [("rename_file", PATH, "other"), ("write", "other", b"anew"), ("rename_file", "other", PATH)],
        b"anew",
    ),
    "copied-here": ([("write", "other", b"other")], None, [("copy_file", "other", PATH)], b"other"),
    "copied-onto": onto("copy_file", OLD, OLD[::-1]),
    "deleted": ([("write", PATH, OLD)], OLD, [("delete_file", PATH)], None),
    "deleted-and-written": ([("write", PATH, OLD)], OLD, [("delete_file", PATH), ("write", PATH, b"anew")], b"anew"),
    "file-then-directory": ([("write", PATH, OLD)], OLD, [("delete_file", PATH), ("create_dir", PATH)], EMPTY),
    "directory-then-file": ([("create_dir", PATH)], EMPTY, [("delete_dir", PATH), ("write", PATH, b"new")], b"new"),
    "tree-then-file": (TREE, ("file",), [("delete_recursively", PATH), ("write", PATH, b"new")], b"new"),
    "directory": ([], None, [("create_dir", PATH)], EMPTY),
    "directory-with-another": ([], None, [("recursively_create_dir", f"{PATH}/inner")], ("inner",)),
    "directory-at-once": ([], None, [("recursively_create_dir", PATH)], EMPTY),
    "directory-deleted": ([("create_dir", PATH)], EMPTY, [("delete_dir", PATH)], None),
    "tree-deleted": (TREE, ("file",), [("delete_recursively", PATH)], None),
    "above-deleted": ([("write", PATH, OLD)], OLD, [("delete_recursively", "up")], None),
    "above-deleted-with-a-directory": ([("create_dir", PATH)], EMPTY, [("delete_recursively", "up")], None),
    "above-renamed-away": ([("write", PATH, OLD)], OLD, [("rename_directory", "up", "gone")], None),
    "above-renamed-here": (
        [("write", PATH, OLD), ("create_dir", "other"), ("write", "other/path", b"other")],
        OLD,
        [("rename_directory", "up", "gone"), ("rename_directory", "other", "up")],
        b"other",
    ),
    "above-renamed-and-back": (
        [("write", PATH, OLD)],
        OLD,
        [("rename_directory", "up", "other"), ("write", "other/path", b"anew"), ("rename_directory", "other", "up")],
        b"anew",
    ),
    "above-made-again": ([("write", PATH, OLD)], OLD, [("delete_recursively", "up"), ("create_dir", "up")], None),
    "all-made-again": (
        [("write", PATH, OLD)],
        OLD,
        [("delete_recursively", "up"), ("recursively_create_dir", "up"), ("write", PATH, OLD[::-1])],
        OLD[::-1],
    ),
    "all-made-again-as-a-directory": (
        [("write", PATH, OLD)],
        OLD,
        [("delete_recursively", "up"), ("recursively_create_dir", f"{PATH}/inner")],
        ("inner",),
    ),
}


def stretched(given: Any, size: int) -> Any:
    """A change, or what of it is given, with contents of so many bytes."""
    match given:
        case bytes():
            return (given * (size // len(given) + 1))[:size]
        case list() | tuple():
            return type(given)(stretched(one, size) for one in given)
    return given


#: The changes of a file of many bytes into one that is longer or shorter, by about as much as a name has.
RESIZED: dict[str, Callable[[bytes], Change]] = {
    "appended": lambda old: ([("write", PATH, old)], old, [("append", PATH, b"more")], old + b"more"),
    "anew-longer": lambda old: ([("write", PATH, old)], old, [("write", PATH, old + OLD)], old + OLD),
    "anew-shorter": lambda old: ([("write", PATH, old + OLD)], old + OLD, [("write", PATH, old)], old),
    "renamed-onto-longer": lambda old: onto("rename_file", old, old + OLD),
    "copied-onto-shorter": lambda old: onto("copy_file", old + OLD, old),
}


def of_size(name: str, size: int) -> Change:
    """A change of a file of so many bytes."""
    return RESIZED[name](stretched(OLD, size)) if name in RESIZED else stretched(CHANGES[name], size)


#: The changes of a file into one that is as long.
SAME = ("anew-as-long", "renamed-onto", "renamed-and-back", "copied-onto", "deleted-and-written", "all-made-again")
#: The same with other sizes, as blocks may be remembered: a change, and the bytes of its contents. Those of megabytes
#: are made when they are needed.
LARGE = {f"{name}-{size}": (name, size) for size in (1 << 20, 8 << 20) for name in (*SAME, *RESIZED)}
#: Those that another process does, too.
BY_ANOTHER = [*CHANGES, *(f"{name}-65536" for name in SAME)]
CHANGES |= {f"{name}-65536": of_size(name, 1 << 16) for name in (*SAME, *RESIZED)}
#: The ops that a step other than one op is about. Files may come from the backing.
STEPS: dict[str, tuple[str, ...]] = {"write": (), "append": ("new_appendable_file",), "rename_directory": ()}


def perform(case: Case, step: Step, within: str) -> None:
    """One step of a change. Of what comes from the backing a plugin hears when its caches are flushed."""
    match step:
        case ("write", name, bytes(content)):
            case.setup.write(f"{within}/{name}", content)
        case ("append", name, bytes(content)):
            got = case.fs.new_appendable_file(case.uri(f"{within}/{name}"))
            with case.setup, case.setup.opened(got) as file:
                case.setup.require(file.append(content))
                case.setup.require(file.close())
        case ("rename_directory", source, target):
            got = case.fs.rename_file(case.uri(within, str(source)), case.uri(within, str(target)))
            # Both readings of rename_file.directory-is-failed-precondition are right.
            if got.code is Code.FAILED_PRECONDITION:
                raise NoStimulusError("it renames no directories")
            case.setup.require(got)
        case (op, *names):
            case.setup.require(getattr(case.fs, op)(*(case.uri(within, str(name)) for name in names)))
    if not case.writes_files:
        case.setup.require(case.fs.flush_caches())


def code_of(state: State) -> Code:
    """What the ops answer that ask about files and directories alike."""
    return Code.NOT_FOUND if state is None else Code.OK


def answers(case: Case, clause: str, got: Outcome[object], *codes: Code) -> bool:
    """Check an answer, and say whether there is more to compare. An op that is not implemented is no news here."""
    return not case.check.unimplemented(got) and case.check.status(clause, got, *codes) and got.ok


def opens(case: Case, got: Outcome[object], state: State, instead: str) -> bool:
    """Check the answer of an op that takes files, on the clause for what is at the path."""
    if state is None:
        return answers(case, instead or f"{got.op}.missing-is-not-found", got, Code.NOT_FOUND)
    if isinstance(state, tuple):
        clause = instead or f"{got.op}.directory-is-failed-precondition"
        return answers(case, clause, got, Code.FAILED_PRECONDITION)
    return answers(case, instead or f"{got.op}.succeeds", got, Code.OK)


# The looks. Each checks the clauses for what it asks, or one clause `instead`.


def exists(case: Case, within: str, state: State, instead: str = "") -> None:
    """path_exists."""
    answers(case, instead or AGREE, case.fs.path_exists(case.uri(within, PATH)), code_of(state))


def exist(case: Case, within: str, state: State, instead: str = "") -> None:
    """paths_exist."""
    got = case.fs.paths_exist([case.uri(within, PATH)])
    codes = [status.code for status in got.value.statuses or ()]
    if codes != [Code.UNIMPLEMENTED] and not case.check.unimplemented(got):
        case.check.equal(instead or AGREE, "paths_exist: statuses", [code_of(state)], codes)


def stat(case: Case, within: str, state: State, instead: str = "") -> None:
    """stat: the code, the kind, and the length of a file."""
    got = case.fs.stat(case.uri(within, PATH))
    if answers(case, instead or AGREE, got, code_of(state)):
        kind = got.value.is_directory
        case.check.equal(instead or AGREE, "stat: is_directory", int(not isinstance(state, bytes)), kind)
        if isinstance(state, bytes):
            case.check.equal(instead or AGREE, "stat: length", len(state), got.value.length)


def size(case: Case, within: str, state: State, instead: str = "") -> None:
    """get_file_size."""
    got = case.fs.get_file_size(case.uri(within, PATH))
    expected = Code.FAILED_PRECONDITION if isinstance(state, tuple) else code_of(state)
    if answers(case, instead or AGREE, got, expected) and isinstance(state, bytes):
        case.check.equal(instead or AGREE, "get_file_size: size", len(state), got.value)


def kind(case: Case, within: str, state: State, instead: str = "") -> None:
    """is_directory."""
    got = case.fs.is_directory(case.uri(within, PATH))
    # Both readings of is_directory.of-a-file are right.
    codes = (Code.OK, Code.FAILED_PRECONDITION) if isinstance(state, bytes) else (code_of(state),)
    if not case.check.unimplemented(got):
        case.check.status(instead or AGREE, got, *codes)
        case.check.equal(instead or AGREE, "is_directory: returned", int(isinstance(state, tuple)), got.value)


def listed(case: Case, within: str, state: State, instead: str = "") -> None:
    """get_children of the directory in which it is."""
    got = case.fs.get_children(case.uri(within, "up"))
    # With its only entry, or because all above it went, the directory may be gone.
    if got.code is Code.NOT_FOUND and state is None:
        case.check.status(instead or AGREE, got, Code.NOT_FOUND)
    elif answers(case, instead or AGREE, got, Code.OK):
        case.check.equal(instead or AGREE, "get_children: listed", state is not None, "path" in got.value.bare)


def lists(case: Case, within: str, state: State, instead: str = "") -> None:
    """get_children of the path itself."""
    got = case.fs.get_children(case.uri(within, PATH))
    if state is None:
        answers(case, instead or "get_children.missing-is-not-found", got, Code.NOT_FOUND)
    elif isinstance(state, bytes):
        answers(case, instead or "get_children.file-is-failed-precondition", got, Code.FAILED_PRECONDITION)
    elif answers(case, instead or "get_children.succeeds", got, Code.OK):
        names = tuple(sorted(got.value.bare))
        case.check.equal(instead or "get_children.names-every-entry-once", "entries", state, names)


def matched(case: Case, within: str, state: State, instead: str = "") -> None:
    """get_matching_paths, with a pattern in both names."""
    got = case.fs.get_matching_paths(case.uri(within) + "/u?/p*")
    # Where there are no directories there is none without anything in it.
    if state is None and got.code is Code.NOT_FOUND and not case.makes_directories:
        return
    if answers(case, instead or "get_matching_paths.succeeds", got, Code.OK):
        case.check.equal(
            instead or "get_matching_paths.succeeds", "matches", int(state is not None), len(got.value.names)
        )


def read(case: Case, within: str, state: State, instead: str = "") -> None:
    """A new reader."""
    got = case.fs.new_random_access_file(case.uri(within, PATH))
    if opens(case, got, state, instead) and isinstance(state, bytes):
        with case.setup, case.setup.opened(got) as file:
            data = file.read(0, len(state) + 1).value.data
            case.check.equal(instead or "read.returns-the-bytes", "data", state, data)
            # What is remembered of a file may answer only who asks for a part of it.
            for at in sorted({0, len(state) // 2, max(0, len(state) - PART)}) if state else ():
                data = file.read(at, len(state[at : at + PART])).value.data
                case.check.equal(instead or "read.returns-the-bytes", f"data at {at}", state[at : at + PART], data)


def mapped(case: Case, within: str, state: State, instead: str = "") -> None:
    """A new region."""
    got = case.fs.new_read_only_memory_region_from_file(case.uri(within, PATH))
    if state == b"":
        answers(case, instead or f"{got.op}.empty-file-is-invalid-argument", got, Code.INVALID_ARGUMENT)
    elif opens(case, got, state, instead) and isinstance(state, bytes):
        with case.setup, case.setup.opened(got) as region:
            length = region.length().value
            case.check.equal(instead or "length.is-the-file-size", "length", len(state), length)
            data = region.data(0, min(length, len(state))).value[1]
            case.check.equal(instead or "data.holds-the-file", "data", state, data)


def copied(case: Case, within: str, state: State, instead: str = "") -> None:
    """A copy of it."""
    copy = case.uri(within, "copy")
    if opens(case, case.fs.copy_file(case.uri(within, PATH), copy), state, instead) and isinstance(state, bytes):
        content = case.setup.content(copy, len(state) + 1)
        case.check.equal(instead or "copy_file.keeps-the-content", "content", state, content)


def moved(case: Case, within: str, state: State, instead: str = "") -> None:
    """Rename it. For the last look."""
    target = case.uri(within, "moved")
    if isinstance(state, bytes) and opens(case, case.fs.rename_file(case.uri(within, PATH), target), state, instead):
        content = case.setup.content(target, len(state) + 1)
        case.check.equal(instead or "rename_file.keeps-the-content", "content", state, content)


#: The ops that look, each by itself.
LOOKS: dict[str, tuple[str, Callable[..., None]]] = {
    "exists": ("path_exists", exists),
    "exist": ("paths_exist", exist),
    "stat": ("stat", stat),
    "size": ("get_file_size", size),
    "kind": ("is_directory", kind),
    "listed": ("get_children", listed),
    "lists": ("get_children", lists),
    "matched": ("get_matching_paths", matched),
    "read": ("new_random_access_file", read),
    "mapped": ("new_read_only_memory_region_from_file", mapped),
    "copied": ("copy_file", copied),
}
#: The looks at what is in a file, and those that may answer from what these have seen.
OF_CONTENT = ("read", "mapped", "copied")
OF_FILES = (*OF_CONTENT, "stat", "size")
OPENING = ("new_random_access_file", "new_read_only_memory_region_from_file", "copy_file")
FOUND = (
    *(f"{op}.{name}" for op in OPENING for name in ("succeeds", "missing-is-not-found",
                                                     "directory-is-failed-precondition")),
    "rename_file.succeeds", "get_children.succeeds", "get_children.missing-is-not-found",
    "get_children.file-is-failed-precondition", "new_read_only_memory_region_from_file.empty-file-is-invalid-argument",
    "get_children.names-every-entry-once", "get_matching_paths.succeeds", "read.returns-the-bytes",
    "length.is-the-file-size", "data.holds-the-file", "copy_file.keeps-the-content", "rename_file.keeps-the-content",
)  # fmt: skip


def by(changes: Mapping[str, Change]) -> pytest.MarkDecorator:
    """These changes, each with the clauses of its ops, which have to succeed."""
    marks = {
        name: clauses(*(f"{op}.succeeds" for step in [*then, *first] for op in STEPS.get(step[0], (step[0],))))
        for name, (first, _, then, _) in changes.items()
    }
    return pytest.mark.parametrize("change", [pytest.param(name, id=name, marks=marks[name]) for name in changes])


@by(CHANGES)
@many_calls(400)
@clauses(AGREE, *FOUND)
def test_after(case: Case, change: str) -> None:
    """A path is looked at, changed, and looked at in each way first; at last in all ways, without a look before."""
    look_around(case, CHANGES[change])


@large
@by({large: of_size(name, 1) for large, (name, _) in LARGE.items()})
@many_calls(400)
@clauses(AGREE, *FOUND)
def test_large_after(case: Case, change: str) -> None:
    """A file of megabytes is looked at, changed, and looked at in each way first."""
    with case.surroundings.patient(LEAST):
        look_around(case, of_size(*LARGE[change]))


def earlier(within: str) -> dict[str, None]:
    """The looks before a change in the directory of this one."""
    return dict.fromkeys((within, *(OF_CONTENT if within in OF_FILES else ()), "listed", "stat"))


def within_size(case: Case, state: State) -> None:
    """End the case where the filesystem has no file that is so large."""
    case.surroundings.within_size(len(state) if isinstance(state, bytes) else 0)


def look_around(case: Case, change: Change) -> None:
    """Look before and after a change, each way in a directory where it comes first, and all where nobody had looked."""
    first, before, then, after = change
    looks = {name: look for name, (op, look) in LOOKS.items() if case.does(op)}
    within_size(case, after)
    for within in (*looks, "unseen"):
        case.setup.mkdir_where_known(within)
        case.setup.mkdir_where_known(f"{within}/up")
        for step in first:
            perform(case, step, within)
        for name in earlier(within) if within in looks else ():
            if name in looks:
                looks[name](case, within, before)
        for step in then:
            perform(case, step, within)
        for look in (looks[within],) if within in looks else (*looks.values(), moved):
            look(case, within, after)


#: What somebody else does to a file: its content before, None where there is none, and after.
BY_OTHERS: dict[str, tuple[bytes | None, bytes | None]] = {
    "made": (None, OLD),
    "longer": (OLD, b"n" * 5000),
    "as-long": (OLD, OLD[::-1]),
    "as-long-65536": (stretched(OLD, 1 << 16), stretched(OLD[::-1], 1 << 16)),
    "gone": (OLD, None),
}


def is_right(case: Case, look: Callable[..., None], within: str, state: State) -> bool:
    """Whether a look finds what is there, by its own clauses."""
    broken = sum(one.times for one in case.check.made if not one.holds)
    look(case, within, state)
    return broken == sum(one.times for one in case.check.made if not one.holds)


def places(case: Case, looks: Iterable[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """A directory for each look, and one beside it that nothing looks at; each of them is made with one in it."""
    for within in looks:
        both = (within, f"{within}-unseen")
        for place in both:
            case.setup.mkdir_where_known(place)
            case.setup.mkdir_where_known(f"{place}/up")
        yield within, both


def see_after_a_flush(case: Case, looks: Mapping[str, Callable[..., None]], wrong: Set[str], state: State) -> None:
    """Flush caches, and look in each way first: what is wrong where nobody had looked has another cause."""
    case.setup.require(case.fs.flush_caches())
    for within, look in looks.items():
        if is_right(case, look, f"{within}-unseen", state) and within not in wrong:
            look(case, within, state, REFLECT)


@pytest.mark.parametrize("change", list(BY_OTHERS))
@many_calls(400)
@clauses(REFLECT, AGREE, *FOUND)
def test_by_others(case: Case, change: str) -> None:
    """A path is looked at in every way, and somebody else changes it; caches are flushed, and each way comes first.

    A way that is wrong before that, or where nobody had looked, says nothing of caches.
    """
    around = case.surroundings
    backing = around.backing
    before, after = BY_OTHERS[change]
    looks = {name: look for name, (op, look) in LOOKS.items() if case.does(op)}
    wrong: set[str] = set()
    for within, both in places(case, looks):
        for place in both:
            # A directory that holds nothing else may go with its last file.
            case.setup.write(f"{place}/up/stays", OLD)
        if before is not None:
            case.setup.write(f"{within}/{PATH}", before)
        wrong.update(name for name, look in looks.items() if not is_right(case, look, within, before))
    # Once more, and last those that change nothing by themselves: what the plugin changes may end what it remembers.
    for within, look in reversed(looks.items()):
        look(case, within, before)
    for within in looks:
        name = around.backing_name(f"{within}/{PATH}")
        if after is None:
            backing.delete(name)
        else:
            backing.write(name, after)
            backing.write(around.backing_name(f"{within}-unseen/{PATH}"), after)
    see_after_a_flush(case, looks, wrong, after)


@over_tables
@pytest.mark.parametrize("change", BY_ANOTHER)
@many_calls(400)
@clauses(REFLECT, AGREE, *FOUND)
def test_by_another_process(case: Case, change: str) -> None:
    """A path is looked at in each way, and another process changes it; caches are flushed, and that way comes first.

    A way that is wrong before that, or where nobody had looked, says nothing of caches.
    """
    around = case.surroundings
    first, before, then, after = CHANGES[change]
    within_size(case, after)
    looks = {name: look for name, (op, look) in LOOKS.items() if case.does(op)}
    wrong: set[str] = set()
    for within, both in places(case, looks):
        for step, place in product(first, both):
            perform(case, step, place)
        seen = [name for name in reversed(earlier(within)) if name in looks]
        wrong.update(name for name in seen if not is_right(case, looks[name], within, before))
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(around.in_another_process())
        except BlockedError as blocked:
            raise NoStimulusError(f"no second process can use it meanwhile: {blocked}") from blocked
        if not case.fs.path_exists(case.uri("stat", "up")).ok:
            raise NoStimulusError("its files are of one process only")
        for within in looks:
            for place in (within, f"{within}-unseen"):
                for step in then:
                    perform(case, step, place)
    see_after_a_flush(case, looks, wrong, after)


@over_tables
@clauses(AGREE, *FOUND)
def test_first_in_a_process(case: Case) -> None:
    """What another process wrote is looked at in each way, and each way is the first op of its process."""
    ways = {**LOOKS, "moved": ("rename_file", moved)}
    looks = {name: look for name, (op, look) in ways.items() if case.does(op)}
    for within in looks:
        case.setup.mkdir_where_known(within)
        case.setup.mkdir_where_known(f"{within}/up")
        case.setup.write(f"{within}/{PATH}", OLD)
    guard, path = Guard(case.uri()), case.uri("stat", PATH)
    outlives: list[bool] = []
    case.surroundings.end_host()
    # One of them may be an op that goes wrong as the first of a process: that is for the looks to tell.
    case.bench.alone(guard, lambda other: outlives.extend((other.path_exists(path).ok, other.stat(path).ok)))
    if not any(outlives):
        raise NoStimulusError("its files are gone with its process")
    for within, look in looks.items():
        look(case, within, OLD)
        case.surroundings.end_host()
