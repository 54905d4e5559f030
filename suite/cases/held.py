"""What an early end leaves, held against what was promised: each cause is told once."""

from collections.abc import Collection, Mapping

from ..engine.case import Case


class Held:
    """What is said in a case of a history of this name; `expected` has what a reader compares with what was found."""

    def __init__(self, case: Case, name: str, expected: Mapping[str, str]) -> None:
        self._case = case
        self._name = name
        self._expected = expected
        self._told = set[tuple[str, str]]()

    def told(self, clause: str) -> bool:
        """Whether it was said that a clause is broken."""
        return any(name == clause for name, _ in self._told)

    def against(self, when: str, op: str, stake: Collection[str], wrong: Mapping[str, str]) -> None:
        """Say of an end what is at stake, and what is wrong then."""
        for clause, expected in self._expected.items():
            if clause not in wrong:
                if clause in stake:
                    self._case.check.that(clause, True, expected, "so it was")
            # What is wrong at several moments, of one op or in the same way, has one cause.
            elif self._told.isdisjoint({(clause, op), (clause, wrong[clause])}):
                self._case.check.that(clause, False, expected, f"{self._name}: {when}: {wrong[clause]}")
                self._told |= {(clause, op), (clause, wrong[clause])}
