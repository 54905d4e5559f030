"""What cases are held to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tffs_conformance.harness.hosting.loader import BlockedError
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.suite.engine.case import Case
from tffs_conformance.suite.engine.checks import MisusedError
from tffs_conformance.suite.engine.knowledge import NOTHING
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.workbench import Workbench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    made = Workbench(Target("posix", plugin_path("posix"), "posix", f"posix://{tmp_path}/root"), NOTHING)
    yield made
    made.close()


@pytest.mark.parametrize("look", ["tables", "host", "registration", "announced"])
def test_a_case_that_looks_behind_the_ops_has_to_be_marked(bench: Workbench, look: str) -> None:
    with pytest.raises(MisusedError, match="over_tables"):
        getattr(Case(bench, "read/unmarked", (), "").surroundings, look)


def test_a_set_up_within_a_set_up_ends_with_the_outer_one(bench: Workbench) -> None:
    setup = Case(bench, "read/a", (), "").setup
    seen = [setup.active]
    with setup:
        with setup:
            seen.append(setup.active)
        seen.append(setup.active)
    assert [*seen, setup.active] == [False, True, True, False]


def test_where_a_step_ended_a_case_its_ending_knows_that_it_was_a_step(bench: Workbench) -> None:
    setup = Case(bench, "read/a", (), "").setup
    with pytest.raises(BlockedError), setup:
        raise BlockedError("stat", "it goes wrong")
    assert setup.active


def test_a_set_up_step_that_failed_and_was_caught_does_not_outlast_the_set_up(bench: Workbench) -> None:
    setup = Case(bench, "read/a", (), "").setup
    with setup:
        with pytest.raises(BlockedError), setup:
            raise BlockedError("stat", "it goes wrong")
        assert setup.active
    assert not setup.active


def test_what_is_called_in_a_set_up_prepares_the_stimulus(bench: Workbench) -> None:
    case = Case(bench, "read/a", ("path_exists.succeeds",), "")
    uri = case.setup.write("file", b"content")
    prepared = len(case.surroundings.trace)
    assert case.surroundings.trace.preparing == set(range(prepared))
    assert case.fs.path_exists(uri).ok
    assert len(case.surroundings.trace) > prepared
    assert case.surroundings.trace.preparing == set(range(prepared))
    case.surroundings.clear()
