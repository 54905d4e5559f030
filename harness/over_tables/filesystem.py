"""Core behaviour: what TensorFlow does above the tables of one registered filesystem (modular_filesystem.cc).

Names are URIs. Each op translates them once, asks the guard, and calls the plugin, or does what core does where the
plugin left the entry NULL.
"""

import copy
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Self

from ..ops import paths
from ..ops.codes import Code
from ..ops.defaults import Defaults, answer, by_default
from ..ops.guard import Guard
from ..ops.outcomes import Crashed, DiedError, Outcome
from ..ops.tables import asks_for_the_kind, available
from .hosted import HostedOps, T
from .raw import RawFilesystem


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
        self._unimplemented = {op: code for op, code in unimplemented.items() if op in present}
        # What answered UNIMPLEMENTED once may do more in another situation.
        refused = {op for op, code in self._unimplemented.items() if code is not Code.UNIMPLEMENTED}
        can = present - self._unimplemented.keys()
        # A reader that reads nothing is of no use: what would open one is as good as not there.
        useless = set[str]() if "read" in can else {"new_random_access_file"}
        super().__init__(raw, can - useless, present - refused - useless, guard)
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

    def flush_caches(self) -> Outcome[None]:
        """Drop what is cached."""
        if "flush_caches" in self._asked:
            return self.raw.flush_caches()
        return answer("flush_caches", None)

    def _instead(self, op: str, empty: T, *arguments: object) -> Outcome[T]:
        """Core's own algorithm, or the answer that it ends in where an op that it needs is NULL too."""
        if not self.available(op):
            return self._absent(op, empty)
        perform: Callable[..., Outcome[T]] = getattr(self, f"default_{op}")
        # One default may use another.
        before, self.raw.default = self.raw.default, op
        try:
            return by_default(perform(*arguments))
        finally:
            self.raw.default = before
