"""A waiver accepts what it names, until its day; what it says that is no longer so fails the run."""

import datetime
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.records import case, record, waiver
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.model.waivers import Waiver, WaiverAccount, WaiverError, WaiverState
from tffs_conformance.reports.waivers import read
from tffs_conformance.run.waivers import fitting
from tffs_conformance.suite.engine import collect
from tffs_conformance.suite.judge.waivers import accounts, counted, hold_to, stale, waived

DAY = datetime.date(2027, 3, 1)
HINT_NOT_RUN = case("a", ("read.hint", "not run"))
FITTING = '[[waiver]]\nclause = "read.succeeds"\nfingerprint = "code=OK"\nreason = "r"\nowner = "o"\n'


def broken(name: str, got: str = "code=OK", verdict: Verdict = Verdict.VIOLATION) -> CaseRecord:
    return record(name, verdict, CheckRecord("read.succeeds", verdict, "code=NOT_FOUND", got))


def written(directory: Path, text: str, today: int = 0) -> list[Waiver]:
    """The entries of a file, so many days after the day."""
    path = directory / "waivers.toml"
    path.write_text(text, errors="surrogateescape")
    return list(read(path, DAY + datetime.timedelta(days=today)))


@pytest.mark.parametrize(("today", "expired"), [(-1, False), (0, False), (1, True)])
def test_the_last_day_still_counts(tmp_path: Path, today: int, expired: bool) -> None:
    (entry,) = written(tmp_path, f"{FITTING}expires = {DAY}\n", today)
    assert (entry.case, entry.issue, entry.expires, entry.expired) == ("*", None, DAY, expired)
    assert waived(broken("a"), [entry]).verdict is (Verdict.VIOLATION if expired else Verdict.WAIVED)


def test_what_else_a_case_ended_with_stays() -> None:
    checks = (*broken("a").checks, CheckRecord("read.hint", Verdict.ERROR))
    found = waived(record("a", Verdict.ERROR, *checks, reason="it fell over", ended=Ending.BROKEN), [waiver()])
    assert [check.verdict for check in found.checks] == [Verdict.WAIVED, Verdict.ERROR]
    assert found.verdict is Verdict.ERROR
    (account,) = accounts([waiver()], [found])
    assert (account.state, account.waived, account.got_instead) == (WaiverState.USED, 1, ())


@pytest.mark.parametrize(
    ("entry", "cases", "state"),
    [
        (waiver(), [broken("a")], WaiverState.USED),
        (waiver(), [broken("a", got="code=UNKNOWN")], WaiverState.CHANGED),
        # The case that it is for may be the one that was left out.
        (waiver(cases=2), [broken("a", got="code=UNKNOWN")], WaiverState.NOT_JUDGED),
        (waiver(), [case("a", ("read.succeeds", "conform"))], WaiverState.UNNEEDED),
        (waiver(cases=2), [case("a", ("read.succeeds", "conform"))], WaiverState.NOT_JUDGED),
        (waiver(), [case("a", ("read.succeeds", "not run"))], WaiverState.NOT_JUDGED),
        # It may be broken in a case that is about something else.
        (waiver(), [HINT_NOT_RUN], WaiverState.NOT_JUDGED),
        (waiver(), [case("a", ("read.hint", "not run"), ("init.once", "conform"))], WaiverState.NOT_JUDGED),
        (waiver(), [case("a", ("read.hint", "conform"))], WaiverState.UNNEEDED),
        (waiver(case="b"), [HINT_NOT_RUN, case("b", ("read.hint", "conform"))], WaiverState.UNNEEDED),
        # Also where a case was run twice.
        (waiver(), [record("a", Verdict.CONFORM)] * 2, WaiverState.UNNEEDED),
        (waiver(), [], WaiverState.NOT_JUDGED),
        (waiver(expired=True), [broken("a")], WaiverState.EXPIRED),
        (waiver(expired=True), [], WaiverState.EXPIRED),
    ],
)
def test_the_state_of_an_entry(entry: Waiver, cases: list[CaseRecord], state: WaiverState) -> None:
    (account,) = accounts([entry], [waived(each, [entry]) for each in cases])
    assert account.state is state


def test_an_account_counts_and_names_what_else_there_was() -> None:
    entry = waiver(cases=4)
    cases = [broken("a"), broken("b"), broken("c", got="x"), broken("d", got="x")]
    (account,) = accounts([entry], [waived(each, [entry]) for each in cases])
    assert (account.waived, account.got_instead, account.clause, account.owner) == (2, ("x",), "read.succeeds", "team")


def test_one_target_that_needs_an_entry_is_enough() -> None:
    entry = [waiver()]
    good, bad, changed = (
        accounts(entry, [waived(each, entry)])
        for each in (case("a", ("read.succeeds", "conform")), broken("a"), broken("a", got="x"))
    )
    assert [account.state for account in stale([good])] == [WaiverState.UNNEEDED]
    assert stale([good, bad]) == []
    assert stale([bad]) == []
    assert [account.state for account in stale([bad, changed])] == [WaiverState.CHANGED]


