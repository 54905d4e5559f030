"""Which op is at fault where a tree is not as it should be: a look that stands alone, or what changed it last."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import Filesystem
from ...harness.ops.outcomes import Entries, Outcome
from ...harness.over_tables.raw import Call
from ...reports.model.records import StatementKind
from ..judge.evidence import Statement
from .answers import Answer, written
from .witnesses import ENOUGH, MOST_BYTES, sightings, sizes
from .witnesses import content as content_of

#: What is at a path: the content of a file, None for a directory.
Tree = Mapping[str, bytes | None]

#: The ops that change what is at the paths that they take.
CHANGING = frozenset(
    {
        *("create_dir", "recursively_create_dir", "delete_dir", "delete_file", "delete_recursively"),
        *("new_writable_file", "new_appendable_file", "rename_file", "copy_file"),
    }
)

#: The ops that give the bytes of a file.
READERS = frozenset({"read", "data"})
#: The ops of one look, each with one of them.
_SAME_LOOK: Mapping[str | None, str] = {
    **dict.fromkeys(("copy_file", "rename_file", "new_random_access_file"), "read"),
    **dict.fromkeys(("length", "new_read_only_memory_region_from_file"), "data"),
}
#: The ops that write to what is open.
WRITING = frozenset({"append", "flush", "sync", "close"})
#: The ops that look at what a file holds, those of which a reader tells, and the kinds of values by which they do. So
#: many of them are all, where one of them is no reader.
_READ = frozenset({"read", "copy_file", "rename_file"})
_LOOKING = frozenset({"stat", "get_file_size", "length", "data"}) | _READ
#: The ops that name the path that is looked at.
_OPENING = frozenset({"stat", "get_file_size", "new_random_access_file", "new_read_only_memory_region_from_file"})
_VALUES = frozenset({StatementKind.LENGTH, StatementKind.CONTENT, StatementKind.MISSING})
ALL = 3
#: So many paths are looked at again, however many differ: a slow plugin answers several calls for each.
MOST = 16


@dataclass(frozen=True, slots=True)
class Misled:
    """An op that looks and contradicts all others: the clause that it breaks, and what it says of `path`."""

    path: str
    answer: Answer
    clause: str
    wanted: str
    got: str

    def corrected(self, wanted: Tree, found: Tree) -> Tree:
        """What was found, with what is wanted at the path and below it."""
        below = f"{self.path}/"
        of_path = {path: one for path, one in wanted.items() if path == self.path or path.startswith(below)}
        return {path: one for path, one in found.items() if path != self.path and not path.startswith(below)} | of_path


def misled_by(fs: Filesystem, uri: Callable[[str], str], wanted: Tree, found: Tree) -> Misled | None:
    """The op that alone makes `found` differ from `wanted`; None where others see the same, or cannot be asked."""
    for path in sorted(wanted.keys() ^ found.keys())[:MOST]:
        value = wanted.get(path, found.get(path))
        said = [there for op, there in sightings(fs, uri(path), is_file=value is not None) if op != "get_children"]
        sure = [there for there in said if there is not None]
        is_there = path in wanted
        if len(sure) >= ENOUGH and all(there is is_there for there in sure):
            entry = f"the entry {paths.basename(path)!r}"
            texts = (entry, f"{entry} is missing") if is_there else (f"not {entry}", f"{entry}, which is not there")
            answer = Answer("get_children", StatementKind.NAMES)
            return Misled(path, answer, "get_children.names-every-entry-once", *texts)
    for path in sorted(path for path in wanted.keys() & found.keys() if wanted[path] != found[path])[:MOST]:
        if (wanted[path] is None) is not (found[path] is None):
            is_directory = {Code.OK: True, Code.FAILED_PRECONDITION: False}.get(fs.is_directory(uri(path)).code)
            if is_directory is (wanted[path] is None) and "is_directory" in fs.present:
                kinds = ["file" if one[path] is not None else "directory" for one in (wanted, found)]
                texts = (f"{path!r} is a {kinds[0]}", f"{path!r} is a {kinds[1]}")
                return Misled(path, Answer("stat", StatementKind.TYPE), "stat.says-the-kind", *texts)
    return None


def opened_last(calls: Sequence[Call]) -> bytes:
    """The path that is looked at after these calls, as the plugin got it."""
    taken = (arguments[1] for op, arguments, _ in reversed(calls) if op in _OPENING)
    return next((path for path in taken if isinstance(path, bytes)), b"")


def read_last(calls: Sequence[Call]) -> bytes:
    """The path of what gave bytes last, as the plugin got it."""
    place, handle = next(
        ((place, calls[place][1][0]) for place in reversed(range(len(calls))) if calls[place][0] in READERS), (0, None)
    )
    opened = (
        arguments[1]
        for op, arguments, outcome in reversed(calls[:place])
        if op in _OPENING and isinstance(outcome, Outcome) and outcome.value == handle
    )
    return next((path for path in opened if isinstance(path, bytes)), b"")


def stands_alone(fs: Filesystem, uri: str, stored: bytes | None, wanted: bytes) -> bool | None:
    """Whether a reader alone lacks now what is wanted; False if a region, or the backing with `stored`, has the same.

    None if the reader has what is wanted, or if nothing is known.
    """
    by_reader, by_other = content_of(fs, uri), _mapped(fs, uri) if stored is None else stored
    if by_reader is None or by_other is None or wanted in by_reader or len(by_other) >= MOST_BYTES:
        return None
    return True if wanted in by_other else False if by_other == by_reader else None


def _mapped(fs: Filesystem, uri: str) -> bytes | None:
    opened = fs.new_read_only_memory_region_from_file(uri)
    if opened.value is None:
        return None
    with opened.value as region:
        return region.data(0, min(region.length().value, MOST_BYTES)).value[1]


def wrote(calls: Sequence[Call], uri: str, wanted: bytes, got: bytes) -> Answer | None:
    """The op that left bytes in a file that all looks say; None if no call changed it."""
    due, op = written(wanted, got), _changed_last(calls, _and_above(uri))
    if op is not None and not op.startswith("new_"):
        return replace(due, op=op)
    is_appended = due.kind is StatementKind.CONTENT and any(name == "append" for name, _, _ in calls)
    return None if op is None else replace(due, op="append") if is_appended else due


def by_caches(made: Sequence[Statement]) -> list[Statement]:
    """The statements of a case. What several ops that look still say after flush_caches is due to that."""
    stale = [said for said in made if not said.holds and said.clause == "flush_caches.results-reflect-the-store"]
    if len({_SAME_LOOK.get(said.op, said.op) for said in stale}) < ENOUGH:
        return list(made)
    kind = StatementKind.OTHER
    return [replace(said, op="flush_caches", kind=kind, code=None) if said in stale else said for said in made]


def agreed(fs: Filesystem, uri: Callable[[str], str], wanted: Tree) -> bool:
    """Whether stat and a reader give a file of `wanted` the same length, and another one than it should have."""
    for path, content in wanted.items():
        if content is not None:
            by_stat, _, by_reader = sizes(fs, uri(path))
            if by_stat is not None and by_stat == by_reader != len(content):
                return True
    return False


def changed_last(calls: Sequence[Call], uri: Callable[[str], str], wanted: Tree, found: Tree) -> Answer:
    """The op that last changed the first path of which something else was found, and what is wrong there."""
    path = next(_different(wanted, found))
    one, other = wanted.get(path), found.get(path)
    op = _changed_last(calls, map(uri, _and_above(path)))
    if one is None or other is None:
        return Answer(op, StatementKind.NAMES)
    due = written(one, other)
    is_cut = due.kind is StatementKind.MISSING and str(op).startswith("new_")
    return due if op is None or is_cut else Answer(op, due.kind)


def _and_above(path: str) -> list[str]:
    return [path, *(path[:at] for at, letter in enumerate(path) if letter == "/")]


def _changed_last(calls: Sequence[Call], places: Iterable[str]) -> str | None:
    """The op that last changed one of these paths, as the plugin gets it."""
    wanted = set(map(_path, places))
    taken = ((op, {*map(_path, arguments)}) for op, arguments, _ in reversed(calls) if op in CHANGING)
    return next((op for op, names in taken if not wanted.isdisjoint(names)), None)


def is_left_out(calls: Sequence[Call]) -> bool:
    """Whether a listing that core's default asked for lacks something that a call before it made there."""
    there: set[str] = set()
    for op, arguments, outcome in calls:
        if not isinstance(outcome, Outcome) or not outcome.ok:
            continue
        names = list(map(_path, arguments[1:]))
        if isinstance(outcome.value, Entries) and outcome.called_by:
            inside = {paths.basename(one) for one in there if paths.dirname(one) == names[0]}
            if not inside <= set(outcome.value.bare):
                return True
        if op == "rename_file" or op.startswith("delete_"):
            there = {one for one in there if not f"{one}/".startswith(f"{names[0]}/")}
        if op in CHANGING and not op.startswith("delete_"):
            there.add(names[-1])
    return False


