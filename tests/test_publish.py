"""Publishing: what is refused, what is cut off, where it goes, and the draft of what a person finishes."""

import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import GOOD, HEADER, case, record
from tffs_conformance.reports.anonymous import anonymous
from tffs_conformance.reports.document import load, write
from tffs_conformance.reports.model.header import SuiteFacts, TargetRecord
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.publish import NOTES_NAME, NotPublishableError, publish
from tffs_conformance.reports.reproduce import UNCONFIRMED, draft
from tffs_conformance.suite.judge.findings import conclude
from tffs_conformance.suite.judge.reports import build


def made(*cases: CaseRecord, left_out: str | None = None, **more: Any) -> Report:
    """A report with these cases; `more` are other fields of the suite and the target."""
    suite = {key: value for key, value in more.items() if key in SuiteFacts.__struct_fields__}
    target = {key: value for key, value in more.items() if key in TargetRecord.__struct_fields__}
    header = replace(HEADER, suite=replace(HEADER.suite, **suite), target=replace(HEADER.target, **target))
    return build(header, [*GOOD, *cases], duration=1, left_out=left_out)


def said(*arguments: str | Path, code: int = 0) -> str:
    return output_of("published", "add", *arguments, code=code)


def broken(**more: Any) -> CaseRecord:
    check = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", "code=UNKNOWN", **more)
    return record("read/b", Verdict.VIOLATION, check)


#: A MUST clause could not run.
BLOCKED = made(case("paths/a", ("stat.odd", "not run"), executed=False), tables={"stat": "plugin"})


# what is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (made(left_out="--clause=read.*"), "not of a whole run: --clause=read.*"),
        (made(left_out="the run was killed"), "the run was killed"),
        (made(tier="quick"), "of the tier quick"),
        (made(tier="smoke"), "of the tier smoke"),
        (made(case("read/c", ("read.succeeds", "error"))), "has errors (1)"),
        (made(broken(), case("read/c", ("read.succeeds", "error"))), "has errors (1)"),
        (BLOCKED, "incomplete: 1 MUST clause not run in a case: stat.odd"),
    ],
    ids=["selection", "killed", "quick", "smoke", "error", "error-beside-a-violation", "blocked"],
)
def test_a_report_that_says_less_is_refused(report: Report, why: str, tmp_path: Path) -> None:
    path = write(report, tmp_path)
    output = said(path, "--version=1", "--into", tmp_path / "into", code=1)
    assert why in output
    assert len(output.splitlines()) == 1
    assert not (tmp_path / "into").exists()


def test_an_altered_report_is_refused(tmp_path: Path) -> None:
    path = write(made(broken()), tmp_path)
    path.write_text(path.read_text().replace("code=UNKNOWN", "code=OK     "))
    assert "the cases are not those" in said(path, "--version=1", code=1)


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", ".hidden", "-x", "x\x1b", "x" * 101])
def test_what_is_no_name_of_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    for names in ((name, "1"), ("a", name)):
        with pytest.raises(NotPublishableError, match="no name of a folder"):
            publish(conclude(made()), tmp_path / "into", *names)
    assert not (tmp_path / "into").exists()


# where it goes -------------------------------------------------------------------------------------------------------


def test_a_report_goes_to_its_plugin_and_release(tmp_path: Path) -> None:
    path = write(made(), tmp_path)
    place = tmp_path / "into" / "mine" / "2.0"
    output = said(path, "--as=mine", "--version=2.0", "--into", tmp_path / "into")
    assert output.splitlines() == [f"written: {place / 'report.json.gz'}", f"written: {place / NOTES_NAME}"]
    assert load(place / "report.json.gz") == load(path)


def test_a_plugin_that_ships_with_the_suite_has_its_release(tmp_path: Path) -> None:
    path = write(made(name="posix", command=("pytest", "--plugin=posix"), version="7.1"), tmp_path)
    said(path, "--into", tmp_path)
    assert (tmp_path / "posix" / "7.1" / "report.json.gz").is_file()
    path = write(made(name="posix", command=("pytest", "--plugin=./posix.so")), tmp_path)
    assert "--version is missing" in said(path, "--into", tmp_path, code=2)
    # Whatever its name is, it does not steer a terminal.
    output = said(write(made(name="mine\x1b.so"), tmp_path), code=2)
    assert ("--version is missing" in output, "\x1b" in output) == (True, False)


