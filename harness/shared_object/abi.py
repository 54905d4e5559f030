"""In which releases of TensorFlow a plugin loads, from its file alone: nothing of it is run.

TensorFlow loads a plugin into its own process. The dynamic loader looks every symbol up in the global scope of that
process first, then in the plugin and in the libraries that it names, in their order, each followed by what it names.
From 2.19 on `import tensorflow` puts TensorFlow's libraries into the global scope (releases.Exports.scope): there a
plugin gets their symbols whatever it is linked to. Before, it has to name them.
"""

import functools
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..native import RUNTIME_NAME
from . import elf, releases
from .elf import NotElfError, SharedObject
from .releases import LIBRARIES, PYTHON_NAME, Exports
from .runtimes import CXX_NAME

#: Where libraries are, besides what ldconfig knows.
FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
#: The libraries of C and C++: every process has them, and TensorFlow has no copies of what is in them.
STANDARD = re.compile(r"(libc|libm|libdl|libpthread|librt|libutil|libgcc_s|libstdc\+\+|ld-linux[-\w]*)\.so\.\d+")
#: Those that a program of Python has in its global scope.
PRESENT = ("libc.so.6", "libm.so.6")
#: How the libraries of all TensorFlows are called: those that are not among LIBRARIES are of no release that is known.
OF_TENSORFLOW = re.compile(r"libtensorflow_(framework|cc)\.so(\.\d+)*")
#: What TensorFlow's libraries name themselves, of TensorFlow's.
BROUGHT = {CXX_NAME: (RUNTIME_NAME,), PYTHON_NAME: (RUNTIME_NAME, CXX_NAME)}
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
    oldest version of the C library that will do.
    """

    libraries: tuple[str, ...]
    glibc: str
    releases: tuple[str, ...]
    missing: tuple[Symbols, ...]
    unknown: tuple[str, ...]
    of_tensorflow: tuple[str, ...]
    untold: tuple[str, ...]

    @property
    def loads(self) -> tuple[str, ...]:
        """The releases in which it loads, as far as symbols tell."""
        lacking = {release for one in self.missing for release in one.releases}
        return tuple(release for release in self.releases if release not in lacking)


@dataclass(frozen=True, slots=True)
class _Library:
    """An object that is asked for symbols; `path` is where it is on this machine, if it is."""

    name: str
    path: Path | None
    plugin: SharedObject | None = None

    @property
    def shared(self) -> SharedObject | None:
        """What it states about itself, read when it is needed; None where it cannot be read."""
        return self.plugin or (_read(self.path) if self.path else None)

    @property
    def is_own(self) -> bool:
        """Whether it is the plugin or a library of its own: neither TensorFlow's nor one of C and C++."""
        return self.name not in LIBRARIES and not STANDARD.fullmatch(self.name)

    def gives(self, symbol: str) -> bool:
        """Whether it has a symbol; of TensorFlow's libraries the tables say that."""
        return self.name not in LIBRARIES and self.shared is not None and symbol in self.shared.exported


def read(plugin: Path, content: bytes | None = None, table: Exports | None = None) -> Abi:
    """Look at a plugin. Raises NotElfError, and OSError where it cannot be read.

    With `content` the plugin is another machine's, of whose libraries nothing is known.
    """
    shared = elf.read(plugin.read_bytes() if content is None else content)
    asked = _asked(_Library(plugin.name, plugin, shared), here=content is None)
    own = [one for one in asked if one.is_own]
    foreign = [one.name for one in own if OF_TENSORFLOW.fullmatch(one.name)]
    unknown = tuple(one.name for one in own if one.shared is None and one.name not in foreign)
    wanted = sorted({symbol for one in own if one.shared for symbol in one.shared.needed - one.shared.standard})
    table = releases.about(wanted) if table is None else table
    missing = defaultdict[tuple[str, int], list[str]](list)
    missing["", table.everywhere] += foreign
    of_tensorflow, untold = list[str](), list[str]()
    for symbol in wanted:
        known = symbol in table.symbols
        may_be_unknown = not known or not (releases.is_cxx(symbol) or releases.is_function_of_c(symbol))
        if any(one.gives(symbol) for one in asked) or (unknown and may_be_unknown):
            continue
        of_tensorflow.append(symbol)
        if not known and _is_of_template(symbol):
            untold.append(symbol)
            continue
        having = dict(zip(LIBRARIES, table.exporters(symbol), strict=True))
        lacking = table.everywhere
        for name, scope in zip(LIBRARIES, table.scope, strict=True):
            lacking &= ~(having[name] & (table.everywhere if any(name == one.name for one in asked) else scope))
        for name in LIBRARIES:
            missing[name, lacking & having[name]].append(symbol)
            lacking &= ~having[name]
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


def _asked(plugin: _Library, *, here: bool) -> Sequence[_Library]:
    """The objects that are asked for a symbol: the plugin, the libraries that it names, those that they name …"""
    asked = [plugin]
    for one in asked:
        folders: list[Path] = []
        names: Sequence[str] = BROUGHT.get(one.name, ())
        if one.is_own and one.shared is not None:
            beside = str(one.path.parent) if one.path else ""
            paths = (path.replace("${ORIGIN}", beside).replace("$ORIGIN", beside) for path in one.shared.run_path)
            folders, names = [*map(Path, paths)], one.shared.libraries
        for name in names:
            if all(name != other.name for other in asked):
                asked.append(_Library(name, _found(name, folders) if here else None))
    return asked + [_Library(name, _found(name, ())) for name in PRESENT if all(name != one.name for one in asked)]


def _found(name: str, folders: Iterable[Path]) -> Path | None:
    """Where a library is on this machine."""
    candidates = [folder / name for folder in (*folders, *map(Path, FOLDERS))]
    # A path may be longer than the system takes, at which is_file raises.
    return next((path for path in candidates if os.path.isfile(path)), None) or _cached_by_loader().get(name)


@functools.cache
def _read(path: Path) -> SharedObject | None:
    try:
        return elf.read(path.read_bytes())
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
