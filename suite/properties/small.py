"""Small histories, all of them: which there are follows from tables of names, situations and ops.

A *move* is an op on its paths, with what belongs to it: who opens a file to write also appends and closes. A history is
moves in a situation. Two files of the same content differ in where it came from, so that it shows who mixes them up.

Three families:

- *pairs*: each two moves of which one changes something, in every situation of two names.
- *reached*: each two ops behind a third that changed what is there.
- *held*: each two ops while a file is open, which is used behind them.

A history with a move of which the contract leaves open what it must answer is none. A name that no move is about is
missing. Of two histories in which the names have changed places one is tried.
"""

import functools
import itertools
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass

from ...harness.ops.tables import CHANGING
from ..contract import statuses
from ..contract.model import OPENS, WRITES, Step
from ..contract.statuses import ONE_PATH, TWO_PATHS
from .making import Making

#: The two names, and what can be below the first. `FAR` is asked about where it is far below a file. What is renamed to
#: `AWAY` is out of the way.
A, B, CHILD, FAR, AWAY = "a", "b", "a/c", "a/c/d", "z"
#: Each of the two names by the other one.
_OTHER = {A: B, B: A}
#: More than any of the files holds, in bytes.
WHOLE = 64


@dataclass(frozen=True, slots=True)
class Move:
    """An op and its paths."""

    op: str
    paths: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether it may change what is there."""
        return self.op in CHANGING

    def is_about(self, name: str) -> bool:
        """Whether a path is this name, or below it."""
        return any(f"{path}/".startswith(f"{name}/") for path in self.paths)


def _moves() -> tuple[Move, ...]:
    one = [Move(op, (path,)) for op in ONE_PATH for path in (A, B, CHILD)]
    two = [Move(op, pair) for op in TWO_PATHS for pair in itertools.permutations((A, B, CHILD), 2)]
    away = [Move("rename_file", (path, AWAY)) for path in (A, B, CHILD)]
    wide = [
        Move("paths_exist", (A, B)),
        Move("get_children", ("",)),
        Move("get_matching_paths", ("*",)),
        Move("get_matching_paths", ("a/*",)),
        Move("flush_caches"),
    ]
    return (*one, *two, *away, *wide)


#: All moves, and those on a path that is far below a file.
MOVES = _moves()
FAR_MOVES = tuple(Move(op, (FAR,)) for op in ONE_PATH)
#: The ops that moves have, in the order of the tables.
OPS = tuple(dict.fromkeys(move.op for move in MOVES))
#: The ops that change what is there.
CHANGES = tuple(op for op in OPS if op in CHANGING)
#: The situations of the other name for moves that are beside it.
BESIDE = (statuses.FILE, statuses.EMPTY_DIRECTORY)


def _directory(making: Making, name: str) -> None:
    making.step("create_dir", name)


def _full(making: Making, name: str) -> None:
    making.step("create_dir", name)
    making.write("new_writable_file", f"{name}/c", name.encode() * 2 + b"c")


#: How a name gets into each situation, where it is `name` and has not been anything before.
SITUATIONS: dict[str, Callable[[Making, str], None]] = {
    statuses.MISSING: lambda making, name: None,
    statuses.FILE: lambda making, name: making.write("new_writable_file", name, name.encode() * 4),
    statuses.EMPTY_FILE: lambda making, name: making.write("new_writable_file", name),
    statuses.EMPTY_DIRECTORY: _directory,
    statuses.FULL_DIRECTORY: _full,
}


@dataclass(frozen=True, slots=True)
class Small:
    """A small history. The steps from `look` on look at what came of it.

    `situations` has, of each step that is a move, the situation of its paths; of others the empty text.
    """

    making: Making
    look: int
    situations: tuple[str, ...]

    @property
    def ops(self) -> frozenset[str]:
        """The ops that it takes."""
        return frozenset(step.op for step in self.making.steps)

    @property
    def bare(self) -> tuple[Step, ...]:
        """The steps without the look at the end."""
        return tuple(self.making.steps[: self.look])

    @property
    def whole(self) -> tuple[Step, ...]:
        """All steps."""
        return tuple(self.making.steps)


class SmallHistories:
    """Makes the histories of a target with the ops in `available`, which does not promise what is `unsupported`."""

    def __init__(self, available: Container[str], unsupported: Container[str]) -> None:
        self._available = available
        self._unsupported = unsupported

    def pairs(self, op: str, situation: str) -> Iterator[Small]:
        """Each two moves of which one changes something, the first of this op, where `A` is in this situation."""
        for other, first, second in itertools.product(SITUATIONS, _of(op), (*MOVES, *FAR_MOVES)):
            if (first.changes or second.changes) and _fits(other, [first, second]):
                yield from self._small(situation, other, [first, second])

    def reached(self, op: str, situation: str) -> Iterator[Small]:
        """Each two ops behind one of this op that changed what is there, where `A` was in this situation before.

        One of the two changes something, too, and the last is about what the third changed. Of those in the same
        situations, of which the same paths are the same, it is the first.
        """
        known: set[object] = set()
        for other, third in itertools.product(SITUATIONS, _of(op)):
            if not _fits(other, [third]) or not self._changes_something(situation, other, third):
                continue
            for first, second in itertools.product(MOVES, MOVES):
                touched = any(path in third.paths for path in second.paths)
                if not touched or not (first.changes or second.changes):
                    continue
                same = _numbered(path for move in (third, first, second) for path in move.paths)
                yield from _new(known, (third.op, same), self._small(situation, other, [third, first, second]))

    def held(self, opener: str, op: str) -> Iterator[Small]:
        """Each two ops, the first of this kind and the second one that changes something, beside an open file.

        Of those in the same situations it is the first, for each path of the first op.
        """
        known: set[object] = set()
        seconds = [move for move in MOVES if move.changes]
        situations = (statuses.FILE, statuses.EMPTY_FILE, statuses.MISSING)
        for situation, other, first in itertools.product(situations, SITUATIONS, _of(op)):
            for moves in ([first], *([first, second] for second in seconds)):
                if _fits(other, moves):
                    yield from _new(known, first.paths, self._small(situation, other, moves, opener))

    def _changes_something(self, situation: str, other: str, move: Move) -> bool:
        making = self._in(situation, other)
        before = dict(making.model.tree)
        _perform(making, move)
        return making.model.tree != before

    def _in(self, situation: str, other: str) -> Making:
        making = Making(self._available, self._unsupported)
        SITUATIONS[situation](making, A)
        SITUATIONS[other](making, B)
        return making

    def _small(self, situation: str, other: str, moves: list[Move], opener: str = "") -> Iterator[Small]:
        """The history of these moves, unless the contract leaves one of them open, or its twin is tried."""
        if not opener and _is_a_twin(situation, moves):
            return
        making = self._in(situation, other)
        # What the target cannot make is no situation of its names.
        if (making.model.situation(A), making.model.situation(B)) != (situation, other):
            return
        told: list[str] = []
        held = _hold(making, opener) if opener else None
        if opener and held is None:
            return
        for move in moves:
            if FAR in move.paths and making.model.situation(FAR) != statuses.FAR_BELOW_A_FILE:
                return
            told += [""] * (len(making.steps) - len(told))
            at = ",".join("any" if "*" in path else making.model.situation(path) for path in move.paths) or "any"
            if not _perform(making, move):
                return
            told.append(at)
        if held is not None:
            _use(making, held)
        look = len(making.steps)
        look_at_all(making)
        told += [""] * (len(making.steps) - len(told))
        yield Small(making, look, tuple(told))


def _new(known: set[object], what: object, made: Iterator[Small]) -> Iterator[Small]:
    """Those of which no history of the same ops in the same situations is known, and of the same `what`."""
    for small in made:
        told = [
            (step.op, situation)
            for step, situation in zip(small.making.steps, small.situations, strict=True)
            if situation
        ]
        if (what, *told[-2:]) not in known:
            known.add((what, *told[-2:]))
            yield small


def _numbered(paths: Iterable[str]) -> tuple[int, ...]:
    """Which of the paths are the same: each by its number among those that differ."""
    known: dict[str, int] = {}
    return tuple(known.setdefault(path, len(known)) for path in paths)


@functools.cache
def _of(op: str) -> tuple[Move, ...]:
    return tuple(move for move in (*MOVES, *FAR_MOVES) if move.op == op)


def _fits(other: str, moves: list[Move]) -> bool:
    """Whether `B` in this situation is another history of these moves than `B` in a plainer one."""
    if other == statuses.MISSING:
        return True
    if not any(move.is_about(B) for move in moves):
        return False
    # What is moved to and from it can tell more situations apart than what is beside it.
    return other in BESIDE or any(move.op in TWO_PATHS and move.is_about(B) for move in moves)


def _is_a_twin(situation: str, moves: list[Move]) -> bool:
    """Whether these are moves of which those with the names in each other's place are tried.

    There `B` is in this situation.
    """
    paths = [path for move in moves for path in move.paths if path]
    if not paths or paths[0] != B or not all(path in (A, B, AWAY) for path in paths):
        return False
    return _fits(situation, [Move(move.op, tuple(_OTHER.get(path, path) for path in move.paths)) for move in moves])


def _perform(making: Making, move: Move) -> bool:
    """Add a move. Whether the contract says what it must answer."""
    number = len(making.steps)
    opened = making.step(move.op, *move.paths)
    if opened is not None and move.op in OPENS:
        if move.op in WRITES:
            making.step("append", file=opened, data=str(number).encode())
        _use(making, opened)
    return len(making.steps) > number


def _hold(making: Making, opener: str) -> int | None:
    """Open `A`, and begin to write where that is for writing. The number of the step, or None where it fails."""
    opened = making.step(opener, A)
    if opened is not None and opener in WRITES:
        making.step("append", file=opened, data=b"held")
    return opened


def _use(making: Making, opened: int) -> None:
    """Use what is open, and end it."""
    match making.model.opened[opened].op:
        case "new_random_access_file":
            making.step("read", file=opened, n=WHOLE)
            making.step("random_access_file.cleanup", file=opened)
        case "new_read_only_memory_region_from_file":
            making.step("length", file=opened)
            making.step("data", file=opened)
            making.step("read_only_memory_region.cleanup", file=opened)
        case _:
            making.step("append", file=opened, data=b".")
            making.end(opened)


def look_at_all(making: Making) -> None:
    """Look at all that is there, and at what is not."""
    making.step("get_children", "")
    for path, content in sorted(making.model.tree.items()):
        making.step("stat", path)
        if content is None:
            making.step("get_children", path)
        else:
            opened = making.step("new_random_access_file", path)
            if opened is not None:
                _use(making, opened)
    for path in (A, B):
        if path not in making.model.tree:
            making.step("path_exists", path)
