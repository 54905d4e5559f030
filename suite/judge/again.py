"""A report judged again: today's rules and today's clauses on what a run saw then."""

from collections.abc import Iterable

from msgspec.structs import replace

from ...reports.model.header import digest
from ...reports.model.records import CaseRecord, CheckRecord
from ...reports.model.report import Report
from ...reports.model.verdicts import JUDGED, Verdict, worst
from ...reports.model.waivers import Waiver, WaiverAccount, WaiverState
from ...reports.plain import plain
from ..contract.catalogue import CONTRACT_VERSION, catalogue, for_report
from ..contract.claims import Claims, UnknownClaimError
from . import checks
from .cases import completed, told_apart
from .evidence import Statement
from .merge import header_of
from .reports import build, facts_of
from .waivers import waived


def again(report: Report) -> Report:
    """The report with today's verdicts. A clause that the catalogue has no more is as it was."""
    header = header_of([report], report.suite.selection, lambda _, entries: _counted(entries, report.waivers))
    gone = {name: facts_of(account) for name, account in report.clauses.items() if name not in catalogue()}
    clauses = (
        for_report({one for name in report.clauses if name in catalogue() for one in catalogue()[name].conditions})
        | gone
    )
    suite = replace(header.suite, catalogue=digest(plain(clauses)))
    header = replace(header, contract=CONTRACT_VERSION, suite=suite, clauses=clauses)
    claims = _claims(report)
    return build(
        header,
        (waived(_again(case, claims), header.waivers) for case in report.cases),
        duration=report.suite.duration,
        left_out=report.left_out,
        services=report.services,
        costs=report.costs,
    )


def _counted(entries: Iterable[Waiver], told: Iterable[WaiverAccount]) -> list[Waiver]:
    """The entries of a report. No case is missing of one that it told to be unneeded or changed; else nobody knows."""
    whole = (WaiverState.UNNEEDED, WaiverState.CHANGED)
    return [
        replace(entry, cases=0) if then.state in whole else entry for entry, then in zip(entries, told, strict=True)
    ]


def _again(case: CaseRecord, claims: Claims) -> CaseRecord:
    """A case with today's verdicts. Where nothing was compared they follow from how the case ended."""
    made = completed(case.clauses, [_check(one, claims) for one in case.checks if is_compared(one)], case.ended)
    return replace(case, checks=tuple(made), verdict=worst(one.verdict for one in made) if made else case.verdict)


def is_compared(check: CheckRecord) -> bool:
    """Whether a check compared something with an answer; the others say that a case did not come to it."""
    return check.verdict in JUDGED or bool(check.expected)


def holds(check: CheckRecord) -> bool:
    """Whether what a check saw was as expected."""
    if check.holds is not None:
        return check.holds
    broken = check.verdict in (Verdict.VIOLATION, Verdict.WAIVED)
    return not broken and not (check.verdict is Verdict.WARNING and check.reading is None)


def _check(check: CheckRecord, claims: Claims) -> CheckRecord:
    # What was absent then is so by a claim, or because nobody can look at it.
    if check.clause not in catalogue() or check.verdict is Verdict.ABSENT:
        return check
    said = Statement(check.clause, holds(check), check.expected, check.got, check.reading)
    verdict = checks.verdict(said, claims)
    return replace(check, verdict=verdict, holds=told_apart(said, verdict))


def _claims(report: Report) -> Claims:
    """What the profile claimed, as far as it is still known what that means."""
    found: dict[str, str | bool] = {}
    for claim in report.claims:
        try:
            Claims.of({claim.name: claim.value}, {})
        except UnknownClaimError:
            continue
        found[claim.name] = claim.value
    return Claims.of(found, report.target.limits)
