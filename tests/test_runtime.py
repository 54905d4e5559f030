"""The runtime, called as a plugin calls it, and the header that declares it."""

import ctypes
import errno
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.ops.codes import Code

HEADER = Path(__file__).parent.parent / "harness" / "include" / "tf_filesystem_plugin.h"
NAMES = {
    Code.NOT_FOUND: "ENOENT ESRCH ENXIO ENODEV",
    Code.ALREADY_EXISTS: "EEXIST EADDRNOTAVAIL EALREADY",
    Code.PERMISSION_DENIED: "EPERM EACCES EROFS",
    Code.FAILED_PRECONDITION: "ENOTDIR EISDIR ENOTEMPTY EBUSY EBADF EPIPE ETXTBSY ECHILD ENOTBLK EADDRINUSE"
    " EISCONN ENOTCONN ESHUTDOWN",
    Code.INVALID_ARGUMENT: "EINVAL ENAMETOOLONG E2BIG EDESTADDRREQ EDOM EFAULT EILSEQ ENOPROTOOPT ENOSTR ENOTSOCK"
    " ENOTTY EPROTOTYPE ESPIPE",
    Code.RESOURCE_EXHAUSTED: "ENOSPC EDQUOT EMFILE ENFILE EMLINK ENOBUFS ENODATA ENOMEM ENOSR EUSERS",
    Code.UNAVAILABLE: "EINTR EAGAIN ECONNREFUSED ECONNABORTED ECONNRESET EHOSTDOWN EHOSTUNREACH ENETDOWN ENETRESET"
    " ENETUNREACH ENOLCK ENOLINK ENONET",
    Code.DEADLINE_EXCEEDED: "ETIME ETIMEDOUT",
    Code.OUT_OF_RANGE: "EFBIG EOVERFLOW ERANGE",
    Code.UNIMPLEMENTED: "EXDEV ENOSYS EOPNOTSUPP EPROTONOSUPPORT ESOCKTNOSUPPORT EPFNOSUPPORT EAFNOSUPPORT",
    Code.ABORTED: "EDEADLK ESTALE",
    Code.CANCELLED: "ECANCELED",
    Code.UNKNOWN: "EIO ELOOP",
}
ERRNOS = {name: code for code, names in NAMES.items() for name in names.split()}
#: What functions give that give no number.
RESULTS = {
    ctypes.c_void_p: "NewStatus GetTempFileName StartThread GetChildren GetLocalTempDirectories LoadSharedLibrary"
    " GetSymbolFromLibrary",
    ctypes.c_char_p: "Message",
    ctypes.c_uint64: "NowNanos NowMicros NowSeconds",
    ctypes.c_bool: "StringStreamNext",
}


@pytest.fixture(scope="module")
def runtime() -> ctypes.CDLL:
    library = ctypes.CDLL(str(native_directory() / "libtensorflow_framework.so.2"))
    for result, names in RESULTS.items():
        for name in names.split():
            getattr(library, f"TF_{name}").restype = result
    return library


@pytest.fixture
def status(runtime: ctypes.CDLL) -> Iterator[ctypes.c_void_p]:
    made = ctypes.c_void_p(runtime.TF_NewStatus())
    yield made
    runtime.TF_DeleteStatus(made)


@pytest.mark.parametrize(("name", "code"), [*ERRNOS.items(), ("0, as in the oldest release", Code.OK)])
def test_errno(runtime: ctypes.CDLL, status: ctypes.c_void_p, name: str, code: Code) -> None:
    number = getattr(errno, name, 0)
    runtime.TF_SetStatusFromIOError(status, number, b"context")
    assert runtime.TF_GetCode(status) == code
    assert runtime.TF_Message(status) == f"context; {os.strerror(number)}".encode()


@pytest.mark.parametrize("number", [*map(int, Code), -1, 17, 99, 2**31 - 1])
def test_codes_are_given_back_and_unknown_ones_fold(runtime: ctypes.CDLL, status: ctypes.c_void_p, number: int) -> None:
    runtime.TF_SetStatus(status, number, b"text")
    assert runtime.TF_GetCode(status) == (number if number in list(Code) else Code.UNKNOWN)
    assert runtime.TF_Message(status) == (b"" if number == Code.OK else b"text")


def test_payloads(runtime: ctypes.CDLL, status: ctypes.c_void_p) -> None:
    seen: dict[bytes, bytes] = {}
    visitor = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)(
        lambda key, value, _: seen.__setitem__(key, value)
    )
    runtime.TF_SetStatus(status, int(Code.INTERNAL), b"text")
    runtime.TF_SetPayload(status, b"key", b"old")
    runtime.TF_SetPayload(status, b"key", b"new")
    runtime.TF_ForEachPayload(status, visitor, None)
    assert seen == {b"key": b"new"}
    seen.clear()
    runtime.TF_SetStatus(status, int(Code.INTERNAL), b"text")
    runtime.TF_ForEachPayload(status, visitor, None)
    assert not seen