KEYS = ("clause", "fingerprint", "reason", "owner", "case", "issue", "expires")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[waiver]\nclause = 1\n", r"expected array, got table; its entries are written \[\[waiver\]\]$"),
        ("waiver = 1\n", r"waiver is wrong: expected array, got int; its entries are written \[\[waiver\]\]$"),
        ("waiver = " + 3000 * "[", "waivers.toml has more brackets within each other than can be read$"),
        ("waiver = [1]\n", "waiver 1 is wrong: expected table, got int"),
        ("waivers = 1\n", "the file has the unknown key 'waivers'"),
        ("[[waiver]\n", "is no TOML"),
        ("# \udcff\n", "is no TOML"),
        (f"{FITTING}why = 1\nwho = 2\n", f"the unknown key 'why'; known are {', '.join(KEYS)}$"),
        ('[[waiver]]\nclause = "read.x"\n', r"waiver 1 \(read.x\) has no fingerprint"),
        (FITTING.replace('"o"', '" "'), "owner is wrong: expected a text that is not empty"),
        (FITTING.replace('owner = "o"\n', ""), r"waiver 1 \(read.succeeds\) has no owner"),
        (f'{FITTING}issue = ""\n', "issue is wrong: expected a text that is not empty"),
        (f"{FITTING}issue = 3\n", "issue is wrong: expected text, got int"),
        (f"{FITTING}expires = 2027-03-01T10:00:00\n", "expires is wrong: expected a date without quotes"),
        (f'{FITTING}expires = "2027-03-01"\n', "expires is wrong: expected a date without quotes"),
        (f'{FITTING}case = "a"\n{FITTING}{FITTING}', r"waiver 3 \(read.succeeds, \*\) stands there twice"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(WaiverError, match=said):
        written(tmp_path, text)


def test_entries_differ_in_one_thing_and_fit_a_case_by_its_id_or_a_pattern(tmp_path: Path) -> None:
    others = [FITTING.replace("read.succeeds", "a.b"), FITTING.replace("code=OK", "x"), f'{FITTING}case = "a"\n']
    assert len(written(tmp_path, FITTING + "".join(others))) == 4
    exact, pattern = waiver(case="read/plain[0]"), waiver(case="read/pl?in[*]")
    names = ("read/plain[0]", "read/plain", "append/plain[0]", "read/plain0", "read/plain[1]")
    assert [exact.fits_case(name) for name in names] == [True, False, False, False, False]
    assert [pattern.fits_case(name) for name in names] == [True, False, False, False, True]


def test_an_entry_fits_some_cases_of_a_clause_that_there_is(tmp_path: Path) -> None:
    path, entries = tmp_path / "waivers.toml", [waiver(), waiver(case="read/a"), waiver(case="rare/*")]
    found = counted(entries, ["read/a", "read/b"], ["rare/a"])
    assert [entry.cases for entry in found] == [2, 1, 1]
    hold_to(path, found, ["read.succeeds"])
    with pytest.raises(WaiverError, match=r"waiver 1: there is no clause 'read.succeeds'; did you mean read.succeed\?"):
        hold_to(path, found, ["read.succeed"])
    with pytest.raises(WaiverError, match=r"waiver 2 \(read.succeeds\): no case fits 'x'"):
        hold_to(path, [found[0], waiver(case="x", cases=0)], ["read.succeeds"])


def test_a_pattern_for_all_cases_is_judged_by_a_plain_run() -> None:
    (found,) = fitting([waiver(case="*")])
    assert found.cases == len([case for case in collect.cases() if case.tier in {"smoke", "quick", "full"}])


def test_only_violations_are_waived() -> None:
    verdicts = (Verdict.CONFORM, Verdict.VIOLATION, Verdict.WARNING)
    checks = [CheckRecord("read.succeeds", verdict, "x", "code=OK") for verdict in verdicts]
    found = waived(record("a", Verdict.VIOLATION, *checks), [waiver()])
    assert [check.verdict for check in found.checks] == [Verdict.CONFORM, Verdict.WAIVED, Verdict.WARNING]
    (account,) = accounts([waiver()], [replace(found, checks=found.checks[2:])])
    assert account.got_instead == ()


def test_a_count_begins_at_nothing(tmp_path: Path) -> None:
    (entry,) = written(tmp_path, FITTING)
    assert entry.cases == 0
    (account,) = accounts([replace(entry, cases=1)], [])
    said = msgspec.to_builtins(account)
    assert msgspec.convert(said, WaiverAccount).waived == 0
    with pytest.raises(msgspec.ValidationError, match="waived"):
        msgspec.convert(said | {"waived": -1}, WaiverAccount)
