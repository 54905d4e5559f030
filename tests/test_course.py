"""How far a run came: what it left out of its tier, and who left it out."""

from dataclasses import replace

from tffs_conformance.run.selection import Course

WHOLE = Course(
    tier="must",
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
    assert found.left_out("a") == "2 of 3 cases of the tier must were not run"
    assert not found.is_done


def test_what_stopped_a_run_is_named() -> None:
    assert course(ended=1, stops=("--maxfail=1",)).left_out("a") == (
        "stopped by --maxfail=1; 2 of 3 cases of the tier must were not run"
    )


def test_who_deselects_without_an_option_is_found_out() -> None:
    found = course(collected=2, ended=2)
    assert found.left_out("ab") == "1 of 3 cases of the tier must were not run"
    assert not found.is_selection


def test_a_selection_is_named_and_counted() -> None:
    found = course(collected=1, ended=1, selected=("-k read", "--lf"))
    assert found.left_out("a") == "only a selection was run: -k read --lf; 2 of 3 cases of the tier must were not run"
    assert found.is_selection
    assert found.is_done


def test_an_interrupt_goes_before_a_selection() -> None:
    found = course(collected=2, ended=1, selected=("-k read",), interrupted=True)
    assert found.left_out("a") == "the run was interrupted; 2 of 3 cases of the tier must were not run"


def test_of_two_targets_each_has_its_own_account() -> None:
    found = course(targets=2, collected=6, ended=5)
    assert found.left_out("abc") is None
    assert found.left_out("ab") == "1 of 3 cases of the tier must were not run"
