"""What a task found: violations of a clause in a case, told apart by what they got, and not by seed."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from ..reports.model.records import CaseRecord
from ..reports.model.report import Report
from ..reports.model.verdicts import Verdict
from ..reports.model.waivers import fingerprint

#: What a property says of how much it tried.
_TRIED = re.compile(r"(\d+) histories were tried: seed ")
#: The longest trace that is kept with a finding, in bytes.
LONGEST = 1 << 20


class Found(Struct, frozen=True, kw_only=True):
    """A violation, and the first task known to have found it. `trace` is the shrunk history of a property, as JSON."""

    target: str
    clause: str
    case: str
    expected: str
    got: str
    reason: str | None
    seed: int
    task: str
    ended: int
    trace: str | None = None

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits: the same for the same difference, whoever found it."""
        known = "\0".join((self.target, self.clause, self.case, fingerprint(self.got)))
        return hashlib.sha256(known.encode()).hexdigest()


def found(report: Report, target: str, task: str, ended: int, traces: Path) -> Iterator[Found]:
    """Each violation of the report once. `ended` is in seconds since the epoch."""
    seen: set[str] = set()
    for case in report.cases:
        for check in case.checks:
            if check.verdict is Verdict.VIOLATION:
                one = Found(
                    target=target,
                    clause=check.clause,
                    case=case.id,
                    expected=check.expected,
                    got=check.got,
                    reason=case.reason,
                    seed=report.suite.seed,
                    task=task,
                    ended=ended,
                    trace=_trace(traces, case),
                )
                if one.fingerprint not in seen:
                    seen.add(one.fingerprint)
                    yield one


def histories(report: Report) -> int:
    """How many histories the properties of a report tried, those included that were tried to shrink one."""
    return sum(int(told[1]) for case in report.cases if (told := _TRIED.search(case.reason or "")))


def _trace(folder: Path, case: CaseRecord) -> str | None:
    path = folder / (re.sub(r"[^a-z0-9]+", "-", case.id).strip("-") + ".json")
    if not path.is_file() or path.stat().st_size > LONGEST:
        return None
    return path.read_text(encoding="ascii")
