"""The counters of the dragonfly plugin in this process, which TensorFlow itself has no way to ask for.

`read(PLUGIN)` in a process that has loaded it, such as one with TensorFlow: `{"bytes_from_p2p": 1048576, ...}`.
"""

import ctypes
from functools import cache
from typing import Any

#: Where the op is in `TF_FilesystemOps`: bytes, and the size of a pointer.
OP, POINTER = 224, 8


class _Value(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("count", ctypes.c_int), ("values", ctypes.POINTER(ctypes.c_int64)))


class _Option(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p),
        ("description", ctypes.c_void_p),
        ("per_file", ctypes.c_int),
        ("value", ctypes.POINTER(_Value)),
    )


class _Scheme(ctypes.Structure):
    _fields_ = (
        ("scheme", ctypes.c_char_p),
        ("abi", ctypes.c_int),
        ("api", ctypes.c_int),
        ("size", ctypes.c_size_t),
        ("ops", ctypes.POINTER(ctypes.c_void_p)),
    )


class _Plugin(ctypes.Structure):
    _fields_ = (
        ("schemes", ctypes.c_size_t),
        ("first", ctypes.POINTER(_Scheme)),
        ("allocate", ctypes.c_void_p),
        ("free", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    )


@cache
def _loaded(path: str) -> tuple[Any, _Plugin]:
    """The op, and the plugin it is of: the system loads a library once, so it is the one that is there."""
    plugin = _Plugin()
    ctypes.CDLL(path).TF_InitPlugin(ctypes.byref(plugin))
    arguments = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return ctypes.CFUNCTYPE(None, *arguments)(plugin.first[0].ops[OP // POINTER]), plugin


def read(plugin: str) -> dict[str, int]:
    """All counters of the plugin in this file, by name. Raises OSError where it is not to be loaded."""
    op, loaded = _loaded(plugin)
    framework = ctypes.CDLL("libtensorflow_framework.so.2")  # the one that is there, too
    framework.TF_NewStatus.restype = ctypes.c_void_p
    status = ctypes.c_void_p(framework.TF_NewStatus())
    options, count = ctypes.POINTER(_Option)(), ctypes.c_int()
    op(None, ctypes.byref(options), ctypes.byref(count), status)
    framework.TF_DeleteStatus(status)
    counters = {}
    for option in options[: count.value]:
        counters[ctypes.string_at(option.name).decode()] = option.value[0].values[0]
        for block in (option.value[0].values, option.value, option.name, option.description):
            loaded.free(ctypes.cast(block, ctypes.c_void_p))
    loaded.free(ctypes.cast(options, ctypes.c_void_p))
    return counters
