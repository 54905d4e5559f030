"""Commands by the words of before 1.0: they work for one release, and say the new word. No help lists them."""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

import click

from .config import config
from .published.add import add
from .published.site import site
from .waive import waive

#: The options of the old words that the new ones spell otherwise.
SPELT = {"update-waivers": {"-o": "--waivers"}, "host": {"--host": "--export"}}
#: For each old word: the command that it means, what was said with it, and the new word.
RENAMED: Mapping[str, tuple[click.Command, Mapping[str, Any], str]] = {
    "update-waivers": (waive, {"sync": True, "clauses": None}, "waive --sync REPORT.JSON -o FILE"),
    "host": (config, {"includes": False, "cmakedir": False, "pkgconfigdir": False}, "config --host=DIR"),
    "publish": (add, {}, "published add"),
    "site": (site, {}, "published site"),
}


def renamed(word: str) -> click.Command:
    """The command of an old word."""
    meant, said, now = RENAMED[word]
    found = copy(meant)
    found.name, found.hidden = word, True
    found.callback = _telling(word, meant.callback, said, now)
    found.params = [_spelt(one, SPELT.get(word, {})) for one in meant.params if one.name not in said]
    return found


def _telling(word: str, callback: Callable[..., None] | None, said: Mapping[str, Any], now: str) -> Callable[..., None]:
    def told(**given: Any) -> None:
        click.echo(f"note: '{word}' is '{now}' now, and goes with the next release", err=True)
        assert callback is not None
        callback(**given, **said)

    return told


def _spelt(one: click.Parameter, otherwise: Mapping[str, str]) -> click.Parameter:
    """A parameter as an old word had it."""
    old = [otherwise[name] for name in one.opts if name in otherwise]
    if not old:
        return one
    found = copy(one)
    found.opts = old
    return found
