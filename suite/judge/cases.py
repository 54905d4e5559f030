"""From the evidence of a case to its checks, and from them to its verdict."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...reports.model.records import CheckRecord, Ending
from ...reports.model.verdicts import Verdict, worst
from ..contract.claims import Claims
from . import checks
from .blame import SURVIVED, blamed
from .evidence import Evidence, Statement

#: What becomes of a clause that a case declares and did not come to. A case that came to its end came to all that its
#: answers left of them.
REST: Mapping[Ending, Verdict] = {
    Ending.WHOLE: Verdict.DOES_NOT_APPLY,
    Ending.BLOCKED: Verdict.NOT_RUN,
    Ending.DIED: Verdict.NOT_RUN,
    Ending.LACKING: Verdict.ABSENT,
    Ending.UNABLE: Verdict.NOT_RUN,
    Ending.BROKEN: Verdict.ERROR,
}


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
    made = [check(one, claims) for one in said]
    covered = {one.clause for one in made}
    made += [CheckRecord(name, REST[ended]) for name in evidence.clauses if name not in covered]
    if not made:
        return Judged((), Verdict.ERROR, reason or "the case made no check")
    final = worst(one.verdict for one in made)
    if final is Verdict.ABSENT and reason is None:
        reason = claims.absence(next(one.clause for one in made if one.verdict is Verdict.ABSENT))
    return Judged(tuple(made), final, reason)


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
    if not evidence.answered or evidence.death is not None:
        return
    for name in SURVIVED:
        if name in evidence.clauses and not any(one.clause == name for one in said):
            yield Statement(name, True, "every op comes back", "every op came back")
