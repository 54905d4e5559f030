"""Checks: the statements a case makes about clauses."""

import re
from collections.abc import Mapping, Sequence

from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome, Source
from ...reports.model.redaction import Redaction
from ..contract.catalogue import clause
from ..contract.claims import Claims
from ..judge.evidence import Statement
from . import bounds, sharing
from .callformat import differing, show

#: Disputed (A23): an op that is there may answer UNIMPLEMENTED. That is no breach and no pass.
UNIMPLEMENTED = "common.present-op-is-unimplemented"

#: What is another in every run: addresses in memory, nanoseconds since 1970 in our days, processes, temporary names.
_RANDOM = (
    (re.compile(r"\b0x[0-9a-f]{6,16}\b"), "{address}"),
    (re.compile(r"\b1[5-9]\d{17}\b"), "{time}"),
    (re.compile(r"(?i)\b(pid|process|tid|thread)([ =:#]+)\d+\b"), r"\1\2{id}"),
    (re.compile(r"\btmp[._-]?(?=[A-Za-z0-9_]*[A-Z0-9])[A-Za-z0-9_]{6,}"), "{temporary}"),
)


class AbsentOp(Exception):
    """The op a case is about is NULL and core has no default for it, or it answers UNIMPLEMENTED."""

    def __init__(self, op: str, why: str) -> None:
        super().__init__(why)
        self.op = op


class Misused(Exception):
    """A case checks a clause that it does not declare: a defect of the suite."""


class Checks:
    """The checks of one case; `directory` is the URI of the case's own directory, which no text repeats."""

    def __init__(
        self, identity: str, clauses: Sequence[str], directory: str, claims: Claims, redaction: Redaction
    ) -> None:
        self.id = identity
        self.clauses = tuple(clauses)
        #: The ops of the plugin that work where nothing is special: UNIMPLEMENTED is an answer of theirs like others.
        self.works: frozenset[str] = frozenset()
        #: A history may come by any clause.
        self.any_clause = False
        self.directory = directory
        self.claims = claims
        self.redaction = redaction
        root = paths.dirname(directory)
        self._places = [
            (place, name)
            for uri, name in ((directory, "{case}"), (root, "{root}"))
            for place in (uri, paths.parse(uri).path)
            if len(place) > 1
        ]
        if paths.basename(root).startswith("tffs-"):
            self._places.append((paths.basename(root), "{root}"))
        #: What was compared so far.
        self.made: list[Statement] = []

    def check(self, name: str, holds: bool, expected: str, got: str, said: str = "") -> bool:
        """One statement about one clause; the texts are what a reader compares."""
        return self.record(name, holds, expected, got, said)

    def status(self, name: str, outcome: Outcome[object], *codes: Code) -> bool:
        """The code is one of these. Raises AbsentOp where the op says that it is not implemented."""
        if Code.UNIMPLEMENTED not in codes:
            self.implemented(outcome)
        expected = "code=" + "|".join(sorted(map(str, codes)))
        return self.record(name, outcome.code in codes, expected, f"code={outcome.code}", outcome.message)

    def equal(self, name: str, what: str, expected: object, got: object) -> bool:
        """A value is as it should be. Of two mappings the entries are shown in which they differ."""
        if isinstance(expected, dict) and isinstance(got, dict) and expected != got:
            here, there = differing(expected, got)
            return self.record(
                name, False, f"{what} has {show(here, self.told)}", f"{what} has {show(there, self.told)}"
            )
        return self.record(
            name, expected == got, f"{what}={show(expected, self.told)}", f"{what}={show(got, self.told)}"
        )

    def reading(self, name: str, readings: Mapping[str, bool], got: str, said: str = "") -> None:
        """Which reading of a disputed clause the plugin follows; where none of these holds, that is a breach."""
        followed = next((reading for reading, holds in readings.items() if holds), None)
        self.record(name, followed is not None, " or ".join(readings), got, said, reading=followed)

    def note(self, name: str, got: str, said: str = "") -> None:
        """What was seen where no source says what should be."""
        self.record(name, True, "anything", got, said)

    def implemented(self, outcome: Outcome[object]) -> None:
        """Raise AbsentOp where an op answers UNIMPLEMENTED, unless it is known to work elsewhere."""
        if self.unimplemented(outcome) and outcome.op not in self.works:
            absent = outcome.source is Source.ABSENT
            raise AbsentOp(outcome.op, outcome.message if absent else f"{outcome.op} answers UNIMPLEMENTED")

    def unimplemented(self, outcome: Outcome[object]) -> bool:
        """Whether the op answers UNIMPLEMENTED; where the plugin itself says so, that is recorded."""
        if outcome.code is not Code.UNIMPLEMENTED:
            return False
        if outcome.source is Source.PLUGIN:
            got = f"{outcome.op}: code=UNIMPLEMENTED"
            self.record(UNIMPLEMENTED, True, "implemented or unsupported", got, outcome.message,
                         reading="unsupported", declared=True)  # fmt: skip
        return True

    def record(
        self,
        name: str,
        holds: bool,
        expected: str,
        got: str,
        said: str = "",
        *,
        reading: str | None = None,
        declared: bool = False,
    ) -> bool:
        """Make one statement, and give `holds` back. `declared` is for clauses that every case may check."""
        if not declared and not self.any_clause and name not in self.clauses:
            raise Misused(f"{self.id} checks {name} and does not declare it")
        expected, got = (bounds.compared(self.told(text)) for text in (expected, got))
        sharing.add(self.made, Statement(clause(name).id, holds, expected, got, reading, self.told(said) or None))
        return holds

    def told(self, text: str) -> str:
        """A text without what differs from run to run, so that a waiver fits again, and without secrets."""
        if not text:
            return text
        for place, name in self._places:
            text = text.replace(place, name)
        for random, name in _RANDOM:
            text = random.sub(name, text)
        return self.redaction.text(text)
