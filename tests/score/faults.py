"""The faults of tests/faults.toml, each once: the clauses that it breaks, and the ops that are wrong."""

from dataclasses import dataclass

from tests.verdict_runs import TABLES, Run, liars
from tffs_conformance.suite.contract.catalogue import catalogue


@dataclass(frozen=True, order=True, slots=True)
class KnownFault:
    """A fault by its fake and its TFFS_FAULT, with a space between, the clauses that it breaks, and the wrong ops."""

    name: str
    clauses: tuple[str, ...]
    ops: tuple[str, ...]

    @property
    def fake(self) -> str:
        """The plugin that has it."""
        return self.name.partition(" ")[0]

    @property
    def value(self) -> str:
        """The value of TFFS_FAULT, which is the name of a fault of libfaulty.so."""
        return self.name.partition(" ")[2]

    def __str__(self) -> str:
        return self.name.removeprefix("faulty ")


def known() -> list[KnownFault]:
    """All of them, by name."""
    clauses: dict[str, set[str]] = {}
    for clause, name in TABLES["faults"].items():
        clauses.setdefault(name, set()).add(clause)
    for value, clause in TABLES["further"].items():
        clauses.setdefault(f"faulty {value}", set()).add(clause)
    facts = {"clauses": {one.id: {"op": one.op} for one in catalogue().values()}}
    return [
        KnownFault(name, tuple(sorted(broken)), tuple(sorted(op for op in liars(Run(name, (), broken), facts) if op)))
        for name, broken in sorted(clauses.items())
    ]
