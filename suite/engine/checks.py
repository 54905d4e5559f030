"""Checks: the statements a case makes about clauses, and the verdict that the level of a clause gives each of them."""

from collections.abc import Mapping, Sequence

from ...harness import paths
from ...harness.codes import Code
from ...harness.outcomes import Outcome, Source
from ...reports.records import CheckRecord
from ...reports.verdicts import Verdict
from ..contract.catalogue import Level, clause
from ..contract.claims import Claims
from .callformat import differing, show

#: Disputed (A23): an op that is there may answer UNIMPLEMENTED. That is no breach and no pass.
UNIMPLEMENTED = "common.present-op-is-unimplemented"


class AbsentOp(Exception):
    """The op a case is about is NULL and core has no default for it, or it answers UNIMPLEMENTED."""

    def __init__(self, op: str, why: str) -> None:
        super().__init__(why)
        self.op = op


class Misused(Exception):
    """A case checks a clause that it does not declare: a defect of the suite."""


class Checks:
    """The checks of one case; `directory` is the URI of the case's own directory, which no text repeats."""

    def __init__(self, identity: str, clauses: Sequence[str], directory: str, claims: Claims) -> None:
        self.id = identity
        self.clauses = tuple(clauses)
        #: A history may come by any clause.
        self.any_clause = False
        self.directory = directory
        self.claims = claims
        #: The checks so far.
        self.made: list[CheckRecord] = []

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
            return self.record(name, False, f"{what} has {show(here)}", f"{what} has {show(there)}")
        return self.record(name, expected == got, f"{what}={show(expected)}", f"{what}={show(got)}")

    def reading(self, name: str, readings: Mapping[str, bool], got: str, said: str = "") -> None:
        """Which reading of a disputed clause the plugin follows; where none of these holds, that is a breach."""
        followed = next((reading for reading, holds in readings.items() if holds), None)
        self.record(name, followed is not None, " or ".join(readings), got, said, reading=followed)

    def note(self, name: str, got: str, said: str = "") -> None:
        """What was seen where no source says what should be."""
        self.record(name, True, "anything", got, said)

    def implemented(self, outcome: Outcome[object]) -> None:
        """Raise AbsentOp where an op answers UNIMPLEMENTED."""
        if self.unimplemented(outcome):
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
        """Make one check, and give `holds` back. `declared` is for clauses that every case may check."""
        if not declared and not self.any_clause and name not in self.clauses:
            raise Misused(f"{self.id} checks {name} and does not declare it")
        level = clause(name).level
        if any(one.name == reading and one.harmful for one in clause(name).readings):
            # It is a right answer, and whoever relies on the filesystem should know of it.
            verdict = Verdict.WARNING
        elif level is Level.MAY:
            verdict = Verdict.INFORMATIONAL
        elif holds:
            verdict = Verdict.TOLERATED if reading else Verdict.CONFORM
        else:
            verdict = Verdict.VIOLATION if level is Level.MUST else Verdict.WARNING
        verdict, expected = self.claims.judged(name, holds, verdict, expected, reading)
        plain = [self.without_directory(text) for text in (expected, got, said)]
        self.made.append(CheckRecord(name, verdict, plain[0], plain[1], reading, plain[2] or None))
        return holds

    def without_directory(self, text: str) -> str:
        """Without what differs from run to run: the case's own directory."""
        for prefix in (self.directory, paths.parse(self.directory).path):
            text = text.replace(prefix, "{case}")
        return text
