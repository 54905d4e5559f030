"""Gate, waivers, selections, shards and exit code agree on the same reports: properties of generated reports."""

import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.commands import output_of
from tests.records import HEADER, clause, record, waiver
from tffs_conformance.reports.document import write
from tffs_conformance.reports.model.header import ClauseFacts, digest
from tffs_conformance.reports.model.records import REST, CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import JUDGED, ClauseVerdict, TargetVerdict, Verdict, worst
from tffs_conformance.reports.model.waivers import Waiver, WaiverState
from tffs_conformance.reports.plain import plain
from tffs_conformance.suite.engine.case_facts import TIERS
from tffs_conformance.suite.judge import compare, course, exit_code, merge, reports, targets, waivers
from tffs_conformance.suite.judge.course import Course
from tffs_conformance.suite.judge.gate import Baseline, GateResult

#: What the reports are about: two classes, and a law that any call may break.
CLAUSES: dict[str, ClauseFacts] = {
    "read.bytes": clause("MUST", "read", "read"),
    "read.code": clause("MUST", "read", "read"),
    "read.hint": clause("SHOULD", "read", "read"),
    "sync.lasts": clause("MUST", "write", "sync"),
    "law": clause("MUST", "robustness", None),
}
CASES = ("read/a", "read/b[0]", "read/b[1]", "write/c")
GOT = ("code=OK", "code=UNKNOWN")
#: The verdicts of checks that a case may make, by the level of the clause. Nothing is waived without a waiver.
OF_LEVEL: dict[str, list[Verdict]] = {
    "MUST": [one for one in Verdict if one not in (Verdict.WARNING, Verdict.WAIVED)],
    "SHOULD": [one for one in Verdict if one not in (Verdict.VIOLATION, Verdict.WAIVED)],
}
UNKNOWN = (Verdict.NOT_RUN, Verdict.ERROR)
REMARKED = (ClauseVerdict.NOT_RUN, ClauseVerdict.WARNING, ClauseVerdict.VIOLATION, ClauseVerdict.ERROR)
PASSED = (TargetVerdict.CONFORMANT, TargetVerdict.WITH_WAIVERS)


# Reports -------------------------------------------------------------------------------------------------------------


#: A check of each clause, and what a case may declare.
CHECKS = {
    about: st.sampled_from(
        [CheckRecord(about, one, "code=NOT_FOUND", got) for one in OF_LEVEL[facts.level] for got in GOT]
    )
    for about, facts in CLAUSES.items()
}
DECLARED = st.sampled_from([names for most in (1, 2) for names in combinations(CLAUSES, most)])
LAW = st.sampled_from([None, *(CheckRecord("law", Verdict.VIOLATION, "kept", got) for got in GOT)])
TIER = st.sampled_from(TIERS)
YES_OR_NO = st.booleans()


@st.composite
def runs(draw: st.DrawFn) -> tuple[CaseRecord, ...]:
    """The cases of a run. Each has a check of each clause that it declares, or two, and perhaps the breach of a law."""
    found = []
    for name in CASES:
        if not draw(YES_OR_NO):
            continue
        declared, law = draw(DECLARED), draw(LAW)
        made = [draw(CHECKS[about]) for about in declared]
        made += [draw(CHECKS[declared[0]])] if draw(YES_OR_NO) else []
        made += [law] if law is not None and "law" not in declared else []
        found.append(ended(name, made, clauses=declared, tier=draw(TIER)))
    return tuple(found)


def ended(name: str, made: Sequence[CheckRecord], **more: Any) -> CaseRecord:
    """A case with these checks: its verdict is the worst of theirs."""
    verdicts = {check.verdict for check in made}
    early = next((how for how, rest in REST.items() if rest is not Verdict.DOES_NOT_APPLY and rest in verdicts), None)
    given = {"executed": not verdicts.isdisjoint(JUDGED), "ended": early or Ending.WHOLE}
    return record(name, worst(verdicts), *made, **(given | more))


