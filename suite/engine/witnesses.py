"""Witnesses: what independent ops, and the backing, say of one file. Set-up and backing are proven by them.

Where there is a backing, it decides. Among ops, one that denies what others see is wrong itself, and what all of them
deny is not there.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from ...harness.hosting.loader import BlockedError
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import Filesystem
from ...harness.ops.guard import Guard
from ...harness.ops.outcomes import Outcome
from ...harness.targets.backing import Backing, BackingUnableError
from .workbench import HostedFilesystem, Workbench

#: It takes so many witnesses to prove an op wrong that answered OK.
ENOUGH = 2
#: Bytes that a witness reads of a file at most.
MOST_BYTES = 2 << 20
_PROBE = b"seen from both sides"
_ALL_OK = "all steps answered OK"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file of `content`, or a directory where that is None, which a case made through the plugin.

    `name` is relative to the case's directory; empty for that directory itself. `before` is what the file held that
    was written anew.
    """

    name: str
    content: bytes | None
    before: bytes = b""

    @property
    def left(self) -> tuple[bytes, ...]:
        """What is in a file written anew of which something stayed: its end, or all of it."""
        assert self.content is not None
        return (self.content + self.before[len(self.content) :], self.before + self.content)

    def says(self, found: bytes) -> "Says":
        """What bytes say that were found in the file."""
        if found == self.content:
            return Says.AS_WRITTEN
        return Says.LEFT if found in self.left else Says.OTHERWISE


def nobody_finds(fs: Filesystem, uri: str, *, is_file: bool) -> bool:
    """Whether at least two witnesses say that nothing is at `uri`, and none that there is."""
    found = [there for _, there in sightings(fs, uri, is_file=is_file) if there is not None]
    return len(found) >= ENOUGH and not any(found)


def sightings(fs: Filesystem, uri: str, *, is_file: bool) -> Iterator[tuple[str, bool | None]]:
    """What each op says: there, not there, or nothing that can be used."""
    yield "path_exists", _said(fs.path_exists(uri))
    yield "stat", _said(fs.stat(uri))
    listed = fs.get_children(paths.dirname(uri))
    is_listed = listed.ok and paths.basename(uri) in (name.rstrip("/") for name in listed.value.names)
    yield "get_children", is_listed if listed.ok else _said(listed)
    if is_file:
        opened = fs.new_random_access_file(uri)
        if opened.value is None:
            yield "read", _said(opened)
        else:
            # One that opens whatever there is tells by what it reads.
            with opened.value as file:
                read = file.read(0, 1)
            yield "read", True if read.code is Code.OUT_OF_RANGE else _said(read)


def _said(outcome: Outcome[object]) -> bool | None:
    return {Code.OK: True, Code.NOT_FOUND: False}.get(outcome.code)


class Says(Enum):
    """What one witness says of a file whose content is known."""

    AS_WRITTEN = "as written"
    OTHERWISE = "otherwise"
    LEFT = "left of before"
    GONE = "gone"
    NOTHING = "nothing"


#: The op that is blamed for what is in a file.
BLAMED = {Says.GONE: "new_writable_file", Says.LEFT: "new_writable_file", Says.OTHERWISE: "append"}


def blamed(*said: Says) -> str | None:
    """The op that is blamed for what a backing says, or else stat, get_file_size and read; None where no op is.

    A backing decides alone: what it holds was written, whatever else is told. Without one the writing is blamed only
    where all three ops say the same: a read often ends where stat says that the file does, and proves nothing then.
    """
    return BLAMED.get(said[0]) if len(set(said)) == 1 else None


