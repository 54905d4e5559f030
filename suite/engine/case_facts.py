"""What is known of a case, for those who do not run it."""

from dataclasses import dataclass

#: The tiers, from the smallest; each includes those before it.
TIERS = ("smoke", "quick", "full", "large", "deep")


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """What is known of a case before it is imported; `calls` is about how many calls of the plugin it makes."""

    id: str
    clauses: tuple[str, ...]
    tier: str
    doc: str
    over_tables: bool
    calls: int
