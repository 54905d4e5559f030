"""How a case says which clauses it checks, and to which tier it belongs."""

from collections.abc import Callable
from typing import TypeVar

import pytest

F = TypeVar("F", bound=Callable[..., None])

#: The cases outside of all tiers.
UNDEFINED = "undefined"
#: So many calls of a plugin a case makes, as a rule.
CALLS = 10


def clauses(*names: str) -> pytest.MarkDecorator:
    """The clauses a case checks. The first one is what it is about: where its op is absent, the case is absent."""
    return pytest.mark.tffs_clauses(*names)


def smoke(function: F) -> F:
    """The way through an op once."""
    marked: F = pytest.mark.tffs_tier("smoke")(function)
    return marked


def full(function: F) -> F:
    """A case whose stimulus is not the same every time, such as threads that meet."""
    marked: F = pytest.mark.tffs_tier("full")(function)
    return marked


def large(function: F) -> F:
    """A case of megabytes, or of thousands of entries, which may take as long as the machine needs."""
    marked: F = pytest.mark.tffs_tier("large")(function)
    return marked


def deep(function: F) -> F:
    """A block of histories, of which there are tens of thousands in all."""
    marked: F = pytest.mark.tffs_tier("deep")(function)
    return marked


def undefined(function: F) -> F:
    """A stimulus of which the interface says nothing, and that nobody may give: run on request only."""
    marked: F = pytest.mark.tffs_tier(UNDEFINED)(function)
    return marked


def condition(name: str) -> pytest.MarkDecorator:
    """A case that only a run under this condition has."""
    return pytest.mark.tffs_tier(name)


def many_calls(count: int) -> pytest.MarkDecorator:
    """A case that makes about so many calls, a multiple of what others make: its shard has fewer cases."""
    return pytest.mark.tffs_calls(count)


#: A case that uses the tables of the plugin or looks at its process. It needs a host, whatever else ops go through.
over_tables = pytest.mark.tffs_over_tables
