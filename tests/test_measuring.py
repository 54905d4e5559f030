"""What is measured of services: the figures of a right plugin, and one sentence where something is wrong."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tffs_conformance.harness.services import Measure
from tffs_conformance.reports.model.services import Figure, Figures
from tffs_conformance.run import measuring
from tffs_conformance.run.targets import only_target

SIZE = (1 << 20) + 1


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_QUIET", 0.01)


def measured(folder: Path, figures: Callable[[], dict[str, int]], plugin: str, **environment: str) -> Figures:
    """What is measured of services that only have these figures; the other node is told the environment."""
    scheme = plugin.rpartition("/")[2]
    target = replace(only_target(plugin, None, f"{scheme}://{folder}", {}, 10.0), backing="file://{path}")
    running: Any = SimpleNamespace(facts={"store": {"image": "store:1"}}, figures=figures)
    return measuring.measure(target, running, Measure(SIZE, environment, ()))


def test_by_how_much_figures_grew(tmp_path: Path) -> None:
    served: Iterator[int] = iter([5, 25, 30, 30, 30])
    got = measured(tmp_path, lambda: {"served": next(served)}, "posix")
    assert got == Figures(("store:1",), SIZE, (Figure("served", 25),), None)


def test_a_node_that_reads_something_else_is_named(tmp_path: Path) -> None:
    got = measured(tmp_path, lambda: {"served": 0}, "fakes/faulty", TFFS_FAULT="read.garbage")
    assert got.failure == "WrongBytesError: the plugin on another node does not read what is in the file"


def test_services_that_are_gone_cost_no_report(tmp_path: Path) -> None:
    def gone() -> dict[str, int]:
        raise KeyError("networks")

    assert measured(tmp_path, gone, "posix").failure == "KeyError: 'networks'"


def test_figures_that_never_settle_are_waited_for_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_PATIENCE", 0.1)
    growing = count()
    assert measured(tmp_path, lambda: {"served": next(growing)}, "posix").figures[0].bytes > 0
