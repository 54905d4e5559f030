"""The ops of a filesystem as TensorFlow hands them on to its users: a `Filesystem` over a host with TensorFlow in it.

Names go to TensorFlow as they are. What its interface does not reach is absent, with the reason.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..ops.codes import Code
from ..ops.defaults import answer
from ..ops.filesystem import MemoryRegion
from ..ops.guard import Guard
from ..ops.outcomes import Existence, Outcome, Status
from ..over_tables.hosted import HostedOps
from ..over_tables.raw import RawFilesystem
from ..wire import Reply

#: The ops that tf.io.gfile, and TensorFlow's C functions for files, perform.
REACHED = frozenset({
    "new_random_access_file", "random_access_file.cleanup", "read",
    "new_writable_file", "new_appendable_file", "writable_file.cleanup", "append", "tell", "flush", "close",
    "create_dir", "recursively_create_dir", "delete_file", "delete_dir", "delete_recursively",
    "rename_file", "copy_file", "path_exists", "paths_exist", "stat", "is_directory", "get_file_size",
    "get_children", "get_matching_paths",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """One thing that a program of TensorFlow's users saw, and what it should have been, as texts."""

    what: str
    holds: bool
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Performed:
    """What a program saw, as far as it came. It is `lacking` where it needs what is not there, and saw nothing."""

    lacking: bool
    seen: tuple[ProgramCheck, ...]


class TensorFlowFilesystem(HostedOps):
    """One scheme that TensorFlow knows. `raw` performs the ops in the host; `unimplemented` ones only answer a code.

    `translated` has the URIs that ops got so far, which nobody translates before TensorFlow does.
    """

    def __init__(
        self, raw: RawFilesystem, guard: Guard, *, unimplemented: Mapping[str, Code] = MappingProxyType({})
    ) -> None:
        super().__init__(raw, REACHED - unimplemented.keys(), REACHED, guard)
        self._unimplemented = unimplemented

    def available(self, op: str) -> bool:
        """Whether TensorFlow's users reach `op`, and the filesystem has it."""
        return op in self.present

    def absence(self, op: str) -> str:
        """Why `op` cannot be performed."""
        code = self._unimplemented.get(op)
        return f"{op} answers {code}" if code else f"TensorFlow's interface does not reach {op}"

    def translate(self, uri: str) -> str:
        """The same: TensorFlow translates by itself, and tells nobody."""
        return self.translated.setdefault(uri, uri)

    def translate_name(self, uri: str) -> Outcome[str | None]:
        """Nobody above TensorFlow sees it."""
        return self._absent("translate_name", None)

    def new_read_only_memory_region_from_file(self, uri: str) -> Outcome[MemoryRegion | None]:
        """Only kernels of TensorFlow map files."""
        return self._absent("new_read_only_memory_region_from_file", None)

    def paths_exist(self, uris: Sequence[str], *, with_statuses: bool = True) -> Outcome[Existence]:
        """Users ask for one path after the other."""
        got = [self.path_exists(uri) for uri in uris]
        statuses = tuple(Status(one.code, one.message) for one in got)
        return answer("paths_exist", Existence(all(one.ok for one in got), statuses if with_statuses else None))

    def flush_caches(self) -> Outcome[None]:
        """Users have no way to ask for it."""
        return self._absent("flush_caches", None)

    def perform(self, program: str, uri: str, *arguments: str) -> Outcome[Performed]:
        """A program of user_programs.py, in a directory that is there and empty; in local files, where `uri` is empty.

        The code is that of the error of TensorFlow that ended it, UNKNOWN for another exception.
        """
        if uri:
            # A program may do there what it likes.
            self._guard.admit("delete_recursively", [uri], [uri])
        sent = [os.fsencode(text) for text in (program, uri, *arguments)]
        return self.raw.perform("perform", sent, _performed, Performed(lacking=True, seen=()))


def _performed(reply: Reply) -> Performed:
    return Performed(bool(reply.take_number()), tuple(ProgramCheck(*one) for one in json.loads(reply.take_bytes())))