def with_checks(case: CaseRecord, made: Sequence[CheckRecord]) -> CaseRecord:
    """The case as it would have ended with other checks."""
    return ended(case.id, made, clauses=case.clauses, tier=case.tier)


RUNS = runs()
#: Entries of a file of waivers.
ENTRIES = st.builds(
    waiver,
    clause=st.sampled_from(sorted(CLAUSES)),
    case=st.sampled_from([*CASES, "read/*", "read/b[?]", "*"]),
    fingerprint=st.sampled_from(GOT),
    expired=st.booleans(),
)


def report(
    cases: Iterable[CaseRecord], tier: str = TIERS[-1], left_out: str | None = None, entries: Sequence[Waiver] = (),
    duration: float = 1,
) -> Report:  # fmt: skip
    """The report of a run."""
    cases = tuple(cases)
    selection = ("-k x",) if left_out else ()
    suite = replace(HEADER.suite, tier=tier, catalogue=digest(plain(CLAUSES)), selection=selection)
    header = replace(HEADER, clauses=CLAUSES, suite=suite, waivers=tuple(entries))
    accepted = (waivers.waived(case, [*entries]) for case in cases)
    return reports.build(header, accepted, duration=duration, left_out=left_out)


def way(cases: Collection[CaseRecord], of: Collection[CaseRecord], *, whole: bool = True) -> Course:
    """How a run came to end these cases of a tier that has more, because a user asked for no more of them."""
    return Course(
        tier="full", cases={case.id for case in of}, targets=1, collected=len(cases) + (not whole), ended=len(cases),
        selected=("-k x",), stops=(), interrupted=False,
    )  # fmt: skip


def selected(cases: Collection[CaseRecord], of: Collection[CaseRecord]) -> Report:
    """The report of a run of a part."""
    return report(cases, left_out=way(cases, of).left_out({case.id for case in cases}))


def held(then: Report, now: Report) -> GateResult:
    """A report that is held to another."""
    return GateResult(Baseline("base.json", then), now)


def of_the_run_alone(now: Report) -> bool:
    """Whether a report fails any gate, whatever its baseline has."""
    ran = [case for case in now.cases if case.verdict is not Verdict.NOT_RUN or case.ended is Ending.DIED]
    compared = any(check.verdict in JUDGED for case in ran for check in case.checks)
    is_empty = not compared or (now.left_out is None and not now.executed.must)
    return bool(now.counts.error) or is_empty


# The properties ------------------------------------------------------------------------------------------------------


def a_report_is_its_own_baseline(data: st.DataObject) -> None:
    """Under every tier, and every selection of its cases; also where an older suite lost the tier of some."""
    cases = data.draw(RUNS)
    losing = data.draw(st.sets(st.sampled_from(CASES)))
    then = report(replace(case, tier=None) if case.id in losing else case for case in cases)
    part = [case for case in cases if data.draw(YES_OR_NO)]
    smaller = [report((c for c in cases if c.tier in TIERS[: n + 1]), tier) for n, tier in enumerate(TIERS)]
    for now in (then, *smaller, selected(part, cases)):
        found = held(then, now)
        assert (found.new, found.found.is_worse) == ([], False)
        assert bool(found.reasons) == of_the_run_alone(now)


def all_shards_are_the_whole(data: st.DataObject) -> None:
    """Whatever shard has a case, and whether several have it."""
    cases, given_entries = data.draw(RUNS), data.draw(st.lists(ENTRIES, max_size=2))
    entries = waivers.counted(given_entries, [case.id for case in cases], [])
    shards: list[list[CaseRecord]] = [[], [], []]
    for case in cases:
        for number in data.draw(st.sets(st.integers(0, 2), min_size=1)):
            shards[number].append(case)
    parts = [
        report(shard, left_out=way(shard, cases).left_out({case.id for case in shard}) or None, entries=entries)
        for shard in shards
    ]
    missing = merge.Suite(
        lambda _, names: None if {case.id for case in cases} <= set(names) else "something is missing",
        lambda _, all_entries: waivers.counted(all_entries, [case.id for case in cases], []),
    )
    found = merge.merge(((Path(f"{number}/report.json"), part) for number, part in enumerate(parts)), missing).report
    assert found == report(cases, entries=entries, duration=3)


