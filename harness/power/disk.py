"""A disk that loses its power: what is on it then, of what was written, and of what was made durable by fsync(2).

Data and entries of directories are apart, as in POSIX: fsync(2) of a file makes its bytes durable, that of a directory
its entries. A rename is one change, wherever its two entries are, as in filesystems with a journal.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

import msgspec

#: The directory that is mounted.
ROOT = 1
#: What is on a disk: relative path to content, None for a directory, a text for where a link leads.
Found = dict[str, bytes | str | None]


class Made(msgspec.Struct, frozen=True, tag=True):
    """A file came into being that has no name yet; a directory; or a link, which leads somewhere."""

    node: int
    is_directory: bool = False
    link: str | None = None


class Named(msgspec.Struct, frozen=True, tag=True):
    """Entries were changed at once, each a directory, a name, and what has it now; None for nothing."""

    changes: tuple[tuple[int, str, int | None], ...]


class Written(msgspec.Struct, frozen=True, tag=True):
    """Bytes were written to a file."""

    node: int
    offset: int
    data: bytes


class Sized(msgspec.Struct, frozen=True, tag=True):
    """A file was cut off, or made longer."""

    node: int
    size: int


class Synced(msgspec.Struct, frozen=True, tag=True):
    """fsync(2) or fdatasync(2) of a file or a directory."""

    node: int


class Settled(msgspec.Struct, frozen=True, tag=True):
    """All that is there has become durable."""


Event = Made | Named | Written | Sized | Synced | Settled


class PowerLoss(Enum):
    """What is lost beside what a process had not written: fsync(2) is waited for by nobody else.

    DATA: the bytes, while names and the ends of files that were cut off are kept. NAMES: changes of entries, while
    bytes are kept. BOTH: bytes and changes of entries.
    """

    DATA = "the names are kept, and not the data"
    NAMES = "the data are kept, and not the names"
    BOTH = "neither names nor data are kept"


@dataclass(slots=True)
class _DiskFile:
    """A file: its bytes, those of them that are durable, and the smallest size that it had since these were."""

    data: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    shortest: int = 0

    def sync(self) -> None:
        self.durable = bytes(self.data)
        self.shortest = len(self.data)

    def after(self, loss: PowerLoss) -> bytes:
        if loss is PowerLoss.NAMES:
            return bytes(self.data)
        return self.durable if loss is PowerLoss.BOTH else self.durable[: self.shortest]


class Disk:
    """What is there, and what of it is durable."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.files: dict[int, _DiskFile] = {}
        self.links: dict[int, str] = {}
        #: The entries of each directory.
        self.names: dict[int, dict[str, int]] = {ROOT: {}}
        self._kept: dict[int, dict[str, int]] = {ROOT: {}}
        self._waiting: list[Named] = []
        for event in events:
            self.apply(event)

    def apply(self, event: Event) -> None:
        """Something happens."""
        match event:
            case Made(node, is_directory, link):
                if is_directory:
                    self.names[node], self._kept[node] = {}, {}
                elif link is not None:
                    self.links[node] = link
                else:
                    self.files[node] = _DiskFile()
            case Named():
                _change(self.names, event)
                self._waiting.append(event)
            case Written(node, offset, data):
                content = self.files[node].data
                content.extend(bytes(max(0, offset - len(content))))
                content[offset : offset + len(data)] = data
            case Sized(node, size):
                file = self.files[node]
                file.shortest = min(file.shortest, size)
                del file.data[size:]
                file.data.extend(bytes(size - len(file.data)))
            case Synced(node) if node in self.names:
                self._keep({node})
            case Synced(node):
                self.files[node].sync()
            case Settled():
                self._keep(set(self.names))
                for file in self.files.values():
                    file.sync()

    def _keep(self, directories: set[int]) -> None:
        """Make durable what changed in these directories, and what has to be in others then."""
        later: list[Named] = []
        kept: list[Named] = []
        for named in reversed(self._waiting):
            touched = {directory for directory, _, _ in named.changes}
            if touched.isdisjoint(directories):
                later.append(named)
            else:
                directories |= touched
                kept.append(named)
        for named in reversed(kept):
            _change(self._kept, named)
        self._waiting = later[::-1]

    def after(self, loss: PowerLoss) -> Found:
        """What is on the disk after its power was lost."""
        found: Found = {}
        names = self.names if loss is PowerLoss.DATA else self._kept
        waiting = [("", ROOT)]
        for above, directory in waiting:
            for name, node in names[directory].items():
                path = above + name
                if node in self.names:
                    found[path] = None
                    waiting.append((f"{path}/", node))
                else:
                    found[path] = self.links[node] if node in self.links else self.files[node].after(loss)
        return found


def _change(names: dict[int, dict[str, int]], named: Named) -> None:
    for directory, name, node in named.changes:
        if node is None:
            names[directory].pop(name, None)
        else:
            names[directory][name] = node
