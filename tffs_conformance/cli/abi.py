"""`tffs-conformance abi`: in which releases of TensorFlow a shared object loads, without loading it."""

import itertools
from collections.abc import Iterator, Sequence

import click

from ..harness.shared_object import abi as loader
from ..harness.shared_object.abi import Abi, Symbols
from ..harness.shared_object.elf import NotElfError
from ..harness.shared_object.releases import is_cxx, is_function_of_c
from ..harness.targets.profile import ProfileError
from ..harness.targets.shipped import plugin_path
from ..reports.escape import printable
from ..reports.model.abi import spans

#: Symbols that are named without --all.
MAX_SYMBOLS = 3


@click.command()
@click.argument("plugin")
@click.option("--all", "every", is_flag=True, help="Name every symbol.")
def abi(plugin: str, every: bool) -> None:
    """Say in which releases of TensorFlow a plugin loads, and why not in the others. Nothing of it is run.

    That is for a process of Python that imported TensorFlow. Symbols are named as linkers do: c++filt makes names of
    C++ of them. The exit code is 1 if it loads in no release, 4 if it is another machine's or no plugin.
    """
    try:
        path = plugin_path(plugin)
        found = loader.read(path)
        if not found.is_plugin:
            raise NotElfError(f"it exports no {loader.ENTRY_POINT}")
    except ProfileError as error:
        raise click.UsageError(printable(str(error))) from error
    except OSError as error:
        raise click.UsageError(f"{printable(plugin)} cannot be read: {error.strerror}") from error
    except NotElfError as error:
        click.echo(f"Error: {printable(plugin)} cannot be loaded as a plugin: {printable(str(error))}", err=True)
        raise SystemExit(4) from None
    most = None if every else MAX_SYMBOLS
    click.echo(f"{path.name} names {', '.join(map(printable, found.libraries)) or 'no library'}")
    if found.glibc:
        click.echo(f"  and needs glibc {printable(found.glibc)} or newer")
    for library in found.unknown:
        click.echo(f"  {printable(library)} is not on this machine: what it has is not known")
    if found.untold:
        click.echo(f"  {_named(found.untold, most)} may be there or not: copies of templates are not in the tables")
    click.echo("TensorFlow")
    lacking = {release: tuple(one for one in found.missing if release in one.releases) for release in found.releases}
    for group, reasons in itertools.groupby(found.releases, key=lacking.__getitem__):
        releases = spans([*reasons], found.releases)
        click.echo(f"  {releases:<18}{'does not load' if group else 'loads'}")
        for one in group:
            click.echo(f"{'':<20}{_named(one.symbols, most)}: {_why(one)}")
    for remedy in _remedies(found):
        click.echo(f"To do: {remedy}")
    if not found.loads:
        raise SystemExit(1)


def _remedies(found: Abi) -> Iterator[str]:
    """What to do about what some releases lack, in a sentence for each kind of symbol."""
    missing = {symbol for one in found.missing for symbol in one.symbols}
    if any(map(is_function_of_c, missing)):
        yield (
            "look TensorFlow's functions up at run time (dlsym) instead of having them undefined, as the plugin of"
            " 'tffs-conformance new' does: then it loads in every release."
        )
    if any(map(is_cxx, missing)):
        yield "use the functions of the C interface alone: the symbols of C++ change with every release of TensorFlow."
    if not all(is_function_of_c(symbol) or is_cxx(symbol) for symbol in missing):
        yield "link the plugin with whatever has what no release of TensorFlow has."


def _why(one: Symbols) -> str:
    if one.library:
        return f"in {one.library}, which it does not name and no other library made global"
    return "TensorFlow does not have that"


def _named(symbols: Sequence[str], most: int | None) -> str:
    """The first of these symbols, and how many more there are."""
    named = ", ".join(map(printable, symbols[:most]))
    left = len(symbols) - len(symbols[:most])
    return f"{named} and {left} more" if left else named
