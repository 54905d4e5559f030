"""Checks: the statements a case makes about clauses, and which answers it leaves to other cases."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ...harness.hosting.loader import BlockedError
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome, Source
from ...harness.over_tables.raw import Call
from ...reports.model.records import StatementKind
from ...reports.model.redaction import Redaction
from ..contract.catalogue import clause
from ..judge.evidence import Statement
from . import bounds
from .answers import UNKNOWN, WITH_A_VALUE, Answer, kind_of
from .callformat import ValueFormat, differing
from .plugin_facts import UNSEEN, PluginFacts
from .sharing import Statements

#: Disputed (A23): an op that is there may answer UNIMPLEMENTED. That is no breach and no pass.
UNIMPLEMENTED = "common.present-op-is-unimplemented"

#: What is another in every run: addresses in memory, nanoseconds since 1970 in our days, processes, temporary names.
_RANDOM = (
    (re.compile(r"\b0x[0-9a-f]{6,16}\b"), "{address}"),
    (re.compile(r"\b1[5-9]\d{17}\b"), "{time}"),
    (re.compile(r"(?i)\b(pid|process|tid|thread)([ =:#]+)\d+\b"), r"\1\2{id}"),
    (re.compile(r"\btmp[._-]?(?=[A-Za-z0-9_]*[A-Z0-9])[A-Za-z0-9_]{6,}"), "{temporary}"),
)


#: What an answer with the code of an error need not have. Whatever the code is, bytes and names are compared.
_OF_A_SUCCESS = (StatementKind.RETURNED, StatementKind.LENGTH, StatementKind.TYPE, StatementKind.TIME)
#: What an op may answer rightly where a step before it did less than it said: that is no news of this op.
MAY_BE_RIGHT = {("delete_dir", Code.FAILED_PRECONDITION)}


class DoubtfulError(BlockedError):
    """A step answered what may be right, so that nobody knows which op is wrong."""


class AbsentOpError(Exception):
    """The op a case is about is NULL and core has no default for it, or it answers UNIMPLEMENTED."""

    def __init__(self, op: str, why: str) -> None:
        super().__init__(why)
        self.op = op


class MisusedError(Exception):
    """A case checks a clause that it does not declare: a defect of the suite."""


class Checks:
    """The checks of one case; `directory` is the URI of the case's own directory, which no text repeats.

    `calls` are those of the case, to which more are added as it goes on.
    `facts` says which ops of the plugin work where nothing is special, for which UNIMPLEMENTED is an answer like
    others; which answer it even there, which another case records; and what those do that go wrong there.
    """

    def __init__(
        self,
        identity: str,
        clauses: Sequence[str],
        directory: str,
        redaction: Redaction,
        calls: Sequence[Call] = (),
        facts: PluginFacts = UNSEEN,
    ) -> None:
        self._id = identity
        self._clauses = tuple(clauses)
        self._facts = facts
        self._redaction = redaction
        self._calls = calls
        self.works = facts.works
        #: A history may come by any clause.
        self.any_clause = False
        root = paths.dirname(directory)
        self._places = [
            (redaction.text(place), name)
            for uri, name in ((directory, "{case}"), (root, "{root}"))
            for place in (uri, paths.parse(uri).path)
            if len(place) > 1
        ]
        if paths.basename(root).startswith("tffs-"):
            self._places.append((paths.basename(root), "{root}"))
        #: The last op that was missing, or answered UNIMPLEMENTED.
        self.lacking: AbsentOpError | None = None
        #: What was compared so far.
        self.made = Statements()
        #: The op that gave a wrong code, and how many calls there were then.
        self._wrong: tuple[str | None, int] | None = None

    def that(self, name: str, holds: bool, expected: str, got: str, said: str = "", *, of: Answer = UNKNOWN) -> bool:
        """One statement about one clause; the texts are what a reader compares, and `of` is the answer in them."""
        return self.record(name, holds, expected, got, said, of=of)

    def status(self, name: str, outcome: Outcome[object], *codes: Code) -> bool:
        """The code is one of these. Raises AbsentOpError or BlockedError where that is not for this case to say."""
        if outcome.code not in codes:
            self._not_a_consequence(outcome, clause(name).op)
        if Code.UNIMPLEMENTED not in codes:
            self.implemented(outcome)
        expected = "code=" + "|".join(sorted(map(str, codes)))
        # Who reads what is wrong under a clause about no op wants to know of which op.
        got = f"code={outcome.code}" if clause(name).op else f"{outcome.op}: code={outcome.code}"
        return self.record(name, outcome.code in codes, expected, got, outcome.message, of=Answer.of(outcome))

    def equal(self, name: str, what: str, expected: object, got: object, *, of: Answer = UNKNOWN) -> bool:
        """A value of the answer `of` is as it should be. Of two mappings the entries are shown that differ."""
        form, values, between = ValueFormat(self.presentable, self._redaction), (expected, got), "="
        if isinstance(expected, dict) and isinstance(got, dict) and expected != got:
            values, between = differing(expected, got), " has "
        if expected != got:
            of = of.with_values(kind_of(clause(name).id, what), *values)
        return self.record(name, expected == got, *(f"{what}{between}{form.show(one)}" for one in values), of=of)

    def reading(
        self, name: str, readings: Mapping[str, bool], got: str, said: str = "", *, of: Answer = UNKNOWN
    ) -> None:
        """Which reading of a disputed clause the plugin follows; where none of these holds, that is a breach."""
        followed = next((reading for reading, holds in readings.items() if holds), None)
        self.record(name, followed is not None, " or ".join(readings), got, said, reading=followed, of=of)

    def note(self, name: str, got: str, said: str = "") -> None:
        """What was seen where no source says what should be."""
        self.record(name, True, "anything", got, said)

    def implemented(self, outcome: Outcome[object]) -> None:
        """Raise AbsentOpError where an op answers UNIMPLEMENTED, unless it is known to work elsewhere."""
        is_absent = outcome.source is Source.ABSENT or outcome.op not in self.works
        if self.unimplemented(outcome) and is_absent and self.lacking is not None:
            raise self.lacking

    def unimplemented(self, outcome: Outcome[object]) -> bool:
        """Whether the op answers UNIMPLEMENTED; if the plugin itself says so, and only here, that is recorded."""
        if outcome.code is not Code.UNIMPLEMENTED:
            return False
        is_null = outcome.source is Source.ABSENT
        self.lacking = AbsentOpError(outcome.op, outcome.message if is_null else f"{outcome.op} answers UNIMPLEMENTED")
        if outcome.source is Source.PLUGIN and outcome.op not in self._facts.unimplemented:
            got = f"{outcome.op}: code=UNIMPLEMENTED"
            self.record(UNIMPLEMENTED, True, "implemented or unsupported", got, outcome.message,
                         reading="unsupported", declared=True)  # fmt: skip
        return True

    def succeeded(self, op: str) -> None:
        """Record once that an op works, where the case is about that."""
        self.works |= {op} - self._facts.unimplemented.keys()
        name = f"{op}.succeeds"
        if name in self._clauses and not any(statement.clause == name for statement in self.made):
            self.record(name, True, "code=OK", "code=OK")

    def failed(self, outcome: Outcome[object], is_wrong: Callable[[], bool]) -> None:
        """Record that an op does not work, unless the cases about it say so.

        Raises BlockedError for a consequence, and DoubtfulError for an answer that may be right, unless it `is_wrong`.
        """
        self._not_a_consequence(outcome)
        if (outcome.op, outcome.code) in MAY_BE_RIGHT and not is_wrong():
            raise DoubtfulError(outcome.op, f"{outcome.code} {outcome.message}")
        if self._is_news(outcome.op):
            succeeds = f"{outcome.op}.succeeds"
            got = f"code={outcome.code}"
            self.record(succeeds, False, "code=OK", got, outcome.message, declared=True, of=Answer.of(outcome))

    def _not_a_consequence(self, outcome: Outcome[object], of: str = "") -> None:
        """Raise BlockedError where an op that goes wrong everywhere was only asked by core, or for a clause of `of`."""
        cause = outcome.passed_on or outcome.op
        only_asked = outcome.passed_on or of not in ("", cause)
        if not outcome.ok and only_asked and not self._is_news(cause):
            raise BlockedError(cause, self._facts.fails_plainly[cause])

    def _is_news(self, op: str) -> bool:
        """Whether it is for this case to say that an op goes wrong: one about it, or where it works plainly."""
        return f"{op}.succeeds" in self._clauses or op not in self._facts.fails_plainly

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
        of: Answer = UNKNOWN,
    ) -> bool:
        """Make one statement, and give `holds` back. `declared` is for clauses that every case may check.

        `of` is the answer that is compared. Of one with the code of an error only bytes and names are, besides.
        """
        if not declared and not self.any_clause and name not in self._clauses:
            raise MisusedError(f"{self._id} checks {name} and does not declare it")
        expected, got = (bounds.compared(self.presentable(text)) for text in (expected, got))
        # Of what is kept nobody asks for the plugin's words, and a report is full of it.
        words = None if holds and reading is None else self.presentable(said) or None
        said_so = Statement(clause(name).id, holds, expected, got, reading, words, at=len(self._calls))
        if not holds:
            answer = of.completed(said_so.clause, self._calls)
            if answer.code != of.code:
                said_so = replace(said_so, got=f"{got} with {answer.code}")
            about = {name: getattr(answer, name) for name in ("op", "code", "values", "loses")}
            if answer.kind in _OF_A_SUCCESS and answer.code is None and self._wrong == (answer.op, said_so.at):
                return holds
            if answer.code not in (None, *WITH_A_VALUE):
                self._wrong = (answer.op, said_so.at)
            said_so = replace(said_so, kind=answer.kind or StatementKind.OTHER, **about)
        self.made.add(said_so)
        return holds

    def presentable(self, text: str) -> str:
        """A text without what differs from run to run, so that a waiver fits again, and without secrets."""
        if not text:
            return text
        text = self._redaction.text(text)
        for place, name in self._places:
            text = text.replace(place, name)
        for random, name in _RANDOM:
            text = random.sub(name, text)
        return text
