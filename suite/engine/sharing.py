"""Which checks of a case share a record: a case may make a million of them, and all are counted."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ...reports.model.records import CheckRecord
from ...reports.model.verdicts import Verdict

#: One case makes so many checks of one clause with one verdict; those beyond share a record.
CHECKS = 16
#: What a check says that stands for others beyond CHECKS.
OTHERS = "another answer than those above"


def add(made: list[CheckRecord], check: CheckRecord) -> None:
    """Take a check of a case. Those of one clause that conform alike share a record, and all beyond the first few."""
    alike = [k for k, one in enumerate(made) if one.clause == check.clause and one.verdict is check.verdict]
    many = len(alike) >= CHECKS
    same = _same(made, alike, check) if many or check.verdict is Verdict.CONFORM else None
    if same is None and many:
        check = replace(check, got=OTHERS, expected="as above", plugin_said=None)
        same = _same(made, alike, check)
    if same is None:
        made.append(check)
    else:
        made[same] = replace(made[same], times=made[same].times + 1)


def _same(made: Sequence[CheckRecord], among: Iterable[int], check: CheckRecord) -> int | None:
    """Where the record is that says the same."""
    return next((k for k in among if replace(made[k], times=1) == check), None)
