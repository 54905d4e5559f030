"""A backing: a second way to the plugin's storage. It puts files there, and reads what the plugin wrote.

It is any URL that fsspec takes, such as `file:///srv/data` or `s3://bucket/prefix`.
"""

import errno
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from ..ops import paths
from ..over_tables.raw import LateListings


class BackingUnableError(Exception):
    """The backing cannot do what was asked. The text says why, and becomes the reason of a case that is not run."""


class BackingIncapableError(BackingUnableError):
    """This kind of storage never can, or the target has no backing: the case is absent, for nobody could run it."""


class BackingUnnamedError(BackingIncapableError):
    """Nobody named a backing: the case is absent, and would run with one."""


class Backing:
    """Files below `url`, which is the same directory as the target's root.

    Names are relative to it, such as `case-1/file`. `options` are fsspec's options for this kind of storage, such as
    `{"endpoint_url": "http://127.0.0.1:9000"}`. Each method raises BackingUnableError where the storage cannot do what
    is asked.
    """

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        import fsspec  # noqa: PLC0415 - most runs have no backing, and it is slow to import

        try:
            filesystem, base = fsspec.core.url_to_fs(url, **(options or {}))
        except (ImportError, ValueError) as error:
            raise BackingUnableError(f"the backing {url} cannot be used: {error}") from error
        self._filesystem: Any = filesystem
        self._base: str = base

    def read(self, name: str) -> bytes | None:
        """The content of a file, or None where there is no such file."""
        with self._able("read a file"), suppress(FileNotFoundError):
            return bytes(self._filesystem.cat_file(self._at(name)))
        return None

    def lists(self, name: str) -> bool:
        """Whether the listing of its directory has this name. `read` may mean another file: some clients take a name
        for a URL, and drop a tab, or what is behind a `?`.
        """
        at = self._at(name)
        above = paths.dirname(at)
        with self._able("list a directory"), suppress(FileNotFoundError):
            self._filesystem.invalidate_cache(above)
            return any(paths.basename(one) == paths.basename(at) for one in self._filesystem.ls(above, detail=False))
        return False

    def tree(self, name: str) -> dict[str, bytes | None]:
        """All that is below a directory: path to content, None for a directory."""
        at = f"{self._at(name)}/"
        found: dict[str, bytes | None] = {}
        with self._able("list a directory"):
            self._filesystem.invalidate_cache(at)
            for path, one in self._filesystem.find(at, withdirs=True, detail=True).items():
                # Of some kinds it is among what is in it.
                if path.startswith(at) and path != at:
                    is_file = one["type"] == "file"
                    found[path.removeprefix(at)] = bytes(self._filesystem.cat_file(path)) if is_file else None
        return found

    def write(self, name: str, content: bytes) -> None:
        """Create or replace a file, and the directories above it."""
        at = self._at(name)
        with self._able("write a file"):
            try:
                self._filesystem.pipe_file(at, content)
            except FileNotFoundError:
                # Where the plugin knows no directories, its storage may have some all the same.
                self._filesystem.makedirs(paths.dirname(at), exist_ok=True)
                self._filesystem.pipe_file(at, content)

    def write_sparse(self, name: str, pieces: Mapping[int, bytes]) -> None:
        """Create a sparse file that holds `pieces` at these offsets, in bytes, and NUL bytes between them.

        Only `file://` has sparse files.
        """
        if not self.has_sparse_files:
            raise BackingIncapableError("the backing has no sparse files")
        self.write(name, b"")
        with self._able("write a file"), open(self._at(name), "wb") as file:
            for offset, piece in pieces.items():
                file.seek(offset)
                file.write(piece)

    @contextmanager
    def out_of_reach(self, directory: str, name: str) -> Iterator[None]:
        """Inside the block a directory holds an empty one whose whole path is longer than the system takes.

        It can be listed, and not be opened or deleted by its path. Raise BackingUnableError where the storage has no
        such limit.
        """
        if "file" not in self._filesystem.protocol:
            raise BackingIncapableError("the backing has no limit for the length of a path")
        with self._able("open a directory"):
            at = os.open(self._at(directory), os.O_RDONLY | os.O_DIRECTORY)
        try:
            with self._able("make a directory"):
                os.mkdir(name, dir_fd=at)
            try:
                yield
            finally:
                with suppress(FileNotFoundError):
                    os.rmdir(name, dir_fd=at)
        finally:
            os.close(at)

    def make_directory(self, name: str) -> None:
        """Create a directory and its missing parents. Where there are none, an empty object stands for it."""
        at = self._at(name)
        with self._able("make a directory"):
            self._filesystem.makedirs(at, exist_ok=True)
            if self.marks_directories and not self._filesystem.exists(at):
                self._filesystem.pipe_file(f"{at}/", b"")

    @property
    def has_sparse_files(self) -> bool:
        """Whether `write_sparse` can be used."""
        return "file" in self._filesystem.protocol

    @property
    def marks_directories(self) -> bool:
        """Whether a directory may be an object of its own, as in stores of objects."""
        return "file" not in self._filesystem.protocol

    def mark_directory(self, name: str) -> None:
        """Create an empty object whose name is that of the directory and a slash, as consoles of object stores do.

        Raise BackingUnableError where directories are no objects.
        """
        if not self.marks_directories:
            raise BackingIncapableError("the backing has directories of its own, and no objects that mark them")
        with self._able("make an object"):
            self._filesystem.pipe_file(self._at(name) + "/", b"")

    def delete(self, name: str) -> None:
        """Delete a file."""
        with self._able("delete a file"):
            self._filesystem.rm_file(self._at(name))

    def delete_tree(self, name: str) -> None:
        """Delete a directory and everything in it, if it is there."""
        with self._able("delete a directory"), suppress(FileNotFoundError):
            self._filesystem.rm(self._at(name), recursive=True)

    @contextmanager
    def _able(self, what: str) -> Iterator[None]:
        """Turn what storage and its client say into Unable. A client has exceptions of its own beside OSError."""
        try:
            yield
        except Exception as error:
            said = getattr(error, "strerror", None) or error
            # No storage of this kind takes a name of that length.
            kind = BackingIncapableError if getattr(error, "errno", None) == errno.ENAMETOOLONG else BackingUnableError
            raise kind(f"the backing cannot {what}: {said}") from error
        finally:
            LateListings.changed = time.monotonic()

    def _at(self, name: str) -> str:
        inside = paths.components(name)
        if ".." in inside:
            raise BackingUnableError(f"{name!r} leaves the directory of the backing")
        return paths.join(self._base, *inside)
