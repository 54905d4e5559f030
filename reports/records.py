"""What a run records: one record a case, with one record for each of its checks.

Every text may hold anything a plugin said, lone surrogates and control characters included: records keep it as it is,
and whoever shows it escapes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from .verdicts import Verdict, no_counts

#: Durations are written in microseconds' precision: more digits are noise in a comparison of two reports.
_DURATION_DIGITS = 6


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One statement about one clause.

    `expected` and `got` are what a reader compares, in the form `field=value` where a field decided (`code=NOT_FOUND`).
    `reading` names the reading of a disputed clause that the plugin follows. `plugin_said` keeps what the plugin put
    into words itself (the message of a status), apart from what the suite says.
    """

    clause: str
    verdict: Verdict
    expected: str
    got: str
    reading: str | None = None
    plugin_said: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON object of a report, keys in a fixed order; optional keys that say nothing are left out."""
        document: dict[str, Any] = {
            "clause": self.clause,
            "verdict": self.verdict.value,
            "expected": self.expected,
            "got": self.got,
        }
        if self.reading is not None:
            document["reading"] = self.reading
        if self.plugin_said is not None:
            document["plugin_said"] = self.plugin_said
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The record an object stands for; KeyError or ValueError where it is none."""
        return cls(
            clause=document["clause"],
            verdict=Verdict(document["verdict"]),
            expected=document["expected"],
            got=document["got"],
            reading=document.get("reading"),
            plugin_said=document.get("plugin_said"),
        )


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """One case as it ended.

    `clauses` are those the case is there to check, known before it runs; `checks` those it made. `verdict` is the
    worst of its checks, or worse than all of them where the case itself ended badly (an error), or what the case is
    where it made none (absent, not run), with the `reason`. `ops` is the trace, one op call a text. `executed`
    says whether an op of the plugin beyond registration ran. `duration` is in seconds. `output` is what the plugin
    wrote or logged; `stimulus` says in one sentence what was set up and called.
    """

    id: str
    clauses: tuple[str, ...]
    verdict: Verdict
    checks: tuple[CheckRecord, ...] = ()
    reason: str | None = None
    stimulus: str = ""
    ops: tuple[str, ...] = ()
    executed: bool = False
    duration: float = 0.0
    output: str = ""

    def counts(self) -> dict[Verdict, int]:
        """The checks by verdict; the case's own verdict counts once where no check has it."""
        counts = no_counts()
        for check in self.checks:
            counts[check.verdict] += 1
        if not counts[self.verdict]:
            counts[self.verdict] = 1
        return counts

    def to_json(self) -> dict[str, Any]:
        """The JSON object of a report, keys in a fixed order."""
        return {
            "id": self.id,
            "clauses": list(self.clauses),
            "verdict": self.verdict.value,
            "reason": self.reason,
            "stimulus": self.stimulus,
            "checks": [check.to_json() for check in self.checks],
            "ops": list(self.ops),
            "executed": self.executed,
            "duration": round(self.duration, _DURATION_DIGITS),
            "output": self.output,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The record an object stands for; KeyError or ValueError where it is none."""
        return cls(
            id=document["id"],
            clauses=tuple(document["clauses"]),
            verdict=Verdict(document["verdict"]),
            checks=tuple(CheckRecord.from_json(check) for check in document["checks"]),
            reason=document["reason"],
            stimulus=document["stimulus"],
            ops=tuple(document["ops"]),
            executed=document["executed"],
            duration=document["duration"],
            output=document["output"],
        )
