"""The checker of histories, on histories of which a person can tell whether they fit an order."""

import itertools
import random

import pytest

from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.suite.contract import histories
from tffs_conformance.suite.contract.histories import Event, Files, ends

NOTHING: Files = frozenset()
FILE: Files = frozenset({("a", b"old")})

OK, MISSING, EXISTS = Code.OK, Code.NOT_FOUND, Code.ALREADY_EXISTS


def event(start: int, end: int, op: str, names: str, code: Code = OK, content: bytes = b"") -> Event:
    return Event(start, end, op, tuple(names.split()), code, content)


FITTING: dict[str, tuple[Files, list[Event]]] = {
    "nothing happens": (NOTHING, []),
    "a read beside a write sees the old": (
        FILE,
        [event(0, 9, "write", "a", OK, b"new"), event(1, 2, "read", "a", OK, b"old")],
    ),
    "a read beside a write sees the new": (
        FILE,
        [event(0, 9, "write", "a", OK, b"new"), event(1, 2, "read", "a", OK, b"new")],
    ),
    "an op takes effect before its answer": (
        FILE,
        [
            event(0, 9, "delete_file", "a"),
            event(1, 2, "path_exists", "a", OK),
            event(3, 4, "path_exists", "a", MISSING),
        ],
    ),
    "two create, one wins": (NOTHING, [event(0, 5, "create_dir", "d"), event(1, 4, "create_dir", "d", EXISTS)]),
    "two create, and a delete lies between": (
        NOTHING,
        [event(0, 5, "create_dir", "d"), event(1, 6, "create_dir", "d"), event(2, 4, "delete_dir", "d")],
    ),
    "two rename one file, one wins": (
        FILE,
        [
            event(0, 5, "rename_file", "a b"),
            event(1, 6, "rename_file", "a c", MISSING),
            event(7, 8, "read", "b", OK, b"old"),
        ],
    ),
    "the later ends first": (FILE, [event(2, 3, "path_exists", "a", MISSING), event(0, 9, "delete_file", "a")]),
    "who cannot tell has or has not": (
        NOTHING,
        [event(0, 1, "create_dir", "d", Code.ABORTED), event(2, 3, "path_exists", "d", MISSING)],
    ),
    "who cannot tell may have": (
        NOTHING,
        [event(0, 1, "create_dir", "d", Code.UNAVAILABLE), event(2, 3, "path_exists", "d", OK)],
    ),
    "a directory is no file": (
        frozenset({("d", None)}),
        [event(0, 1, "delete_file", "d", Code.FAILED_PRECONDITION), event(2, 3, "read", "d", Code.FAILED_PRECONDITION)],
    ),
}

UNFITTING: dict[str, tuple[Files, list[Event]]] = {
    "a stale read": (FILE, [event(0, 1, "write", "a", OK, b"new"), event(2, 3, "read", "a", OK, b"old")]),
    "a read of what was never written": (
        FILE,
        [event(0, 9, "write", "a", OK, b"new"), event(1, 2, "read", "a", OK, b"ne")],
    ),
    "new, then old": (
        FILE,
        [
            event(0, 9, "write", "a", OK, b"new"),
            event(1, 2, "read", "a", OK, b"new"),
            event(3, 4, "read", "a", OK, b"old"),
        ],
    ),
    "two readers see two writes in different orders": (
        FILE,
        [
            event(0, 20, "write", "a", OK, b"1"),
            event(0, 20, "write", "a", OK, b"2"),
            event(1, 2, "read", "a", OK, b"1"),
            event(3, 4, "read", "a", OK, b"2"),
            event(5, 6, "read", "a", OK, b"1"),
        ],
    ),
    "a lost update": (
        NOTHING,
        [
            event(0, 5, "write", "a", OK, b"1"),
            event(1, 6, "write", "b", OK, b"2"),
            event(7, 8, "read", "a", OK, b"1"),
            event(7, 8, "read", "b", MISSING),
        ],
    ),
    "a directory that was created twice": (NOTHING, [event(0, 5, "create_dir", "d"), event(1, 4, "create_dir", "d")]),
    "a file that was deleted twice": (FILE, [event(0, 5, "delete_file", "a"), event(1, 4, "delete_file", "a")]),
    "a file that was renamed twice": (FILE, [event(0, 5, "rename_file", "a b"), event(1, 4, "rename_file", "a c")]),
    "nobody wins": (NOTHING, [event(0, 5, "create_dir", "d", EXISTS), event(1, 4, "create_dir", "d", EXISTS)]),
    "a rename in two steps": (
        frozenset({("a", b"old"), ("b", b"new")}),
        [event(0, 9, "rename_file", "b a"), event(1, 2, "path_exists", "a", MISSING)],
    ),
    "a file is in two places": (
        FILE,
        [event(0, 9, "rename_file", "a b"), event(1, 2, "path_exists", "b"), event(3, 4, "path_exists", "a")],
    ),
    "a file is nowhere": (
        FILE,
        [
            event(0, 9, "rename_file", "a b"),
            event(1, 2, "path_exists", "a", MISSING),
            event(3, 4, "path_exists", "b", MISSING),
        ],
    ),
    "who cannot tell has done one of both": (
        NOTHING,
        [
            event(0, 1, "create_dir", "d", Code.ABORTED),
            event(2, 3, "path_exists", "d", OK),
            event(4, 5, "path_exists", "d", MISSING),
        ],
    ),
}


