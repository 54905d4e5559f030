"""Verdicts of a class and of the target, from the counts of their checks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ...reports.model.counts import number
from ...reports.model.verdicts import TargetVerdict, Verdict, checks_made

#: The verdicts of checks that something was kept by. A note of what was seen keeps nothing.
KEPT = (Verdict.CONFORM, Verdict.TOLERATED, Verdict.WARNING, Verdict.WAIVED)
#: So many clauses are named in a reason.
NAMED = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and, in a few words, what decided it."""

    verdict: TargetVerdict
    reason: str


def _flaw(
    counts: Mapping[Verdict, int], left_out: str | None, not_run: Collection[str], untried: Mapping[str, int]
) -> Judgement | None:
    """What decides before anything good is looked at.

    A violation stands whatever else is missing. An error is the suite's own: what it hides is unknown, and not held
    against the plugin. Who asked for a part did not ask for what was not run in it: that is told, too.
    """
    if counts[Verdict.VIOLATION]:
        violations = number(counts[Verdict.VIOLATION], "violation")
        said = "" if left_out is not None else _untried(untried)
        return Judgement(TargetVerdict.NOT_CONFORMANT, f"{violations}{said}")
    if left_out is not None:
        return Judgement(TargetVerdict.INCOMPLETE, "; ".join((left_out, _open(not_run))) if not_run else left_out)
    if counts[Verdict.ERROR]:
        return Judgement(TargetVerdict.INCOMPLETE, number(counts[Verdict.ERROR], "error"))
    return None


def _kept(counts: Mapping[Verdict, int], reason: str, untried: Mapping[str, int]) -> Judgement:
    said = _untried(untried)
    if counts[Verdict.WAIVED]:
        return Judgement(TargetVerdict.WITH_WAIVERS, f"{number(counts[Verdict.WAIVED], 'violation')} waived{said}")
    return Judgement(TargetVerdict.CONFORMANT, f"{reason}{said}")


def _untried(untried: Mapping[str, int]) -> str:
    """What a tier does not try, in words that end a reason."""
    if not untried:
        return ""
    classes = sorted(untried, key=lambda name: -untried[name])
    return f"; {number(sum(untried.values()), 'MUST clause')} not tried, of {_few(classes)}"


def judge_target(
    counts: Mapping[Verdict, int],
    *,
    cases: int,
    executed_must: int,
    selected_must: int = 1,
    left_out: str | None,
    not_run: Collection[str] = (),
    untried: Mapping[str, int] = MappingProxyType({}),
) -> Judgement:
    """Judge the target.

    `counts` are of checks; `cases` is how many cases ended; `executed_must` counts the checks of MUST clauses, outside
    the class registration, that were made on an answer of the plugin, `selected_must` all of them. `left_out` says why
    something was left out (a selection, an interrupt), or is None for a whole run. A whole run that executed nothing is
    a failure. `not_run` are the MUST clauses that were not run in a case: whoever keeps the rest is not known to keep
    these. `untried` counts by class those that have no case in the tier.
    """
    nothing = "zero cases" if not cases else "" if executed_must else "nothing executed"
    if left_out is not None and cases and not selected_must:
        nothing = "no MUST clause beyond registration was selected"
    selected = f"{nothing}; {left_out}" if left_out is not None and nothing else left_out
    if flaw := _flaw(counts, selected, not_run, untried):
        return flaw
    if nothing:
        return Judgement(TargetVerdict.NOT_CONFORMANT, nothing)
    if not_run:
        return Judgement(TargetVerdict.INCOMPLETE, _open(not_run))
    return _kept(counts, f"{number(executed_must, 'check')} of MUST clauses passed", untried)


def judge_class(
    counts: Mapping[Verdict, int],
    *,
    left_out: str | None,
    not_run: Collection[str] = (),
    untried: Mapping[str, int] = MappingProxyType({}),
    lacking: bool = False,
) -> Judgement:
    """Judge one class by the counts of its checks; `left_out`, `not_run` and `untried` as for the target.

    A class of which every op is absent, which `lacking` knows from the tables, is not claimed. A class of which nothing
    was kept is incomplete: it was neither kept nor broken.
    """
    if flaw := _flaw(counts, left_out, not_run, untried):
        return flaw
    kept = sum(counts[verdict] for verdict in KEPT)
    if lacking and not kept:
        return Judgement(TargetVerdict.NOT_CLAIMED, "every op it needs is absent")
    if not_run:
        return Judgement(TargetVerdict.INCOMPLETE, _open(not_run))
    if kept:
        return _kept(counts, f"no violation in {number(checks_made(counts), 'check')}", untried)
    if counts[Verdict.NOT_RUN]:
        return Judgement(TargetVerdict.INCOMPLETE, f"{number(counts[Verdict.NOT_RUN], 'check')} not run")
    if counts[Verdict.ABSENT]:
        return Judgement(TargetVerdict.NOT_CLAIMED, "every op it needs is absent")
    return Judgement(TargetVerdict.INCOMPLETE, "no answer of the plugin could be checked")


def _open(not_run: Collection[str]) -> str:
    """What keeps a verdict open, in words."""
    return f"{number(len(not_run), 'MUST clause')} not run in a case: {_few(sorted(not_run))}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
