"""The baselines of `--gate=no-new`. One that cannot be used is a usage error; docs/ci.md has the reasons."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..reports import document
from ..reports.errors import ReportError
from ..reports.escape import printable
from ..reports.model.counts import number
from ..reports.model.report import REPORT_NAME, Report
from ..reports.model.verdicts import Verdict
from ..suite.contract.catalogue import CONTRACT_VERSION
from ..suite.engine.case_facts import TIERS
from ..suite.judge.gate import Baseline, GateResult
from .run_options import CHANGED, BadUsageError, RunOptions, not_one_for_each
from .targets import PreparedTarget


def read(options: RunOptions) -> list[Baseline]:
    """The baselines of a run, usable as far as can be seen without its targets. Raises BadUsageError."""
    found = []
    for given in options.baselines:
        try:
            report = document.load(Path(given))
        except OSError as error:
            raise BadUsageError(f"--baseline={given}: {error.strerror}") from error
        except ReportError as error:
            raise BadUsageError(f"--baseline: {error}") from error
        if wrong := _partial(report) or _of_another_suite(report) or _otherwise_made(report, options):
            raise BadUsageError(f"--baseline={given} cannot be used: {wrong}")
        found.append(Baseline(given, report))
    return found


def paired(
    baselines: Sequence[Baseline], prepared: Sequence[PreparedTarget], options: RunOptions
) -> dict[str, Baseline]:
    """The baseline of each target by its name; none without --gate.

    Raises BadUsageError where one is of something else.
    """
    if not options.gate:
        return {}
    if len(baselines) != len(prepared):
        raise not_one_for_each("--baseline", len(baselines), len(prepared))
    several = len(prepared) > 1
    folders = [options.reports, *(options.report_directory(one.target.name, several) for one in prepared)]
    written = [path for folder in folders if (path := folder / REPORT_NAME).exists()]
    for baseline, one in zip(baselines, prepared, strict=True):
        if wrong := _of_another_target(baseline.report, one):
            raise BadUsageError(f"--baseline={baseline.given} cannot be used: {wrong}")
        if any(path.samefile(baseline.given) for path in written):
            raise BadUsageError(
                f"--baseline={baseline.given} is what this run writes: keep the baseline somewhere else"
            )
    return {one.target.name: baseline for baseline, one in zip(baselines, prepared, strict=True)}


def _partial(report: Report) -> str | None:
    """Why a report does not know all of what it is about."""
    if report.left_out is not None:
        return f"something was left out of it: {printable(report.left_out)}"
    if report.counts[Verdict.ERROR]:
        return f"it has {number(report.counts[Verdict.ERROR], 'error')}, and what they hide is unknown"
    return None if report.executed.must else "nothing was executed in it"


def _of_another_suite(report: Report) -> str | None:
    """Why what a report demands is not comparable: docs/contract.md says what the numbers mean."""
    ours, theirs = _contract(CONTRACT_VERSION), _contract(report.contract)
    if theirs is None or ours is None or theirs[:2] != ours[:2]:
        return f"it is of the contract {printable(report.contract)}, and this suite has {CONTRACT_VERSION}"
    if theirs[2] > ours[2]:
        return f"its contract, {printable(report.contract)}, is newer than that of this suite, {CONTRACT_VERSION}"
    return None


def _contract(version: str) -> tuple[str, int, int] | None:
    """The release of TensorFlow, the major and the minor version of a contract."""
    release, _, numbers = version.rpartition("/")
    major, _, minor = numbers.partition(".")
    return (release, int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None


def _otherwise_made(report: Report, options: RunOptions) -> str | None:
    """Why the run of a report is not like this one."""
    if TIERS.index(report.suite.tier) < TIERS.index(options.tier):
        return f"it is of the tier {report.suite.tier}, and this run of the tier {options.tier}, which tries more"
    facts: dict[str, tuple[Any, Any]] = {"seed": (report.suite.seed, options.seed)}
    # A newer suite may have options that an older one did not know.
    known = report.suite.options
    facts |= {name: (known[name], value) for name, value in options.shaping.items() if name in known}
    return _different(facts)


def _of_another_target(report: Report, one: PreparedTarget) -> str | None:
    """Why a report is not of this target. A plugin that does not load has no scheme, which is for the cases to tell."""
    then, now = report.target, one.facts
    claims = {claim.name: claim.value for claim in report.claims}
    facts: dict[str, tuple[Any, Any]] = {
        "target": (then.name, now.name),
        "scheme": (then.scheme, now.scheme if now.scheme is not None else then.scheme),
        "runtime": (then.runtime, now.runtime),
        "profile": (_file(then.profile), _file(now.profile)),
        "list of claims": (claims, dict(one.target.claims)),
    }
    return _different(facts)


def _different(facts: Mapping[str, tuple[Any, Any]]) -> str | None:
    """The first fact that a baseline and a run do not share."""
    different = ((name, was, found) for name, (was, found) in facts.items() if was != found)
    return next((f"its {name} is {_shown(was)}, and here {_shown(found)}" for name, was, found in different), None)


def _file(profile: str | None) -> str | None:
    return profile and Path(profile).name


def _shown(value: object) -> str:
    return "none" if value in (None, {}) else printable(str(value))


def held(
    reports: Mapping[str, Report], baselines: Mapping[str, Baseline], options: RunOptions
) -> dict[str, GateResult]:
    """Each report held to the baseline of its target, where there is one."""
    kinds = [Verdict.VIOLATION, *map(Verdict, options.fail_on)]
    return {
        name: GateResult(baselines[name], report, kinds, CHANGED in options.failing)
        for name, report in reports.items()
        if name in baselines
    }
