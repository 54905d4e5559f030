"""Which cases a run collects: our modules under names of their own, less what --tier, --clause and --case drop."""

import fnmatch
import importlib
from pathlib import Path
from typing import Any

import pytest

from ..suite.engine import collect
from ..suite.engine.marks import TIERS, UNDEFINED
from .run_options import RunOptions


class SuiteModule(pytest.Module):
    """A module of cases, imported by its name in the package."""

    def _getobj(self) -> Any:
        return importlib.import_module(f"tffs_conformance.suite.cases.{self.path.stem}")

    def funcnamefilter(self, name: str) -> bool:
        """Our functions, whatever `python_functions` says."""
        return name.startswith("test_")

    def classnamefilter(self, name: str) -> bool:
        """No classes."""
        return False


def module(path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """The collector of one of our files, with an id that no setting of the user reaches; None for any other file."""
    if path not in collect.modules():
        return None
    made: pytest.Module = SuiteModule.from_parent(parent, path=path, nodeid=f"tffs/{collect.module_name(path)}")
    return made


def select(options: RunOptions, items: list[pytest.Item]) -> None:
    """Leave in `items` what --tier, --clause and --case ask for. Raises UsageError where that is nothing."""
    tiers = TIERS[: TIERS.index(options.tier) + 1] + ((UNDEFINED,) if options.undefined else ())
    items[:] = [item for item in items if not isinstance(item, pytest.Function) or _fits(options, item, tiers)]
    if not items and (options.clause or options.case):
        what = f"--case={options.case}" if options.case else f"--clause={options.clause}"
        raise pytest.UsageError(f"{what}: no case of the tier {options.tier} fits; 'tffs-conformance list' names them")


def _fits(options: RunOptions, item: pytest.Item, tiers: tuple[str, ...]) -> bool:
    if not isinstance(item.getparent(SuiteModule), SuiteModule):
        return True
    if collect.tier(item) not in tiers:
        return False
    if options.clause and not any(fnmatch.fnmatchcase(name, options.clause) for name in collect.clauses(item)):
        return False
    return not options.case or collect.case_id(item) == options.case
