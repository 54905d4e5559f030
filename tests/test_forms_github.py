"""What a job of GitHub's is told: nothing that a plugin said is a command to the runner."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.commands import output_of
from tests.hostile_report import HARM, hostile_report
from tests.records import GOOD, broken, case, clause, record, report_of
from tests.test_suite import run
from tffs_conformance.reports.document import write
from tffs_conformance.reports.forms import github, markdown
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run import github as job
from tffs_conformance.suite.judge.findings import conclude, findings_of

BROKEN = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", "100 %, a: b", op="read", code="X")
FOUND = report_of(*GOOD, record("read/b", Verdict.VIOLATION, BROKEN))
KNOWN = {"error", "warning", "notice", "debug", "group", "add-mask", "set-env", "set-output", "add-path", "save-state"}


def obeyed(lines: Iterable[str]) -> list[tuple[str, dict[str, str], str]]:
    """The commands that the runner carries out, as its source has it: name, properties, text."""
    found, token = [], None
    for line in lines:
        names = {*KNOWN, "stop-commands", *([token] if token else [])}
        newer = re.match(r"\s*::([^ ]*?)(?: (.*?))?::(.*)", line)
        older = re.search(r"##\[([^ \]]*)(?: ([^\]]*))?\](.*)", line)
        match = next((one for one in (newer, older) if one and one[1].lower() in names), None)
        if match is None:
            continue
        name, given, text = match.groups()
        if token:
            token = None if name == token else token
        elif name == "stop-commands":
            token = text
        else:
            pairs = [pair.split("=", 1) for pair in (given or "").split(",") if "=" in pair]
            found.append((name, {key: _meant(value) for key, value in pairs}, _meant(text)))
    return found


def _meant(text: str) -> str:
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def printed(text: str) -> list[str]:
    """The lines that a runner makes of what a process wrote."""
    return re.split(r"\r\n|\r|\n", text)


def test_a_finding_is_an_annotation() -> None:
    (line,) = github.annotations([conclude(FOUND)])
    assert line.startswith("::error title=mine.so%3A read.succeeds::It is so.%0A1 check in 1 case; in read/b: ")
    ((name, properties, text),) = obeyed([line])
    assert (name, properties) == ("error", {"title": "mine.so: read.succeeds"})
    assert text.splitlines()[1:] == [
        "1 check in 1 case; in read/b: expected code=OK, got 100 %, a: b",
        "pytest --plugin=mine.so --case=read/b",
    ]


def test_a_good_run_has_none_and_one_that_is_cut_short_has_its_reason() -> None:
    assert list(github.annotations([conclude(report_of(*GOOD))])) == []
    (line,) = github.annotations([conclude(report_of(*GOOD, left_out="3 cases did not end"))])
    assert line == "::warning title=mine.so%3A incomplete::3 cases did not end"
    (line,) = github.annotations([conclude(report_of())])
    assert line == "::error title=mine.so%3A not conformant::zero cases"


def test_what_a_gate_lets_pass_is_no_error() -> None:
    (line,) = github.annotations([conclude(FOUND)], {"mine.so": github.Gated((), ())})
    text = "The baseline has 1 finding, too: read.succeeds"
    assert obeyed([line]) == [("notice", {"title": "mine.so: gate"}, text)]
    # What fails there is one.
    new = github.Gated(conclude(FOUND).violations, ["1 clause newly broken"])
    assert [*github.annotations([conclude(FOUND)], {"mine.so": new})] == [*github.annotations([conclude(FOUND)])]
    fewer = github.Gated((), ["2 clauses no longer executed", "1 error"])
    error, notice = obeyed(github.annotations([conclude(FOUND)], {"mine.so": fewer}))
    assert error == ("error", {"title": "mine.so: gate"}, "2 clauses no longer executed; 1 error")
    assert notice[0] == "notice"


def test_what_is_new_beside_what_the_baseline_has_is_an_error_of_its_own() -> None:
    clauses = {f"read.{k}": clause("MUST", "read", "read", order=k) for k in range(3)}
    both = case("read/both", ("read.0", "violation"), ("read.1", "violation"))
    found = report_of(both, broken("read/other", about="read.2"), clauses=clauses)
    new = [(one, check) for one in found.cases for check in one.checks if check.clause != "read.0"]
    gate = github.Gated(findings_of(found, new), ["2 clauses newly broken"])
    said = obeyed(github.annotations([conclude(found)], {"mine.so": gate}))
    assert [(kind, named["title"]) for kind, named, _ in said] == [
        ("error", "mine.so: read.1"),
        ("error", "mine.so: read.2"),
        ("notice", "mine.so: gate"),
    ]


def test_there_are_no_more_than_github_shows_and_causes_come_first() -> None:
    clauses = {f"read.{k}": clause("MUST", "read", "read", order=100 - k) for k in range(20)}
    made = [broken(f"read/{k}", f"code=E{k}", name) for k, name in enumerate(clauses)]
    many = report_of(*made, clauses=clauses)
    lines = list(github.annotations([conclude(many)] * 2))
    assert len(lines) == github.MOST
    assert [obeyed([line])[0][1]["title"] for line in lines[:2]] == ["mine.so: read.19", "mine.so: read.18"]


@pytest.mark.parametrize("harm", HARM)
def test_no_text_of_a_report_is_a_command(harm: str) -> None:
    hostile = hostile_report(harm, long=10)
    lines = list(github.annotations([conclude(hostile)]))
    assert len(lines) == 3
    commands = obeyed(printed("\n".join(lines)))
    assert [name for name, _, _ in commands] == ["error", "error", "error"]
    assert all(list(properties) == ["title"] for _, properties, _ in commands)


def test_what_a_run_shows_is_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(hostile_report(long=10), tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    # The runner would obey this.
    assert "add-mask" in {name for name, _, _ in obeyed(printed(output_of("report", "show", "-vv", path)))}
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    shown = output_of("report", "show", "-vv", path)
    assert "add-mask" in shown
    assert obeyed(printed(shown)) == []
    assert obeyed([*printed(shown), "::error::later"]) == [("error", {}, "later")]


def test_a_usage_error_is_no_command(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=##[add-mask]e", GITHUB_ACTIONS="true")
    assert "## [add-mask]e" in done.stderr
    assert obeyed(printed(done.stdout + done.stderr)) == []


def test_a_run_tells_its_findings_once_it_has_ended(tmp_path: Path) -> None:
    """Two targets, of which one is broken, append to what an earlier command of the step wrote."""
    page = tmp_path / "summary.md"
    page.write_text("before\n")
    done = run(
        tmp_path, "--plugin=posix", "--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:stat", "--tier=smoke",
        GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(page),
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    lines = printed(done.stdout)
    assert lines[0].startswith("::stop-commands::")
    commands = obeyed(lines)
    assert commands
    assert {name for name, _, _ in commands} == {"error"}
    assert all(properties["title"].startswith("faulty: ") for _, properties, _ in commands)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    headings = [line for line in text.splitlines() if line.startswith("# ")]
    assert headings == ["# `posix` (`posix://`): conformant", "# `faulty` (`faulty://`): not conformant"]


def test_elsewhere_a_run_says_nothing_of_it(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=posix", "--case=read/plain", GITHUB_ACTIONS="")
    assert "::" not in done.stdout.replace("posix://", "")


def summed(folder: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> int:
    """The size of the summary of a step, which held `size` bytes before."""
    page = folder / "summary.md"
    page.write_bytes(b"x" * size)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    job.say({"mine": conclude(hostile_report(long=10))}, {})
    return page.stat().st_size


def test_a_summary_is_never_larger_than_github_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = summed(tmp_path, monkeypatch, 0)
    assert 0 < whole < markdown.LIMIT
    for room in (whole + 600, 20_000, 2100):
        assert job.LIMIT - room < summed(tmp_path, monkeypatch, job.LIMIT - room) <= job.LIMIT
    assert whole > 20_000
    assert "::warning" not in capsys.readouterr().out
    assert summed(tmp_path, monkeypatch, job.LIMIT - 100) == job.LIMIT - 100
    assert "::warning::the summary of the job has no room for mine\n" in capsys.readouterr().out
    # One that cannot be written is a warning, too.
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    job.say({}, {})
    assert capsys.readouterr().out.startswith("::warning::the summary of the job cannot be written: ")
