"""What the small histories of a run met: the sum of its cases, and what no case met."""

from collections import Counter
from collections.abc import Iterable, Mapping

from ...reports.model.histories import Histories
from ...reports.model.records import CaseRecord
from ..contract.statuses import ONE_PATH, TWO_PATHS

#: What was met: by op and situation each code, and how often.
Met = Mapping[str, Mapping[str, Mapping[str, int]]]


def nested(met: Mapping[tuple[str, str, str], int]) -> Met:
    """Counts of op, situation and code, as a report has them."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for (op, situation, code), count in sorted(met.items()):
        found.setdefault(op, {}).setdefault(situation, {})[code] = count
    return found


def histories(cases: Iterable[CaseRecord]) -> Histories | None:
    """The small histories of all cases together; None where no case tried any."""
    told = [case.histories for case in cases if case.histories is not None]
    if not told:
        return None
    met: Counter[tuple[str, str, str]] = Counter()
    for one in told:
        for op, situations in one.met.items():
            for situation, codes in situations.items():
                for code, count in codes.items():
                    met[op, situation, code] += count
    return Histories(
        tried=sum(one.tried for one in told),
        left_out=sum(one.left_out for one in told),
        met=nested(met),
        never=_never({(op, situation) for op, situation, _ in met}),
    )


def _never(met: set[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """By op the cells of the status tables that were not met, but for those that nobody may call."""
    cells = {(op, situation): cell for op, row in ONE_PATH.items() for situation, cell in row.items()}
    cells |= {(op, ",".join(pair)): cell for op, row in TWO_PATHS.items() for pair, cell in row.items()}
    never: dict[str, tuple[str, ...]] = {}
    for (op, situation), cell in cells.items():
        if not cell.guarded and (op, situation) not in met:
            never[op] = (*never.get(op, ()), situation)
    return never
