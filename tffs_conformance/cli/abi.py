"""`tffs-conformance abi`: in which releases of TensorFlow a shared object loads, without loading it."""

import itertools
from collections.abc import Sequence

import click

from ..harness import abi as loader
from ..harness.demangle import demangled
from ..harness.elf import NotElf
from ..harness.shipped import plugin_path
from ..reports.escape import printable

#: So many symbols are named where nobody asks for all.
FEW = 3
REMEDY = (
    "TensorFlow's copy may be of another version. Name the library before TensorFlow's when you link, or link it"
    " statically and hide it (-Wl,--exclude-libs,ALL)."
)


@click.command()
@click.argument("plugin")
@click.option("--all", "every", is_flag=True, help="Name every symbol.")
def abi(plugin: str, every: bool) -> None:
    """Say in which releases of TensorFlow a plugin loads, and why not in the others. Nothing of it is run.

    Also told: which libraries that it was built with it would find in TensorFlow's copies instead.

    The exit code is 1 where it loads in no release.
    """
    path = plugin_path(plugin)
    try:
        found = loader.of(path)
    except OSError as error:
        raise click.UsageError(f"{printable(plugin)} cannot be read: {error.strerror}") from error
    except NotElf as error:
        raise click.UsageError(f"{printable(plugin)} is no shared object: {printable(str(error))}") from error
    most = None if every else FEW
    click.echo(f"{path.name} names {', '.join(map(printable, found.libraries)) or 'no library'}")
    if found.glibc:
        click.echo(f"  and needs glibc {printable(found.glibc)} or newer")
    for library in found.unknown:
        click.echo(f"  {printable(library)} is not on this machine: what it has nobody can tell")
    click.echo("TensorFlow")
    for symbols, group in itertools.groupby(found.missing, key=lambda release: found.missing[release]):
        releases = _range([*group])
        click.echo(f"  {releases:<18}{'loads' if not symbols else 'does not load: ' + _symbols(symbols, most)}")
    for one in found.captured:
        click.echo(
            f"{printable(one.library)} is taken from TensorFlow {_range(one.releases)}: {_symbols(one.symbols, most)}"
        )
    if found.captured:
        click.echo(f"  {REMEDY}")
    if not found.loads_in:
        raise SystemExit(1)


def _range(releases: Sequence[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


def _symbols(symbols: Sequence[str], most: int | None) -> str:
    """The first of these symbols by their names, and how many more there are."""
    named = ", ".join(printable(demangled(symbol)) for symbol in symbols[:most])
    left = len(symbols) - len(symbols[:most])
    return f"{named} and {left} more" if left else named
