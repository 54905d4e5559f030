"""What is known of a target before its first case, so that all cases and all workers know the same."""

from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What one look at a target found out.

    `works_plainly` holds the ops that work in the plainest situation: only of those a failed set-up step is news.
    `is_directory_ok_for_files` says that is_directory answers OK for a file, on which defaults of core depend.
    `root_made` says that the root was made. `hosts_differ` says that files live and die with their host process.
    """

    works_plainly: frozenset[str] = frozenset()
    is_directory_ok_for_files: bool = False
    root_made: bool = False
    hosts_differ: bool = False

    def to_wire(self) -> dict[str, Any]:
        """For a worker of pytest-xdist: values that its wire carries."""
        return asdict(self) | {"works_plainly": sorted(self.works_plainly)}

    @classmethod
    def from_wire(cls, plain: dict[str, Any]) -> Self:
        """What a controller sent."""
        return cls(**(plain | {"works_plainly": frozenset(plain["works_plainly"])}))


#: What is known before anybody looked.
NOTHING = Knowledge()
