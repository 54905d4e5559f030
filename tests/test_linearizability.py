"""The checker of histories, on histories of which a person can tell whether they fit an order."""

import itertools
import random
from dataclasses import replace

import pytest

from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.suite.contract import histories
from tffs_conformance.suite.contract.histories import Event, Files, ends

NOTHING: Files = frozenset()
FILE: Files = frozenset({("a", b"old")})


def event(text: str) -> Event:
    """An event of a text such as `0-9 write a: new`: when, which op, of which names, and the content or the code."""
    asked, _, answer = text.partition(": ")
    when, op, *names = asked.split()
    start, end = map(int, when.split("-"))
    if answer in Code.__members__:
        return Event(start, end, op, tuple(names), Code[answer], b"")
    return Event(start, end, op, tuple(names), Code.OK, answer.encode())


#: Histories: whether they fit an order, what is there before, and what is done.
HISTORIES: dict[str, tuple[bool, Files, list[str]]] = {
    "nothing happens": (True, NOTHING, []),
    "a read beside a write sees the old": (True, FILE, ["0-9 write a: new", "1-2 read a: old"]),
    "a read beside a write sees the new": (True, FILE, ["0-9 write a: new", "1-2 read a: new"]),
    "an op takes effect before its answer": (
        True,
        FILE,
        ["0-9 delete_file a", "1-2 path_exists a", "3-4 path_exists a: NOT_FOUND"],
    ),
    "two create, one wins": (True, NOTHING, ["0-5 create_dir d", "1-4 create_dir d: ALREADY_EXISTS"]),
    "two create, and a delete lies between": (
        True,
        NOTHING,
        ["0-5 create_dir d", "1-6 create_dir d", "2-4 delete_dir d"],
    ),
    "two rename one file, one wins": (
        True,
        FILE,
        ["0-5 rename_file a b", "1-6 rename_file a c: NOT_FOUND", "7-8 read b: old"],
    ),
    "the later ends first": (True, FILE, ["2-3 path_exists a: NOT_FOUND", "0-9 delete_file a"]),
    "who cannot tell has or has not": (True, NOTHING, ["0-1 create_dir d: ABORTED", "2-3 path_exists d: NOT_FOUND"]),
    "who cannot tell may have": (True, NOTHING, ["0-1 create_dir d: UNAVAILABLE", "2-3 path_exists d"]),
    "a directory is no file": (
        True,
        frozenset({("d", None)}),
        ["0-1 delete_file d: FAILED_PRECONDITION", "2-3 read d: FAILED_PRECONDITION"],
    ),
    "a stale read": (False, FILE, ["0-1 write a: new", "2-3 read a: old"]),
    "a read of what was never written": (False, FILE, ["0-9 write a: new", "1-2 read a: ne"]),
    "new, then old": (False, FILE, ["0-9 write a: new", "1-2 read a: new", "3-4 read a: old"]),
    "two readers see two writes in different orders": (
        False,
        FILE,
        ["0-20 write a: 1", "0-20 write a: 2", "1-2 read a: 1", "3-4 read a: 2", "5-6 read a: 1"],
    ),
    "a lost update": (
        False,
        NOTHING,
        ["0-5 write a: 1", "1-6 write b: 2", "7-8 read a: 1", "7-8 read b: NOT_FOUND"],
    ),
    "a directory that was created twice": (False, NOTHING, ["0-5 create_dir d", "1-4 create_dir d"]),
    "a file that was deleted twice": (False, FILE, ["0-5 delete_file a", "1-4 delete_file a"]),
    "a file that was renamed twice": (False, FILE, ["0-5 rename_file a b", "1-4 rename_file a c"]),
    "nobody wins": (False, NOTHING, ["0-5 create_dir d: ALREADY_EXISTS", "1-4 create_dir d: ALREADY_EXISTS"]),
    "a rename in two steps": (
        False,
        frozenset({("a", b"old"), ("b", b"new")}),
        ["0-9 rename_file b a", "1-2 path_exists a: NOT_FOUND"],
    ),
    "a file is in two places": (False, FILE, ["0-9 rename_file a b", "1-2 path_exists b", "3-4 path_exists a"]),
    "a file is nowhere": (
        False,
        FILE,
        ["0-9 rename_file a b", "1-2 path_exists a: NOT_FOUND", "3-4 path_exists b: NOT_FOUND"],
    ),
    "who cannot tell has done one of both": (
        False,
        NOTHING,
        ["0-1 create_dir d: ABORTED", "2-3 path_exists d", "4-5 path_exists d: NOT_FOUND"],
    ),
}


@pytest.mark.parametrize(("fits", "start", "events"), HISTORIES.values(), ids=HISTORIES)
def test_a_history_fits_an_order_or_none(fits: bool, start: Files, events: list[str]) -> None:
    for order in itertools.permutations(map(event, events)):
        assert bool(ends(order, [start])) is fits


def test_all_ends_are_found() -> None:
    events = [event("0-9 write a: 1"), event("1-8 write a: 2")]
    assert ends(events, [NOTHING]) == {frozenset({("a", b"1")}), frozenset({("a", b"2")})}


def test_a_history_goes_on_from_several_states() -> None:
    two = [frozenset({("a", b"1")}), frozenset({("a", b"2")})]
    assert ends([event("0-1 read a: 2")], two) == {two[1]}
    assert not ends([event("0-1 read a: 3")], two)


def brute_force(events: list[Event], start: Files) -> bool:
    """Every order that keeps what came after what, each performed one op after the other."""
    for order in itertools.permutations(events):
        if any(late.end < early.start for k, early in enumerate(order) for late in order[k + 1 :]):
            continue
        files: set[Files] = {start}
        for k, one in enumerate(order):
            files = ends([replace(one, start=k, end=k)], files)
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
        end = start + chance.randrange(6)
        code = chance.choice((Code.OK, Code.ALREADY_EXISTS if op == "create_dir" else Code.NOT_FOUND))
        events.append(Event(start, end, op, ("d",), code, b""))
    assert bool(ends(events, [NOTHING])) == brute_force(events, NOTHING)


def test_many_at_once_are_searched_by_states_and_not_by_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve that overlap have half a thousand million orders, and some ten thousand states."""
    tried = itertools.count()
    one_after = histories._after
    monkeypatch.setattr(histories, "_after", lambda files, event: (next(tried), one_after(files, event))[1])
    events = [event(f"0-99 write a: {k}") for k in range(12)] + [event("100-101 read a: x")]
    assert not ends(events, [NOTHING])
    # A state is which of them have been, and who was last; each of the rest may be next.
    assert next(tried) <= 2**12 * 12 * 12
