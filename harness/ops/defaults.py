"""What core does where a plugin leaves an entry NULL (modular_filesystem.cc, file_system.cc, file_system_helper.cc).

Every step goes through the ops above the tables again, with URIs, as in core.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from . import glob, paths
from .codes import Code
from .filesystem import Filesystem
from .outcomes import DiedError, Endless, Entries, Existence, Outcome, Source, Status, Undeleted

T = TypeVar("T")

#: Bytes that core copies at a time.
COPY_BYTES = 128 << 10
#: So many entries one walk of a default looks at. A case makes fewer than half as many; core itself has no bound.
MOST_ENTRIES = 5000
#: Entries that lead no deeper.
NOT_DOWN = ("", ".", "..")
#: So many bytes a copy makes before it looks how long its source is.
MOST_BYTES = 8 << 20


def answer(op: str, value: T, code: Code = Code.OK, message: str = "") -> Outcome[T]:
    """An outcome that core itself gives."""
    return Outcome(op, code, message, value, source=Source.DEFAULT)


def passed_on(op: str, value: T, given: Outcome[object]) -> Outcome[T]:
    """An outcome of core that gives back what an op of the plugin answered."""
    return Outcome(op, given.code, given.message, value, source=Source.DEFAULT, passed_on=given.passed_on or given.op)


class Defaults(Filesystem):
    """The default of each op that has one, over the ops that a subclass performs. Arguments are URIs."""

    def may_create(self, uri: str) -> bool:
        """Whether core's defaults may create this directory. The parents of the root are not of the case."""
        raise NotImplementedError

    def default_paths_exist(self, uris: Sequence[str], with_statuses: bool) -> Outcome[Existence]:
        """Ask one after the other; without statuses stop at the first that is not there."""
        statuses: list[Status] = []
        for uri in uris:
            one = self.path_exists(uri)
            statuses.append(Status(one.code, one.message))
            if not one.ok and not with_statuses:
                break
        everything = all(status.code is Code.OK for status in statuses)
        return answer("paths_exist", Existence(everything, tuple(statuses) if with_statuses else None))

    def default_is_directory(self, uri: str) -> Outcome[int]:
        """Existence first, then the flag of stat."""
        exists = self.path_exists(uri)
        if not exists.ok:
            return passed_on("is_directory", 0, exists)
        statistics = self.stat(uri)
        if not statistics.ok:
            return passed_on("is_directory", 0, statistics)
        if statistics.value.is_directory:
            return answer("is_directory", 1)
        return answer("is_directory", 0, Code.FAILED_PRECONDITION, f"{uri} is not a directory")

    def default_get_file_size(self, uri: str) -> Outcome[int]:
        """The length that stat gives, but not of a directory."""
        statistics = self.stat(uri)
        if not statistics.ok:
            return passed_on("get_file_size", -1, statistics)
        if statistics.value.is_directory:
            return answer("get_file_size", -1, Code.FAILED_PRECONDITION, f"{uri} is a directory")
        return answer("get_file_size", statistics.value.length)

    def default_recursively_create_dir(self, uri: str) -> Outcome[None]:
        """Walk up to the first directory that is there, or that is not the case's, then create downwards."""
        op = "recursively_create_dir"
        missing: list[str] = []
        at = uri.rstrip("/") if paths.parse(uri).path.rstrip("/") else uri
        while True:
            exists = self.path_exists(at)
            if exists.ok:
                directory = self.is_directory(at)
                if directory.ok:
                    break
                if directory.code is Code.UNIMPLEMENTED:
                    return passed_on(op, None, directory)
                return answer(op, None, Code.FAILED_PRECONDITION, f"{at} is not a directory")
            if exists.code is not Code.NOT_FOUND:
                return passed_on(op, None, exists)
            missing.append(paths.basename(at))
            at = paths.dirname(at)
            if not self.may_create(at):
                break
        for name in reversed(missing):
            at = paths.join(at, name)
            created = self.create_dir(at)
            if not created.ok and created.code is not Code.ALREADY_EXISTS:
                return passed_on(op, None, created)
        return answer(op, None)

    def default_delete_recursively(self, uri: str) -> Outcome[Undeleted]:
        """Breadth first; files on the way, directories afterwards in the reverse order of discovery."""
        op = "delete_recursively"
        exists = self.path_exists(uri)
        if not exists.ok:
            return passed_on(op, Undeleted(0, 1), exists)
        if not self.is_directory(uri).ok:
            deleted = self.delete_file(uri)
            return passed_on(op, Undeleted(0 if deleted.ok else 1, 0), deleted)
        files = dirs = 0
        first: Outcome[object] | None = None
        found = [uri]
        entries = 0
        for directory in found:
            children = self.get_children(directory)
            if not children.ok:
                dirs += 1
                first = first or children
                continue
            entries += len(children.value.names)
            if entries > MOST_ENTRIES:
                raise _endless_listing(op)
            for name in children.value.names:
                child = paths.join(directory, name)
                if self.is_directory(child).ok:
                    if name in NOT_DOWN:
                        raise DiedError(Endless("get_children", op, f"gives {name!r}, which leads to where it was"))
                    found.append(child)
                    continue
                deleted = self.delete_file(child)
                if not deleted.ok:
                    files += 1
                    first = first or deleted
        for directory in reversed(found):
            deleted = self.delete_dir(directory)
            if not deleted.ok:
                dirs += 1
                first = first or deleted
        left = Undeleted(files, dirs)
        return passed_on(op, left, first) if first else answer(op, left)

    def default_copy_file(self, source: str, target: str) -> Outcome[None]:
        """Read and append in pieces; into a directory where the target is one. Not atomic."""
        op = "copy_file"
        opened = self.new_random_access_file(source)
        if opened.value is None:
            return passed_on(op, None, opened)
        with opened.value as reader:
            if self.is_directory(target).ok:
                target = paths.join(target, paths.basename(source))
            created = self.new_writable_file(target)
            if created.value is None:
                return passed_on(op, None, created)
            with created.value as writer:
                offset = 0
                length: int | None = None
                while True:
                    got = reader.read(offset, COPY_BYTES)
                    if got.code not in (Code.OK, Code.OUT_OF_RANGE):
                        return passed_on(op, None, got)
                    if got.code is Code.OK and not got.value.data:
                        # Core asks again for ever.
                        raise DiedError(Endless("read", op, "answers OK without a byte"))
                    appended = writer.append(got.value.data)
                    if not appended.ok:
                        return passed_on(op, None, appended)
                    offset += len(got.value.data)
                    if got.code is Code.OUT_OF_RANGE:
                        break
                    if offset > MOST_BYTES and length is None:
                        # Asked once, for a copy onto itself makes its source longer. It may not say.
                        told = self.stat(source)
                        length = told.value.length if told.ok else -1
                    if length is not None and 0 <= length < offset:
                        raise DiedError(Endless("read", op, "answers OK past the end of the file"))
                closed = writer.close()
                return passed_on(op, None, closed)

    def default_rename_file(self, source: str, target: str) -> Outcome[None]:
        """Copy, then delete the source."""
        copied = self.copy_file(source, target)
        if copied.ok:
            copied = self.delete_file(source)
        return passed_on("rename_file", None, copied)

    def default_get_matching_paths(self, pattern: str) -> Outcome[Entries]:
        """Walk from the last directory without glob characters; results keep the form of the pattern."""
        entries = 0

        def listed(uri: str) -> Sequence[str]:
            nonlocal entries
            names = self.get_children(uri).value.names
            entries += len(names)
            if entries > MOST_ENTRIES:
                raise _endless_listing("get_matching_paths")
            return names

        found = glob.walk(pattern, lambda uri: self.path_exists(uri).ok, lambda uri: self.is_directory(uri).ok, listed)
        matches = tuple(found)
        return answer("get_matching_paths", Entries(len(matches), matches))


def _endless_listing(walk: str) -> DiedError:
    return DiedError(Endless("get_children", walk, f"gives ever more entries, {MOST_ENTRIES} and no end"))


def by_default(outcome: Outcome[T]) -> Outcome[T]:
    """The outcome, marked as core's own."""
    return replace(outcome, source=Source.DEFAULT)
