"""Refreshes what is known of TensorFlow's releases: the symbols that their libraries export, and who sees them.

`python packaging/tensorflow_exports.py [RELEASE…]` fetches the wheels of all releases that pip offers for this Python,
or of some, one after the other, and writes the tables of
`harness/shared_object/tensorflow_exports`. A release that the tables have is not fetched again.
"""

import argparse
import lzma
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tffs_conformance.harness.shared_object import elf, releases
from tffs_conformance.harness.shared_object.releases import LIBRARIES, PYTHON_NAME, Exports

PACKAGE = "tensorflow-cpu"
#: Whose names begin like this is a part of a compiler that TensorFlow brings, of which no plugin has heard.
COMPILERS = ("_ZN4mlir", "_ZNK4mlir", "_ZTVN4mlir", "_ZTIN4mlir", "_ZTSN4mlir",
             "_ZN4llvm", "_ZNK4llvm", "_ZTVN4llvm", "_ZTIN4llvm", "_ZTSN4llvm", "mlir", "LLVM")  # fmt: skip
#: What `import tensorflow` loads, and the module with which tensorflow/python/pywrap_tensorflow.py does so with
#: RTLD_GLOBAL: in wheels without it, what is loaded stays out of the global scope.
LOADED = "tensorflow/python/_pywrap_tensorflow_internal.so"
GLOBALLY = "tensorflow/python/pywrap_dlopen_global_flags.py"


def offered() -> list[str]:
    """The releases that pip offers, oldest first."""
    command = [sys.executable, "-m", "pip", "index", "versions", PACKAGE]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(line for line in said.splitlines() if line.startswith("Available versions:"))
    return [name.strip() for name in reversed(line.partition(":")[2].split(","))]


class Wheel:
    """A wheel of TensorFlow."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self._members = self._archive.namelist()
        self._folder = path.parent

    @property
    def scope(self) -> frozenset[str]:
        """The libraries that are in the global scope of a process that imported TensorFlow in Python."""
        if GLOBALLY not in self._members:
            return frozenset()
        return frozenset(elf.read(self._archive.read(LOADED)).libraries) & frozenset(LIBRARIES)

    def exports(self) -> Iterator[tuple[str, set[str]]]:
        """The libraries, each with the symbols it exports that are no copies of what headers define."""
        for name in LIBRARIES:
            if member := self._member(name):
                with open(self._archive.extract(member, self._folder), "rb") as file:
                    symbols = ELFFile(file).get_section_by_name(".dynsym")
                    assert isinstance(symbols, SymbolTableSection)
                    yield (
                        name,
                        {
                            symbol.name
                            for symbol in symbols.iter_symbols()
                            if symbol.entry.st_shndx != "SHN_UNDEF"
                            and symbol.entry.st_info.bind == "STB_GLOBAL"
                            and not symbol.name.startswith(COMPILERS)
                        },
                    )

    def _member(self, library: str) -> str | None:
        place = f"tensorflow/python/{library}" if library == PYTHON_NAME else f"tensorflow/{library}"
        return place if place in self._members else None


def extended(table: Exports, release: str, scope: Iterable[str], exported: Mapping[str, set[str]]) -> Exports:
    """The tables with one release more."""
    bit = 1 << len(table.releases)
    symbols = {name: list(bits) for name, bits in table.symbols.items()}
    for k, library in enumerate(LIBRARIES):
        for name in exported.get(library, ()):
            symbols.setdefault(name, [0] * len(LIBRARIES))[k] |= bit
    return Exports(
        (*table.releases, release),
        tuple(bits | bit * (name in scope) for name, bits in zip(LIBRARIES, table.scope, strict=True)),
        {name: tuple(bits) for name, bits in symbols.items()},
    )


def write(table: Exports) -> None:
    """Write the tables."""
    lines = ["release\tin the global scope after `import tensorflow`"]
    for k, release in enumerate(table.releases):
        names = (name for name, bits in zip(LIBRARIES, table.scope, strict=True) if bits >> k & 1)
        lines.append(f"{release}\t{' '.join(names)}".rstrip())
    (releases.TABLES / "releases.tsv").write_text("\n".join(lines) + "\n", encoding="ascii")
    for name, cxx in (("c", False), ("cxx", True)):
        rows = [
            "\t".join((symbol, *(f"{one:x}" for one in bits)))
            for symbol, bits in sorted(table.symbols.items())
            if releases.is_cxx(symbol) is cxx
        ]
        packed = lzma.compress(("\n".join(rows) + "\n").encode("ascii"), preset=9 | lzma.PRESET_EXTREME)
        (releases.TABLES / f"{name}.tsv.xz").write_bytes(packed)


def main() -> int:
    """Bring the tables up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", nargs="*", help="releases, such as 2.16.2; all that are offered where none is named")
    known = (releases.TABLES / "releases.tsv").exists()
    table = releases.whole() if known else Exports()
    for release in parser.parse_args().release or offered():
        if release in table.releases:
            continue
        print(f"{release} …", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-cache-dir", "--no-deps",
                       "--only-binary=:all:", "-d", folder, f"{PACKAGE}=={release}"]  # fmt: skip
            subprocess.run(command, check=True)
            (path,) = Path(folder).glob("*.whl")
            wheel = Wheel(path)
            table = extended(table, release, wheel.scope, dict(wheel.exports()))
        write(table)
    size = sum(path.stat().st_size for path in releases.TABLES.iterdir())
    print(f"{len(table.releases)} releases, {len(table.symbols)} symbols, {size >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