def parts_are_merged_in_any_order(data: st.DataObject) -> None:
    """Also where a waiver expired between them: it is over in all of them, and whole cases are found in several."""
    cases, given_entries = data.draw(RUNS.filter(len)), data.draw(st.lists(ENTRIES, min_size=1, max_size=2))
    entries = waivers.counted(given_entries, [case.id for case in cases], [])
    later = [replace(entry, expired=entry.expired or data.draw(YES_OR_NO)) for entry in entries]
    shards = ([case for case in cases if data.draw(YES_OR_NO)], [case for case in cases if data.draw(YES_OR_NO)])
    parts = [
        report(shard, left_out="a shard", entries=those)
        for shard, those in zip(shards, data.draw(st.permutations([entries, later])), strict=True)
    ]
    known = merge.Suite(lambda *_: "a shard", lambda _, them: waivers.counted(them, [case.id for case in cases], []))
    found = [
        merge.merge(((Path(f"{number}/report.json"), one) for number, one in enumerate(each)), known).report
        for each in (parts, parts[::-1])
    ]
    seen = [case for case in cases if case in shards[0] or case in shards[1]]
    assert found == 2 * [report(seen, left_out="a shard", entries=later, duration=2)]


def a_waiver_changes_what_it_names(data: st.DataObject) -> None:
    """Each violation that an entry fits, and no other check, case or class."""
    cases, given_entries = data.draw(RUNS), data.draw(st.lists(ENTRIES, min_size=1, max_size=2))
    entries = waivers.counted(given_entries, [case.id for case in cases], [])
    bare, found = report(cases), report(cases, entries=entries)
    touched = set()
    for before, after in zip(bare.cases, found.cases, strict=True):
        for was, now in zip(before.checks, after.checks, strict=True):
            named = any(_names(entry, before, was) for entry in entries)
            assert now == (replace(was, verdict=Verdict.WAIVED) if named else was)
            touched |= {was.clause} if named else set()
        assert after == replace(before, checks=after.checks, verdict=worst(check.verdict for check in after.checks))
    for name, account in bare.classes.items():
        if not any(CLAUSES[about].conformance_class == name for about in touched):
            assert found.classes[name] == account
    for said, entry in zip(found.waivers, entries, strict=True):
        about = [case for case in found.cases if entry.fits_case(case.id)]
        if said.state is WaiverState.UNNEEDED:
            assert not any(check.verdict in UNKNOWN for case in about for check in case.checks)
        assert entry.expired or entry.fingerprint not in said.got_instead


def _names(entry: Waiver, case: CaseRecord, check: CheckRecord) -> bool:
    """Whether an entry is about a check, by what docs/profiles.md says."""
    where = {"*": True, "read/*": case.id.startswith("read/"), "read/b[?]": case.id.startswith("read/b[")}
    is_there = where.get(entry.case, entry.case == case.id)
    same = (entry.clause, entry.fingerprint) == (check.clause, check.got)
    return check.verdict is Verdict.VIOLATION and same and is_there and not entry.expired


def what_is_left_out_makes_nothing_better(data: st.DataObject) -> None:
    """Of a run that ended early: it, its classes, its gate and its exit code pass nothing."""
    cases = data.draw(RUNS.filter(len))
    then = report(data.draw(RUNS))
    gone = data.draw(st.sampled_from(cases))
    left = [case for case in cases if case is not gone]
    now = way(left, cases, whole=False)
    part = report(left, left_out=now.left_out({case.id for case in left}))
    assert part.verdict not in PASSED
    assert not any(account.verdict in PASSED for account in part.classes.values())
    assert held(then, part).reasons
    for gates in ({}, {"it": held(then, part)}):
        assert exit_code.exit_code({"it": part}, now, (), gates, False) == exit_code.FAILED


