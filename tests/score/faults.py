"""The faults of tests/faults.toml, each once: the clauses that it breaks, and the ops that are wrong."""

import re
from dataclasses import dataclass

from tests.verdict_runs import clauses_by_fault
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.suite.contract.catalogue import catalogue

#: The ops that a fake replaces, where neither the name of the fault nor its clause says which.
REPLACES = {
    "history.copy-shares": {"copy_file"},
    "names.refused-and-made": {"new_writable_file"},
    "options.keeps-buffer": {
        "get_filesystem_configuration",
        "set_filesystem_configuration",
        "set_filesystem_configuration_option",
    },
    "options.no-name": {"get_filesystem_configuration"},
    "options.shared-description": {"get_filesystem_configuration"},
    "scenario.content-outlives-rename": {"read"},
    "scenario.first-block-moves": {"rename_file"},
    "scenario.no-empty-directories": {"get_children"},
    "scenario.one-match-less": {"get_matching_paths"},
    "scenario.own-directories": {"is_directory"},
    "scenario.short-size-is-mapped": {"stat", "read", "length"},
    "scenario.size-at-close": {"stat"},
    "scenario.size-at-open": {"read"},
    "transactions.error-returns-zero": {"end_transaction"},
    "writable_file.closes-twice": {"writable_file.cleanup"},
}


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
    return [
        KnownFault(name, tuple(sorted(broken)), tuple(sorted(_wrong_ops(name, broken))))
        for name, broken in sorted(clauses_by_fault().items())
    ]


def _wrong_ops(name: str, clauses: set[str]) -> set[str]:
    """The ops in the name of a fault; if there is none, those that it replaces and those of the clauses it breaks."""
    named = {op for op in OPS if re.search(rf"[ :]{re.escape(op)}(\.|$)", name)}
    of_clauses = {op for one in clauses if (op := catalogue()[one].op)}
    return named or REPLACES.get(name.partition(" ")[2], set()) | of_clauses
