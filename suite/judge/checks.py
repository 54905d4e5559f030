"""The verdict of a check: from the level of its clause, whether it holds, the reading, and what the profile claims."""

from collections.abc import Callable
from dataclasses import dataclass

from ...reports.model.verdicts import Verdict
from ..contract.catalogue import Clause, Level, clause
from ..contract.claims import Claims
from .evidence import Statement


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides the verdict of a check."""

    clause: Clause
    said: Statement
    claims: Claims

    @property
    def is_hidden(self) -> bool:
        """Whether nobody can look at the clause where ops go through TensorFlow."""
        return self.clause.id in self.claims.hidden

    @property
    def is_given_up(self) -> bool:
        """Whether the profile claims that the target does not support the clause."""
        return self.clause.id in self.claims.unsupported

    @property
    def is_decided(self) -> bool:
        """Whether the profile claims a reading of the clause, and the plugin follows one."""
        return self.said.reading is not None and self.clause.id in self.claims.decided

    @property
    def is_as_decided(self) -> bool:
        """Whether the plugin follows a reading that the profile claims."""
        return self.is_decided and self.said.reading in self.claims.decided[self.clause.id][0]

    @property
    def is_harmful(self) -> bool:
        """Whether the plugin follows a reading that loses data."""
        return any(one.harmful for one in self.clause.readings if one.name == self.said.reading)


#: The first rule that fits gives the verdict.
RULES: tuple[tuple[str, Callable[[Facts], bool], Verdict], ...] = (
    ("TensorFlow does not show it", lambda it: it.is_hidden, Verdict.ABSENT),
    ("not kept, and given up", lambda it: it.is_given_up and not it.said.holds, Verdict.ABSENT),
    ("the reading that is claimed", lambda it: it.is_as_decided, Verdict.CONFORM),
    ("another reading than is claimed", lambda it: it.is_decided, Verdict.VIOLATION),
    ("not kept, and promised", lambda it: it.clause.id in it.claims.promised and not it.said.holds, Verdict.VIOLATION),
    ("not kept, and stored data is gone", lambda it: it.said.loses and not it.said.holds, Verdict.VIOLATION),
    ("a reading that loses data", lambda it: it.is_harmful, Verdict.WARNING),
    ("MAY", lambda it: it.clause.level is Level.MAY, Verdict.INFORMATIONAL),
    ("one of several readings", lambda it: it.said.holds and it.said.reading is not None, Verdict.TOLERATED),
    ("kept", lambda it: it.said.holds, Verdict.CONFORM),
    ("MUST", lambda it: it.clause.level is Level.MUST, Verdict.VIOLATION),
    ("SHOULD", lambda _: True, Verdict.WARNING),
)


def verdict(said: Statement, claims: Claims) -> Verdict:
    """The verdict of a check."""
    facts = Facts(clause(said.clause), said, claims)
    return next(given for _, fits, given in RULES if fits(facts))


def expected(said: Statement, claims: Claims) -> str:
    """What was expected, with what the profile claims of it."""
    facts, name = Facts(clause(said.clause), said, claims), said.clause
    if facts.is_hidden:
        return f"{said.expected}; {claims.hidden[name]}"
    if facts.is_given_up and not said.holds:
        return f"{said.expected}; the profile claims {claims.unsupported[name]}"
    if facts.is_decided:
        readings, claimed = claims.decided[name]
        return said.expected if facts.is_as_decided else f"{' or '.join(readings)}, as the profile claims {claimed}"
    if not said.holds and name in claims.promised:
        return f"{said.expected}, as the profile claims {claims.promised[name]}"
    return said.expected
