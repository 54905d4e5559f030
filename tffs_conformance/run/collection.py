"""Which cases a run collects: our modules under names of their own, less what a user's options drop."""

import functools
import heapq
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ..reports.patterns import fits, nearest
from ..suite.contract.catalogue import catalogue
from ..suite.engine import collect, index
from ..suite.engine.case_facts import CaseFacts
from .run_options import BadUsageError, RunOptions

#: What the node ids of our cases begin with.
NODES = "tffs/"
#: The module whose cases are about loading: all that can be run of a plugin that does not load.
REGISTRATION = "registration"


class SuiteModule(pytest.Module):
    """A module of cases, imported by its name in the package."""

    #: What is collected of it, by ids without parameters; None is all.
    functions: frozenset[str] | None = None

    def _getobj(self) -> Any:
        return importlib.import_module(f"tffs_conformance.suite.cases.{self.path.stem}")

    def funcnamefilter(self, name: str) -> bool:
        """Our functions, whatever `python_functions` says, but those without any case that is asked for.

        They would be dropped after pytest made an item of each of their parameters: a third of the time of a short run.
        """
        return name.startswith("test_") and (
            self.functions is None or collect.function_id(collect.module_name(self.path), name) in self.functions
        )

    def classnamefilter(self, name: str) -> bool:
        """No classes."""
        return False


def module(path: Path, parent: pytest.Collector, functions: frozenset[str] | None) -> pytest.Module | None:
    """The collector of one of our files, with an id that no setting of the user reaches; None for any other file.

    Of its functions it collects those with these ids, or all.
    """
    if path not in collect.modules():
        return None
    made: SuiteModule = SuiteModule.from_parent(parent, path=path, nodeid=f"{NODES}{collect.module_name(path)}")
    made.functions = functions
    return made


class SuiteDirectory(pytest.Directory):
    """The directory of our modules. A file of it alone makes pytest look at all of them, and again for each file."""

    #: What is collected, by ids without parameters; None is all.
    functions: frozenset[str] | None = None

    def collect(self) -> Iterator[pytest.Module]:
        """The modules with anything that is asked for; where a user names paths, those that pytest does not ignore."""
        asked = None if self.functions is None else {name.partition("/")[0] for name in self.functions}
        for path in collect.modules():
            if asked is None:
                is_left_out = self.ihook.pytest_ignore_collect(collection_path=path, config=self.config)
            else:
                is_left_out = collect.module_name(path) not in asked
            if not is_left_out and (made := module(path, self, self.functions)):
                yield made


def directory(path: Path, parent: pytest.Collector, functions: frozenset[str] | None) -> pytest.Directory | None:
    """The collector of the directory of our modules, of which it collects these functions, or all; None for others."""
    if path != collect.DIRECTORY:
        return None
    made: SuiteDirectory = SuiteDirectory.from_parent(parent, path=path)
    made.functions = functions
    return made


def is_ours(item: pytest.Item) -> bool:
    """Whether an item is a case of the suite."""
    return isinstance(item, pytest.Function) and isinstance(item.getparent(SuiteModule), SuiteModule)


def paths(given: Sequence[str]) -> list[str]:
    """The arguments of a command line, with the node ids of our cases (`tffs/read::test_plain`) as paths."""
    files = {f"{NODES}{collect.module_name(path)}": str(path) for path in collect.modules()}
    found = []
    for argument in given:
        file, colons, rest = argument.partition("::")
        found.append(files.get(file, file) + colons + rest)
    return found


def files(modules: str | None = None) -> list[str]:
    """The path of all our modules, or of the one of this name."""
    if modules is None:
        return [str(collect.DIRECTORY)]
    return [str(path) for path in collect.modules() if modules == collect.module_name(path)]


@dataclass(frozen=True)
class Wanted:
    """What --tier, --undefined, --sanitizer, --conditions, --clause, --case and --shard ask for.

    `shard` is a number from 1, and of how many.
    """

    tier: str
    tiers: tuple[str, ...]
    clauses: tuple[str, ...]
    cases: tuple[str, ...]
    shard: tuple[int, int]

    @classmethod
    def of(cls, options: RunOptions) -> "Wanted":
        """Read off the options."""
        tiers = collect.tiers(options.tier, undefined=options.undefined, conditions=options.under)
        return cls(options.tier, tiers, options.clauses, options.cases, options.shard)

    def in_tier(self) -> list[CaseFacts]:
        """All cases of the tier."""
        return index.in_tiers(self.tiers)

    def has(self, case: CaseFacts) -> bool:
        """Whether a case is asked for."""
        return (
            case.tier in self.tiers
            and (not self.clauses or any(_is_of(name, self.clauses) for name in case.clauses))
            and (not self.cases or _is_of(case.id, self.cases))
            and (self.shard[1] == 1 or case.id in self._of_shard)
        )

    @functools.cached_property
    def _of_shard(self) -> frozenset[str]:
        """The cases of the shard: of those that are asked for, such that all shards have about as many calls to make.

        The shards are the same on every machine that has this version of the suite.
        """
        number, shards = self.shard
        loads = [(0, k) for k in range(1, shards + 1)]
        mine = []
        for case in sorted(filter(replace(self, shard=(1, 1)).has, self.in_tier()), key=lambda case: -case.calls):
            load, least = loads[0]
            heapq.heapreplace(loads, (load + case.calls, least))
            mine += [case.id] if least == number else []
        return frozenset(mine)

    @functools.cached_property
    def functions(self) -> frozenset[str]:
        """The ids, without parameters, of the functions that have a case that is asked for."""
        return frozenset(case.id.partition("[")[0] for case in self.in_tier() if self.has(case))

    def hold(self) -> None:
        """Raise BadUsageError where a pattern fits nothing, with names that are near to it, or a shard has no case."""
        if not (self.clauses or self.cases or self.shard[1] > 1):
            return
        cases = self.in_tier()
        for option, patterns, fitting, known in (
            ("--clause", self.clauses, {name for case in cases for name in case.clauses}, list(catalogue())),
            ("--case", self.cases, {case.id for case in cases}, [case.id for case in index.cases()]),
        ):
            for pattern in patterns:
                if not any(_is_of(name, (pattern,)) for name in fitting):
                    raise BadUsageError(f"{option}={pattern}: {self._why(pattern, known)}")
        if not any(map(replace(self, shard=(1, 1)).has, cases)):
            raise BadUsageError("--clause and --case: no case fits both")
        if not any(map(self.has, cases)):
            raise BadUsageError(
                f"--shard={self.shard[0]}/{self.shard[1]}: there are fewer cases than shards, take fewer"
            )

    def _why(self, pattern: str, known: list[str]) -> str:
        if any(_is_of(name, (pattern,)) for name in known):
            return f"no case of the tier {self.tier} fits"
        meant = nearest(pattern, known, groups=True) or "; 'tffs-conformance list' names them"
        return f"no case of the tier {self.tier} fits{meant}"


def _is_of(name: str, patterns: Sequence[str]) -> bool:
    return any(fits(pattern, name) for pattern in patterns)
