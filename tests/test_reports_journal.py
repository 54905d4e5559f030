"""A journal gives its report back, whole or marked incomplete, however it ended."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.records import GOOD, HEADER, broken, case, report_of
from tffs_conformance.reports import errors
from tffs_conformance.reports.document import load, render, write
from tffs_conformance.reports.journal import FORMAT, JOURNAL_NAME, KILLED, Journal
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.redaction import Redaction
from tffs_conformance.reports.model.report import REPORT_NAME
from tffs_conformance.reports.model.services import Figure, Figures
from tffs_conformance.reports.model.verdicts import Verdict, worst
from tffs_conformance.suite.judge.reports import finish, recover

FOOTER = '{"footer": {"cases": 1, "duration": 1, "left_out": null, "services": null}}'
HOSTILE = case("read/odd", ("read.hint", "conform"), output="\x1b[31m \udcff\n{")


def opened(directory: Path, *cases: CaseRecord, **secrets: str) -> Journal:
    """The journal of a run that goes on after these cases."""
    written = Journal.open(directory, HEADER, Redaction(secrets))
    for each in cases:
        written.case(each)
    return written


def ended(directory: Path, *cases: CaseRecord) -> Path:
    """The journal of a run that ended well."""
    written = opened(directory, *cases)
    written.close(duration=1.23456, left_out=None)
    return written.path


def test_a_run_that_ended_gives_the_report_of_its_cases(tmp_path: Path) -> None:
    expected = report_of(*GOOD, HOSTILE, duration=1.235)
    written = opened(tmp_path, *GOOD, HOSTILE)
    assert finish(written, duration=1.23456, left_out=None) == expected
    assert recover(written.path) == expected
    assert load(tmp_path / REPORT_NAME) == expected
    assert expected.verdict == "conformant"


def test_to_close_a_journal_writes_no_report(tmp_path: Path) -> None:
    path = ended(tmp_path, *GOOD)
    assert [entry.name for entry in tmp_path.iterdir()] == [JOURNAL_NAME]
    assert recover(path).verdict == "conformant"
    # Of very many cases, numbers are beyond those that are one object each.
    path = ended(tmp_path, *(case(f"read/{number}", ("read.succeeds", "conform")) for number in range(300)))
    assert len(recover(path).cases) == 300
    path.write_bytes(path.read_bytes()[:-5])
    assert (len(recover(path).cases), recover(path).left_out) == (300, KILLED)


def test_what_was_left_out_and_measured_stands_in_the_report(tmp_path: Path) -> None:
    figures = Figures(("store:1",), 10, (Figure("served", 20),), None)
    written = opened(tmp_path, GOOD[0])
    found = finish(written, duration=2.0, left_out="--clause=a*", services=figures)
    assert (found.left_out, found.services, found.suite.duration) == ("--clause=a*", figures, 2.0)
    assert load(tmp_path / REPORT_NAME) == recover(written.path) == found


def test_each_line_is_on_the_disk_when_its_case_has_ended(tmp_path: Path) -> None:
    written = opened(tmp_path)
    for count, each in enumerate(GOOD, start=1):
        written.case(each)
        assert len(recover(written.path).cases) == count


def test_a_killed_run_is_incomplete_with_all_cases_that_ended(tmp_path: Path) -> None:
    found = recover(opened(tmp_path, *GOOD).path)
    assert [each.id for each in found.cases] == ["init/a", "read/a"]
    assert (found.verdict, found.left_out, found.suite.duration) == ("incomplete", KILLED, None)
    assert load(write(found, tmp_path)) == found


def test_a_journal_cut_anywhere_gives_the_cases_before_the_cut(tmp_path: Path) -> None:
    whole = ended(tmp_path, *GOOD, HOSTILE).read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    path = tmp_path / "cut.jsonl"
    path.touch()
    with pytest.raises(errors.EmptyReportError):
        recover(path)
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        if length < ends[0] - 1:
            with pytest.raises(errors.TruncatedReportError, match="nothing is known of the run"):
                recover(path)
            continue
        found = recover(path)
        # A line that lacks nothing but the end of its line is whole.
        assert len(found.cases) == sum(length >= end - 1 for end in ends[1:4])
        assert (found.left_out == KILLED) == (length < len(whole) - 1)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_footer_that_counts_other_cases_is_named(tmp_path: Path, missing: int) -> None:
    path = ended(tmp_path, *GOOD, HOSTILE)
    kept = [line for number, line in enumerate(lines(path)) if number != missing]
    path.write_text("\n".join(kept) + "\n")
    with pytest.raises(errors.TruncatedReportError, match="the footer counts 3 cases, the journal has 2"):
        recover(path)


@pytest.mark.parametrize(
    ("number", "text", "error", "sentence"),
    [
        (0, "hello", errors.NotAReportError, "line 1 of the journal is not JSON"),
        (0, "{}", errors.NotAReportError, "its first line is no header"),
        (0, '{"journal": "tffs-conformance/journal/1"}', errors.NotAReportError, "journal/1', this version reads"),
        (0, '{"journal": "tffs-conformance/journal/3"}', errors.NotAReportError, "journal/3', this version reads"),
        (0, f'{{"journal": "{FORMAT}", "header": {{}}}}', errors.NotAReportError, "missing required field"),
        (1, "", errors.NotAReportError, "line 2 of the journal is not JSON"),
        (1, "{", errors.NotAReportError, "line 2 of the journal is not JSON"),
        (1, "[]", errors.NotAReportError, "line 2 of the journal is no object"),
        (1, '{"case": {"id": "a"}}', errors.NotAReportError, "missing required field"),
        (1, '{"footer": {"cases": 1}}', errors.NotAReportError, "does not say what it should"),
        (3, FOOTER, errors.TruncatedReportError, "the footer counts 1 cases"),
        (3, '{"footer": {"cases": 2}}', errors.NotAReportError, "missing required field `duration`"),
    ],
)
def test_a_damaged_line_is_named(
    tmp_path: Path, number: int, text: str, error: type[errors.ReportError], sentence: str
) -> None:
    path = ended(tmp_path, *GOOD)
    changed = lines(path)
    changed[number] = text
    path.write_text("\n".join(changed) + "\n")
    with pytest.raises(error, match=sentence) as raised:
        recover(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_a_case_twice_and_a_clause_nobody_knows_are_not_written(tmp_path: Path) -> None:
    written = opened(tmp_path, GOOD[0])
    before = written.path.read_bytes()
    with pytest.raises(errors.DuplicateCaseError, match="'read/a' stands in it twice"):
        written.case(GOOD[0])
    with pytest.raises(errors.UndeclaredClauseError, match=r"unknown clause 'read\.magic'"):
        written.case(case("read/b", ("read.magic", "conform")))
    assert written.path.read_bytes() == before
    # A journal that has one twice is named.
    written.path.write_text("\n".join([*lines(written.path), lines(written.path)[1]]) + "\n")
    with pytest.raises(errors.DuplicateCaseError, match="'read/a'"):
        recover(written.path)


def test_the_report_of_an_earlier_run_is_gone_when_a_run_begins(tmp_path: Path) -> None:
    place = tmp_path / "made" / "here"
    finish(opened(place, *GOOD), duration=1, left_out=None)
    assert (place / REPORT_NAME).exists()
    opened(place)
    assert [entry.name for entry in place.iterdir()] == [JOURNAL_NAME]


def test_no_secret_is_written_wherever_it_stands(tmp_path: Path) -> None:
    told = case("read/a", ("read.succeeds", "conform"), output="a hunter22 b", ops=("open hunter22hunter22",),
                reason="hunter22")  # fmt: skip
    written = opened(tmp_path, told, PASSWORD="hunter22", LONGER="hunter22hunter22", SHORT="it")
    assert "hunter22" not in written.path.read_text()
    # A secret of a few letters would be found in half of all words.
    assert "It is so." in written.path.read_text()
    said = Figures((), 1, (), "refused hunter22")
    report = finish(written, duration=1, left_out=None, services=said)
    (found,) = report.cases
    assert (found.output, found.ops, found.reason) == ("a <PASSWORD> b", ("open <LONGER>",), "<PASSWORD>")
    assert report.services == replace(said, failure="refused <PASSWORD>")
    assert report == recover(written.path)


def test_lines_are_ascii_whatever_a_plugin_said(tmp_path: Path) -> None:
    path = opened(tmp_path, HOSTILE).path
    assert path.read_bytes().isascii()
    assert len(lines(path)) == 2
    assert recover(path).cases == (HOSTILE,)
    assert json.loads(lines(path)[1])["case"]["output"] == HOSTILE.output
    assert "\\udcff" in render(recover(path))


@pytest.mark.parametrize(
    ("verdicts", "counts", "written"),
    [
        (("conform",), "conform", 1),
        (("conform", "conform"), "conform", 1),
        (("conform", "violation"), "violation", 2),
        (("violation", "conform"), "violation", 1),
        (("conform", "violation", "conform"), "violation", 2),
    ],
)
def test_case_that_ran_again_counts_worst(tmp_path: Path, verdicts: tuple[str, ...], counts: str, written: int) -> None:
    run = Journal.open(tmp_path, HEADER)
    for verdict in verdicts:
        run.case_again(case("read/a", ("read.succeeds", verdict)))
    found = finish(run, duration=1, left_out=None)
    assert [each.verdict for each in found.cases] == [counts]
    told = [json.loads(line) for line in lines(run.path)[1:-1]]
    assert [line.keys() for line in told] == [{"case"}, {"case", "again"}][:written]


ODD = broken("read/a", about="stat.odd")
FLAW = broken("read/a")
TROUBLE = case("read/a", clauses=("read.hint",), verdict=Verdict.ERROR, reason="KeyError")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("pair", [(FLAW, ODD), (FLAW, TROUBLE), (broken("read/a", "code=OK"), FLAW)])
def test_wrong_run_of_a_case_stays_wrong(tmp_path: Path, pair: tuple[CaseRecord, CaseRecord], turned: bool) -> None:
    """As where the two are parts that are merged: none of its breaches is lost, whichever was first."""
    run = Journal.open(tmp_path, HEADER)
    for one in reversed(pair) if turned else pair:
        run.case_again(one)
    # What is known already is not written once more.
    run.case_again(pair[0])
    assert len(lines(run.path)) == 3
    (found,) = finish(run, duration=1, left_out=None).cases
    assert set(found.checks) == {*pair[0].checks, *pair[1].checks}
    assert found.verdict is worst(one.verdict for one in pair)


@pytest.mark.parametrize("place", ["header", "case", "footer", "inside the footer"])
def test_a_journal_is_read_strictly(tmp_path: Path, place: str) -> None:
    path = ended(tmp_path, *GOOD)
    read = [json.loads(line) for line in lines(path)]
    target = {"header": read[0], "case": read[1], "footer": read[-1], "inside the footer": read[-1]["footer"]}[place]
    target["more"] = 1
    path.write_text("".join(f"{json.dumps(line)}\n" for line in read))
    with pytest.raises(errors.NotAReportError, match="more"):
        recover(path)
