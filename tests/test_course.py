"""How far a run came: what it left out of its tier, and who left it out."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tffs_conformance.run.selection import selection, stops
from tffs_conformance.suite.judge.course import Course, is_as_asked

WHOLE = Course(
    tier="quick", cases=frozenset("abc"), targets=1, collected=3, ended=3, selected=(), stops=(), interrupted=False
)  # fmt: skip
READ = {"selected": ("-k read",)}
ONE, TWO = (f"{count} of 3 cases of the tier quick were not run" for count in (1, 2))


def course(**different: object) -> Course:
    return replace(WHOLE, **different)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("different", "ended", "said", "how"),
    [
        ({}, "abc", None, "done"),
        # Cases of others are not missed.
        ({}, "abcd", None, "done"),
        # Options that left nothing out are no selection.
        ({"selected": ("-m 'not slow'",)}, "abc", None, "done"),
        ({"ended": 1}, "a", TWO, ""),
        ({"ended": 1, "stops": ("--maxfail=1",)}, "a", f"stopped by --maxfail=1; {TWO}", ""),
        # Something else than an option deselected.
        ({"collected": 2, "ended": 2}, "ab", ONE, "done"),
        ({"collected": 1, "ended": 1, "selected": ("-k read", "--lf")}, "a",
         f"only a selection was run: -k read --lf; {TWO}", "selection done"),
        ({"collected": 2, "ended": 2} | READ, "ab", f"only a selection was run: -k read; {ONE}", "selection done"),
        ({"collected": 2, "ended": 1} | READ, "a", f"of a selection: -k read; {TWO}", "selection"),
        ({"collected": 2, "ended": 1, "stops": ("--maxfail=1",)} | READ, "a",
         f"stopped by --maxfail=1; of a selection: -k read; {TWO}", "selection"),
        # An interrupt goes before a selection.
        ({"collected": 2, "ended": 1, "interrupted": True} | READ, "a", f"the run was interrupted; {TWO}", "selection"),
        # Of two targets each has its own account.
        ({"targets": 2, "collected": 6, "ended": 5}, "abc", None, ""),
        ({"targets": 2, "collected": 6, "ended": 5}, "ab", ONE, ""),
    ],
)  # fmt: skip
def test_what_a_run_left_out_is_counted_with_what_left_it_out(
    different: dict[str, object], ended: str, said: str | None, how: str
) -> None:
    found = course(**different)
    assert found.left_out(ended) == said
    assert (found.is_selection, found.is_done) == ("selection" in how, "done" in how)
    assert is_as_asked(said) is found.is_as_asked is (how == "selection done")


def test_a_run_is_a_selection_with_fewer_cases_and_done_when_as_many_ended() -> None:
    asked = course(selected=("-k x",), targets=2)
    assert [replace(asked, collected=count).is_selection for count in (5, 6, 7)] == [True, False, False]
    many = int("1000")
    assert [course(collected=1000, ended=count).is_done for count in (999, many, 1001)] == [False, True, True]


def config(**given: object) -> Any:
    """The options of pytest that leave something out; where its cache is off, --lf and --sw are not there."""
    plain = {"keyword": "", "markexpr": "", "deselect": None, "ignore": None, "ignore_glob": None, "maxfail": 0}
    return SimpleNamespace(option=SimpleNamespace(**(plain | given)))


def options(clauses: tuple[str, ...] = (), cases: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(clauses=clauses, cases=cases, shard=(1, 1))


def test_what_leaves_something_out_is_shown_as_it_was_given() -> None:
    assert selection(config(), options(), ()) == selection(config(lf=False, stepwise=False), options(), ()) == ()
    given = config(keyword="a or b", markexpr="slow", deselect=["x", "y"], ignore=["d"], ignore_glob=["*.py"], lf=True,
                   stepwise=True)  # fmt: skip
    assert selection(given, options(("read.*",), ("read/a",)), ("tffs/a b",)) == (
        "'tffs/a b'", "-k 'a or b'", "-m slow", "--clause='read.*'", "--case=read/a", "--deselect=x", "--deselect=y",
        "--ignore=d", "--ignore-glob='*.py'", "--lf", "--sw",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, ()),
        ({"stepwise": False}, ()),
        ({"maxfail": 1}, ("--maxfail=1",)),
        ({"maxfail": 3, "stepwise": True}, ("--maxfail=3", "--sw")),
    ],
)
def test_what_ends_a_run_early_is_shown(given: dict[str, object], shown: tuple[str, ...]) -> None:
    assert stops(config(**given)) == shown
