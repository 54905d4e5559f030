"""A host whose ops go through TensorFlow: docs/wire.md on standard input and output, `tf.io.gfile` behind it.

It runs in the Python that has TensorFlow, which need not have this package: it imports nothing but that and Python's
library. Paths are URIs, as TensorFlow's users write them. Where the plugin is TensorFlow's own library, nothing is
registered, and the filesystems are those that TensorFlow has.
"""

import array
import contextlib
import ctypes
import faulthandler
import importlib.util
import json
import os
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

# The modules beside this one are not for this process.
HERE = sys.path.pop(0)
# A process with a second thread cannot be forked.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# What TensorFlow logs while it is imported is nothing that a plugin said.
_log = os.memfd_create("log")
_error = os.dup(2)
os.dup2(_log, 2)
try:
    import tensorflow as tf
    from tensorflow.python.lib.io import _pywrap_file_io as io
except Exception as failure:
    os.write(_error, f"tffs-host: TensorFlow cannot be imported: {type(failure).__name__}: {failure}\n".encode())
    sys.exit(71)
os.dup2(_error, 2)
os.close(_error)
os.close(_log)

WIRE_VERSION = 7
LIBRARY = os.path.join(os.path.dirname(tf.__file__), "libtensorflow_framework.so.2")
#: As tf.io.gfile.GFile has it, in bytes.
BUFFER = 512 << 10
#: A file that is larger, in bytes, is not read to know its size.
MOST_READ = 64 << 20
OK, UNKNOWN, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED = 0, 2, 9, 11, 12
#: Whether a library is loaded for its C++ classes, and is no plugin.
LOADS = "load" in sys.argv[1:]
#: Of a value that a program saw, so many characters are told.
TOLD = 200
#: So many tables a scheme has; each is there, of version 0 and with all its entries, as far as anybody can tell here.
TABLES, ALL_ENTRIES = 4, (1 << 40) - 1

Value = int | bytes
#: What ops give besides a status that is not OK.
NOTHING: "dict[str, list[Value]]" = {
    "new_random_access_file": [0],
    "new_writable_file": [0],
    "new_appendable_file": [0],
    "read": [-1, b""],
    "tell": [-1],
    "stat": [0, 0, 0],
    "is_directory": [0],
    "get_file_size": [-1],
    "get_children": [-1],
    "get_matching_paths": [-1],
}


#: The ops of what was opened; all others are of a filesystem.
OF_HANDLES = ("random_access_file.cleanup", "writable_file.cleanup", "read", "append", "tell", "flush", "close")


class OpAbsentError(Exception):
    """TensorFlow's interface does not have the op, or cannot tell what it gave."""


# The wire -------------------------------------------------------------------------------------------------------------


def frame(values: "list[Value]") -> bytes:
    """The frame of a reply."""
    body = b"".join(
        struct.pack("<cI", b"s", len(value)) + value if isinstance(value, bytes) else struct.pack("<cq", b"i", value)
        for value in values
    )
    return struct.pack("<I", len(body)) + body


def values_of(body: bytes) -> "Iterator[Value]":
    """The values of a request."""
    at = 0
    while at < len(body):
        if body[at : at + 1] == b"i":
            yield struct.unpack_from("<q", body, at + 1)[0]
            at += 9
        else:
            (length,) = struct.unpack_from("<I", body, at + 1)
            yield body[at + 5 : at + 5 + length]
            at += 5 + length


# TensorFlow's C functions ---------------------------------------------------------------------------------------------


class FileStatistics(ctypes.Structure):
    """`TF_FileStatistics`."""

    _fields_ = (("length", ctypes.c_int64), ("mtime_nsec", ctypes.c_int64), ("is_directory", ctypes.c_bool))


_library = ctypes.CDLL(LIBRARY)
_library.TF_NewStatus.restype = ctypes.c_void_p
_library.TF_Message.restype = ctypes.c_char_p
_library.TF_GetChildren.restype = ctypes.c_void_p
_library.TF_StringStreamNext.restype = ctypes.c_bool
_library.TF_GetCode.argtypes = _library.TF_Message.argtypes = _library.TF_DeleteStatus.argtypes = (ctypes.c_void_p,)


