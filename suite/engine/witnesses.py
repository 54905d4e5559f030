"""Witnesses: what independent ops, and the backing, say of one file. Set-up and backing are proven by them.

One witness that denies what others see is wrong itself. What all of them deny is not there.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from ...harness.hosting.loader import Blocked
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import Filesystem
from ...harness.ops.guard import Guard
from ...harness.ops.outcomes import Outcome
from ...harness.targets.backing import Backing, Unable
from .workbench import HostedFilesystem, Workbench

#: It takes so many witnesses to prove an op wrong that answered OK.
ENOUGH = 2
#: Bytes that a witness reads of a file at most.
MOST_BYTES = 1 << 20
_PROBE = b"seen from both sides"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file of `content`, or a directory where that is None, which a case made through the plugin.

    `name` is relative to the case's directory; empty for that directory itself.
    """

    name: str
    content: bytes | None


def nobody_finds(fs: Filesystem, uri: str, *, is_file: bool, backed: bool = True) -> bool:
    """Whether at least two witnesses say that nothing is at `uri`, and none that there is.

    `backed` is what the backing says: False where it has no such file.
    """
    found = [there for there in _sightings(fs, uri, is_file=is_file) if there is not None]
    if not backed:
        found.append(False)
    return len(found) >= ENOUGH and not any(found)


def _sightings(fs: Filesystem, uri: str, *, is_file: bool) -> Iterator[bool | None]:
    """What each op says: there, not there, or nothing that can be used."""
    yield _said(fs.path_exists(uri))
    yield _said(fs.stat(uri))
    listed = fs.get_children(paths.dirname(uri))
    yield paths.basename(uri) in (name.rstrip("/") for name in listed.value.names) if listed.ok else _said(listed)
    if is_file:
        opened = fs.new_random_access_file(uri)
        if opened.value is None:
            yield _said(opened)
        else:
            # One that opens whatever there is tells by what it reads.
            with opened.value as file:
                read = file.read(0, 1)
            yield True if read.code is Code.OUT_OF_RANGE else _said(read)


def _said(outcome: Outcome[object]) -> bool | None:
    return {Code.OK: True, Code.NOT_FOUND: False}.get(outcome.code)


def flaw(fs: Filesystem, uri: str, one: Prepared, backing: Backing | None, name: str) -> Blocked | None:
    """What is wrong with what was prepared at `uri`, and the op to which that is due; None where nothing is.

    `name` is what the backing calls it.
    """
    op = "create_dir" if one.content is None else "new_writable_file"
    stored = backing.read(name) if backing and one.content is not None else b""
    if nobody_finds(fs, uri, is_file=one.content is not None, backed=stored is not None):
        what = "an empty file" if one.content == b"" else "the file" if one.content else "the directory"
        return Blocked(op, f"all steps answered OK, and nobody finds {what} afterwards")
    if one.content is None or len(one.content) > MOST_BYTES:
        return None
    read = _read(fs, uri)
    if backing and read is not None and read == stored != one.content:
        return Blocked("append", "all steps of writing answered OK, and plugin and backing both read other bytes")
    sizes = [size for size in _sizes(fs, uri, read) if size is not None]
    if len(sizes) >= ENOUGH and len(set(sizes)) == 1 and sizes[0] != len(one.content):
        return Blocked("append", f"all steps answered OK, and the file has {sizes[0]} bytes of {len(one.content)}")
    return None


def _sizes(fs: Filesystem, uri: str, read: bytes | None) -> Iterator[int | None]:
    looked = fs.stat(uri)
    yield looked.value.length if looked.ok else None
    asked = fs.get_file_size(uri)
    yield asked.value if asked.ok else None
    yield None if read is None else len(read)


def _read(fs: Filesystem, uri: str) -> bytes | None:
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
        put = _put(bench.backing, f"{inside}/by-backing")
        if put and _read(filesystem, by_backing) == _PROBE:
            return
        if put:
            # The plugin does not see it, and cannot remove it.
            with suppress(Unable):
                bench.backing.delete(f"{inside}/by-backing")
        if writes or nobody_finds(filesystem, by_backing, is_file=True):
            said.append(f"the backing {bench.target.backing} is not where {bench.target.root} is: "
                        "what one of the two writes, the other does not find")  # fmt: skip

    with suppress(Blocked, Unable):
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
    return good and _read(fs, uri) == _PROBE


def _put(backing: Backing, name: str) -> bool:
    try:
        backing.write(name, _PROBE)
    except Unable:
        return False
    return True
