"""Verdicts of a class and of the target, from the counts of their checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...reports.model.counts import number
from ...reports.model.verdicts import TargetVerdict, Verdict, checks_made


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and, in a few words, what decided it."""

    verdict: TargetVerdict
    reason: str


def _flaw(counts: Mapping[Verdict, int], left_out: str | None) -> Judgement | None:
    """What decides before anything good is looked at.

    A violation stands whatever else is missing. An error is the suite's own: what it hides is unknown, and not held
    against the plugin.
    """
    if counts[Verdict.VIOLATION]:
        return Judgement(TargetVerdict.NOT_CONFORMANT, number(counts[Verdict.VIOLATION], "violation"))
    if left_out is not None:
        return Judgement(TargetVerdict.INCOMPLETE, left_out)
    if counts[Verdict.ERROR]:
        return Judgement(TargetVerdict.INCOMPLETE, number(counts[Verdict.ERROR], "error"))
    return None


def _kept(counts: Mapping[Verdict, int], reason: str) -> Judgement:
    if counts[Verdict.WAIVED]:
        return Judgement(TargetVerdict.WITH_WAIVERS, f"{number(counts[Verdict.WAIVED], 'violation')} waived")
    return Judgement(TargetVerdict.CONFORMANT, reason)


def judge_target(
    counts: Mapping[Verdict, int],
    *,
    cases: int,
    executed_must: int,
    left_out: str | None,
    blocked: Sequence[str] = (),
) -> Judgement:
    """Judge the target.

    `counts` are of checks; `cases` is how many cases ended; `executed_must` counts the checks of MUST clauses, outside
    the class registration, that were made on an answer of the plugin. `left_out` says why something was left out
    (a selection, an interrupt), or is None for a whole run. A whole run that executed nothing is a failure. `blocked`
    names the classes of which the plugin has ops and most could not be run: whoever keeps the rest is not known to keep
    these.
    """
    nothing = "zero cases" if not cases else "" if executed_must else "nothing executed"
    if flaw := _flaw(counts, f"{nothing}; {left_out}" if left_out is not None and nothing else left_out):
        return flaw
    if nothing:
        return Judgement(TargetVerdict.NOT_CONFORMANT, nothing)
    if blocked:
        return Judgement(TargetVerdict.INCOMPLETE, f"most could not be run of {', '.join(blocked)}")
    return _kept(counts, f"{number(executed_must, 'check')} of MUST clauses kept")


def judge_class(counts: Mapping[Verdict, int], *, left_out: str | None, lacking: bool = False) -> Judgement:
    """Judge one class by the counts of its checks; `left_out` as for the target.

    A class of which every op is absent, which `lacking` knows from the tables, is not claimed. A class of which nothing
    or little could be looked at is incomplete: it was neither kept nor broken.
    """
    if flaw := _flaw(counts, left_out):
        return flaw
    made = checks_made(counts)
    if made >= counts[Verdict.NOT_RUN] and made:
        return _kept(counts, f"no violation in {number(made, 'check')}")
    if made:
        return Judgement(TargetVerdict.INCOMPLETE, f"{counts[Verdict.NOT_RUN]} not run, {number(made, 'check')} made")
    if lacking:
        return Judgement(TargetVerdict.NOT_CLAIMED, "every op it needs is absent")
    if counts[Verdict.NOT_RUN]:
        return Judgement(TargetVerdict.INCOMPLETE, f"{number(counts[Verdict.NOT_RUN], 'check')} not run")
    if counts[Verdict.ABSENT]:
        return Judgement(TargetVerdict.NOT_CLAIMED, "every op it needs is absent")
    return Judgement(TargetVerdict.INCOMPLETE, "no case checks it")
