"""How far a run came: what it left out of its tier, and who left it out."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tffs_conformance.run.selection import selection, stops
from tffs_conformance.suite.judge.course import Course, is_as_asked

WHOLE = Course(
    tier="quick",
    cases=frozenset({"a", "b", "c"}),
    targets=1,
    collected=3,
    ended=3,
    selected=(),
    stops=(),
    interrupted=False,
)


def course(**different: object) -> Course:
    return replace(WHOLE, **different)  # type: ignore[arg-type]


def test_a_run_of_which_every_case_ended_left_nothing_out() -> None:
    assert WHOLE.left_out("abc") is None


def test_options_that_left_nothing_out_are_no_selection() -> None:
    assert course(selected=("-m 'not slow'",)).left_out("abc") is None


def test_cases_that_were_not_reached_are_counted() -> None:
    found = course(ended=1)
    assert found.left_out("a") == "2 of 3 cases of the tier quick were not run"
    assert not found.is_done


def test_what_stopped_a_run_is_named() -> None:
    assert course(ended=1, stops=("--maxfail=1",)).left_out("a") == (
        "stopped by --maxfail=1; 2 of 3 cases of the tier quick were not run"
    )


def test_who_deselects_without_an_option_is_found_out() -> None:
    found = course(collected=2, ended=2)
    assert found.left_out("ab") == "1 of 3 cases of the tier quick were not run"
    assert not found.is_selection


def test_a_selection_is_named_and_counted() -> None:
    found = course(collected=1, ended=1, selected=("-k read", "--lf"))
    assert found.left_out("a") == "only a selection was run: -k read --lf; 2 of 3 cases of the tier quick were not run"
    assert found.is_selection
    assert found.is_done


def test_a_selection_that_did_not_end_is_not_what_was_asked_for() -> None:
    found = course(collected=2, ended=1, selected=("-k read",), stops=("--maxfail=1",))
    told = "stopped by --maxfail=1; of a selection: -k read; 2 of 3 cases of the tier quick were not run"
    assert (found.left_out("a"), found.is_as_asked, is_as_asked(found.left_out("a"))) == (told, False, False)
    found = replace(found, stops=())
    assert found.left_out("a") == "of a selection: -k read; 2 of 3 cases of the tier quick were not run"
    assert is_as_asked(replace(found, ended=2).left_out("ab"))


def test_an_interrupt_goes_before_a_selection() -> None:
    found = course(collected=2, ended=1, selected=("-k read",), interrupted=True)
    assert found.left_out("a") == "the run was interrupted; 2 of 3 cases of the tier quick were not run"


def test_of_two_targets_each_has_its_own_account() -> None:
    found = course(targets=2, collected=6, ended=5)
    assert found.left_out("abc") is None
    assert found.left_out("ab") == "1 of 3 cases of the tier quick were not run"


def test_all_cases_of_all_targets_are_no_selection() -> None:
    asked = course(selected=("-k x",), targets=2)
    assert [replace(asked, collected=count).is_selection for count in (5, 6, 7)] == [True, False, False]


def test_a_run_is_done_when_as_many_ended_as_were_collected_or_more() -> None:
    many = int("1000")
    assert [course(collected=1000, ended=count).is_done for count in (999, many, 1001)] == [False, True, True]


def test_cases_of_others_are_not_missed() -> None:
    assert WHOLE.left_out("abcd") is None


def config(**given: object) -> Any:
    """The options of pytest that leave something out; where its cache is off, --lf and --sw are not there."""
    plain = {"keyword": "", "markexpr": "", "deselect": None, "ignore": None, "ignore_glob": None, "maxfail": 0}
    return SimpleNamespace(option=SimpleNamespace(**(plain | given)))


def options(clauses: tuple[str, ...] = (), cases: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(clauses=clauses, cases=cases, shard=(1, 1))


def test_who_gives_no_option_leaves_nothing_out() -> None:
    assert selection(config(), options(), ()) == ()
    assert selection(config(lf=False, stepwise=False), options(), ()) == ()
    assert stops(config()) == stops(config(stepwise=False)) == ()


def test_what_leaves_something_out_is_shown_as_it_was_given() -> None:
    given = config(keyword="a or b", markexpr="slow", deselect=["x", "y"], ignore=["d"], ignore_glob=["*.py"], lf=True,
                   stepwise=True)  # fmt: skip
    assert selection(given, options(("read.*",), ("read/a",)), ("tffs/a b",)) == (
        "'tffs/a b'", "-k 'a or b'", "-m slow", "--clause='read.*'", "--case=read/a", "--deselect=x", "--deselect=y",
        "--ignore=d", "--ignore-glob='*.py'", "--lf", "--sw",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "shown"),
    [({"maxfail": 1}, ("--maxfail=1",)), ({"maxfail": 3, "stepwise": True}, ("--maxfail=3", "--sw"))],
)
def test_what_ends_a_run_early_is_shown(given: dict[str, object], shown: tuple[str, ...]) -> None:
    assert stops(config(**given)) == shown
