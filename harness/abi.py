"""In which releases of TensorFlow a plugin loads, and to what of theirs it binds: told without loading anything.

The dynamic loader looks a symbol up in the libraries that a plugin names, in their order. TensorFlow has copies of
other libraries inside (curl, BoringSSL, protobuf, zlib …) and exports some: a plugin that names TensorFlow before the
library that it was built with gets TensorFlow's copy, of another version perhaps.
"""

import functools
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import elf, releases
from .elf import NotElf, SharedObject
from .releases import LIBRARIES, Exports

#: Where libraries are, besides what ldconfig knows.
FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")


@dataclass(frozen=True, slots=True)
class Captured:
    """Symbols of a library that a plugin was built with, and that TensorFlow's copy gives it in these releases."""

    library: str
    symbols: tuple[str, ...]
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Abi:
    """What a plugin asks of the dynamic loader, and what it gets.

    `missing` has the symbols that nobody has, for each release. `unknown` are libraries that are not on this machine:
    what is in them nobody can tell, so that only symbols of TensorFlow's count as missing. `glibc` is the oldest
    version of the C library that will do.
    """

    libraries: tuple[str, ...]
    glibc: str
    missing: Mapping[str, tuple[str, ...]]
    captured: tuple[Captured, ...]
    unknown: tuple[str, ...]

    @property
    def loads_in(self) -> tuple[str, ...]:
        """The releases in which it loads, as far as symbols tell."""
        return tuple(release for release, symbols in self.missing.items() if not symbols)


@dataclass(frozen=True, slots=True)
class _Library:
    """A library in the order of asking; `exported` is None where it is not on this machine, or is TensorFlow's."""

    name: str
    exported: frozenset[str] | None

    @property
    def is_tensorflow(self) -> bool:
        return self.name in LIBRARIES


def of(plugin: Path, table: Exports | None = None) -> Abi:
    """Look at a plugin. Raises NotElf, and OSError where it cannot be read."""
    table = releases.read() if table is None else table
    shared = elf.read(plugin.read_bytes())
    asked = _asked(plugin, shared)
    named = [library.name for library in asked if library.is_tensorflow]
    unknown = tuple(one.name for one in asked if one.exported is None and not one.is_tensorflow)
    missing: dict[str, list[str]] = {release: [] for release in table.releases}
    captured: dict[tuple[str, frozenset[str]], list[str]] = {}
    for symbol in sorted(shared.needed):
        having = frozenset().union(*(table.of(symbol, name) for name in named))
        owner = next((k for k, one in enumerate(asked) if one.exported and symbol in one.exported), None)
        if owner is not None:
            if having and any(one.is_tensorflow for one in asked[:owner]):
                captured.setdefault((asked[owner].name, having), []).append(symbol)
        elif symbol in table.symbols or not unknown:
            for release in table.releases:
                if release not in having:
                    missing[release].append(symbol)
    return Abi(
        shared.libraries,
        shared.glibc,
        {release: tuple(symbols) for release, symbols in missing.items()},
        tuple(
            Captured(library, tuple(symbols), tuple(one for one in table.releases if one in having))
            for (library, having), symbols in captured.items()
        ),
        unknown,
    )


def _asked(plugin: Path, shared: SharedObject) -> list[_Library]:
    """The libraries that are asked for a symbol: those that a plugin names, then those that they name, and so on."""
    own = [
        Path(path.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(plugin.parent))) for path in shared.run_path
    ]
    asked: dict[str, _Library] = {}
    waiting = [*shared.libraries]
    for name in waiting:
        if name in asked:
            continue
        found = None if name in LIBRARIES else _found(name, own)
        asked[name] = _Library(name, found.exported if found else None)
        waiting += found.libraries if found else ()
    return list(asked.values())


def _found(name: str, folders: Iterable[Path]) -> SharedObject | None:
    """A library of this machine; None where it has none of that name."""
    for path in (*(folder / name for folder in folders), _installed().get(name)):
        if path is not None and path.is_file():
            return _read(path)
    return None


@functools.cache
def _read(path: Path) -> SharedObject | None:
    try:
        return elf.read(path.read_bytes())
    except NotElf:
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
