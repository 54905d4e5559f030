"""The reference model, its matcher, and the shrinking of histories: plain Python, no plugin."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tffs_conformance.harness.ops import glob
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.suite.contract import matcher
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


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (Step("create_dir", ("a",)), Code.ALREADY_EXISTS),
        (Step("create_dir", ("a/b",)), Code.FAILED_PRECONDITION),
        (Step("create_dir", ("b/c",)), Code.NOT_FOUND),
        (Step("create_dir", ("b",)), Code.OK),
        (Step("delete_dir", ("a",)), Code.FAILED_PRECONDITION),
        (Step("delete_file", ("b",)), Code.NOT_FOUND),
        (Step("copy_file", ("a", "b")), Code.OK),
        (Step("rename_file", ("b", "a")), Code.NOT_FOUND),
        (Step("get_children", ("a",)), Code.FAILED_PRECONDITION),
        (Step("new_random_access_file", ("./x/../a/",)), Code.OK),
    ],
)
def test_codes_are_those_of_the_situation(step: Step, code: Code) -> None:
    expectation = after(*FILE).take(step)
    assert expectation is not None
    assert expectation.codes == {code}


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
    stat = model.take(Step("stat", ("a",)))
    assert stat is not None
    assert [value.expected for value in stat.values] == [0, 5]


def test_a_read_across_the_end_gives_the_rest() -> None:
    read = after(*FILE, Step("new_random_access_file", ("a",))).take(Step("read", file=4, offset=3, n=10))
    assert read is not None
    assert read.codes == {Code.OUT_OF_RANGE}
    assert [value.expected for value in read.values] == [2, b"45"]


def test_what_a_reader_sees_of_a_file_that_changed_is_open() -> None:
    model = after(*FILE, Step("new_random_access_file", ("a",)), Step("delete_file", ("a",)))
    assert model.take(Step("read", file=4, n=1)) is None
    assert model.take(Step("random_access_file.cleanup", file=4)) is not None


@pytest.mark.parametrize(
    "step",
    [
        Step("rename_file", ("d", "e")),  # disputed A3
        Step("copy_file", ("a", "d")),  # disputed A2
        Step("delete_recursively", ("a",)),  # disputed A5
        Step("rename_file", ("a", "a")),  # disputed A13
    ],
)
def test_what_is_disputed_and_changes_things_is_open(step: Step) -> None:
    assert after(*FILE, Step("create_dir", ("d",))).take(step) is None


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
    matches = after(*FILE, Step("create_dir", ("d",))).take(Step("get_matching_paths", (pattern,)))
    assert matches is not None
    assert matches.codes == {Code.OK, *errors}


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
    assert [step.file for step in without((directory, *moved(FILE)), range(1))] == [-1, 0, 0, 0]


def moved(steps: tuple[Step, ...]) -> list[Step]:
    """The same one step later."""
    return [replace(step, file=step.file + 1) if step.file >= 0 else step for step in steps]


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
    tries = 0

    def shows(steps: tuple[Step, ...]) -> bool:
        nonlocal tries
        tries += 1
        if tries > 4:
            raise EnoughTriedError
        return valid(steps) and any(step.op == "copy_file" for step in steps)

    assert len(shrink(long_history(), shows)) <= len(long_history())
