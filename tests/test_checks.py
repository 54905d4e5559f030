"""What a case compares becomes statements, with the texts that a reader compares. They have no verdict."""

import pytest

from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Outcome, Source
from tffs_conformance.harness.over_tables.raw import Call
from tffs_conformance.reports.model.records import StatementKind
from tffs_conformance.reports.model.redaction import Redaction
from tffs_conformance.suite.engine.checks import UNIMPLEMENTED, AbsentOpError, Checks, MisusedError
from tffs_conformance.suite.judge.evidence import Statement

MUST = "read.succeeds"
#: A clause with two readings.
DISPUTED = "writable_file.cleanup.unclosed-data"


def checks(*clauses: str) -> Checks:
    return Checks("read/a", clauses, "mine:///tmp/tffs-0123456789ab/read-a", Redaction({}), ())


@pytest.mark.parametrize("holds", [True, False])
def test_a_statement_says_what_was_compared(holds: bool) -> None:
    made = checks(MUST)
    assert made.that(MUST, holds, "a", "b", "c") is holds
    # Of what is kept the plugin's own words are not recorded.
    assert made.made == [Statement(MUST, holds, "a", "b", said=None if holds else "c", op=None if holds else "read")]


def test_a_statement_names_the_reading_that_is_followed() -> None:
    made = checks(DISPUTED)
    made.reading(DISPUTED, {"kept": False, "dropped": False}, "something else")
    made.reading(DISPUTED, {"kept": False, "dropped": True}, "the last")
    assert made.made == [
        Statement(DISPUTED, False, "kept or dropped", "something else", op="writable_file.cleanup"),
        Statement(DISPUTED, True, "kept or dropped", "the last", "dropped"),
    ]


def test_a_clause_that_a_case_does_not_declare_is_a_defect_of_the_suite() -> None:
    with pytest.raises(MisusedError, match="does not declare it"):
        checks("read.succeeds").that("read.ok-is-exactly-n", True, "a", "b")


@pytest.mark.parametrize(("clause", "shown"), [(MUST, "code=OK"), ("common.queries-agree", "stat: code=OK")])
def test_a_return_code_under_a_clause_about_no_op_is_told_with_its_op(clause: str, shown: str) -> None:
    made = checks(clause)
    assert made.status(clause, Outcome("stat", Code.OK, "", None, source=Source.PLUGIN), Code.OK)
    assert [(record.expected, record.got) for record in made.made] == [("code=OK", shown)]


@pytest.mark.parametrize(
    ("expected", "got", "holds", "shown"),
    [
        (3, 3, True, ("n=3", "n=3")),
        (3, 4, False, ("n=3", "n=4")),
        (4, 3, False, ("n=4", "n=3")),
        ([1], [1], True, ("n=[1]", "n=[1]")),
        ({"a": 1}, {"a": 1}, True, ("n={'a': 1}", "n={'a': 1}")),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, False, ("n has {'b': 2}", "n has {'b': 3}")),
        ({"a": 1}, [1], False, ("n={'a': 1}", "n=[1]")),
        ([1], {"a": 1}, False, ("n=[1]", "n={'a': 1}")),
    ],
)
def test_values_are_compared_and_shown(expected: object, got: object, holds: bool, shown: tuple[str, str]) -> None:
    made = checks(MUST)
    assert made.equal(MUST, "n", expected, got) is holds
    (record,) = made.made
    assert (record.holds, (record.expected, record.got)) == (holds, shown)


def outcome(code: Code, message: str = "", source: Source = Source.PLUGIN) -> Outcome[None]:
    return Outcome("stat", code, message, None, source=source)


def test_one_of_several_codes_is_right() -> None:
    made = checks(MUST)
    assert made.status(MUST, outcome(Code.OK, "fine"), Code.OK, Code.NOT_FOUND)
    assert not made.status(MUST, outcome(Code.INTERNAL), Code.OK, Code.NOT_FOUND)
    assert made.made == [
        Statement(MUST, True, "code=NOT_FOUND|OK", "code=OK"),
        Statement(
            MUST, False, "code=NOT_FOUND|OK", "code=INTERNAL", op="stat", kind=StatementKind.CODE, code="INTERNAL"
        ),
    ]


def test_an_op_that_says_it_is_not_implemented_is_absent_and_that_is_recorded() -> None:
    made = checks(MUST)
    with pytest.raises(AbsentOpError, match=r"^stat answers UNIMPLEMENTED$") as absent:
        made.status(MUST, outcome(Code.UNIMPLEMENTED, "not yet"), Code.OK)
    assert absent.value.op == "stat"
    (record,) = made.made
    assert (record.clause, record.got) == (UNIMPLEMENTED, "stat: code=UNIMPLEMENTED")
    assert (record.holds, record.reading, record.said) == (True, "unsupported", "not yet")


