"""What is known of a target before its first case, so that all cases and all workers know the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...harness.ops.codes import Code


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What one look at a target found out.

    `fails_plainly` says of each op that goes wrong in the plainest situation what it does there: where it goes wrong
    again in a set-up, that is no news. `unimplemented` has the code of the ops that are there and answer UNIMPLEMENTED,
    or refuse to change anything because the storage is only read; `works` has those that answered as they should.
    `is_directory_ok_for_files` says that is_directory answers OK for a file, on which defaults of core depend.
    `root_made` says that the root was made. `hosts_differ` says that files live and die with their host process.
    `wrong_backing` says how the backing shows another storage than the plugin does, or is None.
    `unusable` says why no case can get a filesystem: the plugin does not load or register. `filling` says whether hosts
    may have an allocator that fills what it gives: a plugin can hang for that alone. `made_above` holds the directories
    above the root that were not there before it.
    """

    fails_plainly: Mapping[str, str] = field(default_factory=dict)
    unimplemented: Mapping[str, Code] = field(default_factory=dict)
    works: frozenset[str] = frozenset()
    is_directory_ok_for_files: bool = False
    root_made: bool = False
    hosts_differ: bool = False
    wrong_backing: str | None = None
    unusable: str | None = None
    filling: bool = True
    made_above: tuple[str, ...] = ()


#: What is known before anybody looked.
NOTHING = Knowledge()
