"""What the probe saw of a plugin before the first case, so that all cases and all workers know the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...harness.hosting.registration import Registration
from ...harness.ops.codes import Code
from ...harness.shared_object.abi import Abi
from ...harness.targets.runtimes import Runtime


@dataclass(frozen=True, slots=True)
class PluginFacts:
    """What the file of a plugin is, what it registers, and what its ops did where nothing was special.

    `registration` is None if the plugin does not survive it, which the cases will show. `size` is in bytes. `runtime`
    has the libraries that the plugin was loaded with. `abi` is what its file says; None for no shared object.

    `fails_plainly` says of each op that goes wrong in the plainest situation what it does there: where it goes wrong
    again in a set-up, that is no news. `unimplemented` has the code of the ops that are there and answer UNIMPLEMENTED,
    or refuse to change anything because the storage is only read; `works` has those that answered as they should.
    `is_directory_ok_for_files` says that is_directory answers OK for a file, on which defaults of core depend.
    `root_made` says that the root was made. `hosts_differ` says that files live and die with their host process.
    `wrong_backing` says how the backing shows another storage than the plugin does, or is None.
    `unusable` says why no case can get a filesystem: the plugin does not load or register. `filling` says whether hosts
    may have an allocator that fills what it gives: a plugin can hang for that alone. `made_above` holds the directories
    above the root that were not there before it, from the nearest on.
    """

    registration: Registration | None = None
    sha256: str = ""
    size: int = 0
    runtime: Runtime = field(default_factory=Runtime)
    abi: Abi | None = None
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


#: What is known of a plugin that was not looked at.
UNSEEN = PluginFacts()
