"""How a case says which clauses it checks, and to which tier it belongs."""

import pytest

#: The cases outside of all tiers.
UNDEFINED = "undefined"
#: So many calls of a plugin a case makes, as a rule.
CALLS = 10


def clauses(*names: str) -> pytest.MarkDecorator:
    """The clauses a case checks. The first one is what it is about: where its op is absent, the case is absent."""
    return pytest.mark.tffs_clauses(*names)


def condition(name: str) -> pytest.MarkDecorator:
    """A case of this tier, or one that only a run under this condition has."""
    return pytest.mark.tffs_tier(name)


def many_calls(count: int) -> pytest.MarkDecorator:
    """A case that makes about so many calls, a multiple of what others make: its shard has fewer cases."""
    return pytest.mark.tffs_calls(count)


#: A case that uses the tables of the plugin or looks at its process. It needs a host, whatever else ops go through.
over_tables = pytest.mark.tffs_over_tables
#: The way through an op once.
smoke = condition("smoke")
#: A case whose stimulus is not the same every time, for instance threads that meet.
full = condition("full")
#: A case of megabytes, or of thousands of entries, which may take as long as the machine needs.
large = condition("large")
#: A block of histories, of which there are tens of thousands in all.
deep = condition("deep")
#: A stimulus of which the interface says nothing, and that may never be given: run on request only.
undefined = condition(UNDEFINED)
