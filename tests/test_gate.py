"""A run that is held to an earlier report: what fails it, what does not, and what is no baseline."""

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace as replaced
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import CLAUSES, GOOD, broken, case, clause, record
from tests.test_compare import ABSENT, NEWER, NOT_RUN, OK, WARNED
from tests.test_compare import report as made
from tests.test_suite import refused, report, run, run_beside
from tffs_conformance.reports.document import load, render, write
from tffs_conformance.reports.journal import KILLED
from tffs_conformance.reports.model.claims import StatedClaim
from tffs_conformance.reports.model.header import Header
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run import baselines as gate
from tffs_conformance.run.run_options import BadUsageError
from tffs_conformance.suite.judge.course import Course
from tffs_conformance.suite.judge.gate import Baseline, GateResult
from tffs_conformance.suite.judge.reports import build

PLUGIN = "--plugin=fakes/faulty"
#: One clause of the way through every op once is broken by the first fault, another by the second.
BASE = (PLUGIN, "--env=TFFS_FAULT=flush.loses", "--tier=smoke")
OTHER = (PLUGIN, "--env=TFFS_FAULT=fails:copy_file", "--tier=smoke")
GATE = ("--gate=no-new", "--baseline=base.json")
#: A case that fell over.
ERROR_ELSEWHERE = record("z", Verdict.ERROR, clauses=("read.succeeds",), executed=False, ended=Ending.BROKEN)
HINT_NOT_RUN = case("read/b", verdict=Verdict.NOT_RUN, clauses=("read.hint",))
#: What it breaks, and where.
CLAUSE, CASE = "append.writes-exactly-n", "write/plain"


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of a whole run of a plugin that is wrong."""
    directory = tmp_path_factory.mktemp("known")
    assert run(directory, *BASE).returncode == 1
    found = load(directory / "tffs-report" / "report.json")
    checks = [(case.id, check) for case in found.cases for check in case.checks]
    assert [(case, check.clause) for case, check in checks if check.verdict == "violation"] == [(CASE, CLAUSE)]
    return found


def rebuilt(report: Report, cases: Sequence[CaseRecord], left_out: str | None = None, *claims: StatedClaim) -> Report:
    """The report with other cases and claims."""
    parts = {name: getattr(report, name) for name in ("contract", "suite", "target", "clauses")}
    return build(Header(**parts, claims=claims), cases, duration=1, left_out=left_out)


def gated(directory: Path, baseline: Report, *arguments: str) -> tuple[int, str]:
    """The exit code of a run held to a baseline, and what it says of its gate."""
    (directory / "base.json").write_text(render(baseline))
    done = run(directory, *GATE, *arguments)
    return done.returncode, said(done)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a run says of its gate, as one line."""
    found = re.search(r"^gate no-new.*", done.stdout, re.DOTALL | re.MULTILINE)
    assert found, done.stdout + done.stderr
    return " ".join(found[0].split())


# What fails, and what does not ---------------------------------------------------------------------------------------


