"""The process that serves a `Disk` by FUSE, and keeps what happened to it: `python -m … DIRECTORY`.

It says "mounted" when it is. Each line on its standard input asks for something, and has one line for an answer:
`mark`, how much has happened so far; `settle`, the same when all that is there has become durable; `events`, all that
happened, as msgpack in base64. It ends with its standard input, and unmounts.
"""

import base64
import errno
import os
import stat
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import msgspec
from mfusepy import FUSE, Operations

from .disk import ROOT, Disk, Event, Made, Named, Settled, Sized, Synced, Written

#: The largest file of this filesystem, and the number of files that it says it has room for.
MOST = 1 << 26
#: Seconds that fsync(2) takes: who leaves it to a thread has answered by then.
SYNC = 0.05
_BLOCK = 4096
#: How the name begins that libfuse gives a file which is open and was removed, or replaced.
_HIDDEN = ".fuse_hidden"


class _Fuse(FUSE):  # type: ignore[misc] # it is not typed
    def rename_fuse_3(self, old: bytes, new: bytes, flags: int) -> Any:
        # renameat2(2) with flags is what many filesystems have not.
        return -errno.EINVAL if flags else self.rename_fuse_2(old, new)

    def write(self, path: bytes, buf: Any, size: int, offset: int, fip: Any) -> Any:
        # A write has the flags of the open that it goes through; one of mmap(2), which waits for msync(2), has none.
        self.operations.writes_through = bool(fip.contents.flags & os.O_DSYNC)
        return super().write(path, buf, size, offset, fip)


