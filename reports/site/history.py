"""How a plugin changed from release to release: what broke, what was mended, and what nobody knows of."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from ..model.report import ClauseAccount, Report
from ..model.uses import Use, Word
from ..model.verdicts import Verdict, checks_made
from .releases import Release


@dataclass(frozen=True, slots=True)
class Turn:
    """A use of which the newer release is told something else."""

    use: Use
    then: Word
    now: Word


@dataclass(frozen=True, slots=True)
class Step:
    """What changed from one release to the next.

    `broke` and `mended` are MUST clauses that both reports looked at. `new` are broken now, and were not looked at
    then, or not in the cases that show it; `unseen` were broken then, and were not looked at now: of neither anybody
    knows when it changed. Where the reports are of different versions of the suite, which tried other cases, nothing
    is said of clauses and uses.
    """

    then: Release
    now: Release
    uses: tuple[Turn, ...]
    broke: tuple[str, ...]
    mended: tuple[str, ...]
    new: tuple[str, ...]
    unseen: tuple[str, ...]

    @property
    def is_compared(self) -> bool:
        """Whether one version of the suite judged both."""
        return _is_of_one_suite(self.then, self.now)


def steps(releases: Iterable[Release]) -> Iterator[Step]:
    """What changed from each release to the next, the latest step first; `releases` begin with the newest."""
    for now, then in pairwise(releases):
        yield _step(then, now)


def broken(report: Report) -> dict[str, None]:
    """The MUST clauses that were broken, waived or not, in the order of the catalogue."""
    return {name: None for name, account in report.clauses.items() if account.level == "MUST" and _is_broken(account)}


def _is_of_one_suite(then: Release, now: Release) -> bool:
    return then.report.suite.version == now.report.suite.version


def _shown(report: Report, cases: Container[str]) -> set[str]:
    """The clauses that are broken, waived or not, in one of these cases."""
    return {
        check.clause
        for case in report.cases
        if case.id in cases
        for check in case.checks
        if check.verdict in (Verdict.VIOLATION, Verdict.WAIVED)
    }


def _step(then: Release, now: Release) -> Step:
    if not _is_of_one_suite(then, now):
        return Step(then, now, (), (), (), (), ())
    was, found = broken(then.report), broken(now.report)
    tried_then, tried_now = _tried(then.report), _tried(now.report)
    elsewhere = found.keys() - _shown(now.report, {case.id for case in then.report.cases})
    words = zip(then.decisions, now.decisions, strict=True)
    return Step(
        then,
        now,
        tuple(Turn(before.use, before.word, after.word) for before, after in words if before.word is not after.word),
        broke=tuple(name for name in found if name not in {*was, *elsewhere} and name in tried_then),
        mended=tuple(name for name in was if name not in found and name in tried_now),
        new=tuple(name for name in found if name not in tried_then or (name in elsewhere and name not in was)),
        unseen=tuple(name for name in was if name not in found and name not in tried_now),
    )


def _is_broken(account: ClauseAccount) -> bool:
    return bool(account.counts.violation or account.counts.waived)


def _tried(report: Report) -> set[str]:
    return {name for name, account in report.clauses.items() if checks_made(account.counts.by_verdict())}
