"""How a case ends: its record, from the checks it made, the calls it performed, and what ended it early."""

import time
from collections.abc import Mapping

from msgspec.structs import replace

from ...harness.hosting.loader import Blocked
from ...harness.launchers.launcher import Lost
from ...harness.ops.guard import Refused
from ...harness.ops.outcomes import Crashed, Death, Died, Endless, Hung
from ...harness.targets.backing import Unable
from ...reports.model.records import CaseRecord
from ...reports.model.verdicts import Verdict, worst
from ..contract import laws
from ..contract.catalogue import clause
from . import bounds
from .callformat import Form
from .case import Body, Case, NoStimulus
from .checks import AbsentOp
from .collect import Listed
from .marks import SURVIVED
from .surroundings import Limited
from .workbench import WrongBacking

#: The verdicts of cases with which nothing is wrong.
UNREMARKABLE = (Verdict.CONFORM, Verdict.TOLERATED, Verdict.INFORMATIONAL, Verdict.ABSENT)

#: The ops by which a file is made. A case about one of them judges what it prepares by itself.
WRITES = frozenset({"new_writable_file", "append", "flush", "sync", "close"})

#: The clause that says of a step of loading what `<op>.succeeds` says of an op.
BLOCKING: Mapping[str, str] = {
    "dlopen": "registration.loads",
    "TF_InitPlugin": "registration.loads",
    "registration": "registration.required-ops",
    "plugin_memory_free": "registration.blocks-are-freeable",
}


def conclude(case: Case, error: BaseException | None) -> CaseRecord:
    """The record of a case; `error` is what ended it early, or None."""
    if case.adopted is not None and error is None:
        record, note = case.adopted
        return replace(record, id=case.id, reason=note or record.reason, duration=_took(case))
    verdict, reason = _of_error(case, error)
    flaw = _flaw_of_setup(case, error)
    if flaw is not None:
        # What the case saw is a consequence; what a plugin may never do is not.
        case.made = [check for check in case.made if check.clause.startswith("robustness.")]
        if case.is_news(flaw.op):
            case.record(f"{flaw.op}.succeeds", False, f"{flaw.op} works", flaw.why, declared=True)
        verdict, reason = Verdict.NOT_RUN, f"blocked by {flaw.op}: {flaw.why}"
    _hold_to_laws(case)
    verdicts = [check.verdict for check in case.made] + ([verdict] if verdict else [])
    if not verdicts:
        verdicts, reason = [Verdict.ERROR], "the case made no check"
    final = worst(verdicts)
    if final is Verdict.ABSENT and reason is None:
        given_up = next(check.clause for check in case.made if check.verdict is Verdict.ABSENT)
        reason = case.claims.absence(given_up)
    # Nobody reads the ops of a case with which nothing is wrong, and they are the bulk of a report.
    form = Form(case.told)
    ops = () if final in UNREMARKABLE else tuple(case.redaction.text(form.line(call)) for call in case.trace)
    record = CaseRecord(
        id=case.id,
        clauses=case.clauses,
        verdict=final,
        checks=tuple(case.made),
        reason=case.told(reason) if reason else None,
        stimulus=case.stimulus,
        ops=ops,
        executed=bool(case.trace),
        duration=_took(case),
        output=case.told(case.output),
        tier=case.tier,
    )
    short = bounds.fitted(record)
    # A trial leaves a trace of its own, and only where it is the one that is told.
    if bounds.is_remarkable(final) and not case.any_clause and (short is not record or any("… (" in op for op in ops)):
        short = replace(short, cut=case.bench.keeper.calls(case.id, case.trace, form))
    return short


def not_started(case: Listed, reason: str) -> CaseRecord:
    """The record of a case that was not started, because it is known why it could not be run."""
    return CaseRecord(
        id=case.id,
        clauses=case.clauses,
        verdict=Verdict.NOT_RUN,
        checks=(),
        reason=reason,
        stimulus=case.doc,
        ops=(),
        executed=False,
        duration=0.0,
        output="",
        tier=case.tier,
    )


def performed(case: Case, body: Body) -> None:
    """Run a case. One that hangs is tried once more with an allocator that fills nothing, before that is told."""
    if case.bench.target.through and case.over_tables:
        raise NoStimulus("through TensorFlow nobody sees the tables and the process of a plugin")
    loader, before = case.bench.loader, case.bench.loader.filling
    try:
        body(case)
    except Died:
        if loader.filling or not before:
            raise
        trial = case.trial(case.bench, 1)
        error: Exception | None = None
        try:
            body(trial)
        except Exception as raised:
            error = raised
        case.adopt(conclude(trial, error), None if error else "without MALLOC_PERTURB_, with which it hangs")
        trial.clear()