class StatusError(Exception):
    """A status that is not OK; `values` are what the op gave besides, None for nothing."""

    def __init__(self, code: int, message: bytes, values: "list[Value] | None" = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.values = values


def called(function: str, *arguments: object) -> Any:
    """What a function of TensorFlow's C interface gives whose last argument is a status. Raises Status."""
    status = ctypes.c_void_p(_library.TF_NewStatus())
    try:
        given = getattr(_library, function)(*arguments, status)
        code, message = _library.TF_GetCode(status), _library.TF_Message(status)
    finally:
        _library.TF_DeleteStatus(status)
    if code != OK:
        raise StatusError(code, message or b"")
    return given


# The host -------------------------------------------------------------------------------------------------------------


class _Host:
    """What is open, and the ops. Each gives the values behind code, message and watch."""

    def __init__(self) -> None:
        self._schemes: list[str] = []
        self._plugin = b""
        self._last = 0
        self._open: dict[int, Any] = {}

    def answer(self, command: str, arguments: "list[Value]") -> "list[Value]":
        """The values of the reply to one request."""
        steps: dict[str, Callable[..., list[Value]]] = {
            "load": self.load, "init_plugin": self.init_plugin, "describe": self.describe, "register": self.register,
            "release": lambda _: [], "environment": self.environment, "perform": self.perform,
        }  # fmt: skip
        if command in steps:
            return [b"done", *steps[command](*arguments)]
        try:
            performed = getattr(self, command.replace(".", "_"), None)
            if performed is None or command.startswith("_"):
                raise OpAbsentError
            if command not in OF_HANDLES and not self._owns(arguments):
                raise OpAbsentError
            return [b"done", OK, b"", 0, *performed(*arguments)]
        except OpAbsentError:
            return [b"absent"]
        except UnicodeDecodeError:
            # The op has come back: what it gave is no text that Python takes.
            return [b"absent"]
        except StatusError as status:
            values = NOTHING.get(command, []) if status.values is None else status.values
            return [b"done", status.code, status.message, 0, *values]
        except tf.errors.OpError as error:
            return [b"done", error.error_code, os.fsencode(str(error.message)), 0, *NOTHING.get(command, [])]

    def _owns(self, arguments: "list[Value]") -> bool:
        """Whether TensorFlow takes all paths to the filesystem that is asked: others go to another one."""
        paths = [value for value in arguments[1:] if isinstance(value, bytes)]
        scheme = self._schemes[int(arguments[0])].encode()
        return all((path.partition(b"://")[0] if b"://" in path else b"") == scheme for path in paths)

    # Registration -----------------------------------------------------------------------------------------------------

    def environment(self, *given: bytes) -> "list[Value]":
        for name, value in zip(given[::2], given[1::2], strict=True):
            os.environb[name] = value
        return []

    def load(self, plugin: bytes) -> "list[Value]":
        self._plugin = plugin
        return [WIRE_VERSION, 1, b"", 0]

    def init_plugin(self) -> "list[Value]":
        before = io.GetRegisteredSchemes()
        if os.path.basename(self._plugin) == os.path.basename(LIBRARY).encode():
            self._schemes = sorted(before)
            return [OK, b"", len(before), 1, 1]
        code, message = OK, b""
        try:
            register = tf.load_library if LOADS else tf.experimental.register_filesystem_plugin
            register(os.fsdecode(self._plugin))
        except tf.errors.OpError as error:
            code, message = error.error_code, os.fsencode(str(error.message))
        self._schemes = sorted({*io.GetRegisteredSchemes()} - {*before})
        if LOADS and code == OK and not self._schemes:
            code, message = FAILED_PRECONDITION, b"no class registered itself: what has TF_InitPlugin is for --plugin"
        return [code, message, len(self._schemes), 1, 1]

    def describe(self, index: int) -> "list[Value]":
        tables: list[Value] = [1, 0, 0, 0, ALL_ENTRIES]
        return [1, self._schemes[index].encode(), 0, *tables * TABLES]

    def register(self, index: int) -> "list[Value]":
        return [OK, b"", 1, 1, index]

    # Programs of users ------------------------------------------------------------------------------------------------

    def perform(self, program: bytes, folder: bytes, *arguments: bytes) -> "list[Value]":
        """Perform a program of user_programs.py; in a folder of local files, where none is named."""
        programs = _user_programs()
        seen: list[list[object]] = []

        def see(what: str, expected: object, got: object) -> None:
            seen.append([what, expected == got, *shown(expected, got)])

        code, message, lacking = OK, "", 0
        with tempfile.TemporaryDirectory(prefix="tffs-") as local:
            try:
                getattr(programs, program.decode())(see, os.fsdecode(folder) or local, *map(os.fsdecode, arguments))
            except (programs.LackingError, ImportError) as error:
                code, message, lacking = UNIMPLEMENTED, str(error), 1
            except tf.errors.OpError as error:
                code, message = error.error_code, str(error.message)
            except Exception as error:
                code, message = UNKNOWN, f"{type(error).__name__}: {error}"
            programs.tidy()
        return [code, os.fsencode(message), 0, lacking, json.dumps(seen).encode()]

    # Files ------------------------------------------------------------------------------------------------------------

    def _opened(self, opened: Any) -> "list[Value]":
        self._last += 1
        self._open[self._last] = opened
        return [self._last]

    def _close(self, handle: int) -> "list[Value]":
        del self._open[handle]
        return []

    def new_random_access_file(self, _: int, uri: bytes) -> "list[Value]":
        return self._opened(io.BufferedInputStream(uri, BUFFER))

    def new_writable_file(self, _: int, uri: bytes) -> "list[Value]":
        return self._opened(io.WritableFile(uri, "w"))

    def new_appendable_file(self, _: int, uri: bytes) -> "list[Value]":
        return self._opened(io.WritableFile(uri, "a"))

    random_access_file_cleanup = writable_file_cleanup = _close

    def read(self, handle: int, offset: int, n: int) -> "list[Value]":
        if offset < 0 or n < 0:
            # Beyond what its arguments can say.
            raise OpAbsentError
        stream = self._open[handle]
        try:
            stream.seek(offset)
        except tf.errors.OutOfRangeError:
            data = b""
        else:
            data = stream.read(n)
        if len(data) < n:
            # The stream does not hand on the status that tells the end of a file: nobody above sees another one.
            raise StatusError(OUT_OF_RANGE, b"fewer bytes than asked for", [len(data), data])
        return [n, data]

    def append(self, handle: int, data: bytes) -> "list[Value]":
        self._open[handle].append(data)
        return []

    def tell(self, handle: int) -> "list[Value]":
        return [self._open[handle].tell()]

    def flush(self, handle: int) -> "list[Value]":
        self._open[handle].flush()
        return []

    def close(self, handle: int) -> "list[Value]":
        self._open[handle].close()
        return []

    # Paths ------------------------------------------------------------------------------------------------------------

    def create_dir(self, _: int, uri: bytes) -> "list[Value]":
        # The function of Python's users answers OK where it is there already.
        called("TF_CreateDir", uri)
        return []

    def recursively_create_dir(self, _: int, uri: bytes) -> "list[Value]":
        io.RecursivelyCreateDir(uri)
        return []

    def delete_file(self, _: int, uri: bytes) -> "list[Value]":
        io.DeleteFile(uri)
        return []

    def delete_dir(self, _: int, uri: bytes) -> "list[Value]":
        called("TF_DeleteDir", uri)
        return []

    def delete_recursively(self, _: int, uri: bytes) -> "list[Value]":
        left = (ctypes.c_int64(0), ctypes.c_int64(0))
        try:
            called("TF_DeleteRecursively", uri, *map(ctypes.byref, left))
        except StatusError as status:
            raise StatusError(status.code, status.message, [one.value for one in left]) from None
        return [0, 0]

    def rename_file(self, _: int, source: bytes, target: bytes) -> "list[Value]":
        io.RenameFile(source, target, True)
        return []

    def copy_file(self, _: int, source: bytes, target: bytes) -> "list[Value]":
        io.CopyFile(source, target, True)
        return []

    def path_exists(self, _: int, uri: bytes) -> "list[Value]":
        io.FileExists(uri)
        return []

    def stat(self, _: int, uri: bytes) -> "list[Value]":
        found = FileStatistics()
        called("TF_FileStat", uri, ctypes.byref(found))
        return [found.length, found.mtime_nsec, int(found.is_directory)]

    def is_directory(self, _: int, uri: bytes) -> "list[Value]":
        if not io.IsDirectory(uri):
            raise StatusError(FAILED_PRECONDITION, b"TensorFlow answers False")
        return [1]

    def get_file_size(self, _: int, uri: bytes) -> "list[Value]":
        # Nothing else that users call asks for the size. It reads so many bytes, too.
        with contextlib.suppress(StatusError):
            length = self.stat(_, uri)[0]
            if isinstance(length, int) and length > MOST_READ:
                raise OpAbsentError
        return [len(io.ReadFileToString(uri))]

    def get_children(self, _: int, uri: bytes) -> "list[Value]":
        # The function of Python's users takes no names but those of UTF-8.
        stream = ctypes.c_void_p(called("TF_GetChildren", uri))
        names: list[bytes] = []
        name = ctypes.c_char_p()
        while _library.TF_StringStreamNext(stream, ctypes.byref(name)):
            names.append(name.value or b"")
        _library.TF_StringStreamDone(stream)
        return [len(names), *names]

    def get_matching_paths(self, _: int, pattern: bytes) -> "list[Value]":
        names = io.GetMatchingFiles(pattern)
        return [len(names), *(os.fsencode(name) for name in names)]


def _user_programs() -> Any:
    """The module beside this one, which few hosts need."""
    spec = importlib.util.spec_from_file_location("user_programs", os.path.join(HERE, "user_programs.py"))
    assert spec is not None
    assert spec.loader is not None
    # TensorFlow looks up functions by the module that they name.
    module = sys.modules["user_programs"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(expected: object, got: object) -> "tuple[str, str]":
    """Two values in few characters; of lists the first entry in which they differ."""
    if isinstance(expected, list) and isinstance(got, list) and expected != got:
        pairs = zip([*expected, None], [*got, None], strict=False)
        k = next((k for k, (one, other) in enumerate(pairs) if one != other), 0)
        one, other = (f"{len(values)} entries, from {k}: {values[k : k + 5]!r}" for values in (expected, got))
        return one[:TOLD], other[:TOLD]
    return repr(expected)[:TOLD], repr(got)[:TOLD]


def obey(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    host = _Host()
    while header := requests.read(4):
        first, *arguments = values_of(requests.read(struct.unpack("<I", header)[0]))
        assert isinstance(first, bytes)
        command = first.decode()
        if command == "quit":
            sys.exit(0)
        try:
            reply = host.answer(command, arguments)
        except Exception as error:
            reply = [b"bad", f"{command}: {type(error).__name__}: {error}".encode()]
        replies.write(frame(reply))
        replies.flush()


# How hosts start ------------------------------------------------------------------------------------------------------

CLONE_PARENT, CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID = 0x8000, 0x1000000, 0x200000
SYS_CLONE = {"x86_64": 56, "aarch64": 220}
PR_SET_PDEATHSIG, PR_GET_TID_ADDRESS = 1, 40


def forked_for_client(system: ctypes.PyDLL) -> int:
    """A fork whose child belongs to the client, as harness/host/server.cc has it: 0 in the child, a negative errno."""
    tid = ctypes.c_void_p()
    system.prctl(PR_GET_TID_ADDRESS, ctypes.byref(tid))
    flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | signal.SIGCHLD
    records = (tid, None) if os.uname().machine == "x86_64" else (None, tid)
    number = SYS_CLONE[os.uname().machine]
    pid = system.syscall(ctypes.c_long(number), ctypes.c_ulong(flags), None, None, *records)
    return pid if pid >= 0 else -ctypes.get_errno()


def serve() -> None:
    """Fork hosts, until the client is gone."""
    if len(os.listdir("/proc/self/task")) != 1:
        return
    system = ctypes.PyDLL(None, use_errno=True)
    with socket.socket(fileno=0) as client:
        client.send(struct.pack("<ii", 0, os.getpid()))
        while True:
            ticket, control, _, _ = client.recvmsg(4, socket.CMSG_SPACE(3 * 4))
            if not ticket:
                return
            descriptors = array.array("i", control[0][2])
            pid = forked_for_client(system)
            if pid == 0:
                os.setsid()
                system.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                client.detach()
                begin(*descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            client.send(ticket + struct.pack("<i", pid))


def begin(request: int, reply: int, error: int) -> None:
    """Be a host, which the plugin finds with an empty standard input."""
    requests, replies = os.fdopen(os.dup(request), "rb"), os.fdopen(os.dup(reply), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    for given, place in ((nothing, 0), (error, 1), (error, 2)):
        os.dup2(given, place)
    for descriptor in {request, reply, error, nothing} - {0, 1, 2}:
        os.close(descriptor)
    faulthandler.enable()
    obey(requests, replies)
    # As TensorFlow's own process ends, but at once: nobody waits for what threads do.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[-1] == "serve":
        serve()
        # Nothing was done with this TensorFlow, and to take it down takes seconds.
        os._exit(0)
    else:
        begin(0, 1, 2)