def nothing_is_conformant_that_is_not_known(data: st.DataObject) -> None:
    """No class and no target is conformant while a MUST clause of it was not run in a case; it names the clause."""
    found = report(data.draw(RUNS), left_out=data.draw(st.sampled_from([None, "interrupted"])))
    checks = [check for case in found.cases for check in case.checks]
    unknown = {one.clause for one in checks if one.verdict is Verdict.NOT_RUN and CLAUSES[one.clause].level == "MUST"}
    judged = [(unknown, found.verdict, found.reason)]
    for name, account in found.classes.items():
        own = {about for about in unknown if CLAUSES[about].conformance_class == name}
        judged.append((own, account.verdict, account.reason))
    for clauses, verdict, reason in judged:
        assert not clauses or verdict not in PASSED
        if "not run in a case" in reason:
            assert verdict is TargetVerdict.INCOMPLETE
            assert min(clauses) in reason
    is_bad = found.counts.violation or found.counts.error
    if unknown and found.left_out is None and found.executed.must and not is_bad:
        assert (found.verdict, "not run in a case" in found.reason) == (TargetVerdict.INCOMPLETE, True)
    if found.verdict in PASSED:
        assert (bool(is_bad), found.left_out, bool(found.executed.must)) == (False, None, True)


def what_is_left_open_is_told_of_a_part_too(data: st.DataObject) -> None:
    """Whatever cases are left out: the reason names the MUST clauses that were not run in those that remain."""
    left = data.draw(RUNS.filter(len))
    whole, part = report(left), selected(left, (*left, record("more", Verdict.CONFORM)))
    assert part.verdict not in PASSED
    assert all(name in part.reason for name in few_open(whole) if part.verdict is TargetVerdict.INCOMPLETE)


def few_open(whole: Report) -> list[str]:
    """The first clauses by name of which a whole run does not know enough, where nothing else decides its verdict."""
    names = [name for name in sorted(CLAUSES) if CLAUSES[name].level == "MUST" and whole.clauses[name].counts.not_run]
    return [] if whole.counts.violation or whole.counts.error else names[: targets.NAMED]


def what_is_not_run_any_more_makes_nothing_better(data: st.DataObject) -> None:
    """Of a case with a MUST clause, which a baseline knows to be kept: what passes without it passes with it.

    Nobody has to run a case of SHOULD clauses alone.
    """
    now = data.draw(RUNS)
    gone = next((case for case in now if any(CLAUSES[name].level == "MUST" for name in case.clauses)), None)
    assume(gone is not None)
    assert gone is not None
    made = [check for check in gone.checks if check.clause in gone.clauses]
    gone = with_checks(gone, made)
    good = with_checks(gone, [replace(check, verdict=Verdict.CONFORM) for check in made])
    idle = with_checks(gone, [replace(check, verdict=Verdict.NOT_RUN) for check in made])
    others = [case for case in now if case.id != gone.id]
    then, ran, waiting = (report((*others, one)) for one in (good, gone, idle))
    if held(then, ran).reasons:
        assert held(then, waiting).reasons
    for name in gone.clauses:
        assert waiting.clauses[name].verdict in REMARKED
    classes = {CLAUSES[name].conformance_class for name in gone.clauses if CLAUSES[name].level == "MUST"}
    verdicts = [(ran.verdict, waiting.verdict)]
    verdicts += [(ran.classes[name].verdict, waiting.classes[name].verdict) for name in classes]
    assert all(after not in PASSED or before in PASSED for before, after in verdicts)


