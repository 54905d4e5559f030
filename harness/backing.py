"""A backing: an independent way to the storage that a plugin serves, to seed it and to see what the plugin did.

Any URL that fsspec understands (`file:///srv/data`, `s3://bucket/prefix`, …).
"""

from collections.abc import Mapping
from typing import Any

from . import paths


class Unable(Exception):
    """The backing cannot do what was asked; the text says why."""


class Backing:
    """`url` stands for the same directory as the target's root; names are relative to it.

    `options` are those of fsspec for the store, such as its endpoint.
    """

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        import fsspec  # noqa: PLC0415 - most runs have no backing, and it is slow to import

        try:
            filesystem, base = fsspec.core.url_to_fs(url, **(options or {}))
        except (ImportError, ValueError) as error:
            raise Unable(f"the backing {url} cannot be used: {error}") from error
        self._filesystem: Any = filesystem
        self._base: str = base

    def read(self, name: str) -> bytes | None:
        """All that is in a file; None where there is none."""
        try:
            return bytes(self._filesystem.cat_file(self._at(name)))
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, instead of what was there before. Raises Unable where there can be no such file."""
        try:
            self._filesystem.pipe_file(self._at(name), content)
        except OSError as error:
            raise Unable(f"the backing cannot write such a file: {error.strerror or error}") from error

    def write_sparse(self, name: str, pieces: Mapping[int, bytes]) -> None:
        """Put a file there that holds `pieces` at these offsets in bytes, and NUL between them, without writing those.

        Raises Unable where the store has no such files.
        """
        if "file" not in self._filesystem.protocol:
            raise Unable("the backing has no sparse files")
        with open(self._at(name), "wb") as file:
            for offset, piece in pieces.items():
                file.seek(offset)
                file.write(piece)

    def make_directory(self, name: str) -> None:
        """Put a directory there, with those above it."""
        self._filesystem.makedirs(self._at(name), exist_ok=True)

    def delete(self, name: str) -> None:
        """Remove a file."""
        self._filesystem.rm_file(self._at(name))

    def delete_tree(self, name: str) -> None:
        """Remove a directory with all that is in it."""
        self._filesystem.rm(self._at(name), recursive=True)

    def _at(self, name: str) -> str:
        inside = paths.components(name)
        if ".." in inside:
            raise Unable(f"{name!r} leaves the directory of the backing")
        return paths.join(self._base, *inside)