class PowerOperations(Operations):  # type: ignore[misc] # it is not typed
    """The disk as a filesystem. A file that is open is known by its number, whatever names it has."""

    use_ns = True

    def __init__(self) -> None:
        self._disk = Disk()
        self._events: list[Event] = []
        self._modes = {ROOT: stat.S_IFDIR | 0o777}
        self._times: dict[int, tuple[int, int]] = {}
        self._next = ROOT + 1
        #: Whether the write that comes is durable when it answers; one comes at a time.
        self.writes_through = False
        #: The files that libfuse hides, by path, and the last change of names by which it did.
        self._hidden: dict[str, int] = {}
        self._hiding: Named | None = None
        self._lock = threading.Lock()

    # What is asked of the process ------------------------------------------------------------------------------------

    def init(self, _: str) -> None:
        """It is mounted."""
        print("mounted", flush=True)

    def answer(self, question: str) -> str:
        """The answer to a line."""
        with self._lock:
            if question == "settle":
                self._happens(Settled())
            if question == "events":
                return base64.b64encode(msgspec.msgpack.encode(self._events)).decode()
            return str(len(self._events))

    def _happens(self, event: Event) -> None:
        self._disk.apply(event)
        self._events.append(event)

    # Where things are ------------------------------------------------------------------------------------------------

    def _node(self, path: str) -> int:
        if path in self._hidden:
            return self._hidden[path]
        node = ROOT
        for name in path.strip("/").split("/"):
            if name and node not in self._disk.names:
                raise OSError(errno.ENOTDIR, name)
            if name and name not in self._disk.names[node]:
                raise OSError(errno.ENOENT, name)
            node = self._disk.names[node][name] if name else node
        return node

    def _place(self, path: str) -> tuple[int, str]:
        """The directory in which a path has its last name."""
        above, _, name = path.rpartition("/")
        directory = self._node(above)
        if directory not in self._disk.names:
            raise OSError(errno.ENOTDIR, path)
        return directory, name

    def _touch(self, *nodes: int) -> None:
        now = time.time_ns()
        for node in nodes:
            self._times[node] = (now, now)

    def _make(self, path: str, mode: int, link: str | None = None) -> int:
        directory, name = self._place(path)
        if name in self._disk.names[directory]:
            raise OSError(errno.EEXIST, path)
        node, self._next = self._next, self._next + 1
        self._modes[node] = mode
        self._happens(Made(node, stat.S_ISDIR(mode), link))
        self._happens(Named(((directory, name, node),)))
        self._touch(directory, node)
        return node

    # What is there ---------------------------------------------------------------------------------------------------

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        """stat(2)."""
        node = self._node(path)
        disk = self._disk
        size = len(disk.files[node].data) if node in disk.files else len(disk.links.get(node, "").encode())
        links = sum(names.get(name) == node for names in disk.names.values() for name in names)
        accessed, modified = self._times.get(node, (0, 0))
        return {
            "st_ino": node,
            "st_mode": self._modes[node],
            "st_nlink": 2 if node in disk.names else links,
            "st_uid": os.getuid(),
            "st_gid": os.getgid(),
            "st_size": size,
            "st_blocks": -(-size // 512),
            "st_atime": accessed,
            "st_mtime": modified,
            "st_ctime": modified,
        }

    def readdir(self, path: str, fh: int) -> list[tuple[str, dict[str, int], int]]:
        """All entries at once: libfuse keeps the offsets."""
        entries = {".": fh, "..": fh, **self._disk.names[fh]}
        return [(name, {"st_ino": node, "st_mode": self._modes[node]}, 0) for name, node in entries.items()]

    def readlink(self, path: str) -> str:
        """readlink(2)."""
        return self._disk.links[self._node(path)]

    def statfs(self, path: str) -> dict[str, int]:
        """statvfs(3)."""
        blocks = MOST // _BLOCK
        return {"f_bsize": _BLOCK, "f_frsize": _BLOCK, "f_blocks": blocks, "f_bfree": blocks, "f_bavail": blocks,
                "f_files": blocks, "f_ffree": blocks, "f_favail": blocks, "f_namemax": 255}  # fmt: skip

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        """pread(2)."""
        return bytes(self._disk.files[fh].data[offset : offset + size])

    # What changes ----------------------------------------------------------------------------------------------------

    def create(self, path: str, mode: int, flags: int) -> int:
        """open(2) with O_CREAT."""
        with self._lock:
            return self._opened(self._make(path, stat.S_IFREG | stat.S_IMODE(mode)), flags)

    def open(self, path: str, flags: int) -> int:
        """open(2)."""
        with self._lock:
            return self._opened(self._node(path), flags)

    def opendir(self, path: str) -> int:
        """opendir(3)."""
        return self._node(path)

    def _opened(self, node: int, flags: int) -> int:
        if flags & os.O_TRUNC:
            self._happens(Sized(node, 0))
            self._touch(node)
        return node

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        """pwrite(2)."""
        with self._lock:
            if offset + len(data) > MOST:
                raise OSError(errno.ENOSPC, path)
            self._happens(Written(fh, offset, data))
            if self.writes_through:
                self._happens(Synced(fh))
            self._touch(fh)
        return len(data)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        """truncate(2)."""
        with self._lock:
            if length > MOST:
                raise OSError(errno.EFBIG, path)
            node = self._node(path)
            self._happens(Sized(node, length))
            self._touch(node)
        return 0

    def fallocate(self, path: str, mode: int, offset: int, size: int, fh: int) -> int:
        """fallocate(2), of room that has no size, and of room behind the end."""
        if mode not in (0, 1):
            raise OSError(errno.EOPNOTSUPP, path)
        end = offset + size
        return self.truncate(path, end, fh) if mode == 0 and end > len(self._disk.files[fh].data) else 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        """fsync(2), and fdatasync(2): bytes that cannot be read for want of a size would not be there."""
        time.sleep(SYNC)
        with self._lock:
            self._happens(Synced(fh))
        return 0

    fsyncdir = fsync

    def mkdir(self, path: str, mode: int) -> int:
        """mkdir(2)."""
        with self._lock:
            self._make(path, stat.S_IFDIR | stat.S_IMODE(mode))
        return 0

    def symlink(self, target: str, source: str) -> int:
        """symlink(2)."""
        with self._lock:
            self._make(target, stat.S_IFLNK | 0o777, source)
        return 0

    def link(self, target: str, source: str) -> int:
        """link(2)."""
        with self._lock:
            directory, name = self._place(target)
            self._happens(Named(((directory, name, self._node(source)),)))
        return 0

    def unlink(self, path: str) -> int:
        """unlink(2)."""
        with self._lock:
            if self._hidden.pop(path, None) is None:
                directory, name = self._place(path)
                self._happens(Named(((directory, name, None),)))
                self._touch(directory)
        return 0

    def rmdir(self, path: str) -> int:
        """rmdir(2)."""
        if self._disk.names[self._node(path)]:
            raise OSError(errno.ENOTEMPTY, path)
        return self.unlink(path)

    def rename(self, old: str, new: str) -> int:
        """rename(2)."""
        with self._lock:
            node, (source, before), (target, after) = self._node(old), self._place(old), self._place(new)
            self._touch(source, target)
            if after.startswith(_HIDDEN):
                self._hidden[new] = node
                self._hiding = Named(((source, before, None),))
                self._happens(self._hiding)
                return 0
            hiding = self._hiding
            if hiding is not None and self._events[-1] is hiding and hiding.changes[0][:2] == (target, after):
                # It was hidden only to be replaced, which is one change.
                self._events.pop()
            there = self._disk.names[target].get(after)
            if there is not None and self._disk.names.get(there):
                raise OSError(errno.ENOTEMPTY, new)
            # Two names of one file stay.
            if there != node:
                self._happens(Named(((source, before, None), (target, after, node))))
        return 0

    def chmod(self, path: str, mode: int) -> int:
        """chmod(2), which nobody looks at after a loss."""
        node = self._node(path)
        self._modes[node] = stat.S_IFMT(self._modes[node]) | stat.S_IMODE(mode)
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        """chown(2): all belongs to one user."""
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        """utimensat(2)."""
        now = time.time_ns()
        self._times[self._node(path)] = times or (now, now)
        return 0


def _answer(operations: PowerOperations, directory: str) -> None:
    """Answer until nobody asks any more. Then the mount ends, and the process."""
    for line in sys.stdin:
        print(operations.answer(line.strip()), flush=True)
    subprocess.run(["fusermount3", "-u", "-z", directory], check=False, stderr=subprocess.DEVNULL)
    os._exit(0)


def serve(directory: str) -> None:
    """Mount there, and serve."""
    operations = PowerOperations()
    threading.Thread(target=_answer, args=(operations, directory), daemon=True).start()
    warnings.simplefilter("ignore")
    # Two names of one file are two files to the kernel: it has to ask again how long that is.
    served = {"fsname": "tffs-power", "use_ino": True, "attr_timeout": 0.0, "default_permissions": True}
    _Fuse(operations, directory, foreground=True, nothreads=True, **served)


if __name__ == "__main__":
    serve(sys.argv[1])