def by_all_looks(made: Sequence[Statement], calls: Sequence[Call]) -> list[Statement]:
    """The statements of a case. What all ops that look say alike is due to the op that changed something before."""
    wrong = [said for said in made if not said.holds and said.op in _LOOKING and said.kind in _VALUES]
    first = min((said.at for said in wrong), default=0)
    # What was looked at is the last path that a call before the first of them names.
    looked = opened_last(calls[:first])
    op = looked and _changed_last(calls[:first], {_path(looked)})
    looking = {said.op for said in wrong}
    if not op or len(looking) < ALL or looking <= _READ:
        return list(made)
    is_cut = op.startswith("new_") and any(said.kind is StatementKind.MISSING for said in wrong)
    due = ("close", StatementKind.MISSING) if is_cut else (op, StatementKind.CONTENT)
    return [replace(said, op=due[0], kind=due[1]) if said in wrong else said for said in made]


def _different(wanted: Tree, found: Tree) -> Iterator[str]:
    for path in sorted(wanted.keys() | found.keys()):
        if path not in wanted or path not in found or wanted[path] != found[path]:
            yield path


def _path(argument: object) -> str:
    """A path as the plugin gets it. The first argument of an op of a filesystem is the filesystem."""
    return paths.parse(argument.decode(errors="replace") if isinstance(argument, bytes) else str(argument)).path
