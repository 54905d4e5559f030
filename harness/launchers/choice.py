"""Which launcher starts the hosts of a target."""

from collections.abc import Mapping, Sequence

from .command import Command
from .launcher import Launcher
from .local import Local


def launcher(command: Sequence[str], environment: Mapping[str, str]) -> Launcher:
    """What starts hosts with this command and `environment`: this machine, where the command is empty."""
    return Command(command, environment) if command else Local(environment)
