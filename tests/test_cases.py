"""What cases are held to, what they compare, and how they end: what their records say, and that they are short."""

import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from tffs_conformance.harness.hosting.loader import BlockedError
from tffs_conformance.harness.launchers.launcher import HostLostError
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import DiedError, Entries, Hung, Outcome, Read, Source
from tffs_conformance.harness.over_tables.raw import Call
from tffs_conformance.harness.targets.backing import BackingUnableError
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, StatementKind
from tffs_conformance.reports.model.redaction import Redaction
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.engine.attempts import evidence_of, run_case
from tffs_conformance.suite.engine.case import Case
from tffs_conformance.suite.engine.checks import UNIMPLEMENTED, AbsentOpError, Checks, MisusedError
from tffs_conformance.suite.engine.ending import recorded
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.workbench import Workbench
from tffs_conformance.suite.judge.evidence import Statement

SECRET = "wJalr+secret/of=tests-0123456789-abcdefghijklmnopqrstuvwxyzABCDEFGHI"
#: Where a secret begins that a cut may divide; one in five is tried by day.
CUTS = (*range(50), *range(4096 - len(SECRET), 4100))


def begun(traces: Path, **environment: str) -> Case:
    target = Target("posix", plugin_path("posix"), "posix", "posix:///tmp/tffs-0123456789ab", environment,
                    traces=str(traces), secrets=tuple(environment))  # fmt: skip
    return Case(Workbench(target), "read/a[b]", ("read.succeeds",), "It reads.", tier="smoke")


def called(case: Case, outcome: Outcome[object], *arguments: int | bytes) -> None:
    """Have a call with this outcome in the trace of a case."""
    case.surroundings.trace.append((outcome.op, arguments, outcome))


def concluded(case: Case) -> CaseRecord:
    return recorded(case, evidence_of(case, None))


def test_a_case_that_made_no_check_is_an_error_of_the_suite(tmp_path: Path) -> None:
    record = concluded(begun(tmp_path))
    assert (record.verdict, record.ended, record.reason) == (Verdict.ERROR, "broken", "the case made no check")
    assert record.checks == (CheckRecord("read.succeeds", Verdict.ERROR),)


@pytest.mark.parametrize(
    ("raised", "said"),
    [(IndexError("out"), "IndexError: out\n"), (HostLostError("ssh was cut"), ""), (BackingUnableError("none"), "")],
)
def test_record_of_an_error_of_the_suite_has_its_traceback(tmp_path: Path, raised: Exception, said: str) -> None:
    case = begun(tmp_path)

    def body(one: Case) -> None:
        raise raised

    record = recorded(case, run_case(case, body))
    assert (record.output.startswith("Traceback"), "in body\n" in record.output) == (bool(said), bool(said))
    assert record.output.endswith(said)


def test_a_record_knows_its_tier_and_keeps_no_calls_of_what_is_right(tmp_path: Path) -> None:
    case = begun(tmp_path)
    called(case, Outcome("read", Code.OK, "", Read(1 << 20, b"x" * (1 << 20))), 1, 0, 1 << 20)
    case.check.that("read.succeeds", True, "a", "a")
    record = concluded(case)
    assert (record.tier, record.ops, record.cut, record.verdict) == ("smoke", (), None, Verdict.CONFORM)
    assert list(tmp_path.iterdir()) == []


def test_the_calls_of_what_is_wrong_are_short_in_the_record_and_whole_beside_it(tmp_path: Path) -> None:
    case = begun(tmp_path, TOKEN="hunter22")
    data = b"hunter22" + b"x" * (1 << 20)
    called(case, Outcome("read", Code.OK, "at hunter22", Read(len(data), data)), 1, 0, len(data))
    case.check.that("read.succeeds", False, "a", "b hunter22", "c hunter22")
    record = concluded(case)
    assert record.cut == "read-a-b.calls.txt"
    assert len(record.ops[0]) < 200
    assert "[at <TOKEN>]" in record.ops[0]
    assert "hunter22" not in str(record)
    kept = (tmp_path / record.cut).read_text()
    assert f"({len(data)} bytes, sha256 " in kept
    assert "[at <TOKEN>]" in kept
    (value,) = (tmp_path / "values").iterdir()
    assert value.read_bytes() == b"<TOKEN>" + data[8:]


