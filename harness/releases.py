"""What TensorFlow's releases export: the symbols that a plugin can bind to in each of them.

The table has the releases of TensorFlow for Linux on x86-64 that pip offers, and the strong symbols of their libraries:
not the copies of what headers define, which every library has for itself, and not those of the compilers inside.
packaging/tensorflow_exports.py refreshes it.
"""

import functools
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .native import RUNTIME_NAME
from .runtimes import CXX_NAME

TABLE = Path(__file__).with_name("tensorflow_exports.tsv.xz")
#: The libraries that a plugin can name, in the order of the columns.
LIBRARIES = (RUNTIME_NAME, CXX_NAME)


@dataclass(frozen=True, slots=True)
class Exports:
    """`symbols` has, for each name, a number for each of LIBRARIES, in which bit k stands for `releases[k]`."""

    releases: tuple[str, ...] = ()
    symbols: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def of(self, symbol: str, library: str) -> frozenset[str]:
        """The releases whose library exports a symbol."""
        bits = self.symbols.get(symbol, (0,) * len(LIBRARIES))[LIBRARIES.index(library)]
        return frozenset(release for k, release in enumerate(self.releases) if bits >> k & 1)

    def extended(self, release: str, exported: Mapping[str, set[str]]) -> "Exports":
        """The table with one release more."""
        bit = 1 << len(self.releases)
        symbols = {name: list(bits) for name, bits in self.symbols.items()}
        for k, library in enumerate(LIBRARIES):
            for name in exported[library]:
                symbols.setdefault(name, [0] * len(LIBRARIES))[k] |= bit
        return Exports((*self.releases, release), {name: tuple(bits) for name, bits in symbols.items()})


@functools.cache
def read() -> Exports:
    """The table, which takes a moment; none where it was not made yet."""
    if not TABLE.exists():
        return Exports()
    with lzma.open(TABLE, "rt", encoding="ascii") as file:
        first, *lines = file.read().splitlines()
    rows = (line.split("\t") for line in lines)
    return Exports(tuple(first.split(" ")), {name: tuple(int(one, 16) for one in bits) for name, *bits in rows})


def write(table: Exports) -> None:
    """Write the table."""
    lines = [" ".join(table.releases)]
    lines += ["\t".join((name, *(f"{one:x}" for one in bits))) for name, bits in sorted(table.symbols.items())]
    TABLE.write_bytes(lzma.compress(("\n".join(lines) + "\n").encode("ascii"), preset=9 | lzma.PRESET_EXTREME))
