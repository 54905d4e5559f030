"""From the evidence of a case to its checks, and from them to its verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...reports.model.records import REST, CheckRecord, Ending
from ...reports.model.verdicts import Verdict, worst
from ..contract.claims import Claims
from . import checks
from .blame import SURVIVED, blamed
from .evidence import Evidence, Statement


@dataclass(frozen=True, slots=True)
class Judged:
    """The checks of a case, their worst verdict, and why the case is that where no check says it."""

    checks: tuple[CheckRecord, ...]
    verdict: Verdict
    reason: str | None


def judge(evidence: Evidence, claims: Claims) -> Judged:
    """The checks and the verdict of a case. Every clause that it declares has one check at least."""
    ended, reason = evidence.ended, evidence.reason
    said = [*blamed(evidence), *filter(_counts, evidence.statements)]
    said += _survived(evidence, said)
    if not said and ended is Ending.WHOLE:
        ended, reason = Ending.BROKEN, "the case made no check"
    made = completed(evidence.clauses, [check(one, claims) for one in said], ended)
    if not made:
        return Judged((), Verdict.ERROR, reason or "the case made no check")
    final = worst(one.verdict for one in made)
    if final is Verdict.ABSENT and reason is None:
        reason = claims.absence(next(one.clause for one in made if one.verdict is Verdict.ABSENT))
    return Judged(tuple(made), final, reason)


def completed(clauses: Sequence[str], made: Sequence[CheckRecord], ended: Ending) -> list[CheckRecord]:
    """The checks of a case that ended so, with one for each clause that it declares.

    What ended early says so in one check at least: what came of a clause until then is not all that was to be tried.
    """
    covered = {one.clause for one in made}
    rest = [name for name in clauses if name not in covered]
    if not rest and ended not in (Ending.WHOLE, Ending.DIED) and all(one.verdict is not REST[ended] for one in made):
        rest = list(clauses[:1])
    return [*made, *(CheckRecord(name, REST[ended]) for name in rest)]


def check(said: Statement, claims: Claims) -> CheckRecord:
    """A statement with its verdict."""
    verdict = checks.verdict(said, claims)
    return CheckRecord(
        said.clause,
        verdict,
        checks.expected(said, claims),
        said.got,
        said.reading,
        said.said,
        said.times,
        False if verdict is Verdict.INFORMATIONAL and not said.holds else None,
    )


def _counts(said: Statement) -> bool:
    """Whether a statement says something of the case: what only prepared its stimulus passes nothing."""
    return not (said.holds and said.prepared)


def _survived(evidence: Evidence, said: list[Statement]) -> Iterator[Statement]:
    """What every op keeps by coming back, where the case is about that and its stimulus came back."""
    reached = evidence.answered or (evidence.ended is Ending.WHOLE and any(map(_counts, evidence.statements)))
    if not reached or evidence.death is not None:
        return
    for name in SURVIVED:
        if name in evidence.clauses and not any(one.clause == name for one in said):
            yield Statement(name, True, "every op comes back", "every op came back")