@pytest.mark.parametrize("at", [pytest.param(at, marks=[pytest.mark.nightly] * (at % 5 > 0)) for at in CUTS])
@pytest.mark.parametrize("kind", ["message", "name", "data", "forgotten"])
def test_no_cut_leaves_a_part_of_a_secret(tmp_path: Path, at: int, kind: str) -> None:
    case = begun(tmp_path, TOKEN=SECRET)
    text = "-" * at + SECRET + "-" * 5000
    data = text.encode() + (b"-" * (9 << 20) if kind == "forgotten" else b"")
    answer: dict[str, Outcome[object]] = {
        "message": Outcome("read", Code.INTERNAL, text, None),
        "name": Outcome("read", Code.OK, "", Entries(1, (text,))),
    }
    outcome = answer.get(kind, Outcome("read", Code.OK, "", Read(len(data), data)))
    called(case, outcome, 1, 0, 1)
    case.check.equal("read.succeeds", "answer", "", text if kind == "name" else data)
    case.check.that("read.succeeds", False, "x", text, text)
    record = concluded(case)
    assert record.cut
    for told in (str(record), *(path.read_text() for path in tmp_path.rglob("*.*"))):
        assert SECRET[:4] not in told
        assert "-" * min(at, 40) in told


@pytest.mark.parametrize("size", [1, 3, 7, 8, 100])
@pytest.mark.parametrize(
    ("step", "handles", "offset"),
    [(1, 1, 1), (-1, 1, 1), (1, 99, 1), (1, 1, 0), (-1, 2, 1)],
    ids=["forwards", "backwards", "opened-anew", "at-one-offset", "opened-twice"],
)
def test_reads_in_pieces_together_show_no_secret(
    tmp_path: Path, size: int, step: int, handles: int, offset: int
) -> None:
    case, data = begun(tmp_path, TOKEN=SECRET), f"before {SECRET} and {SECRET}".encode()
    pieces = {at: data[at : at + size] for at in range(0, len(data), size)}
    for number, at in enumerate([*pieces][::step]):
        called(case, Outcome("new_random_access_file", Code.OK, "", number % handles), 9, b"/a")
        called(case, Outcome("read", Code.OK, "", Read(size, pieces[at])), number % handles, at * offset, size)
    case.check.equal("read.succeeds", "pieces", [], [*pieces.values()][:12])
    record = concluded(case)
    for texts in (record.ops[::step], [record.checks[0].got]):
        together = "".join(re.findall(r"b'([^']*)'", "".join(texts)))
        assert together
        assert not any(SECRET[at : at + 8] in together for at in range(len(SECRET) - 7))


@pytest.mark.parametrize("texts", [("short",), ()])
def test_what_was_not_cut_is_not_kept_twice(tmp_path: Path, texts: tuple[str, ...]) -> None:
    case = begun(tmp_path)
    for text in texts:
        called(case, Outcome("stat", Code.NOT_FOUND, text, None), 1, b"/a")
    case.check.that("read.succeeds", False, "a", "b")
    assert concluded(case).cut is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hangs_again", [True, False])
def test_only_what_hangs_again_hangs_for_the_allocator(tmp_path: Path, hangs_again: bool) -> None:
    case, tries = begun(tmp_path), 0

    def body(one: Case) -> None:
        nonlocal tries
        tries += 1
        if tries == 1 or (tries == 3 and hangs_again):
            case.bench.loader.filling = False
            raise DiedError(Hung("read", 1))
        called(one, Outcome("read", Code.OK, "", Read(1, b"x")), 1, 0, 1)
        one.check.that("read.succeeds", True, "a", "a")

    record = recorded(case, run_case(case, body))
    if hangs_again:
        assert (record.verdict, tries) == (Verdict.CONFORM, 3)
        assert "MALLOC_PERTURB_" in str(record.reason)
    else:
        assert record.checks == (CheckRecord("read.succeeds", Verdict.NOT_RUN),)
        assert str(record.reason).startswith("read did not answer within 1 s once, and came back")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    made = Workbench(Target("posix", plugin_path("posix"), "posix", f"posix://{tmp_path}/root"))
    yield made
    made.close()


@pytest.mark.parametrize("look", ["tables", "host", "registration", "announced"])
def test_a_case_that_looks_behind_the_ops_has_to_be_marked(bench: Workbench, look: str) -> None:
    with pytest.raises(MisusedError, match="over_tables"):
        getattr(Case(bench, "read/unmarked", (), "").surroundings, look)


@pytest.mark.parametrize("fails", [False, True])
def test_inner_set_up_ends_with_the_outer(bench: Workbench, fails: bool) -> None:
    setup = Case(bench, "read/a", (), "").setup
    assert not setup.active
    with setup:
        with pytest.raises(BlockedError) if fails else nullcontext(), setup:
            assert setup.active
            if fails:
                raise BlockedError("stat", "it goes wrong")
        assert setup.active
    assert not setup.active
    # Where a step ended a case, its ending knows that it was a step.
    with pytest.raises(BlockedError), setup:
        raise BlockedError("stat", "it goes wrong")
    assert setup.active


