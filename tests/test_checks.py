"""What a check makes of what was seen: its verdict follows from the level, the readings and the claims."""

import sys

import pytest

from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Outcome, Source
from tffs_conformance.reports.model.redaction import Redaction
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import Clause, Level, Reading, catalogue
from tffs_conformance.suite.contract.claims import Claims
from tffs_conformance.suite.engine.checks import UNIMPLEMENTED, AbsentOp, Checks, Misused

READINGS = (Reading("header", "this", "It copes."), Reading("host", "that", "It copes."))
ORDINARY = {level: f"{level.lower()}.plain" for level in (Level.MUST, Level.SHOULD)}
DISPUTED = {level: f"{level.lower()}.disputed" for level in (Level.MUST, Level.SHOULD)}
#: Clauses of each level: catalogues change.
CLAUSES = {
    name: Clause(name, level, "read", "", ("s",), "", disputed="A1" if readings else None, readings=readings)
    for names, readings in ((ORDINARY, ()), (DISPUTED, READINGS))
    for level, name in names.items()
}
#: A clause with an accepted reading that loses data.
HARMFUL = "writable_file.cleanup.unclosed-data"


@pytest.fixture(autouse=True)
def clauses(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[Checks.__module__]
    monkeypatch.setattr(module, "clause", lambda name: CLAUSES.get(name) or catalogue()[name])


def checks(*clauses: str, claims: Claims | None = None) -> Checks:
    return Checks("read/a", clauses, "mine:///tmp/tffs-0123456789ab/read-a", claims or Claims(), Redaction({}))


@pytest.mark.parametrize(
    ("level", "holds", "verdict"),
    [
        (Level.MUST, True, Verdict.CONFORM),
        (Level.MUST, False, Verdict.VIOLATION),
        (Level.SHOULD, True, Verdict.CONFORM),
        (Level.SHOULD, False, Verdict.WARNING),
    ],
)
def test_a_breach_is_as_bad_as_the_level_says(level: Level, holds: bool, verdict: Verdict) -> None:
    made = checks(ORDINARY[level])
    assert made.that(ORDINARY[level], holds, "a", "b") is holds
    (record,) = made.made
    assert (record.verdict, record.expected, record.got, record.reading) == (verdict, "a", "b", None)


@pytest.mark.parametrize(("level", "none"), [(Level.MUST, Verdict.VIOLATION), (Level.SHOULD, Verdict.WARNING)])
def test_an_answer_that_fits_no_reading_is_a_breach(level: Level, none: Verdict) -> None:
    name = DISPUTED[level]
    readings = [reading.name for reading in READINGS]
    made = checks(name)
    made.reading(name, dict.fromkeys(readings, False), "something else")
    made.reading(name, dict.fromkeys(readings, False) | {readings[-1]: True}, "the last")
    assert [(one.verdict, one.reading) for one in made.made] == [(none, None), (Verdict.TOLERATED, readings[-1])]
    assert made.made[0].expected == " or ".join(readings)


def test_a_reading_that_loses_data_is_a_warning_whatever_the_level() -> None:
    made = checks(HARMFUL)
    made.reading(HARMFUL, {"kept": False, "dropped": True}, "less")
    made.reading(HARMFUL, {"kept": True, "dropped": False}, "all")
    assert [(one.verdict, one.reading) for one in made.made] == [
        (Verdict.WARNING, "dropped"),
        (Verdict.INFORMATIONAL, "kept"),
    ]


def test_who_claims_a_reading_that_loses_data_knows_it() -> None:
    made = checks(HARMFUL, claims=Claims(decided={HARMFUL: (("dropped",), "so")}))
    made.reading(HARMFUL, {"kept": False, "dropped": True}, "less")
    assert [one.verdict for one in made.made] == [Verdict.CONFORM]


def test_each_harmful_reading_says_what_is_lost() -> None:
    harmful = [reading for entry in catalogue().values() for reading in entry.readings if reading.harmful]
    assert harmful
    assert all(reading.tensorflow and not reading.tensorflow.startswith("Nothing") for reading in harmful)
    told = [r for e in catalogue().values() for r in e.readings if "lose" in r.tensorflow or "lost" in r.tensorflow]
    assert [r.tensorflow for r in told if not r.harmful and not r.tensorflow.startswith("Nothing")] == []


def test_a_clause_that_a_case_does_not_declare_is_a_defect_of_the_suite() -> None:
    with pytest.raises(Misused, match="does not declare it"):
        checks("read.succeeds").that("read.ok-is-exactly-n", True, "a", "b")


MUST = ORDINARY[Level.MUST]


@pytest.mark.parametrize(
    ("expected", "got", "verdict", "shown"),
    [
        (3, 3, Verdict.CONFORM, ("n=3", "n=3")),
        (3, 4, Verdict.VIOLATION, ("n=3", "n=4")),
        (4, 3, Verdict.VIOLATION, ("n=4", "n=3")),
        ([1], [1], Verdict.CONFORM, ("n=[1]", "n=[1]")),
        ({"a": 1}, {"a": 1}, Verdict.CONFORM, ("n={'a': 1}", "n={'a': 1}")),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, Verdict.VIOLATION, ("n has {'b': 2}", "n has {'b': 3}")),
        ({"a": 1}, [1], Verdict.VIOLATION, ("n={'a': 1}", "n=[1]")),
        ([1], {"a": 1}, Verdict.VIOLATION, ("n=[1]", "n={'a': 1}")),
    ],
)
def test_values_are_compared_and_shown(expected: object, got: object, verdict: Verdict, shown: tuple[str, str]) -> None:
    made = checks(MUST)
    assert made.equal(MUST, "n", expected, got) is (verdict is Verdict.CONFORM)
    (record,) = made.made
    assert (record.verdict, (record.expected, record.got)) == (verdict, shown)