def flaw(fs: Filesystem, uri: str, one: Prepared, backing: Backing | None, name: str) -> BlockedError | None:
    """What is wrong with what was prepared at `uri`, and the op to which that is due; None where nothing is.

    `name` is what the backing calls it. Of directories a backing says nothing: a store of objects may keep none.
    Nor does one that lists the file, and cannot say its name.
    """
    if one.content is None:
        nobody = nobody_finds(fs, uri, is_file=False)
        return BlockedError("create_dir", f"{_ALL_OK}, and no op finds the directory afterwards") if nobody else None
    what = "an empty file" if one.content == b"" else "the file"
    stored = backing.read(name) if backing is not None else None
    if backing is not None and (stored is not None or not backing.lists(name)):
        said = Says.GONE if stored is None else one.says(stored)
        op = blamed(said)
        other = "what was there before" if said is Says.LEFT else "other bytes"
        found = f"does not have {what}" if stored is None else f"holds {other}"
        return BlockedError(op, f"{_ALL_OK}, and the backing {found} afterwards") if op else None
    if nobody_finds(fs, uri, is_file=True):
        return BlockedError("new_writable_file", f"{_ALL_OK}, and no op finds {what} afterwards")
    if len(one.content) > MOST_BYTES:
        return None
    lengths = tuple(sizes(fs, uri))
    compared = _compared(lengths, one)
    op = blamed(*compared)
    bytes_found = f"the {lengths[0]} that were there before" if Says.LEFT in compared else f"{lengths[0]}"
    return BlockedError(op, f"{_ALL_OK}; expected {len(one.content)} bytes, found {bytes_found}") if op else None


def sizes(fs: Filesystem, uri: str) -> Iterator[int | None]:
    """The size of a file by stat, get_file_size and read; None where the op does not tell.

    Core's default for get_file_size is stat once more. One source is one witness.
    """
    looked = fs.stat(uri)
    yield looked.value.length if looked.ok else None
    asked = fs.get_file_size(uri)
    yield asked.value if asked.ok and "get_file_size" in fs.present else None
    read = content(fs, uri)
    yield None if read is None else len(read)


def _compared(sizes: tuple[int | None, ...], one: Prepared) -> tuple[Says, ...]:
    """What sizes say of a file. Those that contradict each other say nothing."""
    written, left = len(one.content or b""), set(map(len, one.left))
    wrong = {size for size in sizes if size not in (None, written)}
    otherwise = Says.NOTHING if len(wrong) != 1 else Says.LEFT if wrong <= left else Says.OTHERWISE
    return tuple(Says.NOTHING if size is None else Says.AS_WRITTEN if size == written else otherwise for size in sizes)


def content(fs: Filesystem, uri: str) -> bytes | None:
    """What a reader finds in a file, MOST_BYTES at most; None if it cannot be read."""
    opened = fs.new_random_access_file(uri)
    if opened.value is None:
        return None
    with opened.value as file:
        got = file.read(0, MOST_BYTES)
        return got.value.data if got.code in (Code.OK, Code.OUT_OF_RANGE) else None


def wrong_backing(bench: Workbench) -> str | None:
    """How the backing of a target shows another storage than its plugin, or None.

    A file is written by each side and read by the other. A plugin that does not read back what it wrote itself proves
    nothing against a backing.
    """
    if bench.target.backing is None or bench.target.root is None:
        return None
    directory = bench.directory("witness")
    said: list[str] = []

    def prove(filesystem: HostedFilesystem) -> None:
        if not bench.make(filesystem, directory).ok:
            return
        by_plugin, by_backing = (paths.join(directory, name) for name in ("by-plugin", "by-backing"))
        writes = filesystem.available("new_writable_file")
        if writes and not _wrote(filesystem, by_plugin):
            return
        inside = paths.basename(directory)
        if writes and bench.backing.read(f"{inside}/by-plugin") == _PROBE:
            return
        put = False
        with suppress(BackingUnableError):
            bench.backing.write(f"{inside}/by-backing", _PROBE)
            put = True
        if put and content(filesystem, by_backing) == _PROBE:
            return
        if put:
            # The plugin does not see it, and cannot remove it.
            with suppress(BackingUnableError):
                bench.backing.delete(f"{inside}/by-backing")
        if writes or nobody_finds(filesystem, by_backing, is_file=True):
            said.append(f"the backing {bench.target.backing} is not where {bench.target.root} is: "
                        "what one of the two writes, the other does not find")  # fmt: skip

    with suppress(BlockedError, BackingUnableError):
        bench.alone(Guard(directory), prove)
    bench.remove(directory)
    return said[0] if said else None


def _wrote(fs: Filesystem, uri: str) -> bool:
    """Whether the plugin writes a file and reads it back."""
    opened = fs.new_writable_file(uri)
    if opened.value is None:
        return False
    with opened.value as file:
        good = file.append(_PROBE).ok & file.close().ok
    return good and content(fs, uri) == _PROBE
