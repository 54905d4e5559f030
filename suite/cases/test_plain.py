"""The ops that open and delete, each once where nothing is special: so the smallest tier tells of each op."""

import pytest

from ...harness.ops.codes import Code
from ..engine.case import Case
from ..engine.marks import clauses, smoke
from .successes import SUCCESSES

#: The other ops have cases of the smallest tier that look at more than their status.
OPS = (
    "new_random_access_file",
    "new_writable_file",
    "new_appendable_file",
    "new_read_only_memory_region_from_file",
    "delete_file",
    "delete_dir",
)


@smoke
@pytest.mark.parametrize("op", [pytest.param(op, id=op, marks=clauses(f"{op}.succeeds")) for op in OPS])
def test_once(case: Case, op: str) -> None:
    """The op is called with a path for which it succeeds."""
    if op == "delete_dir":
        case.setup.mkdir("empty")
    elif op != "new_writable_file":
        case.setup.write("file", b"content")
    case.check.status(f"{op}.succeeds", SUCCESSES[op](case), Code.OK)
