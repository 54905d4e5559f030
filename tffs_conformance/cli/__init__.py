"""The command line beside pytest: one module a command."""

import importlib
from typing import Any

import click

from .. import __version__
from ..harness.native import NativePartsMissingError

#: The commands, each in the module of its name or in the one that follows; a module is imported for its own command
#: alone, because the libraries of some take longer to import than most commands to run.
COMMANDS = {
    "new": "",
    "list": "",
    "explain": "",
    "abi": "",
    "report": "",
    "config": "",
    "doctor": "",
    "host": "",
    "probe": "",
    "publish": "",
    "site": "",
    "services": "",
    "campaign": "",
    "waive": "waivers",
    "update-waivers": "waivers",
}


class Commands(click.Group):
    """The commands; in a bare clone some of them lack what they need, and say so in a sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order of the alphabet."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{COMMANDS[cmd_name] or cmd_name}", __name__)
        found: click.Command = next(
            one for one in vars(module).values() if isinstance(one, click.Command) and one.name == cmd_name
        )
        return found

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
