"""The attempts at a case: as it is, and again where what it saw asks for another look."""

import os
from contextlib import suppress
from dataclasses import replace as changed

from ...harness.hosting.loader import BlockedError
from ...harness.launchers.launcher import HostLostError
from ...harness.ops.guard import RefusedError
from ...harness.ops.outcomes import DiedError
from ...harness.targets.backing import BackingUnableError
from ...reports.model.records import CaseRecord, StatementKind
from ..contract.catalogue import clause
from ..judge.evidence import Block, Evidence, Statement
from . import bounds
from .answers import Answer
from .case import Body, Case, NoStimulusError
from .checks import AbsentOpError
from .control import excused
from .ending import recorded, seen, statements
from .looks import MOST, READERS, WRITING, read_last, stands_alone, wrote
from .surroundings import BeyondLimitsError
from .workbench import WrongBackingError

#: The ops by which a file is made. A case about one of them judges what it prepares by itself.
WRITES = WRITING | {"new_writable_file"}

#: So many breaches of a case are looked at again.
LOOKED_AT = 100

#: What keeps a preparation from being done once more.
UNPREPARED = (
    *(DiedError, BlockedError, AbsentOpError, BeyondLimitsError, NoStimulusError, RefusedError),
    *(BackingUnableError, HostLostError, WrongBackingError),
)

#: The number of the trial that is a control: others count from 0.
CONTROL = 98


def run_case(case: Case, body: Body) -> Evidence:
    """Run a case, and again where what it saw asks for that: the evidence of all attempts, which stand here in order.

    What hangs is tried with an allocator that fills nothing; the case, under the tool that its target asks for; what
    was prepared, for witnesses; and what is wrong, with a plain name. Each has a directory and a host of its own.
    """
    if case.bench.target.through and case.over_tables:
        return evidence_of(case, NoStimulusError("through TensorFlow tables and process of a plugin are hidden"))
    filled = case.bench.loader.filling
    error = case.ended_by(body)
    if isinstance(error, DiedError) and filled and not case.bench.loader.filling:
        error = _without_fill(case, body, error)
    if case.bench.target.sanitizer and case.adopted is None:
        from . import sanitizers  # noqa: PLC0415 - most runs have no sanitizer

        case.condition = sanitizers.watched(case, body, error)
    return evidence_of(case, error)


def evidence_of(case: Case, error: BaseException | None) -> Evidence:
    """What a case saw that was run, and what further looks at it saw; `error` is what ended it early, or None."""
    if case.adopted is not None and error is None:
        return Evidence(clauses=case.clauses)
    if isinstance(error, DiedError | BlockedError) and error.death is not None:
        case.surroundings.died_with(error.death.output)
    evidence = seen(case, error)
    for attempt in (_looked_at_again, _prepared_again, _with_a_plain_name):
        # A control that is interrupted may have excused what was seen.
        case.evidence = evidence if case.control is None else None
        evidence = attempt(case, evidence, error)
    return evidence


def _without_fill(case: Case, body: Body, died: DiedError) -> Exception | None:
    """What ends a case that hung, when it is tried again with an allocator that fills nothing.

    Where it comes back then, it is tried once more as it was: only what hangs there again hangs for the allocator.
    """
    record, error = _tried(case.trial(case.bench, 1), body)
    if error is None:
        bench = case.bench.filling_again()
        _, hung = _tried(case.trial(bench, 2), body)
        bench.close()
        if not isinstance(hung, DiedError):
            return BackingUnableError(f"{died} once, and came back when that was tried again")
    case.adopt(record, None if error else "without MALLOC_PERTURB_, with which it hangs")
    return None


def _tried(trial: Case, body: Body) -> tuple[CaseRecord, Exception | None]:
    """What came of a trial, and what ended it early."""
    error = trial.ended_by(body)
    record = recorded(trial, evidence_of(trial, error))
    trial.surroundings.clear()
    return record, error


def _looked_at_again(case: Case, evidence: Evidence, error: BaseException | None) -> Evidence:
    """The evidence of a case with the op that is at fault for wrong bytes, by what is in the files when it ended."""
    broken = [said for said in evidence.statements if not said.holds and said.values and said.code is None]
    if not broken or isinstance(error, DiedError):
        return evidence
    trace, faults = case.surroundings.trace, dict[int, Answer]()
    count = len(trace)
    with suppress(*UNPREPARED):
        for said in broken[:LOOKED_AT]:
            answer = _at_fault(case, said)
            if answer is not None:
                faults[id(said)] = answer
    trace.forget(count)
    return changed(evidence, statements=tuple(_due_to(faults.get(id(said)), said) for said in evidence.statements))


