"""Which cases there are, by the names that people and reports use."""

import functools
import importlib
import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .case_facts import TIERS, CaseFacts
from .marks import CALLS, UNDEFINED

DIRECTORY = Path(__file__).parents[1] / "cases"


@functools.cache
def modules() -> tuple[Path, ...]:
    """The files that hold cases."""
    return tuple(sorted(DIRECTORY.glob("test_*.py")))


def module_name(path: Path) -> str:
    """`test_read.py` holds the cases `read/…`."""
    return path.stem.removeprefix("test_").replace("_", "-")


def function_id(module: str, function: str) -> str:
    """What the ids of the cases of a function begin with: `read/across-the-end` of `test_across_the_end` in `read`."""
    return f"{module}/{function.removeprefix('test_').replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class Listed(CaseFacts):
    """A case as its module has it; `body` runs it when it is called with a `Case` as `case`.

    Its id is the same whatever the targets: `read/across-the-end` or `status/one-path[stat-missing]`. The clauses of
    its parameters come first, for they are what it is about.
    """

    body: "functools.partial[None]" = field(compare=False, repr=False)


def cases() -> list[Listed]:
    """All cases, read off the modules without running pytest."""
    found: list[Listed] = []
    for path in modules():
        module = importlib.import_module(f"tffs_conformance.suite.cases.{path.stem}")
        for name, function in vars(module).items():
            if name.startswith("test_") and callable(function):
                found += _by_values(module_name(path), name, function).values()
    return found


def tiers(tier: str, *, undefined: bool = False, conditions: Sequence[str] = ()) -> tuple[str, ...]:
    """The tiers that a run of this one includes, and what it has under these conditions."""
    return (*TIERS[: TIERS.index(tier) + 1], *((UNDEFINED,) if undefined else ()), *conditions)


def listed(item: Any) -> Listed:
    """The case that pytest collected as `item`.

    It is found by the values of its own parameters. Targets and other plugins add parameters, and those change the id
    that pytest gives to it.
    """
    found = _by_values(module_name(item.path), item.originalname, item.function)
    own = next(iter(found.values())).body.keywords
    given = item.callspec.params if own else {}
    return found[_key({name: given[name] for name in own})]


@functools.cache
def _by_values(module: str, name: str, function: Any) -> dict[tuple[int, ...], Listed]:
    """The cases of one function, by the identities of the values of their parameters."""
    return {_key(case.body.keywords): case for case in _listed(module, name, function)}


def _key(arguments: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(id(value) for _, value in sorted(arguments.items(), key=lambda item: item[0]))


def _listed(module: str, name: str, function: Any) -> list[Listed]:
    marks: Sequence[Any] = getattr(function, "pytestmark", [])
    of_module = getattr(sys.modules[function.__module__], "pytestmark", ())
    # A module may name one mark by itself.
    of_module = of_module if isinstance(of_module, (list, tuple)) else [of_module]
    own = [entry for mark in marks if mark.name == "tffs_clauses" for entry in mark.args]
    level = next((mark.args[0] for mark in marks if mark.name == "tffs_tier"), "quick")
    calls = next((mark.args[0] for mark in marks if mark.name == "tffs_calls"), CALLS)
    doc = (function.__doc__ or "").strip().split("\n")[0]
    base = function_id(module, name)
    parametrized = [mark for mark in marks if mark.name == "parametrize"]
    tables = [mark.args[1] for mark in parametrized]
    names = [_names(mark.args[0]) for mark in parametrized]
    result = []
    for entries in itertools.product(*tables):
        marked = [mark for entry in entries for mark in getattr(entry, "marks", ())]
        named = [name for mark in marked if mark.name == "tffs_clauses" for name in mark.args]
        # A parameter that is a plain text is its own id, as with pytest.
        parts = "-".join(getattr(entry, "id", entry) for entry in entries)
        identity = f"{base}[{parts}]" if parts else base
        arguments = {
            key: value for keys, entry in zip(names, entries, strict=True) for key, value in _arguments(keys, entry)
        }
        body = functools.partial(function, **arguments)
        over_tables = any(mark.name == "tffs_over_tables" for mark in (*marks, *marked, *of_module))
        result.append(Listed(identity, tuple(dict.fromkeys([*named, *own])), level, doc, over_tables, calls, body))
    return result


def _names(given: str | Sequence[str]) -> list[str]:
    """The parameters that a mark names: 'a, b' or a list."""
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)


def _arguments(names: list[str], entry: Any) -> list[tuple[str, Any]]:
    """The values that one entry of a parametrize mark gives to its parameters."""
    values = getattr(entry, "values", None)
    if not isinstance(values, tuple):
        values = (entry,) if len(names) == 1 else entry
    return list(zip(names, values, strict=True))