def outcome(code: Code, message: str = "", source: Source = Source.PLUGIN) -> Outcome[None]:
    return Outcome("stat", code, message, None, source=source)


def test_one_of_several_codes_is_right() -> None:
    made = checks(MUST)
    assert made.status(MUST, outcome(Code.OK, "fine"), Code.OK, Code.NOT_FOUND)
    assert not made.status(MUST, outcome(Code.INTERNAL), Code.OK, Code.NOT_FOUND)
    assert [(one.verdict, one.expected, one.got, one.plugin_said) for one in made.made] == [
        (Verdict.CONFORM, "code=NOT_FOUND|OK", "code=OK", "fine"),
        (Verdict.VIOLATION, "code=NOT_FOUND|OK", "code=INTERNAL", None),
    ]


def test_an_op_that_says_it_is_not_implemented_is_absent_and_that_is_recorded() -> None:
    made = checks(MUST)
    with pytest.raises(AbsentOp, match=r"^stat answers UNIMPLEMENTED$") as absent:
        made.status(MUST, outcome(Code.UNIMPLEMENTED, "not yet"), Code.OK)
    assert absent.value.op == "stat"
    (record,) = made.made
    assert (record.clause, record.got) == (UNIMPLEMENTED, "stat: code=UNIMPLEMENTED")
    assert (record.reading, record.plugin_said) == ("unsupported", "not yet")


@pytest.mark.parametrize(("source", "why"), [(Source.ABSENT, r"^no entry$"), (Source.DEFAULT, "^stat answers")])
def test_what_the_plugin_does_not_say_itself_is_not_recorded(source: Source, why: str) -> None:
    made = checks(MUST)
    with pytest.raises(AbsentOp, match=why):
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
    (record,) = made.made
    assert (record.verdict, record.expected, record.got, record.plugin_said) == (
        Verdict.CONFORM, "anything", "a length of 3", "so be it",
    )  # fmt: skip


def test_the_root_of_a_scheme_is_no_name_of_a_place() -> None:
    made = Checks("read/a", (MUST,), "mine:///case", Claims(), Redaction({}))
    assert made.told("a/b of mine:///case/c") == "a/b of {case}/c"
    assert Checks("read/a", (MUST,), "mine:///x", Claims(), Redaction({})).told("in /x/y") == "in {case}/y"
    assert Checks("read/a", (MUST,), "mine://host/case", Claims(), Redaction({})).told("ab") == "ab"


def test_only_the_harmful_reading_itself_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = (Reading("a", "this", "It copes."), Reading("b", "that", "It loses data.", harmful=True))
    monkeypatch.setitem(
        CLAUSES, "x.y", Clause("x.y", Level.MUST, "read", "", ("s",), "", disputed="A1", readings=readings)
    )
    made = checks("x.y")
    made.reading("x.y", {"a": True}, "this")
    made.reading("x.y", {"b": True}, "that")
    assert [one.verdict for one in made.made] == [Verdict.TOLERATED, Verdict.WARNING]
