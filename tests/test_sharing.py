"""However many statements a case makes, few stand for all of them, and each is counted."""

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tffs_conformance.suite.engine.sharing import KEPT, OTHERS, STATEMENTS, Statements
from tffs_conformance.suite.judge.evidence import Statement


def broken(got: str) -> Statement:
    return Statement("read.succeeds", False, "x", got)


def test_very_many_statements_about_one_clause_share_records_and_are_all_counted() -> None:
    made = Statements()
    for number in range(1000):
        made.add(broken(f"got {number}"))
    assert (len(made), sum(one.times for one in made)) == (STATEMENTS + 1, 1000)
    assert (made[-1].got.startswith(OTHERS), made[-1].times) == (True, 1000 - STATEMENTS)
    # What holds has no digest beyond the first few.
    made = Statements()
    for number in range(KEPT + 2):
        made.add(Statement("read.succeeds", True, "x", f"got {number}"))
    assert (len(made), made[-1].got, made[-1].times) == (KEPT + 1, OTHERS, 2)


def test_what_holds_alike_shares_a_record_and_what_does_not_stands_alone() -> None:
    made = Statements()
    kept = Statement("read.succeeds", True, "code=OK", "code=OK")
    for one in (kept, broken("a"), kept, broken("a"), replace(kept, clause="read.one-byte"), kept):
        made.add(one)
    found = [(one.clause, one.holds, one.times) for one in made]
    beside = ("read.succeeds", False, 1)
    assert found == [("read.succeeds", True, 3), beside, beside, ("read.one-byte", True, 1)]
    # What only prepared the stimulus shares nothing with what was tried.
    made = Statements()
    for one in (kept, replace(kept, prepared=True), kept, replace(kept, reading="a")):
        made.add(one)
    apart = [(one.prepared, one.reading, one.times) for one in made]
    assert apart == [(False, None, 2), (True, None, 1), (False, "a", 1)]


def test_a_breach_that_no_record_shows_is_not_counted_as_one_that_is() -> None:
    """A waiver that accepts what is shown must not accept what is not."""
    made = Statements()
    for number in range(STATEMENTS):
        made.add(broken(f"got {number}"))
    for got in ("got 3", "new", "got 3"):
        made.add(broken(got))
    made.add(Statement("read.succeeds", True, "x", "x"))
    assert [(one.got, one.times) for one in made if one.times > 1] == [("got 3", 3)]
    assert made[-2].got.startswith(OTHERS)
    assert made[-1].got == "x"


def shared(*answers: str) -> str:
    """What the record says that stands for these answers."""
    made = Statements()
    for got in (*map(str, range(STATEMENTS)), *answers):
        made.add(broken(got))
    assert (len(made), made[-1].times) == (STATEMENTS + 1, len(answers))
    return made[-1].got


@given(st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_a_waiver_of_those_beyond_fits_the_same_answers_and_no_other(answers: list[str], chance: Random) -> None:
    said = shared(*answers)
    again = [*answers, chance.choice(answers)]
    chance.shuffle(again)
    assert shared(*again) == said
    assert shared(*answers, "another") != said
