"""What is known of a target before its first case, so that all cases and all workers know the same."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What one look at a target found out.

    `fails_plainly` says of each op that goes wrong in the plainest situation what it does there: where it goes wrong
    again in a set-up, that is no news. `unimplemented` holds the ops that are there and answer UNIMPLEMENTED, `works`
    those that answered as they should.
    `is_directory_ok_for_files` says that is_directory answers OK for a file, on which defaults of core depend.
    `root_made` says that the root was made. `hosts_differ` says that files live and die with their host process.
    `wrong_backing` says how the backing shows another storage than the plugin does, or is None.
    `unusable` says why no case can get a filesystem: the plugin does not load or register. `filling` says whether hosts
    may have an allocator that fills what it gives: a plugin can hang for that alone. `made_above` holds the directories
    above the root that were not there before it.
    """

    fails_plainly: Mapping[str, str] = field(default_factory=dict)
    unimplemented: frozenset[str] = frozenset()
    works: frozenset[str] = frozenset()
    is_directory_ok_for_files: bool = False
    root_made: bool = False
    hosts_differ: bool = False
    wrong_backing: str | None = None
    unusable: str | None = None
    filling: bool = True
    made_above: tuple[str, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """For a worker of pytest-xdist: values that its wire carries."""
        sets = {"unimplemented": sorted(self.unimplemented), "works": sorted(self.works)}
        return asdict(self) | sets | {"made_above": list(self.made_above)}

    @classmethod
    def from_wire(cls, plain: dict[str, Any]) -> Self:
        """What a controller sent."""
        sets = {name: frozenset(plain[name]) for name in ("unimplemented", "works")}
        return cls(**(plain | sets | {"made_above": tuple(plain["made_above"])}))


#: What is known before anybody looked.
NOTHING = Knowledge()