def test_temporary_names_differ(runtime: ctypes.CDLL) -> None:
    names = set()
    for _ in range(100):
        pointer = runtime.TF_GetTempFileName(b"txt")
        names.add(ctypes.string_at(pointer))
        ctypes.CDLL(None).free(ctypes.c_void_p(pointer))
    assert len(names) == 100
    for name in names:
        assert name.endswith(b".txt")
        assert os.path.getsize(name) == 0
        os.unlink(name)


def test_clocks_agree(runtime: ctypes.CDLL) -> None:
    seconds, micros, nanos = runtime.TF_NowSeconds(), runtime.TF_NowMicros(), runtime.TF_NowNanos()
    assert seconds <= micros // 10**6 <= nanos // 10**9 <= seconds + 60


def test_threads(runtime: ctypes.CDLL) -> None:
    ran: list[object] = []
    work = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ran.append)
    options = (ctypes.c_char * 24)()
    runtime.TF_DefaultThreadOptions(options)
    thread = runtime.TF_StartThread(options, b"a name of more than fifteen bytes", work, ctypes.c_void_p(7))
    runtime.TF_JoinThread(ctypes.c_void_p(thread))
    assert ran == [7]


def test_log_lines_are_one_line_each() -> None:
    library = native_directory() / "libtensorflow_framework.so.2"
    program = f"""
import ctypes
library = ctypes.CDLL({str(library)!r})
library.TF_Log(1, b"%s and %d", b"a\\nb\\x1b[31m", 7)
library.TF_VLog(0, b"seen")
library.TF_VLog(1, b"not seen")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.splitlines() == ["[TF_Log WARNING] a\\x0ab\\x1b[31m and 7", "[TF_Log VLOG] seen"]


# Local files, as TensorFlow 2.21 answered when it was asked the same --------------------------------------------------


class Statistics(ctypes.Structure):
    _fields_ = (("length", ctypes.c_int64), ("mtime_nsec", ctypes.c_int64), ("is_directory", ctypes.c_bool))


@dataclass
class Files:
    """The functions of env.h, each with a status of its own and below one directory."""

    runtime: ctypes.CDLL
    directory: Path

    def code(self, function: str, name: str, *arguments: object) -> tuple[Code, str]:
        status = ctypes.c_void_p(self.runtime.TF_NewStatus())
        self.runtime.TF_SetStatus(status, int(Code.DATA_LOSS), b"left by the call before")
        getattr(self.runtime, function)(os.fsencode(self.directory / name), *arguments, status)
        return Code(self.runtime.TF_GetCode(status)), os.fsdecode(self.runtime.TF_Message(status))

    def strings(self, stream: int) -> list[str]:
        found, text = [], ctypes.c_char_p()
        while self.runtime.TF_StringStreamNext(ctypes.c_void_p(stream), ctypes.byref(text)):
            assert text.value is not None
            found.append(os.fsdecode(text.value))
        assert text.value is None
        self.runtime.TF_StringStreamDone(ctypes.c_void_p(stream))
        return sorted(found)


@pytest.fixture
def files(runtime: ctypes.CDLL, tmp_path: Path) -> Files:
    (tmp_path / "file").write_bytes(b"hello")
    (tmp_path / "full" / "below").mkdir(parents=True)
    (tmp_path / "full" / ".hidden").touch()
    return Files(runtime, tmp_path)


@pytest.mark.parametrize(
    ("function", "name", "code", "reason"),
    [
        ("TF_CreateDir", "new", Code.OK, ""),
        ("TF_CreateDir", "full", Code.ALREADY_EXISTS, "File exists"),
        ("TF_CreateDir", "no/new", Code.NOT_FOUND, "No such file or directory"),
        ("TF_CreateDir", "file/new", Code.FAILED_PRECONDITION, "Not a directory"),
        ("TF_DeleteDir", "full/below", Code.OK, ""),
        ("TF_DeleteDir", "full", Code.FAILED_PRECONDITION, "Directory not empty"),
        ("TF_DeleteDir", "file", Code.FAILED_PRECONDITION, "Not a directory"),
        ("TF_DeleteFile", "file", Code.OK, ""),
        ("TF_DeleteFile", "full", Code.FAILED_PRECONDITION, "Is a directory"),
        ("TF_DeleteFile", "no", Code.NOT_FOUND, "No such file or directory"),
    ],
)
def test_local_paths(files: Files, function: str, name: str, code: Code, reason: str) -> None:
    before = (files.directory / name).exists()
    assert files.code(function, name) == (code, f"{files.directory / name}; {reason}" if reason else "")
    assert (files.directory / name).exists() is (before != (code is Code.OK))


def test_names_of_other_filesystems(files: Files, runtime: ctypes.CDLL, status: ctypes.c_void_p) -> None:
    runtime.TF_CreateDir(f"file://{files.directory}/new".encode(), status)
    assert runtime.TF_GetCode(status) == Code.OK
    assert (files.directory / "new").is_dir()
    runtime.TF_CreateDir(b"mine://new", status)
    assert runtime.TF_GetCode(status) == Code.UNIMPLEMENTED


@pytest.mark.parametrize(
    ("name", "code", "left"), [("full", Code.OK, (0, 0)), ("file", Code.OK, (0, 0)), ("no", Code.NOT_FOUND, (0, 1))]
)
def test_local_trees(files: Files, name: str, code: Code, left: tuple[int, int]) -> None:
    (files.directory / "full" / "link").symlink_to(files.directory)
    counts = ctypes.c_int64(7), ctypes.c_int64(7)
    assert files.code("TF_DeleteRecursively", name, *map(ctypes.byref, counts))[0] is code
    assert tuple(count.value for count in counts) == left
    assert not (files.directory / name).exists()
    assert files.directory.exists()


def test_local_statistics(files: Files) -> None:
    seen = Statistics(7, 7, True)
    assert files.code("TF_FileStat", "no", ctypes.byref(seen))[0] is Code.NOT_FOUND
    assert (seen.length, seen.mtime_nsec, seen.is_directory) == (7, 7, True)
    assert files.code("TF_FileStat", "file", ctypes.byref(seen))[0] is Code.OK
    time = int((files.directory / "file").stat().st_mtime) * 10**9
    assert (seen.length, seen.mtime_nsec, seen.is_directory) == (5, time, False)


def test_local_writable_files(files: Files, runtime: ctypes.CDLL, status: ctypes.c_void_p) -> None:
    handle = ctypes.c_void_p(77)
    assert files.code("TF_NewWritableFile", "full", ctypes.byref(handle))[0] is Code.FAILED_PRECONDITION
    assert handle.value == 77
    assert files.code("TF_NewWritableFile", "file", ctypes.byref(handle))[0] is Code.OK
    written = b""
    for content, function in ((b"a\0b", "Flush"), (b"c", "Sync"), (b"d", "Close")):
        runtime.TF_AppendWritableFile(handle, content, ctypes.c_size_t(len(content)), status)
        assert (files.directory / "file").read_bytes() == written
        getattr(runtime, f"TF_{function}WritableFile")(handle, status)
        assert runtime.TF_GetCode(status) == Code.OK
        written += content
        assert (files.directory / "file").read_bytes() == written


@pytest.mark.parametrize(
    ("name", "code", "names"),
    [("full", Code.OK, [".hidden", "below"]), ("no", Code.NOT_FOUND, []), ("file", Code.FAILED_PRECONDITION, [])],
)
def test_local_listings(
    files: Files, runtime: ctypes.CDLL, status: ctypes.c_void_p, name: str, code: Code, names: list[str]
) -> None:
    stream = runtime.TF_GetChildren(os.fsencode(files.directory / name), status)
    assert (runtime.TF_GetCode(status), files.strings(stream)) == (code, names)


def test_temporary_directories(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_TMPDIR", str(files.directory))
    assert files.strings(files.runtime.TF_GetLocalTempDirectories()) == [f"{files.directory}/"]


def test_libraries(runtime: ctypes.CDLL, status: ctypes.c_void_p) -> None:
    library = runtime.TF_LoadSharedLibrary(b"libm.so.6", status)
    assert (runtime.TF_GetCode(status), bool(library)) == (Code.OK, True)
    for name, code in ((b"cos", Code.OK), (b"no_such_function", Code.NOT_FOUND)):
        symbol = runtime.TF_GetSymbolFromLibrary(ctypes.c_void_p(library), name, status)
        assert (runtime.TF_GetCode(status), bool(symbol)) == (code, code is Code.OK)
    assert runtime.TF_LoadSharedLibrary(b"/no/such.so", status) is None
    assert runtime.TF_GetCode(status) == Code.NOT_FOUND


def declared() -> set[str]:
    """The functions that the header declares."""
    return set(re.findall(r"^(?!static)\w.*\b(TF_(?!FS_|InitPlugin)\w+)\(", HEADER.read_text(), re.MULTILINE))


def test_it_has_all_of_env_h(runtime: ctypes.CDLL) -> None:
    """A plugin that needs a function of the header loads."""
    assert len(declared()) > 30
    assert [name for name in sorted(declared()) if not hasattr(runtime, name)] == []


# The layouts of the header hold (static assertions) -------------------------------------------------------------------


@pytest.mark.parametrize("field", ["int64_t other;\n  int64_t length;", "char length[16];"])
def test_a_wrong_layout_does_not_compile(tmp_path: Path, field: str) -> None:
    """The assertions bite: with one field more in front, nothing fits."""
    text = HEADER.read_text()
    broken = text.replace("int64_t length;", field)
    assert broken != text
    (tmp_path / "broken.h").write_text(broken)
    done = subprocess.run(
        ["cc", "-std=c11", "-xc", "-fsyntax-only", str(tmp_path / "broken.h")], capture_output=True, check=False
    )
    assert done.returncode != 0
