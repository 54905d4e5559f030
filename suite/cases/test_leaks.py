"""Leaks: each op is repeated, in success and in error, and the process must not hold more each time."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from itertools import count, islice
from types import MappingProxyType

import pytest

from ...harness.hosting import leaks
from ...harness.hosting.state import State
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Source
from ...harness.ops.tables import CHANGING
from ...harness.over_tables import programs
from ...harness.over_tables.programs import Program, Timed
from ...harness.targets.backing import BackingUnableError
from ..contract import statuses
from ..engine.answers import Answer
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, full, large, many_calls, over_tables
from .rounds import (
    CONTENT,
    HUGE,
    USUAL,
    Steps,
    asking,
    doing,
    dropped,
    entries_of,
    grown,
    opening,
    sized,
    synced,
    together,
    translated,
    without_statuses,
)
from .situations import build

pytestmark = over_tables

#: What is counted, and the clause that says that it does not grow.
CLAUSES = {
    "descriptors": "robustness.leaves-no-descriptor",
    "threads": "robustness.leaves-no-thread",
    "mapped": "robustness.leaves-no-mapping",
    "heap": "robustness.leaves-no-memory",
}
WHAT = {"descriptors": "descriptors", "threads": "threads", "mapped": "bytes mapped", "heap": "bytes allocated"}

#: Paths in different situations.
PLACES = ("file", "directory", "empty", "missing", "missing/leaf", "file/leaf")
NAMES_OF_PLACES = {"missing/leaf": "missing-parent", "file/leaf": "below-a-file"}

ONE_PATH = {
    f"{op}-{NAMES_OF_PLACES.get(place, place)}": (op, make(op, place))
    for make, ops in (
        (opening, ("new_random_access_file", "new_writable_file", "new_read_only_memory_region_from_file")),
        (asking, ("path_exists", "paths_exist", "stat", "is_directory", "get_file_size", "get_children")),
    )
    for op in ops
    for place in PLACES
}

ONE_PATH["paths_exist-without-statuses"] = ("paths_exist", without_statuses)

#: The rounds by name: the op that a round is about, and the program.
CHANGES: dict[str, tuple[str, Steps]] = {
    "new_writable_file-dropped": ("new_writable_file", dropped),
    "new_writable_file-synced": ("new_writable_file", synced),
    "new_appendable_file": ("new_appendable_file", grown),
    **{
        f"new_appendable_file-{name}": ("new_appendable_file", opening("new_appendable_file", place))
        for name, place in (("directory", "directory"), ("missing-parent", "missing/leaf"))
    },
    "create_dir": ("create_dir", doing(("create_dir", "new"), ("delete_dir", "new"))),
    "create_dir-existing": ("create_dir", doing(("create_dir", "directory"))),
    "create_dir-missing-parent": ("create_dir", doing(("create_dir", "missing/leaf"))),
    "recursively_create_dir": (
        "recursively_create_dir",
        doing(("recursively_create_dir", "new/inner"), ("delete_dir", "new/inner"), ("delete_dir", "new")),
    ),
    "recursively_create_dir-existing": ("recursively_create_dir", doing(("recursively_create_dir", "directory"))),
    "recursively_create_dir-below-a-file": ("recursively_create_dir", doing(("recursively_create_dir", "file/leaf"))),
    "delete_file": ("delete_file", doing(("write", "new"), ("delete_file", "new"))),
    "delete_file-missing": ("delete_file", doing(("delete_file", "missing"))),
    "delete_file-directory": ("delete_file", doing(("delete_file", "directory"))),
    "delete_dir-missing": ("delete_dir", doing(("delete_dir", "missing"))),
    "delete_dir-file": ("delete_dir", doing(("delete_dir", "file"))),
    "delete_dir-not-empty": ("delete_dir", doing(("delete_dir", "directory"))),
    "delete_recursively": (
        "delete_recursively",
        doing(("create_dir", "new"), ("write", "new/file"), ("delete_recursively", "new")),
    ),
    "delete_recursively-missing": ("delete_recursively", doing(("delete_recursively", "missing"))),
    "rename_file": ("rename_file", doing(("rename_file", "file", "new"), ("rename_file", "new", "file"))),
    "rename_file-missing": ("rename_file", doing(("rename_file", "missing", "new"))),
    "rename_file-onto-a-directory": ("rename_file", doing(("rename_file", "file", "directory"))),
    "copy_file": ("copy_file", doing(("copy_file", "file", "new"))),
    "copy_file-missing": ("copy_file", doing(("copy_file", "missing", "new"))),
    "copy_file-missing-parent": ("copy_file", doing(("copy_file", "file", "missing/leaf"))),
}


#: The ops, and the rounds of each with which it meets what is larger than usual.
OF_SIZES = (*dict.fromkeys(op for op, _ in (*ONE_PATH.values(), *CHANGES.values())), "get_matching_paths")
#: The cases that have some of these rounds in every run, where they cost little.
SIZED = {f"{op}-file" for op, _ in ONE_PATH.values()} - {"get_children-file"}
SIZED |= {"get_children-directory", "create_dir", "delete_recursively", "rename_file", "copy_file"}


NONE: Mapping[str, Steps] = MappingProxyType({})


def demand(case: Case, op: str) -> None:
    """End a case where the plugin lacks the op that it is about."""
    case.needs(op, itself=True)


#: A program with more ops is parted, where a round ends.
MOST_OPS = 20
#: So many ops may take as long as one call may.
OPS_OF_A_CALL = 5
#: Rounds may take so many times as long as those before, and what is large as others.
SLOWER = 10


class Part:
    """A program that the host repeats with one command; `slower` times as slow as others if its files are large."""

    def __init__(self, case: Case, slower: int) -> None:
        self.program = Program(case.tables)
        self._case, self._slower = case, slower
        self._seconds = 0.0

    def repeated(self, times: int) -> list[Timed]:
        """Perform it so often, and give what the last time did. A slow plugin gets the time that it needs."""
        usual = self._case.bench.target.timeout * self._slower * max(1.0, len(self.program.steps) / OPS_OF_A_CALL)
        started = time.perf_counter()
        with self._case.surroundings.patient(max(usual, SLOWER * times * self._seconds)):
            went = programs.repeat(self._case.tables, self.program, times)
        self._seconds = max(self._seconds, (time.perf_counter() - started) / times)
        return went


def parted(case: Case, rounds: Iterable[Steps], slower: int) -> list[Part]:
    """The rounds one after the other, in as few programs as are short."""

    @cache
    def at(name: str) -> str:
        return case.fs.translate(case.uri(name) if name else name)

    parts = list[Part]()
    for steps in rounds:
        alone = Program(case.tables)
        steps(alone, at)
        if not parts or len(parts[-1].program.steps) + len(alone.steps) > MOST_OPS:
            parts.append(Part(case, slower))
        steps(parts[-1].program, at)
    return parts


def judged(case: Case, op: str, rounds: Mapping[str, Steps], larger: Mapping[str, Steps] = NONE) -> None:
    """Repeat rounds, and larger ones, all together, and count what the process holds. Caches are flushed before.

    Where it holds more, the first round that costs it that by itself is named, with what each call of the op costs.
    """
    demand(case, op)
    case.setup.write("file", CONTENT)
    case.setup.write("empty", b"")
    case.setup.mkdir_where_known("directory")
    case.setup.write("directory/file", CONTENT)
    host = case.surroundings.host
    unsupported = False

    every = {**rounds, **larger}
    if not every:
        raise NoStimulusError("the filesystem has nothing of this kind")

    def leaked(names: Collection[str]) -> dict[str, float]:
        parts = parted(case, [rounds[name] for name in names if name in rounds], 1)
        parts += parted(case, [larger[name] for name in names if name in larger], SLOWER)

        def repeat(times: int) -> None:
            nonlocal unsupported
            went = [timed.outcome for part in parts for timed in part.repeated(times)]
            unsupported = all(
                one.code is Code.UNIMPLEMENTED and one.source is Source.PLUGIN for one in went if one.op == op
            )
            case.fs.flush_caches()

        calls = max(1, sum(step.op == op for part in parts for step in part.program.steps))
        return {what: growth / calls for what, growth in leaks.leaked_per_round(host, repeat, calls).items()}

    def alone(name: str) -> dict[str, float]:
        with suppress(leaks.UndecidedError):
            return leaked([name])
        return {}

    found = leaked(every)
    if unsupported:
        case.missing(op)
    weighed = State.of(host).heap > 0
    for what, clause in CLAUSES.items():
        if what in ("mapped", "heap") and not weighed:
            continue
        none, more = f"no more {WHAT[what]} each time", f"more {WHAT[what]} each time"
        got, figure = none, ""
        if what in found:
            each = ((name, alone(name)) for name in every if len(every) > 1)
            first, cost = next(((name, grown) for name, grown in each if what in grown), ("", found))
            got, figure = f"{more}: {first}" if first else more, f"{cost[what]:.0f} for each call of {op}"
        case.check.that(clause, what not in found, none, got, figure, of=Answer(op))
    if not weighed:
        raise BackingUnableError("the allocator does not tell how much is allocated")


@full
@pytest.mark.parametrize("name", list(ONE_PATH))
@clauses(*CLAUSES.values())
def test_one_path(case: Case, name: str) -> None:
    """The op meets this path again and again; what it opens is used and cleaned up."""
    op, steps = ONE_PATH[name]
    demand(case, op)
    judged(case, op, {name: steps}, sized(case, op, USUAL, crowds=False) if name in SIZED else NONE)


@full
@pytest.mark.parametrize("name", list(CHANGES))
@clauses(*CLAUSES.values())
def test_changes(case: Case, name: str) -> None:
    """Ops change the tree and change it back, or are refused, again and again."""
    op, steps = CHANGES[name]
    demand(case, op)
    judged(case, op, {name: steps}, sized(case, op, USUAL, crowds=False) if name in SIZED else NONE)


@large
@pytest.mark.parametrize("op", OF_SIZES)
@many_calls(6000)
@clauses(*CLAUSES.values())
def test_sizes(case: Case, op: str) -> None:
    """The op meets large files, crowded directories, long names and deep paths, again and again."""
    demand(case, op)
    judged(case, op, NONE, sized(case, op, HUGE, crowds=True))


@full
@pytest.mark.parametrize("name", ["matches", "no-match"])
@clauses(*CLAUSES.values())
def test_glob(case: Case, name: str) -> None:
    """Patterns that match and that do not, again and again."""
    pattern = case.uri("directory/*" if name == "matches" else "missing/*")

    def steps(program: Program, _: Callable[[str], str]) -> None:
        program.entries_op("get_matching_paths", pattern)

    demand(case, "get_matching_paths")
    more = sized(case, "get_matching_paths", USUAL, crowds=False) if name == "matches" else NONE
    judged(case, "get_matching_paths", {name: steps}, more)


@full
@clauses(*CLAUSES.values())
def test_translate(case: Case) -> None:
    """Names are translated, again and again."""
    uri = case.uri("file")
    judged(case, "translate_name", {"file": lambda program, _: translated(program, uri)})


# Paths that are new each time.

#: A table by path has room for so many at most: of what is counted, by its name in `CLAUSES`.
BOUNDS = {"descriptors": 384, "threads": 384, "mapped": 384, "heap": 4096}
#: Seconds after which no further paths are met to see whether a table is full.
SECONDS = 300.0


def of_a_new_path(case: Case, new: str) -> dict[str, Steps]:
    """The rounds by op: what it does with this path, where nothing is before or afterwards; and with a file there."""
    uri, file = case.uri(new), f"{new}/file"
    made, unmade = doing(("create_dir", new)), doing(("delete_dir", new))
    written, gone = opening("new_writable_file", file), doing(("delete_file", file))

    def there(*steps: Steps) -> Steps:
        return together(made, written, *steps, gone, unmade)

    # What others make use of comes first: whatever is performed, core translates its path before.
    found: dict[str, Steps] = {"translate_name": lambda program, _: translated(program, uri)}
    for op in ("delete_file", "delete_dir"):
        found[op] = doing((op, new))
    found |= {
        "create_dir": together(made, unmade),
        "new_writable_file": there(),
        "new_appendable_file": together(made, opening("new_appendable_file", file), gone, unmade),
        "get_matching_paths": there(lambda program, _: entries_of(program, f"{uri}*")),
    }
    for op in ("path_exists", "paths_exist", "stat", "is_directory", "get_file_size", "get_children"):
        found[op] = together(asking(op, new), there(asking(op, new), asking(op, file)))
    for op in ("new_random_access_file", "new_read_only_memory_region_from_file"):
        found[op] = together(opening(op, new), there(opening(op, file)))
    renaming = (("rename_file", file, f"{new}/other"), ("rename_file", f"{new}/other", file))
    return found | {
        "recursively_create_dir": together(doing(("recursively_create_dir", new)), unmade),
        "copy_file": there(doing(("copy_file", file, f"{new}/other"), ("delete_file", f"{new}/other"))),
        "rename_file": there(doing(*renaming)),
        "delete_recursively": together(doing(("delete_recursively", new)), there(doing(("delete_recursively", new)))),
    }


@full
@many_calls(6000)
@clauses(*CLAUSES.values())
def test_new_paths(case: Case) -> None:
    """Each op meets a path that no op met before, again and again. What is known of it goes with flush_caches.

    A table with some thousand paths, of which flush_caches leaves some, is no leak: it must still grow behind these.
    """
    if "flush_caches" not in case.fs.present:
        raise NoStimulusError("without flush_caches what is kept of a path may be a cache")
    every = [op for op in of_a_new_path(case, "new") if op in case.fs.present]
    numbers = count()

    def meet(ops: Collection[str], times: int) -> None:
        for number in islice(numbers, times):
            rounds = of_a_new_path(case, f"new{number:06}")
            for part in parted(case, [rounds[op] for op in ops], 1):
                part.repeated(1)
            case.fs.flush_caches()

    def leaked(ops: Collection[str]) -> dict[str, int]:
        # What is full with so many paths is filled below.
        return leaks.leaked_per_round(case.surroundings.host, lambda times: meet(ops, times), leaks.FILLING)

    def grows(op: str, what: str) -> bool:
        if what not in leaked([op]):
            return False
        ends = time.monotonic() + SECONDS
        for _ in range(BOUNDS[what]):
            if time.monotonic() > ends:
                raise NoStimulusError(f"{op}: a table of {BOUNDS[what]} paths cannot be filled in {SECONDS:.0f} s")
            meet([op], 1)
        return what in leaked([op])

    found = leaked(every)
    for what, clause in CLAUSES.items():
        first = next((op for op in every if grows(op, what)), "") if what in found else ""
        if first or State.of(case.surroundings.host).heap or what not in ("mapped", "heap"):
            none, more = f"no more {WHAT[what]} with each new path", f"more {WHAT[what]} with each new path: {first}"
            case.check.that(clause, not first, none, more if first else none, of=Answer(first or None))
    if not State.of(case.surroundings.host).heap:
        raise BackingUnableError("the allocator does not tell how much is allocated")


# Every situation of the tables of statuses.

#: The situations of one path in parts, each tried at once. Who leaves a descriptor in all of one has enough of them.
THERE = (statuses.FILE, statuses.EMPTY_FILE, statuses.EMPTY_DIRECTORY, statuses.FULL_DIRECTORY)
PARTS = {"there": THERE, "not-there": tuple(one for one in statuses.SITUATIONS if one not in THERE)}
DIRECTORIES = (statuses.EMPTY_DIRECTORY, statuses.FULL_DIRECTORY)


def made(situation: str, path: str) -> Steps:
    """Make again what an op may have taken away or changed."""
    match situation:
        case statuses.FILE:
            return doing(("write", path))
        case statuses.EMPTY_FILE:
            return doing(("write-nothing", path))
        case statuses.EMPTY_DIRECTORY:
            return doing(("create_dir", path))
        case statuses.FULL_DIRECTORY:
            return doing(("create_dir", path), ("write", f"{path}/inside"))
    return doing()


def met(op: str, situation: str, path: str) -> Steps:
    """Perform an op whose path is in this situation, and see to it that it is so the next time."""
    action = doing((op, path)) if op in CHANGING else asking(op, path)
    if op.startswith("new_"):
        action = opening(op, path)
    before, after = doing(), doing()
    cell = statuses.ONE_PATH[op][situation]
    if (op.startswith("delete_") and cell.may_be_ok) or op == "new_appendable_file":
        before = made(situation, path)
    if op in ("new_writable_file", "new_appendable_file") and situation not in THERE:
        after = doing(("delete_file", path))
    elif op.endswith("create_dir") and cell.may_be_ok and situation not in THERE:
        gone = [("delete_dir", path)]
        if situation == statuses.MISSING_PARENT:
            gone.append(("delete_dir", path.rpartition("/")[0]))
        after = doing(*gone)
    return together(before, action, after)


def moved(op: str, situations: tuple[str, str], source: str, target: str) -> Steps:
    """Perform an op with two paths in these situations, and see to it that it is so the next time."""
    if not statuses.TWO_PATHS[op][situations].may_be_ok:
        return doing((op, source, target))
    before = made(situations[1], target)
    if op == "rename_file":
        return together(before, doing((op, source, target), (op, target, source)))
    after = doing(("delete_file", target)) if situations[1] == statuses.MISSING else doing()
    return together(before, doing((op, source, target)), after)


def known(case: Case, situations: Iterable[str]) -> list[str]:
    """The situations that there are: where there are only files, none has a directory."""
    only_files = not case.makes_directories
    return [one for one in situations if not (only_files and one in DIRECTORIES)]


#: The situations that `test_one_path` is about, and its ops.
TRIED = (statuses.FILE, statuses.EMPTY_FILE, statuses.FULL_DIRECTORY, statuses.MISSING, statuses.MISSING_PARENT,
         statuses.BELOW_A_FILE)  # fmt: skip
TRYING = {op for op, _ in ONE_PATH.values()}
#: The situations of each op in parts, but for those.
OF_ONE = {
    f"{op}-{part}": (op, some)
    for op, row in statuses.ONE_PATH.items()
    for part, situations in PARTS.items()
    if (some := [one for one in situations if not row[one].guarded and not (op in TRYING and one in TRIED)])
}


@full
@pytest.mark.parametrize("name", list(OF_ONE))
@clauses(*CLAUSES.values())
def test_situations(case: Case, name: str) -> None:
    """The op meets a path in each of these situations, again and again."""
    op, situations = OF_ONE[name]
    demand(case, op)
    judged(case, op, {one: met(op, one, build(case, one, f"at-{one}")[0]) for one in known(case, situations)})


@full
@pytest.mark.parametrize("part", list(PARTS))
@clauses(*CLAUSES.values())
def test_patterns(case: Case, part: str) -> None:
    """Patterns mean a path in each of these situations, and what is below it, again and again."""

    def matching(pattern: str) -> Steps:
        def steps(program: Program, _: Callable[[str], str]) -> None:
            program.entries_op("get_matching_paths", pattern)
            program.entries_op("get_matching_paths", f"{pattern}/*/leaf")

        return steps

    demand(case, "get_matching_paths")
    situations = [one for one in known(case, PARTS[part]) if one != statuses.EMPTY_PATH]
    judged(
        case, "get_matching_paths", {one: matching(case.uri(build(case, one, f"at-{one}")[0])) for one in situations}
    )


@full
@pytest.mark.parametrize(
    ("op", "source"),
    [
        pytest.param(op, source, id=f"{op}-{source}")
        for op, table in statuses.TWO_PATHS.items()
        for source in dict.fromkeys(source for (source, _), cell in table.items() if not cell.guarded)
    ],
)
@clauses(*CLAUSES.values())
def test_two_situations(case: Case, op: str, source: str) -> None:
    """The op meets a source in this situation, and a target in each that there is, again and again."""
    demand(case, op)
    table, rounds = statuses.TWO_PATHS[op], dict[str, Steps]()
    for target in known(case, statuses.SITUATIONS_OF_TWO):
        if not table[source, target].guarded:
            first, second = build(case, source, f"from-{target}")[0], build(case, target, f"to-{target}")[0]
            rounds[f"to-{target}"] = moved(op, (source, target), first, second)
    judged(case, op, rounds)


#: Files that are open at the same time, and the bytes that are appended to each.
FILES, HELD = 32, 256 << 10
#: Bytes that an object may take by itself.
SMALL = 4096


@clauses("close.gives-back-descriptors", "close.gives-back-buffers")
def test_closed(case: Case) -> None:
    """Files are written and closed; what they hold between close and cleanup is counted."""
    case.needs("close", itself=True)
    size = min(HELD, case.bench.claims.limits.get("max_file_size", HELD))
    with case.setup:
        case.setup.write("first", CONTENT)
        before = State.of(case.surroundings.host)
        files = [case.setup.opened(case.fs.new_writable_file(case.uri(f"file{k}"))) for k in range(FILES)]
        for file in files:
            case.setup.require(file.append(bytes(size)))
            case.setup.require(file.close())
    closed = State.of(case.surroundings.host)
    for file in files:
        file.cleanup()
    gone = State.of(case.surroundings.host)
    held = closed.descriptors - max(before.descriptors, gone.descriptors)
    none = "no descriptor waits for cleanup"
    case.check.that(
        "close.gives-back-descriptors", held < FILES, none, none if held < FILES else f"{held} of {FILES} wait"
    )
    if not gone.heap:
        raise BackingUnableError("the allocator does not tell how much is allocated")
    # The object itself waits for its cleanup, and is small.
    each = (closed.heap + closed.mapped - gone.heap - gone.mapped) // FILES
    small = each < max(size // 4, SMALL)
    few = "no buffer waits for cleanup"
    case.check.that(
        "close.gives-back-buffers", small, few, few if small else "buffers wait", f"{each} bytes of each file"
    )