def _due_to(answer: Answer | None, said: Statement) -> Statement:
    return said if answer is None else changed(said, op=answer.op, kind=answer.kind or said.kind, loses=answer.loses)


def _at_fault(case: Case, said: Statement) -> Answer | None:
    """A reader that stands alone with wrong bytes; what wrote them, if a reader was blamed for what all looks see."""
    around, calls = case.surroundings, case.surroundings.trace[: said.at]
    match said.values:
        case (bytes() as wanted, bytes() as got):
            path = around.named.get(os.fsdecode(read_last(calls)))
            pairs = {path: wanted} if path else {}
            if path and said.op == "read" and _stands_alone(case, path, wanted) is False:
                return wrote(calls, case.uri(path), wanted, got)
        case (dict() as tree, dict() as found) if tree.keys() == found.keys():
            # Other dictionaries have sizes or statuses.
            pairs = {path: wanted for path, wanted in tree.items() if isinstance(wanted, bytes)}
        case _:
            pairs = {}
    alone = {_stands_alone(case, path, wanted) for path, wanted in [*pairs.items()][:MOST]}
    return Answer("read") if alone == {True} and said.op not in READERS else None


def _stands_alone(case: Case, path: str, wanted: bytes | None) -> bool | None:
    if not wanted:
        return None
    around = case.surroundings
    stored = around.backing.read(around.backing_name(path)) if case.bench.target.backing else None
    return stands_alone(case.fs, case.uri(path), stored, wanted)


def _prepared_again(case: Case, evidence: Evidence, error: BaseException | None) -> Evidence:
    """The evidence of a case with what is wrong with what it prepared, where the case is about something else.

    Where something is wrong at all the preparation is done once more, and witnesses look at it.
    """
    wrong = isinstance(error, BlockedError) or any(not said.holds for said in evidence.statements)
    if not wrong or not case.setup.prepared or isinstance(error, DiedError):
        return evidence
    # A plugin may be for one process at a time.
    case.surroundings.abandon()
    again = case.trial(case.bench, 0)
    try:
        found = again.setup.flaw_of(case.setup.prepared)
    except UNPREPARED:
        return evidence
    finally:
        again.surroundings.clear()
    if found is None:
        return evidence
    judged = {"create_dir"} if found.op == "create_dir" else WRITES
    if judged & {clause(name).op for name in case.clauses}:
        return evidence
    kind = StatementKind.NAMES if found.op == "create_dir" else StatementKind.MISSING
    flaw = Block(found.op, bounds.compared(case.check.presentable(found.why)), kind=kind)
    return changed(
        evidence,
        flaw=flaw,
        reason=evidence.reason or f"what it prepared is wrong, due to {flaw.op}: {flaw.why}",
        # What was never stored is not lost.
        statements=tuple(changed(one, loses=False) for one in evidence.statements),
    )


def _with_a_plain_name(case: Case, evidence: Evidence, error: BaseException | None) -> Evidence:
    """The evidence of a case without what its control shows, too, where the run has a case that says so."""
    control, cases = case.control, case.bench.cases
    is_right = evidence.death is not None or all(said.holds for said in evidence.statements)
    if control is None or is_right or (cases is not None and control.id not in cases):
        return evidence
    # A plugin may be for one process at a time.
    case.surroundings.abandon()
    trial = case.trial(case.bench, CONTROL)
    ended = trial.ended_by(control.body)
    same = list(excused(evidence.statements, statements(trial), control.called))
    if isinstance(error, BlockedError) and _place_of_block(case, error) != _place_of_block(trial, ended):
        # What ended the case where its control went on is its own.
        same = [said for said in same if not said.got.startswith(f"{error.op}: ")]
    trial.surroundings.clear()
    left = tuple(said for said in evidence.statements if said not in same)
    is_so_with_plain = same and not evidence.flaw and all(said.holds for said in left)
    reason = f"a plain name gives the same result: see {control.id}" if is_so_with_plain else evidence.reason
    return changed(evidence, statements=left, reason=reason)


def _place_of_block(case: Case, error: BaseException | None) -> tuple[str, int] | None:
    """The op that ended a case, and which of its calls did; None where none did."""
    if not isinstance(error, BlockedError):
        return None
    return error.op, sum(op == error.op for op, _, _ in case.surroundings.trace)
