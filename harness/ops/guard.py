"""The guard: it refuses ops that would change anything outside of the case's directory. Nobody's files are harmed."""

from collections.abc import Callable, Sequence

from . import paths
from .tables import CHANGING

#: What may stand between a path and a version of it.
_MARKS = tuple(";@?#!")


class RefusedError(Exception):
    """An op was not sent to the plugin, because it could change what is not the case's. The text says which path."""


class Guard:
    """Admits ops that change something only where their paths lie in `directory`.

    `directory` is a URI with at least one name in its path, such as `mine://bucket/tmp`; a root raises ValueError.

    With `making`, the ops that create directories may also create the parents of `directory`: the target's root is made
    in this way.
    """

    def __init__(self, directory: str, *, making: bool = False) -> None:
        uri = paths.parse(directory)
        self._prefix = uri.prefix
        self._components = paths.components(uri.path)
        if not self._components:
            raise ValueError(f"{directory!r} names a root, which cannot be given to a case")
        self._making = making
        #: The names for which it was asked what stands for them.
        self._admitted: set[tuple[str, str]] = set()

    def admit(
        self,
        op: str,
        names: Sequence[str],
        translated: Sequence[str],
        translate: Callable[[str], str] = paths.translate,
    ) -> None:
        """Raise `RefusedError` where `op` must not be sent with these URIs.

        `translated` holds what translate_name made of each of `names`, in the same order; `translate` asks it for more.
        """
        if op not in CHANGING:
            return
        if op == "copy_file":  # the source is only read
            names, translated = names[1:], translated[1:]
        for name, plain in zip(names, translated, strict=True):
            if not self.reaches(op, name):
                raise RefusedError(f"{op} was not sent: {name!r} is outside the case's directory")
            self._admit_translation(op, name, plain, translate)

    def reaches(self, op: str, name: str) -> bool:
        """Whether `op` may get this URI, as long as translate_name leaves it where it is."""
        uri = paths.parse(name)
        parts = paths.components(uri.path)
        if uri.prefix != self._prefix or ".." in parts:
            return False
        if parts[: len(self._components)] == self._components:
            return True
        creates = op in ("create_dir", "recursively_create_dir")
        return self._making and creates and bool(parts) and parts == self._components[: len(parts)]

    def _admit_translation(self, op: str, name: str, plain: str, translate: Callable[[str], str]) -> None:
        # A plugin may translate a URI into anything. The result must at least contain the name of the case's directory.
        parts = paths.components(paths.parse(plain).path if "://" in plain else plain)
        is_inside = self._components[-1] in parts or self._making or (name, plain) in self._admitted
        if parts and ".." not in parts and (is_inside or self._stands_for(name, plain, translate)):
            self._admitted |= set() if is_inside else {(name, plain)}
            return
        raise RefusedError(
            f"{op} was not sent: translate_name returned {plain!r} for {name!r}, which is outside the case's directory"
        )

    def _stands_for(self, name: str, plain: str, translate: Callable[[str], str]) -> bool:
        """Whether `plain` is no path, or has a mark after it that no path has, and stands for `name` alone.

        It does where it is the same again, and where names of the same length that differ in the last letter of the
        case's directory, or in their own last one, are translated otherwise.
        """
        rest = paths.clean(plain).removeprefix(paths.translate(name))
        if "/" in plain and rest[:1] not in _MARKS:
            return False
        parts = paths.components(paths.parse(name).path)
        for place in {len(self._components) - 1, len(parts) - 1}:
            last = "0" if parts[place][-1] != "0" else "1"
            other = [*parts[:place], parts[place][:-1] + last, *parts[place + 1 :]]
            if plain == translate("/".join([self._prefix, *other])):
                return False
        return plain == translate(name)
