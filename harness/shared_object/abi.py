"""In which releases of TensorFlow a plugin loads, and to what of theirs it binds: told without loading anything.

TensorFlow loads a plugin into its own process. The dynamic loader looks every symbol up in the global scope of that
process first, then in the plugin and in the libraries that it names, in their order, each followed by what it names.
From 2.19 on `import tensorflow` puts TensorFlow's libraries into the global scope (releases.Exports.scope): there a
plugin gets their symbols whatever it is linked to. Before, it has to name them.

TensorFlow has copies of other libraries inside (curl, BoringSSL, protobuf, zlib …) and exports some. Where it is asked
before the library that a plugin was built with, the plugin gets TensorFlow's copy, of another version perhaps.
"""

import functools
import itertools
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..native import RUNTIME_NAME
from . import elf, releases
from .demangle import demangled
from .elf import NotElfError, SharedObject
from .releases import LIBRARIES, PYTHON_NAME, Exports
from .runtimes import CXX_NAME

#: Where libraries are, besides what ldconfig knows.
FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
#: The libraries of C and C++: every process has them, and TensorFlow has no copies of what is in them.
STANDARD = re.compile(r"(libc|libm|libdl|libpthread|librt|libutil|libgcc_s|libstdc\+\+|ld-linux[-\w]*)\.so\.\d+")
#: Their symbols by name: parts of them are in libraries that were built for older systems.
STANDARD_SYMBOL = re.compile(r"_Z(GTt|T[VIST]|GV)?N?K?(S[tabsiod]|9__gnu_cxx)|_Z[nd][wal]|__cxa_")
#: Those that a program of Python has in its global scope.
PRESENT = ("libc.so.6", "libm.so.6")
#: How the libraries of all TensorFlows are called: those that are not among LIBRARIES are of no release that is known.
OF_TENSORFLOW = re.compile(r"libtensorflow_(framework|cc)\.so(\.\d+)*")
#: What TensorFlow's libraries name themselves, of TensorFlow's.
BROUGHT = {CXX_NAME: (RUNTIME_NAME,), PYTHON_NAME: (RUNTIME_NAME, CXX_NAME)}
#: What gives a symbol that is in no library that is known.
ELSEWHERE = "a library that is not here"


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbols that share a fate in these releases: missing or captured. What is missing may be a library as well.

    `library` is where those that are captured would be from: the plugin itself perhaps. Of those that are missing it is
    the library of TensorFlow that has them and that the plugin does not name, empty where none has them.
    """

    library: str
    symbols: tuple[str, ...]
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Abi:
    """What a plugin asks of the dynamic loader, and what it gets in a process that imported TensorFlow in Python.

    `unknown` are libraries that are not on this machine: what is in them nobody can tell, so that only symbols of
    TensorFlow's count as missing. `of_tensorflow` are the symbols that only TensorFlow can give, `untold` those of them
    that are made from templates: the tables have no copies of such, and they do not count as missing. `glibc` is the
    oldest version of the C library that will do.
    """

    libraries: tuple[str, ...]
    glibc: str
    releases: tuple[str, ...]
    missing: tuple[Symbols, ...]
    captured: tuple[Symbols, ...]
    unknown: tuple[str, ...]
    of_tensorflow: tuple[str, ...]
    untold: tuple[str, ...]

    @property
    def loads(self) -> tuple[str, ...]:
        """The releases in which it loads, as far as symbols tell."""
        lacking = {release for one in self.missing for release in one.releases}
        return tuple(release for release in self.releases if release not in lacking)


class _Library:
    """An object that is asked for symbols.

    It is looked for in `folders` and where the system has it, and read, when that is needed. None for one of another
    machine.
    """

    def __init__(self, name: str, folders: Iterable[Path] | None) -> None:
        self.name = name
        self._folders = folders

    @functools.cached_property
    def path(self) -> Path | None:
        """Where it is; None where it is not on this machine."""
        if self._folders is None:
            return None
        candidates = itertools.chain((folder / self.name for folder in self._folders), (_installed().get(self.name),))
        return next((path for path in candidates if path is not None and path.is_file()), None)

    @functools.cached_property
    def shared(self) -> SharedObject | None:
        """What it says of itself; None where nobody can tell."""
        return _read(self.path) if self.path is not None else None

    @property
    def is_standard(self) -> bool:
        return STANDARD.fullmatch(self.name) is not None

    @property
    def is_tensorflow(self) -> bool:
        return self.name in LIBRARIES

    @property
    def is_unknown(self) -> bool:
        return not self.is_tensorflow and not self.is_standard and self.shared is None

    @property
    def wanted(self) -> Iterator[str]:
        """The symbols that it looks up, without those of the libraries of C and C++."""
        if not self.is_standard and self.shared is not None:
            yield from self.shared.needed - self.shared.standard
            yield from (symbol for symbol in self.shared.open if not STANDARD_SYMBOL.match(symbol))

    def gives(self, symbol: str) -> bool:
        """Whether it has a symbol."""
        if self.is_tensorflow:
            return False
        # They take long to read.
        if self.is_standard and (releases.is_function_of_c(symbol) or _is_of_somebody(symbol)):
            return False
        return self.shared is not None and symbol in self.shared.exported


def read(plugin: Path, content: bytes | None = None, table: Exports | None = None) -> Abi:
    """Look at a plugin. Raises NotElfError, and OSError where it cannot be read.

    With `content` the plugin is another machine's, of whose libraries nothing is known.
    """
    shared = elf.read(plugin.read_bytes() if content is None else content)
    itself = _Library(plugin.name, None)
    itself.path, itself.shared = plugin, shared
    asked = _asked(itself, here=content is None)
    unknown = tuple(one.name for one in asked if one.is_unknown and not OF_TENSORFLOW.fullmatch(one.name))
    wanted = sorted({symbol for one in asked for symbol in one.wanted})
    table = releases.about(wanted) if table is None else table
    missing, captured = _Groups(), _Groups()
    for one in asked:
        if OF_TENSORFLOW.fullmatch(one.name) and not one.is_tensorflow:
            missing.add("", table.everywhere, one.name)
    of_tensorflow, untold = list[str](), list[str]()
    for symbol in wanted:
        place, owner = _owner(symbol, asked, unknown)
        known = symbol in table.symbols
        if not owner and (known or not unknown):
            of_tensorflow.append(symbol)
        if not owner and not known and (unknown or _is_of_template(symbol)):
            untold += [symbol] * (not unknown)
            continue
        having = dict(zip(LIBRARIES, table.exporters(symbol), strict=True))
        first = {one.name for one in asked[:place]}
        got = 0
        for name, scope in zip(LIBRARIES, table.scope, strict=True):
            got |= having[name] & (table.everywhere if name in first else scope)
        if owner:
            captured.add(owner, 0 if STANDARD.fullmatch(owner) else got, symbol)
            continue
        lacking = table.everywhere & ~got
        for name in LIBRARIES:
            missing.add(name, lacking & having[name], symbol)
            lacking &= ~having[name]
        missing.add("", lacking, symbol)
    return Abi(
        libraries=shared.libraries,
        glibc=shared.glibc,
        releases=table.releases,
        missing=missing.found_in(table),
        captured=captured.found_in(table),
        unknown=unknown,
        of_tensorflow=tuple(of_tensorflow),
        untold=tuple(untold),
    )


def _owner(symbol: str, asked: Sequence[_Library], unknown: Sequence[str]) -> tuple[int, str]:
    """Which of these has a symbol but for TensorFlow, and its place among them; an empty name where none is known.

    What is no symbol of TensorFlow's by its name is of a library that is not here, if there are such.
    """
    for place, one in enumerate(asked):
        if one.gives(symbol):
            return place, one.name
    if unknown and not releases.is_cxx(symbol) and not releases.is_function_of_c(symbol):
        return len(asked), unknown[0] if len(unknown) == 1 else ELSEWHERE
    return len(asked), ""


def _is_of_somebody(symbol: str) -> bool:
    """Whether a symbol of C++ is none of the library of C++."""
    return releases.is_cxx(symbol) and not STANDARD_SYMBOL.match(symbol)


def _is_of_template(symbol: str) -> bool:
    """Whether a function or its class is made from a template, so that a library may have a weak copy."""
    return releases.is_cxx(symbol) and "<" in demangled(symbol).partition("(")[0].replace("operator<", "")


class _Groups:
    """Symbols by their fate: the library, and the number of the releases; a number of 0 is no fate."""

    def __init__(self) -> None:
        self._symbols: dict[tuple[str, int], list[str]] = {}

    def add(self, library: str, bits: int, symbol: str) -> None:
        if bits:
            self._symbols.setdefault((library, bits), []).append(symbol)

    def found_in(self, table: Exports) -> tuple[Symbols, ...]:
        return tuple(
            Symbols(library, tuple(symbols), table.named(bits)) for (library, bits), symbols in self._symbols.items()
        )


def _asked(plugin: _Library, *, here: bool) -> list[_Library]:
    """The objects that are asked for a symbol: the plugin, the libraries that it names, those that they name …"""
    asked = [plugin]
    for one in asked:
        folders: list[Path] = []
        names = BROUGHT.get(one.name, ())
        if not one.is_tensorflow and not one.is_standard and one.shared is not None:
            beside = str(one.path.parent) if one.path else ""
            paths = (path.replace("${ORIGIN}", beside).replace("$ORIGIN", beside) for path in one.shared.run_path)
            folders, names = [*map(Path, paths)], one.shared.libraries
        for name in names:
            if all(name != other.name for other in asked):
                asked.append(_Library(name, folders if here else None))
    return asked + [_Library(name, ()) for name in PRESENT if all(name != one.name for one in asked)]


@functools.cache
def _read(path: Path) -> SharedObject | None:
    try:
        return elf.read(path.read_bytes())
    except (NotElfError, OSError):
        return None


@functools.cache
def _installed() -> Mapping[str, Path]:
    """The libraries of this machine by their names."""
    found = {
        path.name: path
        for folder in map(Path, reversed(FOLDERS))
        if folder.is_dir()
        for path in folder.iterdir()
        if ".so" in path.name
    }
    program = next((name for name in ("/sbin/ldconfig", "/usr/sbin/ldconfig") if os.access(name, os.X_OK)), None)
    if program:
        said = subprocess.run([program, "-p"], capture_output=True, text=True, check=False).stdout
        for line in said.splitlines():
            name, arrow, path = line.strip().partition(" => ")
            if arrow and "x86-64" in name:
                found.setdefault(name.split(" ")[0], Path(path))
    return found