def test_a_newer_report_replaces_the_old_and_leaves_what_a_person_wrote(tmp_path: Path) -> None:
    place = tmp_path / "mine" / "1"
    publish(conclude(made()), tmp_path, "mine", "1")
    (place / NOTES_NAME).write_text("By hand.")
    assert publish(conclude(made(broken())), tmp_path, "mine", "1") == [place / "report.json.gz"]
    assert load(place / "report.json.gz").counts.violation == 1
    assert (place / NOTES_NAME).read_text() == "By hand."


# whose machine it was ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("at /build/x/deep/a.cc:12 (/build/x/b.cc)", "at a.cc:12 (b.cc)"),
        ("cd /build/x", "cd ."),
        ("--plugin=/build/x/mine.so", "--plugin=mine.so"),
        ("file:///build/x/tmp", "file://tmp"),
        ("/other/build/x/mine.so /build/xyz", "/other/build/x/mine.so /build/xyz"),
        ("/home/ann/.cache/a.so:/root/b '/Users/bob'", "~/.cache/a.so:~/b '~'"),
        ("s3://bucket/home/ann /rooted", "s3://bucket/home/ann /rooted"),
        ("/tmp/tffs-1 /", "/tmp/tffs-1 /"),
        ("\udcff /build/x/ü\u202e", "\udcff ü\u202e"),
    ],
)
def test_paths_of_the_machine_are_cut_off(text: str, published: str) -> None:
    check = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", text, plugin_said=text)
    whole = made(record("read/b", Verdict.VIOLATION, check, ops=(text,), output=text, reason=text), plugin=text)
    found = anonymous(whole, map(Path, ("/build/x", "/build/x/deep", "/", "/tmp")))
    told = next(one for one in found.cases if one.id == "read/b")
    assert {told.checks[0].got, told.checks[0].plugin_said, *told.ops, told.output, told.reason} == {published}
    assert found.target.plugin == published
    assert (found.verdict, found.counts, found.clauses) == (whole.verdict, whole.counts, whole.clauses)
    # What names nobody is published as it is.
    harmless = made(broken(plugin_said="\x1b[31m\udcff"))
    assert anonymous(harmless, [Path("/build/x")]) == harmless


def test_the_folder_of_the_command_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(made(plugin=str(tmp_path / "mine.so")), tmp_path)
    said("report.json", "--as=mine", "--version=1")
    assert load(Path("reports/published/mine/1/report.json.gz")).target.plugin == "mine.so"


# the draft -----------------------------------------------------------------------------------------------------------


def test_the_draft_tells_the_command_and_the_findings_causes_first() -> None:
    text = draft(conclude(made(broken(plugin_said="no"))), "mine 1")
    assert text.startswith("# mine 1\n\n```sh\npytest --plugin=mine.so\n```\n")
    for part in ("not conformant: `1 violation", "`, in 3 cases", "## 1 `read.succeeds`", "code=UNKNOWN (no)"):
        assert part in text
    assert text.count(UNCONFIRMED) == 1
    assert draft(conclude(made()), "mine 1", ["judge", "a b"]).startswith("# mine 1\n\n```sh\njudge 'a b'\n```\n")
    assert UNCONFIRMED not in draft(conclude(made()), "mine 1")


def test_draft_leaves_out_findings_that_are_explained_elsewhere() -> None:
    text = draft(conclude(made(broken())), "mine 1", explained="See [others](../2/reproduce.md).")
    assert text.endswith("\n\nSee [others](../2/reproduce.md).\n")
    assert "read.succeeds" not in text


HOSTILE = "```\n\n# x\n\n<script>alert(1)</script> | [x](http://x) `` ` `` \x1b\u202e\udcff" + "M" * 1_000_000


def test_what_a_plugin_says_is_no_markdown_in_the_draft() -> None:
    report = made(broken(plugin_said=HOSTILE), plugin=HOSTILE, runtime=HOSTILE, command=("pytest", HOSTILE))
    hostile = replace(report, cases=tuple(replace(one, stimulus=HOSTILE) for one in report.cases))
    text = draft(conclude(hostile), "mine 1")
    assert not re.search("[\x1b\u202e\udcff]", text)
    assert len(text) < 1_100_000  # the command is whole
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.type for token in tokens if token.type in ("html_block", "fence")] == ["fence"] * 2
    inline = [child.type for token in tokens for child in token.children or []]
    assert set(inline) <= {"text", "code_inline", "softbreak"}
    rows = [token for token in tokens if token.type == "tr_open"]
    cells = [token for token in tokens if token.type in ("td_open", "th_open")]
    assert len(cells) == 2 * len(rows)
