"""Core behaviour: what TensorFlow does above the tables of one registered filesystem (modular_filesystem.cc).

Names are URIs. Each op translates them once, asks the guard, and calls the plugin, or does what core does where the
plugin left the entry NULL.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ParamSpec, Self

from ..ops import paths
from ..ops.codes import Code
from ..ops.defaults import Defaults, answer, by_default
from ..ops.guard import Guard
from ..ops.outcomes import Crashed, DiedError, Entries, Existence, Outcome, Statistics, Undeleted
from ..ops.tables import asks_for_the_kind, available
from .hosted import H, HostedOps, T
from .raw import RawFilesystem

P = ParamSpec("P")


class HostFilesystem(HostedOps, Defaults):
    """One filesystem of a plugin in a host, as TensorFlow's users see it: a `Filesystem`.

    `translated` holds what ops got for each URI so far.

    `present` holds the ops that are not NULL, less those in `unimplemented`, which only answer a code; `raw` performs
    ops without translation, guard or default, for cases about the tables themselves. Paths handed to `raw` do not
    pass the guard.

    `is_directory_ok_for_files` says that the plugin's is_directory answers OK for a file, as the interface has it
    (disputed A1). Core takes that for a directory, so its defaults that ask is_directory go wrong, which is not the
    plugin's doing: they count as absent.
    """

    def __init__(
        self,
        raw: RawFilesystem,
        present: frozenset[str],
        guard: Guard,
        *,
        unimplemented: Mapping[str, Code] = MappingProxyType({}),
        is_directory_ok_for_files: bool = False,
    ) -> None:
        # A reader that reads nothing is of no use: what would open one is as good as not there.
        useless = frozenset[str]() if "read" in present - unimplemented.keys() else {"new_random_access_file"}
        super().__init__(raw, present - unimplemented.keys() - useless, guard)
        self._unimplemented = {op: code for op, code in unimplemented.items() if op in present}
        #: The ops that are called: one that answered UNIMPLEMENTED once may do more in another situation.
        again = {op for op, code in self._unimplemented.items() if code is Code.UNIMPLEMENTED}
        self._asked = (self.present | again) - useless
        self._ok_for_files = is_directory_ok_for_files

    def over(self, raw: RawFilesystem) -> Self:
        """The same, with ops that `raw` performs."""
        other = copy.copy(self)
        other.raw = raw
        return other

    def available(self, op: str) -> bool:
        """Whether `op` can be performed, by the plugin or by core's default."""
        possible = available(op, self.present, self._unimplemented)
        return possible and not (self._ok_for_files and asks_for_the_kind(op, self.present))

    def absence(self, op: str) -> str:
        """Why `op` cannot be performed, or is not performed by the plugin itself."""
        if op in self._unimplemented:
            return f"{op} answers {self._unimplemented[op]}"
        if not available(op, self.present, self._unimplemented):
            lacks = "read" if op == "new_random_access_file" and "read" not in self.present else op
            return f"the plugin does not provide {lacks}"
        if not self.available(op):
            return f"core's default for {op} goes wrong where is_directory answers OK for a file"
        return f"the plugin leaves {op} to core"

    def translate(self, uri: str) -> str:
        """The name that an op gets for `uri`. A plugin that gives NULL ends the process, as it ends TensorFlow.

        A name is asked for once: whether the plugin gives the same one again is the affair of a case of its own.
        """
        if "translate_name" not in self.present:
            return self.translated.setdefault(uri, paths.translate(uri).split("\0")[0])
        if uri not in self.translated:
            name = self.raw.translate_name(uri).value
            if name is None:
                raise DiedError(Crashed("translate_name", "it returned NULL, for which TensorFlow aborts"))
            self.translated[uri] = name
        return self.translated[uri]

    def translate_name(self, uri: str) -> Outcome[str | None]:
        """What translate_name gives, or core's own translation."""
        if "translate_name" in self.present:
            return self.raw.translate_name(uri)
        return answer("translate_name", paths.translate(uri))

    def may_create(self, uri: str) -> bool:
        """Whether the guard lets a directory be created there."""
        return self._guard.reaches("create_dir", uri)

    # The ops that core has a default for ------------------------------------------------------------------------------

    def recursively_create_dir(self, uri: str) -> Outcome[None]:
        """Create a directory and its parents."""
        return self._either(super().recursively_create_dir, self.default_recursively_create_dir, None, uri)

    def delete_recursively(self, uri: str) -> Outcome[Undeleted]:
        """Delete a tree; the value counts what could not be deleted."""
        return self._either(
            super().delete_recursively, self.default_delete_recursively, Undeleted(files=0, dirs=0), uri
        )

    def rename_file(self, source: str, target: str) -> Outcome[None]:
        """Move a file over what is at the target."""
        return self._either(super().rename_file, self.default_rename_file, None, source, target)

    def copy_file(self, source: str, target: str) -> Outcome[None]:
        """Copy a file over what is at the target."""
        return self._either(super().copy_file, self.default_copy_file, None, source, target)

    def paths_exist(self, uris: Sequence[str], *, with_statuses: bool = True) -> Outcome[Existence]:
        """Whether all paths exist; with statuses, what is wrong with each."""
        nothing = Existence(False, None)
        return self._either(super().paths_exist, self.default_paths_exist, nothing, uris, with_statuses=with_statuses)

    def is_directory(self, uri: str) -> Outcome[int]:
        """The kind, as status and as number."""
        return self._either(super().is_directory, self.default_is_directory, 0, uri)

    def get_file_size(self, uri: str) -> Outcome[int]:
        """The length of a file in bytes."""
        return self._either(super().get_file_size, self.default_get_file_size, -1, uri)

    def get_matching_paths(self, pattern: str) -> Outcome[Entries]:
        """The names that match a glob; the pattern is not translated."""
        return self._either(super().get_matching_paths, self.default_get_matching_paths, Entries(-1, ()), pattern)

    def flush_caches(self) -> Outcome[None]:
        """Drop what is cached."""
        if "flush_caches" in self._asked:
            return self.raw.flush_caches()
        return answer("flush_caches", None)

    # Those that it has none for -------------------------------------------------------------------------------------

    def stat(self, uri: str) -> Outcome[Statistics]:
        """Length in bytes, modification time in nanoseconds, kind."""
        return super().stat(uri) if "stat" in self._asked else self._absent("stat", Statistics(0, 0, 0))

    def get_children(self, uri: str) -> Outcome[Entries]:
        """The names in a directory."""
        return (
            super().get_children(uri)
            if "get_children" in self._asked
            else self._absent("get_children", Entries(-1, ()))
        )

    def _by_path(self, op: str, *uris: str) -> Outcome[None]:
        return super()._by_path(op, *uris) if op in self._asked else self._absent(op, None)

    def _open(self, op: str, uri: str, wrapper: Callable[[RawFilesystem, int], H]) -> Outcome[H | None]:
        return super()._open(op, uri, wrapper) if op in self._asked else self._absent(op, None)

    def _either(
        self,
        own: Callable[P, Outcome[T]],
        by_core: Callable[P, Outcome[T]],
        empty: T,
        *args: P.args,
        **options: P.kwargs,
    ) -> Outcome[T]:
        """The plugin's op, or core's own algorithm; what that ends in if an op that it needs is NULL too."""
        op = own.__name__
        if op in self._asked:
            return own(*args, **options)
        if not self.available(op):
            return self._absent(op, empty)
        # One default may use another.
        before, self.raw.default = self.raw.default, op
        try:
            return by_default(by_core(*args, **options))
        finally:
            self.raw.default = before
