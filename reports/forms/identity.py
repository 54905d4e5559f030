"""What a check is known by from run to run, so that who collects problems sees which are new and which are gone."""

import hashlib
from collections import Counter

from ..model.findings import Made
from ..model.report import Report


class Identities:
    """Gives each check of a report an identity: 64 hexadecimal digits, never twice.

    It follows from the name and scheme of the target, the clause and the case. What a check got does not count: it may
    differ from run to run. A case that checks a clause several times has its checks numbered as they are asked for.
    """

    def __init__(self, report: Report) -> None:
        self._target = (report.target.name, report.target.scheme or "")
        self._given: Counter[tuple[str, str]] = Counter()

    def identity(self, made: Made) -> str:
        """The identity of a check, which is asked for once."""
        case, check = made
        number = self._given[check.clause, case.id]
        self._given[check.clause, case.id] += 1
        known = "\0".join((*self._target, check.clause, case.id, str(number)))
        return hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()
