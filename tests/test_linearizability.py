"""The checker of histories, on histories of which a person can tell whether they fit an order."""

import itertools
import random
from dataclasses import replace

import pytest

from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.suite.contract import histories
from tffs_conformance.suite.contract.histories import Event, Files, ends

NOTHING: Files = frozenset()


def event(text: str) -> Event:
    """An event of a text such as `0-9 write a: new`: when, which op, of which names, and the content or the code."""
    asked, _, answer = text.partition(": ")
    when, op, *names = asked.split()
    start, end = map(int, when.split("-"))
    if answer in Code.__members__:
        return Event(start, end, op, tuple(names), Code[answer], b"")
    return Event(start, end, op, tuple(names), Code.OK, answer.encode())


#: A history a line: its name, what is there before (a file and its content, or a directory), and what is done.
FITTING = """
nothing happens || |
a read beside a write sees the old | a=old | 0-9 write a: new | 1-2 read a: old
a read beside a write sees the new | a=old | 0-9 write a: new | 1-2 read a: new
an op takes effect before its answer | a=old | 0-9 delete_file a | 1-2 path_exists a | 3-4 path_exists a: NOT_FOUND
two create, one wins || 0-5 create_dir d | 1-4 create_dir d: ALREADY_EXISTS
two create, and a delete lies between || 0-5 create_dir d | 1-6 create_dir d | 2-4 delete_dir d
two rename one file, one wins | a=old | 0-5 rename_file a b | 1-6 rename_file a c: NOT_FOUND | 7-8 read b: old
the later ends first | a=old | 2-3 path_exists a: NOT_FOUND | 0-9 delete_file a
who cannot tell has or has not || 0-1 create_dir d: ABORTED | 2-3 path_exists d: NOT_FOUND
who cannot tell may have || 0-1 create_dir d: UNAVAILABLE | 2-3 path_exists d
a directory is no file | d | 0-1 delete_file d: FAILED_PRECONDITION | 2-3 read d: FAILED_PRECONDITION
"""
FITTING_NO_ORDER = """
a stale read | a=old | 0-1 write a: new | 2-3 read a: old
a read of what was never written | a=old | 0-9 write a: new | 1-2 read a: ne
new, then old | a=old | 0-9 write a: new | 1-2 read a: new | 3-4 read a: old
two see two writes apart | a=old | 0-20 write a: 1 | 0-20 write a: 2 | 1-2 read a: 1 | 3-4 read a: 2 | 5-6 read a: 1
a lost update || 0-5 write a: 1 | 1-6 write b: 2 | 7-8 read a: 1 | 7-8 read b: NOT_FOUND
a directory that was created twice || 0-5 create_dir d | 1-4 create_dir d
a file that was deleted twice | a=old | 0-5 delete_file a | 1-4 delete_file a
a file that was renamed twice | a=old | 0-5 rename_file a b | 1-4 rename_file a c
nobody wins || 0-5 create_dir d: ALREADY_EXISTS | 1-4 create_dir d: ALREADY_EXISTS
a rename in two steps | a=old b=new | 0-9 rename_file b a | 1-2 path_exists a: NOT_FOUND
a file is in two places | a=old | 0-9 rename_file a b | 1-2 path_exists b | 3-4 path_exists a
a file is nowhere | a=old | 0-9 rename_file a b | 1-2 path_exists a: NOT_FOUND | 3-4 path_exists b: NOT_FOUND
who cannot tell has done one of both || 0-1 create_dir d: ABORTED | 2-3 path_exists d | 4-5 path_exists d: NOT_FOUND
"""


def history(line: str) -> tuple[Files, list[Event]]:
    """What is there before, and what is done."""
    _, before, *done = (part.strip() for part in line.split("|"))
    files = (one.partition("=") for one in before.split())
    start: Files = frozenset((name, content.encode() if is_file else None) for name, is_file, content in files)
    return start, [event(text) for text in done if text]


@pytest.mark.parametrize("line", FITTING.strip().splitlines())
def test_a_history_that_fits(line: str) -> None:
    start, events = history(line)
    for order in itertools.permutations(events):
        assert ends(order, [start])


@pytest.mark.parametrize("line", FITTING_NO_ORDER.strip().splitlines())
def test_a_history_that_fits_no_order(line: str) -> None:
    start, events = history(line)
    for order in itertools.permutations(events):
        assert not ends(order, [start])


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
