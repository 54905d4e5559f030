"""Refreshes what is known of TensorFlow's releases: the symbols that their libraries export.

`python packaging/tensorflow_exports.py [RELEASE…]` fetches the wheels of all releases that pip offers for this Python,
or of some, one after the other, and writes the tables of `harness/`. A release that the tables have is not fetched
again.
"""

import argparse
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tffs_conformance.harness import releases
from tffs_conformance.harness.releases import LIBRARIES

PACKAGE = "tensorflow-cpu"
#: Whose names begin like this is a part of a compiler that TensorFlow brings, of which no plugin has heard.
COMPILERS = ("_ZN4mlir", "_ZNK4mlir", "_ZTVN4mlir", "_ZTIN4mlir", "_ZTSN4mlir",
             "_ZN4llvm", "_ZNK4llvm", "_ZTVN4llvm", "_ZTIN4llvm", "_ZTSN4llvm", "mlir", "LLVM")  # fmt: skip


def offered() -> list[str]:
    """The releases that pip offers, oldest first."""
    command = [sys.executable, "-m", "pip", "index", "versions", PACKAGE]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(line for line in said.splitlines() if line.startswith("Available versions:"))
    return [name.strip() for name in reversed(line.partition(":")[2].split(","))]


def exports(release: str) -> Iterator[tuple[str, set[str]]]:
    """The libraries of a release, each with the symbols it exports that are no copies of what headers define."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-cache-dir", "--no-deps",
                   "--only-binary=:all:", "-d", folder, f"{PACKAGE}=={release}"]  # fmt: skip
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        for name in LIBRARIES:
            with zipfile.ZipFile(wheel) as archive:
                path = archive.extract(f"tensorflow/{name}", folder)
            with open(path, "rb") as file:
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


def main() -> int:
    """Bring the tables up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", nargs="*", help="releases, such as 2.16.2; all that are offered where none is named")
    table = releases.read()
    for release in parser.parse_args().release or offered():
        if release in table.releases:
            continue
        print(f"{release} …", flush=True)
        table = table.extended(release, dict(exports(release)))
        releases.write(table)
    print(f"{len(table.releases)} releases, {len(table.symbols)} symbols, {releases.TABLE.stat().st_size >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
