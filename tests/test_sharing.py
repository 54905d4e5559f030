"""However many statements a case makes, few stand for all of them, and each is counted."""

from dataclasses import replace

from tffs_conformance.suite.engine.sharing import OTHERS, STATEMENTS, add
from tffs_conformance.suite.judge.evidence import Statement


def broken(got: str) -> Statement:
    return Statement("read.succeeds", False, "x", got)


def test_very_many_statements_about_one_clause_share_records_and_are_all_counted() -> None:
    made: list[Statement] = []
    for number in range(1000):
        add(made, broken(f"got {number}"))
    assert len(made) == STATEMENTS + 1
    assert sum(one.times for one in made) == 1000
    assert (made[-1].got, made[-1].times) == (OTHERS, 1000 - STATEMENTS)


def test_what_holds_alike_shares_a_record_and_what_does_not_stands_alone() -> None:
    made: list[Statement] = []
    kept = Statement("read.succeeds", True, "code=OK", "code=OK")
    for one in (kept, broken("a"), kept, broken("a"), replace(kept, clause="read.one-byte"), kept):
        add(made, one)
    assert [(one.clause, one.holds, one.times) for one in made] == [
        ("read.succeeds", True, 3),
        ("read.succeeds", False, 1),
        ("read.succeeds", False, 1),
        ("read.one-byte", True, 1),
    ]


def test_what_only_prepared_the_stimulus_shares_nothing_with_what_was_tried() -> None:
    made: list[Statement] = []
    kept = Statement("read.succeeds", True, "code=OK", "code=OK")
    for one in (kept, replace(kept, prepared=True), kept, replace(kept, reading="a"), replace(kept, said="b")):
        add(made, one)
    assert [(one.prepared, one.reading, one.said, one.times) for one in made] == [
        (False, None, None, 2),
        (True, None, None, 1),
        (False, "a", None, 1),
        (False, None, "b", 1),
    ]


def test_a_breach_that_no_record_shows_is_not_counted_as_one_that_is() -> None:
    """A waiver that accepts what is shown must not accept what is not."""
    made: list[Statement] = []
    for number in range(STATEMENTS):
        add(made, broken(f"got {number}"))
    for got in ("got 3", "new", "got 3"):
        add(made, broken(got))
    add(made, Statement("read.succeeds", True, "x", "x"))
    assert [(one.got, one.times) for one in made if one.times > 1] == [("got 3", 3)]
    assert [one.got for one in made[-2:]] == [OTHERS, "x"]
