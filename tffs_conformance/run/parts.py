"""What only the suite knows of the parts of a run: why a tier is not whole, and which waivers fit how many cases."""

from collections.abc import Collection

from .. import __version__
from ..reports.model.header import SuiteFacts
from ..reports.model.waivers import Waiver
from ..suite.contract.catalogue import current_digest
from ..suite.engine import collect, index
from ..suite.judge.course import Course
from ..suite.judge.merge import Suite
from .commit import commit
from .run_options import CONDITIONS, SANITIZERS
from .waivers import fitting

#: The options that give a run conditions.
_GIVES = ("--sanitizer=", "--conditions=")


def _left_out(suite: SuiteFacts, ended: Collection[str]) -> str | None:
    """Why these are not all cases of the tier, or None where they are."""
    if not _is_this(suite):
        return f"it is unknown which: the parts are of the suite {suite.version} ({suite.commit}), and this is another"
    within = collect.tiers(suite.tier, undefined="--undefined" in suite.command, conditions=_conditions(suite))
    tier = index.in_tiers(within)
    course = Course(
        tier=suite.tier,
        cases=frozenset(case.id for case in tier),
        targets=1,
        collected=len(ended),
        ended=len(ended),
        selected=suite.selection,
        stops=(),
        interrupted=False,
    )
    return course.left_out(ended)


def _counted(suite: SuiteFacts, waivers: list[Waiver]) -> list[Waiver]:
    """The waivers with the number of cases that fit each, as far as that is known."""
    return fitting(waivers) if _is_this(suite) else waivers


def _is_this(suite: SuiteFacts) -> bool:
    """Whether the parts are of the suite that merges them: it knows its own cases only."""
    digest = current_digest(_conditions(suite))
    return (suite.version, suite.commit, suite.catalogue) == (__version__, commit(), digest)


def _conditions(suite: SuiteFacts) -> tuple[str, ...]:
    """The conditions under which the suite ran."""
    given = {name for word in suite.command if word.startswith(_GIVES) for name in word.partition("=")[2].split(",")}
    return tuple(name for name in (*SANITIZERS, *CONDITIONS) if name in given)


#: This suite, for merging.
SUITE = Suite(_left_out, _counted)
