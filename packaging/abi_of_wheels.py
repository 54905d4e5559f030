"""Tells of released packages in which releases of TensorFlow the plugins in their wheels load.

`python packaging/abi_of_wheels.py PACKAGE…` fetches the wheels for Linux on x86-64 of all versions that pip offers for
any Python, one after the other, and prints a table of their plugins. Nothing in them is run.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tffs_conformance.harness.shared_object import abi, elf
from tffs_conformance.harness.shared_object.abi import Abi
from tffs_conformance.harness.shared_object.demangle import demangled
from tffs_conformance.reports.model.abi import spans

PYTHONS = ("3.13", "3.12", "3.11", "3.10", "3.9", "3.8", "3.7")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux2010_x86_64",
             "manylinux_2_12_x86_64")  # fmt: skip
#: What a plugin exports.
ENTRY = "TF_InitPlugin"
#: So many names are in a cell.
NAMED = 4
#: A row of the table without its first cell, the version.
Row = tuple[str, str, str, str]


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pip for another system."""
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    command = [sys.executable, "-m", "pip", *arguments, "--only-binary=:all:", *platforms]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def offered(package: str) -> dict[str, str]:
    """The versions that pip offers, oldest first, each with a Python for which there is a wheel."""
    found: dict[str, str] = {}
    for python in PYTHONS:
        said = pip("index", "versions", package, f"--python-version={python}").stdout
        line = next((line for line in said.splitlines() if line.startswith("Available versions:")), "")
        for version in line.partition(":")[2].split(","):
            if version.strip():
                found.setdefault(version.strip(), python)
    return dict(sorted(found.items(), key=lambda entry: [int(part) for part in entry[0].split(".")]))


def libraries(package: str, version: str, python: str) -> Iterator[tuple[str, Abi]]:
    """The plugins in a wheel, and what is told of each."""
    with tempfile.TemporaryDirectory() as folder:
        done = pip("download", "-q", "--no-cache-dir", "--no-deps", f"--python-version={python}", "-d", folder,
                   f"{package}=={version}")  # fmt: skip
        for wheel in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if ".so" in name])
        if done.returncode != 0:
            print(f"{package} {version}: {done.stderr.strip()}", file=sys.stderr)
        for path in sorted(Path(folder).rglob("*.so")):
            if ENTRY in elf.read(path.read_bytes()).exported:
                yield path.name, abi.read(path)


def short(symbol: str) -> str:
    """The name of a symbol, without the types of its arguments."""
    name = demangled(symbol)
    return f"{name.partition('(')[0]}(…)" if "(" in name else name


def origin(symbol: str) -> str:
    """Where a symbol belongs: the outer namespaces of C++, what is before the first underscore in C."""
    if not symbol.startswith("_Z"):
        return symbol.partition("_")[0] + "_"
    # A function made from a template has its result before its name.
    name = demangled(symbol).partition("(")[0].partition("<")[0].rpartition(" ")[2]
    words = name.split("::")
    return "::".join(words[: 2 if words[0] == "google" else 1])


def taken(told: Abi) -> str:
    """What is captured, in a cell: in which releases, and most of the names."""
    if not told.captured:
        return "–"
    symbols = {symbol for one in told.captured for symbol in one.symbols}
    most = Counter(map(origin, symbols)).most_common(NAMED)
    said = ", ".join(f"`{name}` {count}" for name, count in most)
    releases = {release for one in told.captured for release in one.releases}
    return f"{spans([*releases], told.releases)}: {len(symbols)} symbols, such as {said}"


def row(name: str, told: Abi) -> Row:
    """What the table says of a library."""
    lacking = [release for release in told.releases if release not in told.loads]
    symbols = sorted(
        {symbol for one in told.missing for symbol in one.symbols}, key=lambda one: (one.startswith("_Z"), one)
    )
    wanting = [f"`{short(symbol)}`" for symbol in symbols[:NAMED]]
    if len(symbols) > NAMED:
        wanting.append(f"{len(symbols) - NAMED} more")
    why = f"{spans(lacking, told.releases)}: {', '.join(wanting)}" if lacking else "–"
    if told.unknown:
        why += f"; not found here: {', '.join(told.unknown)}"
    return f"`{name}`", spans(told.loads, told.releases) or "none", why, taken(told)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", nargs="+")
    for package in parser.parse_args().package:
        found: list[tuple[str, list[Row]]] = []
        for version, python in offered(package).items():
            print(f"{package} {version} …", file=sys.stderr, flush=True)
            found.append((version, [row(*library) for library in libraries(package, version, python)]))
        print(f"\n### {package}\n\n| version | library | loads in TensorFlow | not in, for want of | captured |")
        print("|---|---|---|---|---|")
        for rows, group in itertools.groupby(found, key=lambda entry: entry[1]):
            versions = [version for version, _ in group]
            for cells in rows or [("no plugin", "", "", "")]:
                print("|", " | ".join((spans(versions, versions), *cells)), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
