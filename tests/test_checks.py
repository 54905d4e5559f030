"""What a check makes of what was seen: its verdict follows from the level, the readings and the claims."""

import sys

import pytest

from tffs_conformance.reports.redaction import Redaction
from tffs_conformance.reports.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import Clause, Level, Reading, catalogue
from tffs_conformance.suite.contract.claims import Claims
from tffs_conformance.suite.engine.checks import Checks, Misused

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
    assert made.check(ORDINARY[level], holds, "a", "b") is holds
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
        checks("read.succeeds").check("read.ok-is-exactly-n", True, "a", "b")
