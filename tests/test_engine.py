"""What cases are held to."""

from pathlib import Path

import pytest

from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.suite.engine.case import Case
from tffs_conformance.suite.engine.checks import Misused
from tffs_conformance.suite.engine.knowledge import NOTHING
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.workbench import Workbench


@pytest.mark.parametrize("look", ["tables", "host", "registration", "announced"])
def test_a_case_that_looks_behind_the_ops_has_to_be_marked(tmp_path: Path, look: str) -> None:
    bench = Workbench(Target("posix", plugin_path("posix"), "posix", f"posix://{tmp_path}/root"), NOTHING)
    try:
        with pytest.raises(Misused, match="over_tables"):
            getattr(Case(bench, "read/unmarked", (), "").surroundings, look)
    finally:
        bench.close()