def test_what_is_called_in_a_set_up_prepares_the_stimulus(bench: Workbench) -> None:
    case = Case(bench, "read/a", ("path_exists.succeeds",), "")
    uri = case.setup.write("file", b"content")
    prepared = len(case.surroundings.trace)
    assert case.surroundings.trace.preparing == set(range(prepared))
    assert case.fs.path_exists(uri).ok
    assert len(case.surroundings.trace) > prepared
    assert case.surroundings.trace.preparing == set(range(prepared))
    case.surroundings.clear()


# What a case compares becomes statements, which have no verdict ------------------------------------------------------

MUST = "read.succeeds"
#: A clause with two readings.
DISPUTED = "writable_file.cleanup.unclosed-data"


def checks(*clauses: str, root: str = "mine:///tmp/tffs-0123456789ab/read-a", calls: Sequence[Call] = ()) -> Checks:
    return Checks("read/a", clauses, root, Redaction({}), calls)


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
    ("expected", "got", "shown"),
    [
        (3, 3, ("n=3", "n=3")),
        (3, 4, ("n=3", "n=4")),
        (4, 3, ("n=4", "n=3")),
        ([1], [1], ("n=[1]", "n=[1]")),
        ({"a": 1}, {"a": 1}, ("n={'a': 1}", "n={'a': 1}")),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ("n has {'b': 2}", "n has {'b': 3}")),
        ({"a": 1}, [1], ("n={'a': 1}", "n=[1]")),
        ([1], {"a": 1}, ("n=[1]", "n={'a': 1}")),
    ],
)
def test_values_are_compared_and_shown(expected: object, got: object, shown: tuple[str, str]) -> None:
    made = checks(MUST)
    assert made.equal(MUST, "n", expected, got) is (expected == got)
    assert [(one.holds, (one.expected, one.got)) for one in made.made] == [(expected == got, shown)]


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


@pytest.mark.parametrize(
    ("source", "why", "recorded"),
    [
        (Source.PLUGIN, "^stat answers UNIMPLEMENTED$",
         [(UNIMPLEMENTED, "stat: code=UNIMPLEMENTED", True, "unsupported", "no entry")]),
        # What the plugin does not say itself is not recorded.
        (Source.ABSENT, "^no entry$", []),
        (Source.DEFAULT, "^stat answers", []),
    ],
)  # fmt: skip
def test_an_op_that_is_not_implemented_is_absent(source: Source, why: str, recorded: list[object]) -> None:
    made = checks(MUST)
    with pytest.raises(AbsentOpError, match=why) as absent:
        made.status(MUST, outcome(Code.UNIMPLEMENTED, "no entry", source), Code.OK)
    assert absent.value.op == "stat"
    assert [(one.clause, one.got, one.holds, one.reading, one.said) for one in made.made] == recorded


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
    assert checks(root="mine:///case").presentable("a/b of mine:///case/c") == "a/b of {case}/c"
    assert checks(root="mine:///x").presentable("in /x/y") == "in {case}/y"
    assert checks(root="mine://host/case").presentable("ab") == "ab"


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
    made = checks(clause, calls=calls)
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
    made = checks(clause, calls=calls)
    made.equal(clause, "data", b"12", got)
    (said,) = made.made
    assert (said.op, said.kind, said.code) == answer
    assert said.got == f"data={got!r}" + (f" with {answer[2]}" if answer[2] else "")


@pytest.mark.parametrize(
    ("code", "what", "got", "compared"),
    [
        (Code.INTERNAL, "returned", -1, False),
        (Code.OUT_OF_RANGE, "returned", 1, True),
        (Code.INTERNAL, "entries", ["a"], True),
        (Code.OUT_OF_RANGE, "data", b"34", True),
    ],
)
def test_wrong_code_leaves_out_only_the_return_value(code: Code, what: str, got: object, compared: bool) -> None:
    read = Outcome("read", code, "", None)
    made = Checks(
        "read/a", ["read.succeeds"], "mine:///tmp/tffs-0123456789ab/read-a", Redaction({}), [("read", (), read)]
    )
    made.status("read.succeeds", read, Code.OK)
    made.equal("read.succeeds", what, b"12" if isinstance(got, bytes) else 2, got)
    assert len(made.made) == 1 + compared
