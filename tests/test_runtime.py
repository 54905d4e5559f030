"""The runtime, called as a plugin calls it."""

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.native import native_directory

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
ERRNOS = [(name, code) for code, names in NAMES.items() for name in names.split()]


@pytest.fixture(scope="module")
def runtime() -> ctypes.CDLL:
    library = ctypes.CDLL(str(native_directory() / "libtensorflow_framework.so.2"))
    library.TF_NewStatus.restype = ctypes.c_void_p
    library.TF_Message.restype = ctypes.c_char_p
    library.TF_GetTempFileName.restype = ctypes.c_void_p
    library.TF_NowNanos.restype = ctypes.c_uint64
    library.TF_NowMicros.restype = ctypes.c_uint64
    library.TF_NowSeconds.restype = ctypes.c_uint64
    library.TF_StartThread.restype = ctypes.c_void_p
    return library


@pytest.fixture
def status(runtime: ctypes.CDLL) -> Iterator[ctypes.c_void_p]:
    made = ctypes.c_void_p(runtime.TF_NewStatus())
    yield made
    runtime.TF_DeleteStatus(made)


@pytest.mark.parametrize(("name", "code"), ERRNOS, ids=[name for name, _ in ERRNOS])
def test_errno(runtime: ctypes.CDLL, status: ctypes.c_void_p, name: str, code: Code) -> None:
    number = getattr(errno, name)
    runtime.TF_SetStatusFromIOError(status, number, b"context")
    assert runtime.TF_GetCode(status) == code
    assert runtime.TF_Message(status) == f"context; {os.strerror(number)}".encode()


def test_errno_zero_is_ok(runtime: ctypes.CDLL, status: ctypes.c_void_p) -> None:
    runtime.TF_SetStatusFromIOError(status, 0, b"context")
    assert (runtime.TF_GetCode(status), runtime.TF_Message(status)) == (Code.OK, b"")


@pytest.mark.parametrize("number", [-1, 17, 99, 2**31 - 1])
def test_unknown_codes_fold(runtime: ctypes.CDLL, status: ctypes.c_void_p, number: int) -> None:
    runtime.TF_SetStatus(status, number, b"text")
    assert (runtime.TF_GetCode(status), runtime.TF_Message(status)) == (Code.UNKNOWN, b"text")


@pytest.mark.parametrize("code", list(Code))
def test_codes(runtime: ctypes.CDLL, status: ctypes.c_void_p, code: Code) -> None:
    runtime.TF_SetStatus(status, int(code), b"text")
    assert runtime.TF_GetCode(status) == code
    assert runtime.TF_Message(status) == (b"" if code is Code.OK else b"text")


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
    assert all(name.endswith(b".txt") and not os.path.exists(name) for name in names)


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
