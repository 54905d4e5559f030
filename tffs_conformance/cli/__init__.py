"""The command line beside pytest: one module a command."""

from typing import Any

import click

from .. import __version__
from ..harness.native import NativePartsMissingError
from .abi import abi
from .campaign import campaign
from .config import config
from .doctor import doctor
from .explain import explain
from .host import host
from .list import list_
from .new import new
from .probe import probe
from .publish import publish
from .report import report
from .services import services
from .site import site
from .waivers import update_waivers, waive


class Commands(click.Group):
    """The commands; in a bare clone some of them lack what they need, and say so in a sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was given."""
        try:
            return super().invoke(ctx)
        except NativePartsMissingError as missing:
            raise click.ClickException(str(missing)) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Conformance of TensorFlow filesystem plugins.

    The suite itself runs in pytest:

    \b
        pytest --plugin=posix              a plugin that ships with the suite
        pytest --plugin=./libmine.so       yours

    These commands say what it checks and read what it wrote.
    """


for command in (
    new,
    list_,
    explain,
    abi,
    report,
    config,
    doctor,
    host,
    probe,
    publish,
    site,
    services,
    campaign,
    waive,
    update_waivers,
):
    main.add_command(command)
