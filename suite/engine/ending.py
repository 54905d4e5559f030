"""How an attempt at a case ends: what it saw is evidence, and that comes back from the judge as a record."""

import time
import traceback
from collections.abc import Mapping
from dataclasses import replace as changed

from msgspec.structs import replace

from ...harness.hosting.leaks import UndecidedError
from ...harness.hosting.loader import BlockedError
from ...harness.launchers.launcher import HostLostError
from ...harness.ops import outcomes
from ...harness.ops.codes import Code
from ...harness.ops.guard import RefusedError
from ...harness.ops.outcomes import DiedError, Outcome
from ...harness.targets.backing import BackingIncapableError, BackingUnableError, BackingUnnamedError
from ...reports.model.records import CaseRecord, CheckRecord, Ending, StatementKind
from ...reports.model.verdicts import Verdict
from ..contract import laws
from ..judge import blame
from ..judge.cases import judge
from ..judge.evidence import Block, Death, Evidence, Fall, Statement
from . import bounds
from .answers import kind_of
from .callformat import ValueFormat, unsplit
from .case import Case, NoStimulusError, NotTriedError
from .case_facts import CaseFacts
from .checks import AbsentOpError, DoubtfulError
from .looks import by_all_looks, by_caches, is_left_out
from .surroundings import BeyondLimitsError
from .workbench import WrongBackingError

#: The verdicts of cases with which nothing is wrong.
UNREMARKABLE = (Verdict.CONFORM, Verdict.TOLERATED, Verdict.INFORMATIONAL, Verdict.ABSENT, Verdict.DOES_NOT_APPLY)

#: Without these nothing can be prepared. Who lacks them says so in a profile, or names a backing that prepares instead:
#: else nobody knows of what is not run, and it is not absent.
FOUNDATION = frozenset({"create_dir", "new_writable_file", "append", "close"})

#: How an op did not come back; what does not return control at all hangs.
FALLS: Mapping[type[outcomes.Death], Fall] = {
    outcomes.Hung: Fall.HUNG,
    outcomes.Endless: Fall.HUNG,
    outcomes.Crashed: Fall.CRASHED,
    outcomes.Threw: Fall.THREW,
}


def recorded(case: Case, evidence: Evidence) -> CaseRecord:
    """The record of a case."""
    if case.adopted is not None and evidence.ended is Ending.WHOLE:
        record, note = case.adopted
        return replace(record, id=case.id, reason=note or record.reason, duration=_took(case), histories=case.histories)
    judged = judge(evidence, case.bench.claims)
    # Of a case with which nothing is wrong the ops are not shown: they would be the bulk of a report.
    redaction, trace = case.bench.redaction, case.surroundings.trace
    form = ValueFormat(case.check.presentable, redaction)
    unremarkable = judged.verdict in UNREMARKABLE
    ops = () if unremarkable else tuple(redaction.text(form.line(call)) for call in unsplit(trace, redaction))
    record = CaseRecord(
        id=case.id,
        clauses=case.clauses,
        verdict=judged.verdict,
        checks=judged.checks,
        reason=case.check.presentable(judged.reason) if judged.reason else None,
        stimulus=case.stimulus,
        ops=ops,
        ended=judged.ended,
        cause=evidence.flaw.op if evidence.flaw else None,
        executed=bool(trace),
        duration=_took(case),
        output=case.check.presentable(case.surroundings.output + case.condition.output + _traceback(evidence.error)),
        tier=case.tier,
        histories=case.histories,
    )
    short = bounds.fitted(record)
    # A trial has a trace of its own only where it stands for its case.
    cut = short is not record or any("… (" in op for op in ops)
    is_remarkable = judged.verdict in (Verdict.VIOLATION, Verdict.WARNING, Verdict.WAIVED, Verdict.ERROR)
    if is_remarkable and not case.check.any_clause and cut:
        short = replace(short, cut=case.bench.keeper.calls(case.id, trace, form))
    return short


def _traceback(error: BaseException | None) -> str:
    """Where an error of the suite was raised; nothing for one of the environment, which its reason explains."""
    if error is None or isinstance(error, HostLostError | WrongBackingError):
        return ""
    return "".join(traceback.format_exception(error))


def not_started(case: CaseFacts, reason: str) -> CaseRecord:
    """The record of a case that was not started, because it is known why it could not be run."""
    return CaseRecord(
        id=case.id,
        clauses=case.clauses,
        verdict=Verdict.NOT_RUN,
        checks=tuple(CheckRecord(name, Verdict.NOT_RUN) for name in case.clauses),
        reason=reason,
        stimulus=case.doc,
        ops=(),
        ended=Ending.BLOCKED,
        executed=False,
        duration=0.0,
        output="",
        tier=case.tier,
    )