@pytest.mark.parametrize("name", list(FITTING))
def test_a_history_that_fits(name: str) -> None:
    start, events = FITTING[name]
    for order in itertools.permutations(events):
        assert ends(order, [start])


@pytest.mark.parametrize("name", list(UNFITTING))
def test_a_history_that_fits_no_order(name: str) -> None:
    start, events = UNFITTING[name]
    for order in itertools.permutations(events):
        assert not ends(order, [start])


def test_all_ends_are_found() -> None:
    events = [event(0, 9, "write", "a", OK, b"1"), event(1, 8, "write", "a", OK, b"2")]
    assert ends(events, [NOTHING]) == {frozenset({("a", b"1")}), frozenset({("a", b"2")})}


def test_a_history_goes_on_from_several_states() -> None:
    two = [frozenset({("a", b"1")}), frozenset({("a", b"2")})]
    assert ends([event(0, 1, "read", "a", OK, b"2")], two) == {two[1]}
    assert not ends([event(0, 1, "read", "a", OK, b"3")], two)


def brute_force(events: list[Event], start: Files) -> bool:
    """Every order that keeps what came after what, each performed one op after the other."""
    for order in itertools.permutations(events):
        if any(late.end < early.start for k, early in enumerate(order) for late in order[k + 1 :]):
            continue
        files: set[Files] = {start}
        for k, one in enumerate(order):
            files = ends([event(k, k, one.op, " ".join(one.names), one.code, one.content)], files)
        if files:
            return True
    return False


@pytest.mark.parametrize("seed", range(100))
def test_the_search_finds_what_trying_all_orders_finds(seed: int) -> None:
    chance = random.Random(seed)
    events = []
    for _ in range(5):
        start = chance.randrange(8)
        op = chance.choice(["create_dir", "delete_dir", "path_exists"])
        codes = {"create_dir": (OK, EXISTS), "delete_dir": (OK, MISSING), "path_exists": (OK, MISSING)}[op]
        events.append(event(start, start + chance.randrange(6), op, "d", chance.choice(codes)))
    assert bool(ends(events, [NOTHING])) == brute_force(events, NOTHING)


def test_many_at_once_are_searched_by_states_and_not_by_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve that overlap have half a thousand million orders, and some ten thousand states."""
    tried = itertools.count()
    one_after = histories._after
    monkeypatch.setattr(histories, "_after", lambda files, event: (next(tried), one_after(files, event))[1])
    events = [event(0, 99, "write", "a", OK, b"%d" % k) for k in range(12)] + [event(100, 101, "read", "a", OK, b"x")]
    assert not ends(events, [NOTHING])
    # A state is which of them have been, and who was last; each of the rest may be next.
    assert next(tried) <= 2**12 * 12 * 12