def test_what_is_as_it_was_passes_and_stays_not_conformant(tmp_path: Path, known: Report) -> None:
    code, text = gated(tmp_path, known, *BASE)
    assert (code, report(tmp_path)["verdict"]) == (0, "not conformant")
    assert text.startswith("gate no-new passed: nothing new against base.json of the suite ")
    assert "1 clause broken as before" in text


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_new_violation_fails(
    tmp_path: Path, known: Report, workers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, text = gated(tmp_path, known, *OTHER, *workers)
    assert code == 1
    reasons = "1 clause newly broken: copy_file.succeeds; 1 clause no longer executed: copy_file.keeps-the-content"
    assert f"FAILED: {reasons} against" in text
    assert "BROKEN: copy_file.succeeds (1 check in 1 case)" in text
    assert " then conform expected code=OK got code=INTERNAL " in text
    assert "NO LONGER EXECUTED: 1 clause copy_file.keeps-the-content " in text
    assert f"fixed: 1 clause {CLAUSE}: {CASE} " in text
    assert re.findall(r"::(error|notice) title=\S+ (\S+)::", text) == [("error", "copy_file.succeeds")]


def test_a_selection_is_held_to_the_same_part(tmp_path: Path, known: Report) -> None:
    code, text = gated(tmp_path, known, *BASE, f"--case={CASE}")
    assert (code, report(tmp_path)["verdict"]) == (0, "not conformant")
    assert "passed" in text
    code, text = gated(tmp_path, known, *OTHER, "-k", "move")
    assert code == 1
    assert "1 clause newly broken" in text


def test_a_plugin_that_does_not_load_fails(tmp_path: Path, known: Report) -> None:
    (tmp_path / "libtffs_faulty.so").write_bytes(b"\x7fELF, and no more of a shared object")
    target = replace(known.target, name="tffs_faulty")
    code, text = gated(tmp_path, replace(known, target=target), "--plugin=./libtffs_faulty.so", "--tier=smoke")
    assert (code, "newly broken" in text, "no longer executed" in text) == (1, True, True), text


def test_what_fails_beside_the_cases_fails_the_run(tmp_path: Path, known: Report) -> None:
    (tmp_path / "base.json").write_text(render(known))
    teardown = "@pytest.hookimpl(trylast=True)\ndef pytest_runtest_teardown(item):\n"
    teardown += "    if item.nodeid == 'tffs/write::test_plain':\n        raise RuntimeError\n"
    done = run_beside(tmp_path, teardown, *BASE, *GATE)
    assert done.returncode == 1
    assert said(done).startswith("gate no-new passed")


def test_waivers_and_the_gate_go_together(tmp_path: Path, known: Report) -> None:
    entry = f'[[waiver]]\nclause = "{CLAUSE}"\nfingerprint = "content=b\'\'"\nreason = "known"\nowner = "us"\n'
    (tmp_path / "w.toml").write_text(entry)
    code, _ = gated(tmp_path, known, *BASE, "--waivers=w.toml")
    assert (code, report(tmp_path)["verdict"]) == (0, "conformant with waivers")
    # A waiver that is not needed fails, as without a gate.
    (tmp_path / "w.toml").write_text(entry.replace(CLAUSE, "append.succeeds") + f'case = "{CASE}"\n')
    assert gated(tmp_path, known, *BASE, "--waivers=w.toml")[0] == 1


#: Faults, each with a clause that it breaks. The first two show in cases that are about something else.
MENDED = {
    "read.end-returns-minus-one": "read.return-agrees-with-the-code",
    "read.exact-end-is-out-of-range": "read.return-agrees-with-the-code",
    "flush.loses": CLAUSE,
    "crash:rename_file": "robustness.no-crash",
}


@pytest.mark.parametrize("fault", [pytest.param(one, marks=[pytest.mark.nightly] * ("exact" in one)) for one in MENDED])
def test_plugin_that_is_mended_passes(tmp_path: Path, fault: str) -> None:
    assert run(tmp_path, PLUGIN, f"--env=TFFS_FAULT={fault}", "--tier=smoke").returncode == 1
    baseline = load(tmp_path / "tffs-report" / "report.json")
    code, text = gated(tmp_path, baseline, PLUGIN, "--env=TFFS_FAULT=", "--tier=smoke")
    assert (code, report(tmp_path)["verdict"]) == (0, "conformant")
    assert "none of its violations is left" in text
    assert "not checked in this run" not in text
    assert MENDED[fault] in text.partition("fixed: ")[2]
    output_of("report", "compare", "--fail-on-broken", tmp_path / "base.json", tmp_path / "tffs-report" / "report.json")


def test_each_target_has_its_baseline(tmp_path: Path, known: Report) -> None:
    assert run(tmp_path, "--plugin=posix", "--tier=smoke", "--report-dir=posix").returncode == 0
    write(known, tmp_path)
    both = ("--plugin=posix", *BASE, "--gate=no-new")
    done = run(tmp_path, *both, "--baseline=posix/report.json", "--baseline=report.json")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("gate no-new passed: nothing new") == 2
    for given, words in (
        (("--baseline=report.json", "--baseline=posix/report.json"), "its target is faulty, and here posix"),
        (("--baseline=report.json",), "--baseline was given 1 time for 2 targets: give it once for each"),
    ):
        done = run(tmp_path, *both, *given)
        assert (done.returncode, words in done.stderr) == (4, True), done.stderr


# What is held to a baseline, without a run ----------------------------------------------------------------------------

#: A run that was asked for a part, which ended.
PART = Course("full", frozenset("abc"), 1, collected=1, ended=1, selected=("-k x",), stops=(), interrupted=False)


def judged(then: Report, now: Report, *kinds: Verdict, changed: bool = False) -> list[str]:
    """Why a run fails."""
    return GateResult(Baseline("base.json", then), now, (Verdict.VIOLATION, *kinds), changed).reasons


def test_a_clause_that_is_no_longer_executed_fails() -> None:
    assert judged(made(*GOOD, WARNED), made(*GOOD)) == ["1 clause no longer executed: read.hint"]
    assert judged(made(*GOOD, WARNED), made(*GOOD, HINT_NOT_RUN)) == ["1 clause no longer executed: read.hint"]
    # Something is left that executes it.
    assert judged(made(*GOOD, OK), made(*GOOD)) == []
    # What a law saw broken and no case declares was not tried.
    checks = (*GOOD[0].checks, CheckRecord("read.hint", Verdict.WARNING, "a", "b"))
    seen = record("read/a", Verdict.WARNING, *checks, clauses=("read.succeeds",))
    assert judged(made(seen, GOOD[1]), made(*GOOD)) == []


def test_a_clause_of_must_that_a_case_no_longer_runs_fails() -> None:
    """What it would show now is unknown, and it may be broken."""
    for then in ((OK,), (ABSENT,), ()):
        named = judged(made(*GOOD, *then), made(*GOOD, NOT_RUN))
        assert named == ["1 clause newly not run in a case: read.succeeds"]
    named = judged(made(*GOOD, OK), made(*GOOD, NOT_RUN), Verdict.NOT_RUN)
    assert named == ["1 clause newly with the verdict not run: read.succeeds"]
    for waiting in (NOT_RUN, broken("read/b")):
        assert judged(made(*GOOD, waiting), made(*GOOD, NOT_RUN)) == []
    kept = case("read/c", ("read.hint", "conform"))
    assert judged(made(*GOOD, kept, WARNED), made(*GOOD, kept, HINT_NOT_RUN)) == []


def test_the_first_clauses_are_named_and_the_others_counted() -> None:
    names = [f"read.{letter}" for letter in "abcdefgh"]
    clauses = {**CLAUSES, **{name: clause("MUST", "read", "read") for name in names}}
    kept, lost = (made(*GOOD, case("read/b", *((name, verdict) for name in names)), clauses=clauses)
                  for verdict in ("conform", "violation"))  # fmt: skip
    assert judged(kept, lost) == [f"8 clauses newly broken: {', '.join(names[:6])}, … and 2 more"]


def test_what_this_run_was_not_to_do_is_not_missed() -> None:
    larger = made(*GOOD, replace(WARNED, tier="full"))
    assert judged(larger, made(*GOOD, tier="quick")) == []
    assert judged(made(*GOOD, WARNED), made(*GOOD, tier="quick")) == []
    assert judged(larger, made(*GOOD)) == ["1 clause no longer executed: read.hint"]
    assert judged(made(*GOOD, WARNED), made(*GOOD, left_out=PART.left_out("a"))) == []


def test_what_a_newer_suite_brought_fails_and_is_told_apart() -> None:
    told = "1 clause newly broken, as a newer suite sees: "
    assert judged(made(*GOOD), made(*GOOD, broken("read/b"))) == [f"{told}read.succeeds"]
    newer = made(*GOOD, broken("read/b", about="read.new"), clauses=NEWER)
    assert judged(made(*GOOD, OK), newer) == [f"{told}read.new"]
    waived = made(*GOOD, case("read/b", ("read.succeeds", "waived")))
    for then in (made(*GOOD, OK), waived):
        assert judged(then, made(*GOOD, broken("read/b"))) == ["1 clause newly broken: read.succeeds"]
    assert judged(made(*GOOD, broken("read/b")), waived) == []


def test_what_is_broken_in_another_way_fails_on_request() -> None:
    then, now = made(*GOOD, broken("read/b")), made(*GOOD, broken("read/b", "code=OK"))
    assert judged(then, now) == []
    assert judged(then, now, changed=True) == ["1 clause broken in another way: read.succeeds"]
    # Less of the same is no other way.
    both = made(*GOOD, record("read/b", Verdict.VIOLATION, *broken("x").checks, *broken("x", "code=OK").checks))
    assert judged(both, now, changed=True) == []


def test_what_fail_on_names_fails_where_it_is_new() -> None:
    kept = made(*GOOD, case("read/b", ("read.hint", "conform")))
    warned = made(*GOOD, WARNED)
    assert judged(kept, warned) == []
    assert judged(kept, warned, Verdict.WARNING) == ["1 clause newly with the verdict warning: read.hint"]
    assert judged(warned, warned, Verdict.WARNING) == []
    absent = judged(made(*GOOD, OK), made(*GOOD, ABSENT), Verdict.ABSENT)
    assert absent == ["1 clause newly with the verdict absent: read.succeeds"]


def test_errors_and_what_is_not_whole_fail() -> None:
    then = made(*GOOD, broken("read/b"))
    assert judged(then, made(*GOOD, broken("read/b"), ERROR_ELSEWHERE)) == ["1 error"]
    for left_out in ("stopped", replaced(PART, interrupted=True).left_out("a"), replaced(PART, ended=0).left_out("a")):
        assert judged(then, made(*GOOD, broken("read/b"), left_out=left_out)) == [left_out]
    assert judged(then, made(*GOOD, broken("read/b"), left_out=PART.left_out("a"))) == []
    assert "nothing executed" in judged(then, made(NOT_RUN))
    assert "nothing executed" in judged(then, made())


# What is no baseline -------------------------------------------------------------------------------------------------


def _of_contract(version: str) -> Callable[[Report], str]:
    return lambda report: render(replace(report, contract=version))


def _in(part: str, **changes: object) -> Callable[[Report], str]:
    """The text of a report of which one part, the suite or the target, says something else."""
    return lambda report: render(replace(report, **{part: replace(getattr(report, part), **changes)}))


CLAIM = StatedClaim(name="append", value=True, text="it appends", supported=True, clauses=())
#: What is wrong with a baseline: its text, and words of the sentence.
WRONG: dict[str, tuple[Callable[[Report], str], str]] = {
    "empty": (lambda _: "", "the file is empty"),
    "something else": (lambda _: "<html>", "this is not a report"),
    "truncated": (lambda report: render(report)[:-1000], "breaks off"),
    "altered": (lambda report: render(report).replace('"verdict": "violation"', '"verdict": "conform"'),
                "the counts are not those of its checks"),
    "newer": (lambda report: render(report).replace(report.schema, "tffs-conformance/report/99.0"), "earlier ones"),
    "killed": (lambda report: render(rebuilt(report, report.cases[:9], KILLED)), "left out of it: the run was killed"),
    "a selection": (lambda report: render(rebuilt(report, report.cases, "-k x")), "left out of it: -k x"),
    "with errors": (lambda report: render(rebuilt(report, (*report.cases, ERROR_ELSEWHERE))), "1 error"),
    "nothing executed": (lambda report: render(rebuilt(report, ())), "nothing was executed"),
    "another TensorFlow": (_of_contract("tensorflow-2.99/2.0"), "tensorflow-2.99/2.0"),
    "another major version": (_of_contract("tensorflow-2.21/9.0"), "of the contract"),
    "a newer minor version": (_of_contract("tensorflow-2.21/2.999"), "is newer than"),
    "no version": (_of_contract("\x1b"), "of the contract \\x1b"),
    "another seed": (_in("suite", seed=7), "its seed is 7, and here 0"),
    "other options": (_in("suite", options={"examples": 3}), "its examples is 3, and here 100"),
    "hostile options": (_in("suite", options={"host-scope": "\x1b\u202e"}), "its host-scope is \\x1b\\u202e, and here"),
    "another name": (_in("target", name="mine\x1b"), "its target is mine\\x1b, and here faulty"),
    "another scheme": (_in("target", scheme="x"), "its scheme is x, and here faulty"),
    "another runtime": (_in("target", runtime="x"), "its runtime is x, and here"),
    "another profile": (_in("target", profile="a/b.toml"), "its profile is b.toml, and here none"),
    "other claims": (lambda report: render(rebuilt(report, report.cases, None, CLAIM)),
                     "its list of claims is {'append': True}, and here none"),
}  # fmt: skip


def test_a_baseline_that_cannot_be_used_is_a_usage_error(tmp_path: Path, known: Report) -> None:
    text, words = WRONG["another name"]
    (tmp_path / "base.json").write_text(text(known))
    assert len(refused(tmp_path, words, *BASE, *GATE).strip().splitlines()) == 1


def test_a_smaller_tier_is_no_baseline(tmp_path: Path, known: Report) -> None:
    with pytest.raises(BadUsageError, match="is of the tier smoke, and this run of the tier quick, which tries more"):
        used(tmp_path, known, render(known), tier="quick")


def used(directory: Path, known: Report, baseline: str, tier: str = "smoke") -> None:
    """Take a baseline for a run like the known one. Raises BadUsageError."""
    (directory / "base.json").write_text(baseline)
    options: Any = SimpleNamespace(
        gate=True, baselines=(str(directory / "base.json"),), tier=tier, seed=known.suite.seed,
        shaping=known.suite.options, reports=directory, report_directory=lambda *_: directory,
    )  # fmt: skip
    prepared: Any = SimpleNamespace(target=SimpleNamespace(name=known.target.name, claims={}), facts=known.target)
    assert gate.paired(gate.read(options), [prepared], options).keys() == {known.target.name}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_baseline(tmp_path: Path, known: Report, wrong: str) -> None:
    text, words = WRONG[wrong]
    with pytest.raises(BadUsageError) as refused:
        used(tmp_path, known, text(known))
    assert words in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "like",
    [
        _of_contract("tensorflow-2.21/2.0"),
        _in("suite", tier="full"),
        _in("suite", version="0.0.9", commit="unknown", options={"call-timeout": 10.0}, python="3.99"),
        _in("target", sha256="1" * 64, size=3, root="x", environment=(), tables={}),
    ],
    ids=["an older minor version", "a larger tier", "an older suite", "another file"],
)
def test_what_is_one(tmp_path: Path, known: Report, like: Callable[[Report], str]) -> None:
    used(tmp_path, known, like(known))


@pytest.mark.parametrize("others", [(), ("--plugin=posix", "--baseline=posix.json")])
def test_the_report_that_the_run_writes_is_none(tmp_path: Path, known: Report, others: tuple[str, ...]) -> None:
    (tmp_path / "tffs-report").mkdir()
    path = write(known, tmp_path / "tffs-report")
    posix = replace(known.target, name="posix", scheme="posix")
    (tmp_path / "posix.json").write_text(render(replace(known, target=posix)))
    done = run(tmp_path, *BASE, "--gate=no-new", f"--baseline={path}", *others)
    assert (done.returncode, "is what this run writes" in done.stderr) == (4, True), done.stderr
    assert load(path) == known
