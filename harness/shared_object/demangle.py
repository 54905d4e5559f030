"""Names of C++ as people write them."""

import ctypes
import functools

#: A name that is longer is left as it is: the library recurses into it.
LONGEST = 4096


@functools.cache
def _runtime() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_void_p
    library.__cxa_demangle.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    library.free.argtypes = (ctypes.c_void_p,)
    return library


def demangled(symbol: str) -> str:
    """The name behind a symbol; the symbol itself where it is none of C++, or nobody here can tell."""
    library = _runtime()
    if library is None or not symbol.startswith("_Z") or len(symbol) > LONGEST:
        return symbol
    status = ctypes.c_int()
    given = library.__cxa_demangle(symbol.encode(), None, None, ctypes.byref(status))
    if not given:
        return symbol
    name = ctypes.string_at(given).decode("utf-8", "backslashreplace")
    library.free(given)
    return name