@pytest.mark.parametrize(("source", "why"), [(Source.ABSENT, r"^no entry$"), (Source.DEFAULT, "^stat answers")])
def test_what_the_plugin_does_not_say_itself_is_not_recorded(source: Source, why: str) -> None:
    made = checks(MUST)
    with pytest.raises(AbsentOpError, match=why):
        made.status(MUST, outcome(Code.UNIMPLEMENTED, "no entry", source), Code.OK)
    assert made.made == []


def test_where_unimplemented_is_right_it_is_a_code_like_others() -> None:
    made = checks(MUST)
    assert made.status(MUST, outcome(Code.UNIMPLEMENTED), Code.OK, Code.UNIMPLEMENTED)
    assert [one.clause for one in made.made] == [MUST]
    made.implemented(outcome(Code.OK))
    made.implemented(outcome(Code.INTERNAL))
    assert [one.clause for one in made.made] == [MUST]


def test_what_is_only_noted_is_no_breach() -> None:
    made = checks(MUST)
    made.note(MUST, "a length of 3", "so be it")
    assert made.made == [Statement(MUST, True, "anything", "a length of 3")]


def test_the_root_of_a_scheme_is_no_name_of_a_place() -> None:
    made = Checks("read/a", (MUST,), "mine:///case", Redaction({}), ())
    assert made.presentable("a/b of mine:///case/c") == "a/b of {case}/c"
    assert Checks("read/a", (MUST,), "mine:///x", Redaction({}), ()).presentable("in /x/y") == "in {case}/y"
    assert Checks("read/a", (MUST,), "mine://host/case", Redaction({}), ()).presentable("ab") == "ab"


@pytest.mark.parametrize(
    ("clause", "what", "got", "answer"),
    [
        ("read.returns-the-bytes", "data", b"1", ("read", "missing content")),
        ("read.returns-the-bytes", "data", b"123", ("read", "content")),
        ("common.queries-agree", "is_directory: returned", 1, ("path_exists", "returned")),
        ("common.queries-agree", "stat: length", 1, ("stat", "length")),
        ("scenarios.records-are-read", "data of it", b"1", ("read", "missing content")),
        ("paths.names-are-kept", "entries", ["a"], ("get_children", "names")),
        ("robustness.leaves-no-memory", "", 1, ("path_exists", "leak")),
        ("delete_recursively.deletes-everything", "tree", {"a": None}, ("get_children", "names")),
    ],
)
def test_breach_names_the_op_that_gave_the_answer(clause: str, what: str, got: object, answer: tuple[str, str]) -> None:
    calls: list[Call] = []
    made = Checks("read/a", [clause], "mine:///tmp/tffs-0123456789ab/read-a", Redaction({}), calls)
    by = {"get_children": "delete_recursively"}
    for op in ("stat", "get_children", "read", "path_exists", "random_access_file.cleanup"):
        calls.append((op, (), Outcome(op, Code.OK, "", None, called_by=by.get(op, ""))))
    made.equal(clause, what, b"12" if isinstance(got, bytes) else 2, got)
    assert [(one.op, one.kind, one.code) for one in made.made] == [(*answer, None)]


@pytest.mark.parametrize(
    ("clause", "op", "code", "got", "answer"),
    [
        ("append.writes-exactly-n", "read", Code.INVALID_ARGUMENT, b"", ("read", "code", "INVALID_ARGUMENT")),
        ("append.writes-exactly-n", "read", Code.OK, b"1", ("append", "missing content", None)),
        ("common.queries-agree", "read", Code.INVALID_ARGUMENT, b"", ("read", "code", "INVALID_ARGUMENT")),
        ("common.queries-agree", "read", Code.OUT_OF_RANGE, b"", ("read", "missing content", None)),
        ("read.returns-the-bytes", "read", Code.INTERNAL, b"1", ("read", "code", "INTERNAL")),
        ("flush_caches.results-reflect-the-store", "read", Code.OK, b"34", ("read", "content", None)),
    ],
)
def test_breach_after_a_wrong_code_is_about_the_code(
    clause: str, op: str, code: Code, got: bytes, answer: tuple[str, str, str | None]
) -> None:
    calls: list[Call] = [(op, (), Outcome(op, code, "", None)), ("flush_caches", (), outcome(Code.OK))]
    made = Checks("read/a", [clause], "mine:///tmp/tffs-0123456789ab/read-a", Redaction({}), calls)
    made.equal(clause, "data", b"12", got)
    assert [(one.op, one.kind, one.code) for one in made.made] == [answer]
