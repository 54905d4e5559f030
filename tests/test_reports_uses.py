"""What a person decides by: the words for data sets, checkpoints, logs and models, and why they stand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.records import CLAUSES, clause, record, report_of
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.uses import (
    LOSSES,
    USES,
    Cause,
    DataLoss,
    Decision,
    Use,
    Word,
    answer,
    decisions,
    hinders,
)
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import catalogue

RULES = {rule.clause for rules in USES.values() for rule in rules.rules}
NAMES = sorted(RULES | {loss.clause for loss in LOSSES} | {"rename_file.succeeds"})
TOLD = CLAUSES | {name: clause("MUST", "scenarios", None) for name in NAMES}
CONFORM, VIOLATION = Verdict.CONFORM, Verdict.VIOLATION


def told(*cases: CaseRecord) -> Report:
    return report_of(*cases, clauses=TOLD)


def tried(name: str, verdict: Verdict = CONFORM, number: int = 0, **more: Any) -> CaseRecord:
    """A case of one clause, with one check."""
    texts = ("code=OK", "code=NOT_FOUND" if verdict in (VIOLATION, Verdict.WARNING) else "code=OK")
    return record(f"{name}/{number}", verdict, CheckRecord(name, verdict, *texts), **more)


def everything() -> list[CaseRecord]:
    return [tried(name) for name in sorted(RULES)]


def of(use: Use, *cases: CaseRecord, causes: tuple[Cause, ...] = ()) -> Decision:
    return next(one for one in decisions(told(*cases), causes) if one.use is use)


def test_the_rules_are_of_clauses_that_there_are() -> None:
    assert set(NAMES) <= catalogue().keys(), f"correct reports/model/uses.toml: {set(NAMES) - catalogue().keys()}"
    for rules in USES.values():
        assert {name for group in rules.needs for name in group} <= {rule.clause for rule in rules.rules}


def test_all_tried_and_right_works_and_nothing_tried_is_not_known() -> None:
    assert {one.word for one in decisions(told(*everything()))} == {Word.WORKS}
    assert hinders(decisions(told(*everything()))) == ()
    found = decisions(told(tried("read.succeeds")))
    assert {one.word for one in found} == {Word.NOT_KNOWN}
    assert [one.use for one in hinders(found)] == [Use.DATA_SETS, Use.CHECKPOINTS]


@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize("verdict", [Verdict.NOT_RUN, Verdict.ABSENT, Verdict.ERROR])
def test_what_is_needed_and_was_not_tried_everywhere_is_not_known(use: Use, verdict: Verdict) -> None:
    for group in USES[use].needs:
        others = [one for one in everything() if one.clauses[0] not in group]
        kept = [tried(name, number=1) for name in group]
        untried = [tried(name, verdict, reason="no service") for name in group]
        decision = of(use, *others, *kept, *untried)
        assert decision.word is Word.NOT_KNOWN
        assert any("not tried, no service" in reason.says for reason in decision.reasons)
        # Another way to try the same is enough.
        assert of(use, *others, *kept, *untried[:-1]).word is Word.WORKS


@pytest.mark.parametrize("verdict", [VIOLATION, Verdict.WARNING, Verdict.WAIVED])
@pytest.mark.parametrize(("use", "name"), [(u, r.clause) for u, rules in USES.items() for r in rules.rules])
def test_what_a_use_does_and_fails_breaks_it(use: Use, name: str, verdict: Verdict) -> None:
    rule = next(one for one in USES[use].rules if one.clause == name)
    check = CheckRecord(name, verdict, rule.expected or "code=OK", "code=NOT_FOUND")
    decision = of(use, *everything(), record("bad/0", verdict, check))
    assert (decision.word, decision.reasons[0].case) == (Word.BREAKS, "bad/0")
    assert decision.reasons[0].says.startswith(rule.does)


def test_whatever_goes_wrong_in_a_scenario_breaks_it() -> None:
    name = "scenarios.old-checkpoints-are-pruned"
    wrong = CheckRecord("read.succeeds", VIOLATION, "code=OK", "code=INTERNAL")
    decision = of(Use.CHECKPOINTS, *everything(), record("prune/1", VIOLATION, wrong, clauses=(name,)))
    assert decision.word is Word.BREAKS
    assert decision.reasons[0].says == "Deleting old checkpoints fails."
    elsewhere = record("prune/1", VIOLATION, wrong, clauses=("read.succeeds",))
    assert of(Use.CHECKPOINTS, *everything(), elsewhere).word is Word.WORKS


def test_an_op_that_a_scenario_needs_and_that_does_not_work_breaks_it() -> None:
    name = "scenarios.event-file-is-followed"
    for ended, word in ((Ending.BLOCKED, Word.BREAKS), (Ending.UNABLE, Word.NOT_KNOWN)):
        case = tried(name, Verdict.NOT_RUN, ended=ended, reason="blocked by append: it hung 2 times")
        others = [one for one in everything() if one.clauses[0] not in USES[Use.LOGS].needs[0]]
        decision = of(Use.LOGS, *others, case)
        assert decision.word is word
    assert "not tried, blocked by append: it hung 2 times" in decision.reasons[0].says


def test_one_breach_is_a_reason_once_without_its_values() -> None:
    names = ("scenarios.event-file-is-followed", "scenarios.event-file-grows")
    check = CheckRecord(names[0], VIOLATION, "size=1", "size=2")
    decision = of(Use.LOGS, record("event/0", VIOLATION, check, clauses=names))
    assert [one.says for one in decision.reasons] == [f"{USES[Use.LOGS].rules[0].does} fails."]


@pytest.mark.parametrize(("loss", "use"), [(loss, use) for loss in LOSSES for use in loss.says])
def test_loss_is_reported_only_where_data_is_gone(loss: DataLoss, use: Use) -> None:
    def seen(name: str, got: str, verdict: Verdict = VIOLATION) -> Word:
        check = CheckRecord(loss.clause, verdict, f"tree has {{{loss.data}}}", got)
        return of(use, *everything(), record(name, verdict, check)).word

    assert seen(loss.case, "tree has {}") is Word.LOSES
    assert seen(loss.case, f"tree has {{{loss.data}, 'more': None}}") is not Word.LOSES
    assert seen(loss.case + "-", "tree has {}") is not Word.LOSES
    assert seen(loss.case, "tree has {}", Verdict.NOT_RUN) is not Word.LOSES
    # The file beside it may be there still: no return code shows that it is gone.
    refused = CheckRecord(loss.clause, VIOLATION, "code=OK", "code=FAILED_PRECONDITION")
    assert of(use, *everything(), record(loss.case, VIOLATION, refused)).word is not Word.LOSES


CAUSE = Cause(note=3, loses=(Use.MODELS,), breaks=(Use.LOGS,), clause="rename_file.succeeds", says="It loses `a`.")
OF_A_CASE, WITHOUT_CLAUSE = replace(CAUSE, case="names/x"), replace(CAUSE, clause=None)


@pytest.mark.parametrize(
    ("cause", "case", "verdict", "holds"),
    [
        (CAUSE, "names/y", VIOLATION, True),
        (CAUSE, "names/y", CONFORM, False),
        (OF_A_CASE, "names/x", VIOLATION, True),
        (OF_A_CASE, "names/y", VIOLATION, False),
        (WITHOUT_CLAUSE, "names/y", CONFORM, True),
    ],
)
def test_a_cause_holds_where_the_report_shows_it(cause: Cause, case: str, verdict: Verdict, holds: bool) -> None:
    shown = record(case, verdict, CheckRecord("rename_file.succeeds", verdict, "code=OK", "code=X"))
    for use, word in ((Use.MODELS, Word.LOSES), (Use.LOGS, Word.BREAKS), (Use.DATA_SETS, Word.WORKS)):
        decision = of(use, *everything(), shown, causes=(cause,))
        assert decision.word is (word if holds else Word.WORKS)
        assert (decision.reasons[0].note == 3) is (holds and word is not Word.WORKS)
    # What the checks show stands after it.
    also = of(Use.MODELS, *everything(), shown, tried("scenarios.saved-model-is-loaded", VIOLATION, 1), causes=(cause,))
    assert [one.note for one in also.reasons] == [3, None][not holds :]


ORDER = [Word.WORKS, Word.NOT_KNOWN, Word.BREAKS, Word.LOSES]


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(Verdict)), max_size=12), st.sampled_from(NAMES))
def test_a_breach_more_makes_no_word_better(made: list[tuple[str, Verdict]], name: str) -> None:
    cases = [tried(one, verdict, number) for number, (one, verdict) in enumerate(made)]
    more = tried(name, VIOLATION, len(cases))
    for before, after in zip(decisions(told(*cases)), decisions(told(*cases, more)), strict=True):
        assert ORDER.index(after.word) >= ORDER.index(before.word)
        assert after.reasons
        if after.word is Word.WORKS:
            needed = {rule.clause for rule in USES[after.use].rules if rule.expected is None}
            assert not needed & {one for one, verdict in made if verdict is VIOLATION}


CRASH, BYTES = "robustness.no-crash", "read.returns-the-bytes"
ANEW = "new_writable_file.replaces-what-exists"


@pytest.mark.parametrize(
    ("use", "check", "cause", "word"),
    [
        # Another op that dies breaks no reading.
        (Use.LOGS, (CRASH, "read comes back", "signal 11"), None, Word.BREAKS),
        (Use.LOGS, (CRASH, "copy_file comes back", "signal 11"), None, Word.WORKS),
        # A file that keeps what was in it when it is emptied is read as it is: another op spoilt it.
        (Use.LOGS, (BYTES, "data=b''", "data=b't'"), None, Word.BREAKS),
        (Use.LOGS, (BYTES, "data=b''", "data=b't'"), "append", Word.WORKS),
        # A file that is written anew has more in it than nothing.
        (Use.MODELS, (ANEW, "content=b'new'", "otherwise"), None, Word.BREAKS),
        (Use.MODELS, (ANEW, "length=0", "otherwise"), None, Word.WORKS),
    ],
)
def test_a_breach_breaks_what_it_is_about(use: Use, check: tuple[str, str, str], cause: str | None, word: Word) -> None:
    name, expected, got = check
    seen = record("bad/0", VIOLATION, CheckRecord(name, VIOLATION, expected, got), cause=cause)
    assert of(use, *everything(), seen).word is word


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({Use.MODELS: Word.NOT_KNOWN}, "yes"),
        ({Use.LOGS: Word.BREAKS}, "not for logs"),
        ({Use.LOGS: Word.LOSES, Use.MODELS: Word.BREAKS}, "not for logs and models"),
        ({Use.DATA_SETS: Word.NOT_KNOWN}, "not known"),
        ({Use.DATA_SETS: Word.NOT_KNOWN, Use.CHECKPOINTS: Word.BREAKS}, "no"),
    ],
)
def test_the_answer_is_one_word(words: dict[Use, Word], said: str) -> None:
    assert answer([Decision(use, words.get(use, Word.WORKS), ()) for use in Use]) == said
