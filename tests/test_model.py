"""The reference model, its matcher, the shrinking of histories, and the checker of what threads did: no plugin."""

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tffs_conformance.harness.ops import glob
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.suite.contract import histories, matcher
from tffs_conformance.suite.contract.histories import Event, Files, ends
from tffs_conformance.suite.contract.model import Model, Step
from tffs_conformance.suite.properties import strategies
from tffs_conformance.suite.properties.shrink import EnoughTriedError, shrink, valid, without

FILE = (
    Step("new_writable_file", ("a",)),
    Step("append", file=0, data=b"12345"),
    Step("close", file=0),
    Step("writable_file.cleanup", file=0),
)


def after(*steps: Step, unsupported: tuple[str, ...] = ()) -> Model:
    model = Model(unsupported)
    for step in steps:
        assert model.take(step) is not None, step
    return model


def expected(model: Model, step: Step) -> tuple[set[Code], list[object]]:
    """The codes that are right for a step, and the values."""
    expectation = model.take(step)
    assert expectation is not None
    return {*expectation.codes}, [value.expected for value in expectation.values]


@pytest.mark.parametrize(
    ("op", "paths", "code"),
    [
        ("create_dir", "a", Code.ALREADY_EXISTS),
        ("create_dir", "a/b", Code.FAILED_PRECONDITION),
        ("create_dir", "b/c", Code.NOT_FOUND),
        ("create_dir", "b", Code.OK),
        ("delete_dir", "a", Code.FAILED_PRECONDITION),
        ("delete_file", "b", Code.NOT_FOUND),
        ("copy_file", "a b", Code.OK),
        ("rename_file", "b a", Code.NOT_FOUND),
        ("get_children", "a", Code.FAILED_PRECONDITION),
        ("new_random_access_file", "./x/../a/", Code.OK),
    ],
)
def test_codes_are_those_of_the_situation(op: str, paths: str, code: Code) -> None:
    assert expected(after(*FILE), Step(op, tuple(paths.split())))[0] == {code}


def test_a_copy_is_a_file_of_its_own_and_a_rename_takes_the_source_away() -> None:
    model = after(*FILE, Step("create_dir", ("d",)), Step("copy_file", ("a", "d/x")), Step("rename_file", ("a", "b")))
    assert model.tree == {"b": b"12345", "d": None, "d/x": b"12345"}
    assert model.children("") == ["b", "d"]


def test_what_somebody_writes_to_is_open_until_it_is_closed() -> None:
    model = after(*FILE[:2])
    assert model.take(Step("stat", ("a",))) is None
    assert model.take(Step("get_children", ("",))) is None
    assert model.take(Step("writable_file.cleanup", file=0)) is None
    assert model.take(FILE[2]) is not None
    assert expected(model, Step("stat", ("a",)))[1] == [0, 5]


def test_a_read_across_the_end_gives_the_rest() -> None:
    model = after(*FILE, Step("new_random_access_file", ("a",)))
    assert expected(model, Step("read", file=4, offset=3, n=10)) == ({Code.OUT_OF_RANGE}, [2, b"45"])


def test_what_a_reader_sees_of_a_file_that_changed_is_open() -> None:
    model = after(*FILE, Step("new_random_access_file", ("a",)), Step("delete_file", ("a",)))
    assert model.take(Step("read", file=4, n=1)) is None
    assert model.take(Step("random_access_file.cleanup", file=4)) is not None


@pytest.mark.parametrize(
    ("op", "paths"),
    [
        ("rename_file", "d e"),  # disputed A3
        ("copy_file", "a d"),  # disputed A2
        ("delete_recursively", "a"),  # disputed A5
        ("rename_file", "a a"),  # disputed A13
    ],
)
def test_what_is_disputed_and_changes_things_is_open(op: str, paths: str) -> None:
    assert after(*FILE, Step("create_dir", ("d",))).take(Step(op, tuple(paths.split()))) is None


@pytest.mark.parametrize("op", ["path_exists", "paths_exist"])
def test_what_a_target_does_not_promise_is_open(op: str) -> None:
    model = after(*FILE, unsupported=(f"{op}.below-a-file-is-failed-precondition",))
    assert model.take(Step(op, ("a/b",))) is None
    assert model.take(Step(op, ("b",))) is not None


EMULATED = ("create_dir.missing-parent-is-not-found",)
NESTED = (Step("recursively_create_dir", ("a/b",)), Step("create_dir", ("a/b/c",)))


@pytest.mark.parametrize("op", ["delete_dir", "delete_recursively"])
def test_a_directory_that_came_with_another_may_go_with_it_where_directories_are_emulated(op: str) -> None:
    for unsupported, known in ((EMULATED, False), ((), True)):
        # `a/b` was made by name, and stays.
        model = after(*NESTED, Step(op, ("a/b/c",)), unsupported=unsupported)
        assert (model.take(Step(op, ("a/b",))) is not None) is known