def _took(case: Case) -> float:
    """Seconds since the case began, in microseconds' precision: more digits are noise in a report."""
    return round(time.perf_counter() - case.started, 6)


def _of_error(case: Case, error: BaseException | None) -> tuple[Verdict | None, str | None]:
    """What the early end says of the case by itself: a verdict, where the checks do not say it, and its reason."""
    claims = case.claims
    match error:
        case None:
            return None, None
        case Died():
            reason = _record_death(case, error.death)
            return Verdict.NOT_RUN if reason else None, reason
        case Blocked() | AbsentOp() if error.op in claims.ops_given_up:
            return Verdict.ABSENT, f"the profile claims {claims.ops_given_up[error.op]}"
        case Blocked():
            _record_block(case, error)
            return Verdict.NOT_RUN, f"blocked by {error.op}: {error.why}"
        case WrongBacking():
            return Verdict.ERROR, str(error)
        case Refused() | Unable():
            return Verdict.NOT_RUN, str(error)
        case Limited() | NoStimulus():
            return Verdict.ABSENT, str(error)
        case AbsentOp() if error.op in claims.ops_promised:
            _record_block(case, Blocked(error.op, str(error)))
            return Verdict.NOT_RUN, f"blocked by {error.op}, which the profile claims: {claims.ops_promised[error.op]}"
        case AbsentOp():
            return Verdict.ABSENT, str(error)
        case _:
            return Verdict.ERROR, f"{type(error).__name__}: {error}"


def _flaw_of_setup(case: Case, error: BaseException | None) -> Blocked | None:
    """What is wrong with what the case prepared, where something is wrong at all and the case is about something else.

    The preparation is done once more, in a directory and a host of its own, and witnesses look at it.
    """
    wrong = isinstance(error, Blocked) or any(check.verdict is Verdict.VIOLATION for check in case.made)
    if not wrong or not case.prepared or isinstance(error, Died):
        return None
    # A plugin may be for one process at a time.
    case.abandon()
    again = case.trial(case.bench, 0)
    try:
        found = again.flaw_of(case.prepared)
    except (Died, Blocked, AbsentOp, Limited, NoStimulus, Refused, Unable, Lost, WrongBacking):
        return None
    finally:
        again.clear()
    if found is None:
        return None
    judged = {"create_dir"} if found.op == "create_dir" else WRITES
    return None if judged & {clause(name).op for name in case.clauses} else found


def _record_death(case: Case, death: Death) -> str | None:
    """Record a death, or say by what the case is blocked."""
    consequence = case.setting_up or isinstance(death, Endless)
    if consequence and not case.is_news(death.op):
        return f"blocked by {death.op}: {death}"
    match death:
        case Hung() | Endless():
            name = "robustness.no-hang"
        case Crashed(op="plugin_memory_free"):
            name = "registration.blocks-are-freeable"
        case Crashed():
            name = "robustness.no-crash"
        case _:
            name = "robustness.no-exception"
    case.died_with(death.output)
    expected, got = f"{death.op} comes back", str(death)
    case.record(name, False, expected, got, declared=True)
    # An op without a status has no other way to fail.
    for about in (f"{death.op}.succeeds", f"{death.op}.after-init"):
        if about in case.clauses:
            case.record(about, False, expected, got)
    return None


def _record_block(case: Case, blocked: Blocked) -> None:
    """Where the case is about the op that blocks it, that is the violation which all others wait for."""
    name = BLOCKING.get(blocked.op, f"{blocked.op}.succeeds")
    if blocked.death is not None and name in case.clauses:
        # What hangs in special situations only was not called in this one: nobody knows.
        unknown = isinstance(blocked.death, Hung) and blocked.op not in BLOCKING
        if not unknown or blocked.op in case.bench.knowledge.fails_plainly:
            _record_death(case, blocked.death)
        return
    judged = any(check.clause == name and check.verdict is Verdict.VIOLATION for check in case.made)
    absent = blocked.absent and blocked.op not in case.claims.ops_promised
    if name in case.clauses and not absent and not judged:
        case.record(name, False, f"{blocked.op} works", f"{blocked.op}: {blocked.why}")


def _hold_to_laws(case: Case) -> None:
    """Record what was broken wherever it shows, and what was kept where the case is about it."""
    for ruling in laws.rulings(case.trace, case.clauses):
        case.record(ruling.clause, ruling.holds, ruling.expected, ruling.got, reading=ruling.reading, declared=True)
    for name in SURVIVED:
        if name in case.clauses and case.trace and not any(check.clause == name for check in case.made):
            case.record(name, True, "every op comes back", "every op came back")
