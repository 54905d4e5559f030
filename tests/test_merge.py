"""Reports of parts become one report, equal to that of one run."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import GOOD, HEADER, broken, case, report_of, waiver
from tests.test_compare import ERROR, NEWER, NOT_RUN, OK
from tests.test_suite import run
from tffs_conformance.reports.document import load, write
from tffs_conformance.reports.errors import PartsDisagreeError
from tffs_conformance.reports.journal import JOURNAL_NAME, Journal
from tffs_conformance.reports.model.claims import StatedClaim
from tffs_conformance.reports.model.header import Header, SuiteFacts, digest
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.report import REPORT_NAME, Report
from tffs_conformance.reports.model.waivers import WaiverState
from tffs_conformance.reports.plain import plain
from tffs_conformance.run.collection import Wanted
from tffs_conformance.suite.engine.case_facts import TIERS
from tffs_conformance.suite.engine.marks import CALLS
from tffs_conformance.suite.judge.merge import Merged, Suite, merge
from tffs_conformance.suite.judge.reports import build
from tffs_conformance.suite.judge.waivers import waived

ALL = (*GOOD, case("read/b", ("read.hint", "warning")), broken("read/c"))
CLAIM = StatedClaim(name="append", value=True, text="it appends", supported=True, clauses=("read.succeeds",))
WAIVER = waiver(fingerprint="code=UNKNOWN", cases=2)


def part(*cases: CaseRecord, left_out: str | None = "a shard", selection: str = "--shard", **header: Any) -> Report:
    suite = replace(header.pop("suite", HEADER.suite), selection=(selection,) if left_out else ())
    return report_of(*cases, suite=suite, duration=1.5, left_out=left_out, **header)


def left_out(suite: SuiteFacts, ended: Collection[str]) -> str | None:
    missing = sorted({one.id for one in ALL} - set(ended))
    return f"{' '.join(suite.selection)} left out {', '.join(missing)}" if missing else None


def merged(*parts: Report, cases: int = 2) -> Merged:
    suite = Suite(left_out, lambda _, waivers: [replace(one, cases=cases) for one in waivers])
    return merge(((Path(f"{k}/report.json"), one) for k, one in enumerate(parts)), suite)


def test_parts_are_the_report_of_one_run() -> None:
    ended = [waived(one, [WAIVER]) for one in ALL]
    whole = part(*ended, left_out=None, claims=(CLAIM,), waivers=(WAIVER,))
    assert whole.waivers[0].state is WaiverState.USED
    parts = (part(one, selection=f"--shard={one.id}", claims=(CLAIM,), waivers=(WAIVER,)) for one in reversed(ended))
    found = merged(*parts)
    assert (found.repeated, found.differing) == ((), ())
    assert replace(found.report, suite=replace(found.report.suite, duration=1.5)) == whole
    assert found.report.suite.duration == 6


def test_what_no_part_has_is_left_out() -> None:
    found = merged(part(ALL[0], selection="--a"), part(ALL[3], selection="--b")).report
    assert (found.left_out, found.verdict) == ("--a --b left out init/a, read/b", "not conformant")
    assert found.suite.selection == ("--a", "--b")
    assert merged(part(ALL[0])).report.verdict == "incomplete"
    # Whatever is known of the tier, a whole run had it all.
    assert merged(part(ALL[0]), part(ALL[1], left_out=None)).report.left_out is None


def test_nobody_asked_for_a_part_that_was_cut_short() -> None:
    asked = "only a selection was run: --shard=1/2"
    suite = Suite(lambda *_: asked, lambda _, waivers: waivers)
    parts = [part(ALL[0], left_out=asked), part(ALL[1], left_out="the run was killed")]
    found = merge(((Path(f"{k}/report.json"), one) for k, one in enumerate(parts)), suite)
    assert found.report.left_out == f"the run was killed; {asked}"
    assert merge([(Path("0/report.json"), parts[0])], suite).report.left_out == asked


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("better", "worse"), [(OK, broken("read/b")), (OK, NOT_RUN), (NOT_RUN, broken("read/b")), (OK, ERROR)]
)
def test_of_a_case_in_several_parts_the_worst_counts(better: CaseRecord, worse: CaseRecord, turned: bool) -> None:
    parts = [part(better), part(worse)]
    found = merged(*(reversed(parts) if turned else parts))
    assert found.report.cases == (worse,)
    assert (found.repeated, found.differing) == (("read/b",), ("read/b",))
    assert found.places == {"read/b": Path(str(int(not turned)))}
    # What was wrong in any part stays.
    parts = [part(broken("read/b")), part(ERROR)]
    both = merged(*(reversed(parts) if turned else parts)).report
    assert (both.counts.violation, both.counts.error, both.verdict) == (1, 1, "not conformant")
    assert both.cases[0].verdict == "error"


def test_parts_differ_where_they_found_other_things_wrong() -> None:
    found = merged(part(broken("read/b")), part(broken("read/b", about="stat.odd")))
    assert {check.clause for check in found.report.cases[0].checks} == {"read.succeeds", "stat.odd"}
    assert found.differing == ("read/b",)
    # Of the same the first counts.
    found = merged(part(OK), part(replace(OK, output="again")))
    assert (found.report.cases, found.repeated, found.differing) == ((OK,), ("read/b",), ())


def test_what_machines_have_of_their_own() -> None:
    machine = replace(HEADER.suite, platform="other", python="3.12", started="2025-12-31T00:00:00+00:00")
    there = replace(HEADER.target, plugin="/else/mine.so", root="mine:///tmp/y")
    found = merged(part(GOOD[0]), part(GOOD[1], suite=machine, target=there), part(ALL[2])).report
    assert (found.suite.platform, found.suite.python) == ("linux | other", "3.11 | 3.12")
    assert found.suite.started == "2025-12-31T00:00:00+00:00"
    assert found.target == replace(HEADER.target, root="mine:///tmp")
    killed = report_of(*GOOD[:1], duration=None, left_out="killed")
    assert merged(part(GOOD[1]), killed).report.suite.duration is None


@pytest.mark.parametrize(
    ("roots", "common"),
    [
        (("m:///tmp/a", "m:///tmp/a"), "m:///tmp/a"),
        (("m://one/tmp/a", "m://one/b"), "m://one"),
        (("m://one/a", "m://two/a"), "m://"),
        (("m:///a", "m://a"), "m://"),
        (("/tmp/ab", "/tmp/ac"), "/tmp"),
        (("m://a", None), None),
    ],
)
def test_the_root_is_where_all_worked(roots: tuple[str | None, str | None], common: str | None) -> None:
    parts = (part(one, target=replace(HEADER.target, root=root)) for one, root in zip(GOOD, roots, strict=True))
    assert merged(*parts).report.target.root == common


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"contract": "test/2"}, "its contract is test/2, and that of 0/report.json is test/1"),
        ({"suite": replace(HEADER.suite, version="1")}, "its suite is 1"),
        ({"suite": replace(HEADER.suite, commit="a" * 40)}, "its commit is aaa"),
        ({"suite": replace(HEADER.suite, tier="quick")}, "its tier is quick"),
        ({"suite": replace(HEADER.suite, seed=8)}, "its seed is 8, and that of 0/report.json is 7"),
        ({"suite": replace(HEADER.suite, options={"call_timeout": 1})}, "its call_timeout is 1"),
        ({"suite": replace(HEADER.suite, command=("pytest", "--env=A=2"))}, "its command is pytest --env=A=2"),
        ({"clauses": NEWER, "suite": replace(HEADER.suite, catalogue=digest(plain(NEWER)))}, "its catalogue is"),
        ({"target": replace(HEADER.target, sha256="1" * 64)}, "its sha256 of the plugin is 1111"),
        ({"target": replace(HEADER.target, name="\x1b")}, "its target is \\x1b, and"),
        ({"target": replace(HEADER.target, scheme="other")}, "its scheme is other"),
        ({"target": replace(HEADER.target, runtime="TensorFlow")}, "its runtime is TensorFlow"),
        ({"target": replace(HEADER.target, profile="x.toml")}, "its profile is x.toml"),
        ({"target": replace(HEADER.target, environment=("A",))}, "its variables is A, and"),
        ({"target": replace(HEADER.target, values="1" * 64)}, "its digest of the profile's variables is 1111"),
        ({"target": replace(HEADER.target, tables={"read": "absent"})}, "its ops of the plugin is none"),
        ({"target": replace(HEADER.target, tables={"read": "plugin"})}, "its list of ops is read: plugin, and"),
        ({"claims": (CLAIM,)}, "its claims is append = true, and that of 0/report.json is none"),
        ({"waivers": (WAIVER,)}, "its list of waivers is read.succeeds, *"),
    ],
)
def test_parts_of_several_runs_are_refused(other: dict[str, Any], words: str) -> None:
    with pytest.raises(PartsDisagreeError) as refused:
        merged(part(GOOD[0]), part(GOOD[1], **other))
    assert str(refused.value).startswith("1/report.json: its ")
    assert words in str(refused.value)


# The command ---------------------------------------------------------------------------------------------------------


def merging(directory: Path, *parts: Path, code: int = 0) -> str:
    return output_of("report", "merge", directory / "out", *parts, code=code)


def test_reports_and_journals_of_another_suite_are_merged(tmp_path: Path) -> None:
    one = write(part(GOOD[0]), tmp_path)
    journal = Journal.open(tmp_path / "killed", HEADER)
    journal.case(broken("read/b"))
    journal.case_again(ERROR)
    output = merging(tmp_path, one, tmp_path / "killed" / JOURNAL_NAME)
    # An error takes no violation away, in a journal as in parts.
    assert "not conformant: 1 violation" in output
    assert "2 cases of 2 parts written: " in output
    found = load(tmp_path / "out" / REPORT_NAME)
    assert str(found.left_out).startswith("it is unknown which: the parts are of the suite 0 (unknown)")
    assert not (tmp_path / "killed" / REPORT_NAME).exists()


def test_traces_go_along_and_those_that_were_taken_win(tmp_path: Path) -> None:
    paths = []
    for k, verdict in enumerate(("conform", "warning")):
        one = case("read/b", ("read.hint", verdict), cut="b.txt")
        traces = tmp_path / str(k) / "traces"
        (traces / "values").mkdir(parents=True)
        (traces / "b.txt").write_text(verdict)
        (traces / "values" / str(k)).write_text("v")
        paths.append(write(part(one, case(f"read/{k}", ("read.hint", "conform"), cut="../x")), tmp_path / str(k)))
    output = merging(tmp_path, *paths)
    assert "in several parts: 1 case: read/b\nended differently, the worst counts: read/b\n" in output
    traces = tmp_path / "out" / "traces"
    assert (traces / "b.txt").read_text() == "warning"
    assert sorted(path.name for path in (traces / "values").iterdir()) == ["0", "1"]


def test_nothing_is_written_where_a_part_is_wrong(tmp_path: Path) -> None:
    one = write(part(GOOD[0]), tmp_path)
    (tmp_path / "x.json").write_text("")
    (tmp_path / "other").mkdir()
    other = write(part(GOOD[1], contract="test/2"), tmp_path / "other")
    assert "the file is empty" in merging(tmp_path, one, tmp_path / "x.json", code=2)
    assert "its contract is test/2" in merging(tmp_path, one, other, code=2)
    merging(tmp_path, code=2)
    assert not (tmp_path / "out").exists()
    # Nor is a part written over.
    (tmp_path / "other").rename(tmp_path / "out")
    assert "is one of the parts" in merging(tmp_path, tmp_path / "out" / other.name, code=2)


# Shards --------------------------------------------------------------------------------------------------------------

PLUGIN = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=flush.loses", "--tier=smoke")


def test_shards_are_the_report_of_one_run(tmp_path: Path) -> None:
    assert run(tmp_path, *PLUGIN, "--report-dir=whole").returncode == 1
    paths = []
    for number, workers in ((1, ()), (2, ("-n", "1"))):
        done = run(tmp_path, *PLUGIN, *workers, f"--shard={number}/2", f"--report-dir={number}")
        paths.append(tmp_path / str(number) / REPORT_NAME)
        found = load(paths[-1])
        assert done.returncode == (0 if found.verdict == "incomplete" else 1), done.stdout
        assert f"only a selection was run: --shard={number}/2; " in str(found.left_out)
    merging(tmp_path, paths[0])
    assert load(tmp_path / "out" / REPORT_NAME).left_out == load(paths[0]).left_out
    merging(tmp_path, *paths)
    whole, found = load(tmp_path / "whole" / REPORT_NAME), load(tmp_path / "out" / REPORT_NAME)
    assert found.cases != whole.cases, "times differ"
    assert timeless(found) == timeless(whole)


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [("MODE = 'a'", "MODE = 'b'", 2), ("MODE = 'a'\nKEY = 'one key'", "MODE = 'a'\nKEY = 'another'", 0)],
)
def test_shards_differ_in_a_variable_and_are_refused(tmp_path: Path, first: str, second: str, code: int) -> None:
    paths = []
    for number, variables in ((1, first), (2, second)):
        (tmp_path / "mine.toml").write_text(f"[plugin]\npath = 'posix'\n[env]\n{variables}\n")
        profile, shard = "--plugin-profile=mine.toml", f"--shard={number}/2"
        assert run(tmp_path, profile, "--tier=smoke", "--seed=7", shard, f"--report-dir={number}").returncode == 0
        paths.append(tmp_path / str(number) / REPORT_NAME)
    assert ("its digest of the profile's variables is" in merging(tmp_path, *paths, code=code)) == (code == 2)


def timeless(report: Report) -> Report:
    cases = tuple(replace(one, duration=0, ops=()) for one in report.cases)
    suite, target = replace(report.suite, started="", duration=None), replace(report.target, root=None)
    header = Header(contract=report.contract, suite=suite, target=target, clauses=report.clauses)
    return replace(build(header, cases, duration=None, left_out=report.left_out), waivers=report.waivers)


def test_every_case_is_in_one_shard_and_all_shards_make_as_many_calls() -> None:
    wanted = [Wanted("full", TIERS, (), (), (k, 8)) for k in range(1, 9)]
    everything = wanted[0].in_tier()
    shards = [[*filter(one.has, everything)] for one in wanted]
    assert sorted(one.id for shard in shards for one in shard) == sorted(one.id for one in everything)
    calls = [sum(one.calls for one in shard) for shard in shards]
    assert max(calls) - min(calls) <= CALLS
    assert len({len(shard) for shard in shards}) > 1  # thousands of calls of one case are as much as many cases
    assert [*filter(Wanted("full", TIERS, (), (), (1, 1)).has, everything)] == [*everything]
    # Shards of a selection have its cases alone.
    wanted = [Wanted("quick", TIERS[:2], (), ("counts/*",), (k, 2)) for k in (1, 2)]
    first, second = ({one.id for one in filter(part.has, part.in_tier())} for part in wanted)
    asked = {one.id for one in wanted[0].in_tier() if one.id.startswith("counts/")}
    assert "counts/around-a-page" in asked
    assert (first | second, first & second) == (asked, set())
