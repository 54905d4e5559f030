"""What is known of TensorFlow's releases: the symbols that a plugin can bind to in each of them.

The tables have the releases of TensorFlow for Linux on x86-64 that pip offers, and the strong symbols of their
libraries. Weak ones are left out: they are copies of what headers define, which every library has for itself. So are
those of the compilers inside. packaging/tensorflow_exports.py refreshes the tables.
"""

import functools
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..native import CXX_NAME, RUNTIME_NAME

#: What TensorFlow's Python is made of beside what its C++ has; it is there from 2.19 on.
PYTHON_NAME = "lib_pywrap_tensorflow_common.so"
#: The libraries of TensorFlow, in the order of the columns.
LIBRARIES = (RUNTIME_NAME, CXX_NAME, PYTHON_NAME)
TABLES = Path(__file__).with_name("tensorflow_exports")
#: The functions of C begin like this; whatever else has a name of C is a library that TensorFlow has inside.
_OF_TENSORFLOW = ("TF_", "TFE_", "TSL_")


def is_cxx(symbol: str) -> bool:
    """Whether a symbol is one of C++."""
    return symbol.startswith("_Z")


def is_function_of_c(symbol: str) -> bool:
    """Whether a symbol is one of TensorFlow's interface for C."""
    return symbol.startswith(_OF_TENSORFLOW)


@dataclass(frozen=True, slots=True)
class Exports:
    """Symbols, and which release exports them.

    In every number bit k stands for `releases[k]`. `symbols` has one number for each of LIBRARIES: where it exports
    the symbol. `scope` has one for each, too: where it is in the global scope of a process that imported TensorFlow in
    Python, which is asked before the libraries that a plugin names.
    """

    releases: tuple[str, ...] = ()
    scope: tuple[int, ...] = (0,) * len(LIBRARIES)
    symbols: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def exporters(self, symbol: str) -> tuple[int, ...]:
        """Where each of LIBRARIES exports a symbol."""
        return self.symbols.get(symbol, (0,) * len(LIBRARIES))

    def named(self, bits: int) -> tuple[str, ...]:
        """The releases that a number stands for."""
        return tuple(release for k, release in enumerate(self.releases) if bits >> k & 1)

    @property
    def everywhere(self) -> int:
        """The number that stands for all releases."""
        return (1 << len(self.releases)) - 1


@functools.cache
def of_c() -> Exports:
    """The symbols of C, which is quick."""
    releases, scopes = [], []
    for line in (TABLES / "releases.tsv").read_text(encoding="ascii").splitlines()[1:]:
        release, _, names = line.partition("\t")
        releases.append(release)
        scopes.append(names.split(" "))
    scope = tuple(sum((library in names) << k for k, names in enumerate(scopes)) for library in LIBRARIES)
    return Exports(tuple(releases), scope, _read("c"))


@functools.cache
def whole() -> Exports:
    """The symbols of C and of C++, which takes a moment."""
    return Exports(of_c().releases, of_c().scope, {**of_c().symbols, **_read("cxx")})


@functools.cache
def functions_of_c() -> Mapping[str, tuple[str, ...]]:
    """TensorFlow's functions of C, each with the releases that have it in a library."""
    table = of_c()
    return {
        name: table.named(functools.reduce(int.__or__, bits))
        for name, bits in table.symbols.items()
        if is_function_of_c(name)
    }


def _read(name: str) -> Mapping[str, tuple[int, ...]]:
    with lzma.open(TABLES / f"{name}.tsv.xz", "rt", encoding="ascii") as file:
        rows = (line.split("\t") for line in file.read().splitlines())
    return {symbol: tuple(int(one, 16) for one in bits) for symbol, *bits in rows}
