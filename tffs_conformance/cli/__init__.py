"""The command line beside pytest: one module a command."""

import importlib
from typing import Any

import click

from .. import __version__
from ..harness.native import NativePartsMissingError

#: The commands, each in the module of its name; a module is imported for its own command alone, because the libraries
#: of some take longer to import than most commands to run.
COMMANDS = (
    "abi",
    "campaign",
    "config",
    "doctor",
    "explain",
    "list",
    "new",
    "probe",
    "published",
    "report",
    "run",
    "services",
    "waive",
)


class Commands(click.Group):
    """The commands; in a bare clone some of them lack what they need, and say so in a sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{cmd_name}", __name__)
        return next(one for one in vars(module).values() if isinstance(one, click.Command) and one.name == cmd_name)

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
        tffs-conformance run --help        its options

    These commands say what it checks and read what it wrote.
    """