def seen(case: Case, error: BaseException | None) -> Evidence:
    """What a case saw by itself; `error` is what ended it early, or None."""
    trace = case.surroundings.trace
    death = _death(case, error.death, case.setup.active) if isinstance(error, DiedError) else None
    evidence = Evidence(
        clauses=case.clauses,
        statements=statements(case),
        answered=any(
            isinstance(outcome, Outcome) and place not in trace.preparing for place, (_, _, outcome) in enumerate(trace)
        ),
        death=death,
        called=case.surroundings.called,
        block=_block(case, error),
        known=case.bench.facts.fails_plainly,
        promised=case.bench.claims.ops_promised,
        condition=case.condition,
    )
    ended, reason = _ended(case, error, evidence)
    return changed(evidence, ended=ended, reason=reason, error=error if ended is Ending.BROKEN else None)


def _took(case: Case) -> float:
    """Seconds since the case began, in microseconds' precision: more digits are noise in a report."""
    return round(time.perf_counter() - case.started, 6)


def _ended(case: Case, error: BaseException | None, evidence: Evidence) -> tuple[Ending, str | None]:
    """How a case ended, and why, where it ended early and no check says it."""
    claims = case.bench.claims
    match error:
        case None:
            return Ending.WHOLE, None
        case DiedError():
            assert evidence.death is not None
            if blame.is_a_consequence(evidence, evidence.death):
                return Ending.BLOCKED, f"blocked by {error.death.op}: {error.death}"
            return Ending.DIED, None
        case BlockedError() | AbsentOpError() if error.op in claims.ops_given_up:
            return Ending.LACKING, f"the profile claims {claims.ops_given_up[error.op]}"
        case AbsentOpError() if error.op in claims.ops_promised:
            claimed = claims.ops_promised[error.op]
            return Ending.BLOCKED, f"blocked by {error.op}, which the profile claims: {claimed}"
        case BlockedError() if error.absent and error.op not in claims.ops_promised and not _is_open(case, error.op):
            return Ending.LACKING, str(error)
        case BlockedError():
            return Ending.BLOCKED, str(error)
        case BackingUnnamedError():
            return Ending.UNWITNESSED, str(error)
        case BeyondLimitsError() | NoStimulusError() | AbsentOpError() | BackingIncapableError():
            return Ending.LACKING, str(error)
        case RefusedError() | BackingUnableError() | NotTriedError() | UndecidedError():
            return Ending.UNABLE, str(error)
        case WrongBackingError():
            return Ending.BROKEN, str(error)
        case _:
            return Ending.BROKEN, f"{type(error).__name__}: {error}"


def _is_open(case: Case, op: str) -> bool:
    """Whether nobody knows of what a case is about, because nothing can be prepared for want of `op`."""
    return op in FOUNDATION and case.bench.target.backing is None


def _block(case: Case, error: BaseException | None) -> Block | None:
    """The step that did not work, in the judge's words."""
    match error:
        case BlockedError() | AbsentOpError() if error.op in case.bench.claims.ops_given_up:
            return None
        case DoubtfulError():
            return None
        case BlockedError():
            death = None if error.death is None else _death(case, error.death, False)
            return Block(error.op, bounds.compared(case.check.presentable(error.why)), error.absent, death)
        case AbsentOpError() if error.op in case.bench.claims.ops_promised:
            return Block(error.op, bounds.compared(case.check.presentable(str(error))))
    return None


def _death(case: Case, death: outcomes.Death, preparing: bool) -> Death:
    """A death in the judge's words. A walk that does not end is one of core, which only asked the op."""
    walk = isinstance(death, outcomes.Endless)
    return Death(death.op, FALLS[type(death)], bounds.compared(case.check.presentable(str(death))), preparing or walk)


def statements(case: Case) -> tuple[Statement, ...]:
    """What the case compared; what was broken of the laws, wherever it shows, and kept, where the case is about it."""
    made, trace = case.check.made, case.surroundings.trace
    for one in laws.rulings(trace, case.clauses, trace.preparing):
        expected, got = (bounds.compared(case.check.presentable(text)) for text in (one.expected, one.got))
        kind = kind_of(one.clause, one.expected)
        said = Statement(one.clause, one.holds, expected, got, one.reading, prepared=one.prepared, op=one.op, kind=kind)
        made.add(changed(said, at=one.at + 1))
    whole = by_caches(by_all_looks(sorted(made, key=lambda said: said.at), trace))
    # A directory that core's default cannot delete has in it what its listing left out.
    refused = {id(one) for one in whole if (one.op, one.code) == ("delete_dir", str(Code.FAILED_PRECONDITION))}
    if refused and is_left_out(trace):
        names = StatementKind.NAMES
        whole = [changed(one, op="get_children", kind=names, code=None) if id(one) in refused else one for one in whole]
    return tuple(whole)
