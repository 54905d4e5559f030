"""In which releases of TensorFlow a plugin loads, from its file alone: nothing of it is run.

TensorFlow loads a plugin into its own process. The dynamic loader looks every symbol up in the global scope of that
process first, then in the plugin and in the libraries that it names, in their order, each followed by what it names.
From 2.19 on `import tensorflow` puts TensorFlow's libraries into the global scope (releases.Exports.scope): there a
plugin gets their symbols whatever it is linked to. Before, it has to name them.
"""

import functools
import os
import platform
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..native import CXX_NAME, RUNTIME_NAME
from . import elf, releases
from .elf import NotElfError, SharedObject
from .releases import LIBRARIES, PYTHON_NAME, Exports

#: The libraries of C and C++: every process has them, and TensorFlow has no copies of what is in them.
STANDARD = re.compile(r"(libc|libm|libdl|libpthread|librt|libutil|libgcc_s|libstdc\+\+|ld-linux[-\w]*)\.so\.\d+")
#: Where the dynamic loader looks for what its cache lacks.
FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
#: Those that a program of Python has in its global scope.
PRESENT = ("libc.so.6", "libm.so.6")
#: How the libraries of all TensorFlows are called: those that are not among LIBRARIES are of no release that is known.
OF_TENSORFLOW = re.compile(r"libtensorflow_(framework|cc)\.so(\.\d+)*")
#: What TensorFlow's libraries name themselves, of TensorFlow's.
BROUGHT = {CXX_NAME: (RUNTIME_NAME,), PYTHON_NAME: (RUNTIME_NAME, CXX_NAME)}
#: What TensorFlow calls in a plugin.
ENTRY_POINT = "TF_InitPlugin"
#: What a mangled name begins with before its identifiers, one part of those, and what may stand between them and the
#: arguments of a template: an operator or a constructor.
_MANGLED = re.compile(r"_Z(?:T[VTIS]|GV|[ZNKVrRO]|S[tabsiod])*")
_PART = re.compile(r"B?([0-9]{1,9})")
_TEMPLATE_ARGUMENTS = re.compile(r"(?:[a-z]{2}|C[123])?I")


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbols that these releases lack. What is missing may be a library as well.

    `library` is the library of TensorFlow that has them and that the plugin does not name, empty where none has them.
    """

    library: str
    symbols: tuple[str, ...]
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Abi:
    """What a plugin asks of the dynamic loader in a process that imported TensorFlow in Python.

    `unknown` are libraries that are not on this machine: what is in them is not known, so that only symbols of
    TensorFlow's count as missing. `of_tensorflow` are the symbols that only TensorFlow can give, `untold` those of them
    that are made from templates: the tables have no copies of these, and they do not count as missing. `glibc` is the
    oldest version of the C library that will do. `is_plugin` says whether it may have the entry point of plugins.
    """

    libraries: tuple[str, ...]
    glibc: str
    releases: tuple[str, ...]
    missing: tuple[Symbols, ...]
    unknown: tuple[str, ...]
    of_tensorflow: tuple[str, ...]
    untold: tuple[str, ...]
    is_plugin: bool

    @property
    def loads(self) -> tuple[str, ...]:
        """The releases in which it loads, as far as symbols tell."""
        lacking = {release for one in self.missing for release in one.releases}
        return tuple(release for release in self.releases if release not in lacking)


def read(plugin: Path, content: bytes | None = None, table: Exports | None = None) -> Abi:
    """Look at a plugin. Raises NotElfError, and OSError where it cannot be read.

    With `content` the plugin is another machine's, of whose libraries nothing is known.
    """
    shared = elf.read(plugin.read_bytes(), platform.machine()) if content is None else elf.read(content)
    own = _own_libraries(plugin, shared, here=content is None)
    readable = [one for one in own.values() if one]
    foreign = [name for name in own if OF_TENSORFLOW.fullmatch(name)]
    unknown = tuple(name for name, one in own.items() if one is None and name not in foreign)
    named = {name for one in readable for name in one.libraries}
    named.update(*(BROUGHT.get(name, ()) for name in named))
    wanted = set[str]().union(*(one.needed for one in readable)).difference(*(one.exported for one in readable))
    if table is None:
        table = releases.whole() if any(map(releases.is_cxx, wanted)) else releases.of_c()
    for name in (*PRESENT, *filter(STANDARD.fullmatch, named)):
        # The library need not be read if TensorFlow has all that is wanted.
        if wanted - table.symbols.keys() and (standard := _read(_place(name))):
            wanted -= standard.exported
    missing = defaultdict[tuple[str, int], list[str]](list)
    missing["", table.everywhere] += foreign
    of_tensorflow, untold = list[str](), list[str]()
    for symbol in sorted(wanted):
        known = symbol in table.symbols
        if unknown and not (known and (releases.is_cxx(symbol) or releases.is_function_of_c(symbol))):
            continue
        of_tensorflow.append(symbol)
        if not known and _is_of_template(symbol):
            untold.append(symbol)
            continue
        having = table.exporters(symbol)
        lacking = table.everywhere
        for name, exporting, scope in zip(LIBRARIES, having, table.scope, strict=True):
            lacking &= ~(exporting if name in named else exporting & scope)
        for name, exporting in zip(LIBRARIES, having, strict=True):
            missing[name, lacking & exporting].append(symbol)
            lacking &= ~exporting
        missing["", lacking].append(symbol)
    return Abi(
        libraries=shared.libraries,
        glibc=shared.glibc,
        releases=table.releases,
        missing=tuple(
            Symbols(library, tuple(symbols), table.named(bits))
            for (library, bits), symbols in missing.items()
            if bits and symbols
        ),
        unknown=unknown,
        of_tensorflow=tuple(of_tensorflow),
        untold=tuple(untold),
        is_plugin=bool(unknown) or any(ENTRY_POINT in one.exported for one in readable),
    )


def _is_of_template(symbol: str) -> bool:
    """Whether a function or its class is made from a template, so that a library may have a weak copy.

    Template arguments follow an identifier as `I`, and come before those of the function.
    """
    prefix = _MANGLED.match(symbol)
    place = prefix.end() if prefix else len(symbol)
    while part := _PART.match(symbol, place):
        place = part.end() + int(part[1])
    return prefix is not None and _TEMPLATE_ARGUMENTS.match(symbol, place) is not None


def _own_libraries(plugin: Path, shared: SharedObject, *, here: bool) -> Mapping[str, SharedObject | None]:
    """The plugin, as "", the libraries that it names, those that they name …: not TensorFlow's, nor those of C and C++.

    None stands for one that cannot be read on this machine.
    """
    own: dict[str, SharedObject | None] = {"": shared}
    found = [(shared, shared.search(plugin.parent))]
    for one, (folders, inherited) in found:
        for name in one.libraries:
            if name in own or name in LIBRARIES or STANDARD.fullmatch(name):
                continue
            path = _place(name, folders) if here else None
            own[name] = library = _read(path)
            if path and library:
                found.append((library, library.search(path.parent, inherited)))
    return own


def _place(name: str, folders: Sequence[Path] = ()) -> Path | None:
    """Where a library is on this machine."""
    cached = _cached_by_loader()
    for folder in (*folders, *(() if name in cached else FOLDERS)):
        # At a path that is longer than the system takes, Path.is_file raises.
        if os.path.isfile(place := Path(folder, name)):
            return place
    return cached.get(name)


@functools.cache
def _read(path: Path | None) -> SharedObject | None:
    """The shared object at a path; None where it cannot be read."""
    try:
        return elf.read(path.read_bytes()) if path else None
    except (NotElfError, OSError):
        return None


@functools.cache
def _cached_by_loader() -> Mapping[str, Path]:
    """The libraries in the cache of the dynamic loader, by name."""
    program = shutil.which("ldconfig", path="/sbin:/usr/sbin")
    printed = subprocess.run([program, "-p"], capture_output=True, text=True, check=False).stdout if program else ""
    lines = re.findall(r"^\s*(\S+) \(.*x86-64.*\) => (/.*)$", printed, re.MULTILINE)
    # The first of a name is the one that the loader takes.
    return {name: Path(path) for name, path in reversed(lines)}
