"""What cases are held to, and what is known of a target before them."""

from pathlib import Path

import pytest

from tffs_conformance.harness.shipped import plugin_path
from tffs_conformance.suite.engine.case import Case
from tffs_conformance.suite.engine.checks import Misused
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.engine.knowledge import NOTHING, Knowledge
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.workbench import Workbench


@pytest.mark.parametrize("look", ["tables", "host", "registration", "announced"])
def test_a_case_that_looks_behind_the_ops_has_to_be_marked(tmp_path: Path, look: str) -> None:
    bench = Workbench(Target("posix", plugin_path("posix"), "posix", f"posix://{tmp_path}/root"), NOTHING)
    try:
        with pytest.raises(Misused, match="over_tables"):
            getattr(Case(bench, "read/unmarked", (), ""), look)
    finally:
        bench.close()


def test_a_first_look_knows_what_works_and_travels_to_workers(tmp_path: Path) -> None:
    root = f"faulty://{tmp_path}/root"
    target = Target("faulty", plugin_path("fakes/faulty"), "faulty", root, {"TFFS_FAULT": "fails:get_children"})
    known = first_look(target)
    assert "get_children" not in known.works_plainly
    assert {"create_dir", "append", "read", "stat"} <= known.works_plainly
    assert known.root_made
    assert Knowledge.from_wire(known.to_wire()) == known