def who_is_mended_passes(data: st.DataObject) -> None:
    """Under every tier: violations are gone, those of a law without a trace; and what is fixed is told so."""
    cases = data.draw(RUNS)
    mended, fixed = [], set()
    for case in cases:
        made: list[CheckRecord] = []
        for check in case.checks:
            if check.verdict is not Verdict.VIOLATION or data.draw(YES_OR_NO):
                made.append(check)
                continue
            fixed.add((case.id, check.clause))
            if check.clause in case.clauses:
                made.append(replace(check, verdict=Verdict.CONFORM))
        mended.append(with_checks(case, made))
    for number, tier in enumerate(TIERS):
        now = report((case for case in mended if case.tier in TIERS[: number + 1]), tier)
        found = held(report(cases), now)
        assert bool(found.reasons) == of_the_run_alone(now)
        unknown = {case.id for case in now.cases if any(check.verdict in UNKNOWN for check in case.checks)}
        told = {(change.case, change.clause) for change in found.found.of_kinds(compare.Kind.FIXED)}
        assert told <= fixed
        assert not {name for name, _ in told} & unknown


def the_gate_the_command_and_the_exit_code_agree(data: st.DataObject) -> None:
    """Of any two reports, whole or not; and who passes without a gate is a baseline for itself."""
    then, cases = report(data.draw(RUNS)), data.draw(RUNS)
    of = [*cases, *data.draw(st.sampled_from([(), (record("more", Verdict.CONFORM),)]))]
    whole = data.draw(YES_OR_NO)
    now = way(cases, of, whole=whole)
    part = report(cases, left_out=now.left_out({case.id for case in cases}))
    found = held(then, part)
    if now.collected:
        code = exit_code.exit_code({"it": part}, now, (), {"it": found}, False)
        assert code == (exit_code.FAILED if found.reasons else exit_code.OK)
        if exit_code.exit_code({"it": part}, now, (), {}, False) == exit_code.OK:
            assert held(part, part).reasons == []
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("then", "now")]
        for path in paths:
            path.mkdir()
        pair = [write(one, path) for one, path in zip((then, part), paths, strict=True)]
        output_of("report", "compare", "--fail-on-broken", *pair, code=int(bool(found.reasons)))


def what_is_as_asked_is_said_by_the_report(data: st.DataObject) -> None:
    """The gate knows from a report what the exit code knows from the run."""
    counts = st.integers(0, 4)
    ran = Course(
        tier="full", cases=frozenset(CASES), targets=data.draw(st.integers(1, 2)), collected=data.draw(counts),
        ended=data.draw(counts), selected=data.draw(st.sampled_from([(), ("-k x",)])),
        stops=data.draw(st.sampled_from([(), ("--maxfail=1",)])), interrupted=data.draw(YES_OR_NO),
    )  # fmt: skip
    assert course.is_as_asked(ran.left_out(CASES[:2])) == ran.is_as_asked


PROPERTIES: tuple[Callable[[st.DataObject], None], ...] = (
    a_report_is_its_own_baseline,
    all_shards_are_the_whole,
    parts_are_merged_in_any_order,
    a_waiver_changes_what_it_names,
    what_is_left_out_makes_nothing_better,
    nothing_is_conformant_that_is_not_known,
    what_is_left_open_is_told_of_a_part_too,
    what_is_not_run_any_more_makes_nothing_better,
    who_is_mended_passes,
    the_gate_the_command_and_the_exit_code_agree,
    what_is_as_asked_is_said_by_the_report,
)
SETTINGS = settings(
    max_examples=60, phases=(Phase.generate, Phase.shrink), deadline=None, database=None, derandomize=True,
    report_multiple_bugs=False, suppress_health_check=[*HealthCheck],
)  # fmt: skip


@pytest.mark.parametrize("wanted", PROPERTIES)
def test_property_of_judge_holds(wanted: Callable[[st.DataObject], None]) -> None:
    SETTINGS(given(st.data())(wanted))()
