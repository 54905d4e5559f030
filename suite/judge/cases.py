"""From the evidence of a case to its checks, and from them to its verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...reports.model.records import REST, CheckRecord, Ending
from ...reports.model.verdicts import Verdict, worst
from ..contract.catalogue import clause
from ..contract.claims import Claims
from . import checks
from .blame import SURVIVED, blamed
from .evidence import Condition, Evidence, Statement

#: The verdicts that pass something.
PASSES = (Verdict.CONFORM, Verdict.TOLERATED, Verdict.INFORMATIONAL)


@dataclass(frozen=True, slots=True)
class Judged:
    """The checks of a case, their worst verdict, why the case is that where no check says it, and how it ended.

    A case that came to its end and compared nothing is broken.
    """

    checks: tuple[CheckRecord, ...]
    verdict: Verdict
    reason: str | None
    ended: Ending


def judge(evidence: Evidence, claims: Claims) -> Judged:
    """The checks and the verdict of a case. Every clause that it declares has one check at least."""
    ended, reason = evidence.ended, evidence.reason
    # What only prepared its stimulus passes nothing.
    said = [*blamed(evidence)]
    said += [one for one in evidence.statements
             if not one.prepared or not (one.holds or checks.verdict(one, claims) in PASSES)]  # fmt: skip
    said += _survived(evidence, said)
    if not said and ended is Ending.WHOLE:
        ended, reason = Ending.BROKEN, "the case made no check"
    said = [one for one in said if not _passes_uncalled(one, evidence, claims)]
    under = evidence.condition
    if under.not_run is not None:
        reason = reason or under.not_run
    made = completed(evidence.clauses, [*(check(one, claims) for one in said), *_under(under, claims)], ended)
    if not made:
        return Judged((), Verdict.ERROR, reason or "the case made no check", ended)
    final = worst(one.verdict for one in made)
    if final is Verdict.ABSENT and reason is None:
        reason = claims.absence(next(one.clause for one in made if one.verdict is Verdict.ABSENT))
    return Judged(tuple(made), final, reason, ended)


def _under(condition: Condition, claims: Claims) -> Iterator[CheckRecord]:
    """The checks of a condition."""
    yield from (check(one, claims) for one in condition.statements)
    if condition.not_run is not None:
        yield CheckRecord(condition.clause, Verdict.NOT_RUN)


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
        *(() if said.holds else (said.op, said.kind, said.code, said.loses)),
    )


def _passes_uncalled(said: Statement, evidence: Evidence, claims: Claims) -> bool:
    """Whether a statement would pass an op that the case did not call. A note of what is absent passes nothing.

    A clause that is not named after its op is of others, too.
    """
    if evidence.called is None:
        return False
    op = clause(said.clause).op
    if op in {"", *evidence.called} or not said.clause.startswith(f"{op}."):
        return False
    return checks.verdict(said, claims) in (Verdict.CONFORM, Verdict.TOLERATED)


def _survived(evidence: Evidence, said: list[Statement]) -> Iterator[Statement]:
    """What every op keeps by coming back, where the case is about that and its stimulus came back."""
    is_compared = not all(one.prepared for one in evidence.statements)
    reached = evidence.answered or (evidence.ended is Ending.WHOLE and is_compared)
    hung_before = evidence.block is not None and evidence.block.death is not None
    if not reached or evidence.death is not None or hung_before:
        return
    for name in SURVIVED:
        if name in evidence.clauses and not any(one.clause == name for one in said):
            yield Statement(name, True, "every op comes back", "every op came back")