def test_of_a_directory_with_other_entries_the_model_knows_that_it_stays() -> None:
    steps = (*NESTED, Step("create_dir", ("a/d",)), Step("delete_recursively", ("a/b",)))
    model = after(*steps, unsupported=EMULATED)
    assert model.take(Step("delete_dir", ("a/d",))) is None
    assert model.take(Step("delete_recursively", ("a",))) is not None
    # One that is made anew by name is like any other.
    for step in (Step("create_dir", ("a",)), Step("create_dir", ("a/d",)), Step("delete_dir", ("a/d",))):
        assert model.take(step) is not None


@pytest.mark.parametrize(
    ("pattern", "errors"),
    [
        ("*", []),
        ("d/*/*", []),
        ("missing/*", [Code.NOT_FOUND]),
        ("d/missing/deeper/*", [Code.NOT_FOUND]),
        ("a/?/*", [Code.NOT_FOUND, Code.FAILED_PRECONDITION]),
        ("a/b/c/*", [Code.NOT_FOUND, Code.FAILED_PRECONDITION]),
    ],
)
def test_a_pattern_may_get_the_error_of_its_directory(pattern: str, errors: list[Code]) -> None:
    model = after(*FILE, Step("create_dir", ("d",)))
    assert expected(model, Step("get_matching_paths", (pattern,)))[0] == {Code.OK, *errors}


@settings(derandomize=True, max_examples=500)
@given(strategies.patterns())
def test_matching_of_every_prefix_is_as_by_fnmatch_or_undecided(steps: list[Step]) -> None:
    names = [step.paths[0] for step in steps if step.op == "create_dir"]
    for step in steps:
        if step.op == "get_matching_paths":
            (pattern,) = step.paths
            assert matcher.matching(pattern, names) is not None
            for length in range(len(pattern) + 1):
                found = matcher.matching(pattern[:length], names)
                assert found in (None, sorted(name for name in names if glob.matches(name, pattern[:length])))


@pytest.mark.parametrize(
    "pattern", ["[a", "[", "\\", "[^]", "[]a]", "[a-]", "[-a]", "[^-a]", "[b-a]", "[!a]", "[[:alpha:]]"]
)
def test_pattern_outside_of_the_grammar_is_undecided(pattern: str) -> None:
    assert Model().take(Step("get_matching_paths", (pattern,))) is None


@settings(derandomize=True, max_examples=300)
@given(st.one_of(strategies.reads(), strategies.spellings(), strategies.patterns()))
def test_the_contract_decides_every_step_of_a_history(steps: list[Step]) -> None:
    assert valid(tuple(steps))


def test_a_step_goes_with_what_used_its_file() -> None:
    directory = Step("create_dir", ("d",))
    assert without((*FILE, directory), range(1)) == (directory,)
    later = [replace(step, file=step.file + 1) if step.file >= 0 else step for step in FILE]
    assert [step.file for step in without((directory, *later), range(1))] == [-1, 0, 0, 0]


def long_history() -> tuple[Step, ...]:
    noise = [Step("create_dir", (name,)) for name in ("x", "y", "x/z")]
    return (*FILE, *noise, Step("copy_file", ("a", "x/z/f")), Step("delete_dir", ("y",)), Step("stat", ("a",)))


def test_the_smallest_history_that_shows_it() -> None:
    def shows(steps: tuple[Step, ...]) -> bool:
        return valid(steps) and {"new_writable_file", "copy_file"} <= {step.op for step in steps}

    smallest = shrink(long_history(), shows)
    assert [step.op for step in smallest] == ["new_writable_file", "close", "copy_file"]
    assert smallest[-1].paths[0] == "a"
    assert valid(smallest)


def test_when_no_more_may_be_tried_the_best_so_far_is_kept() -> None:
    tries = iter(range(4))

    def shows(steps: tuple[Step, ...]) -> bool:
        if next(tries, None) is None:
            raise EnoughTriedError
        return valid(steps) and any(step.op == "copy_file" for step in steps)

    assert len(shrink(long_history(), shows)) <= len(long_history())


# What threads did ----------------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("line", "fits"),
    [(line, lines is FITTING) for lines in (FITTING, FITTING_NO_ORDER) for line in lines.strip().splitlines()],
)
def test_a_history_fits_an_order(line: str, fits: bool) -> None:
    _, before, *done = (part.strip() for part in line.split("|"))
    files = (one.partition("=") for one in before.split())
    start: Files = frozenset((name, content.encode() if is_file else None) for name, is_file, content in files)
    for order in itertools.permutations(event(text) for text in done if text):
        assert bool(ends(order, [start])) is fits


def test_history_goes_on_from_each_end() -> None:
    two = [frozenset({("a", b"1")}), frozenset({("a", b"2")})]
    assert ends([event("0-9 write a: 1"), event("1-8 write a: 2")], [NOTHING]) == {*two}
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
