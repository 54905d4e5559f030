"""Which launcher starts the hosts of a target."""

from collections.abc import Mapping, Sequence

from .command import Command
from .launcher import Launcher
from .local import Local

#: What tells a host the libraries of its runtime.
RUNTIME_VARIABLE = "TFFS_RUNTIME"


def launcher(
    command: Sequence[str], environment: Mapping[str, str], libraries: Sequence[str] = (), through: Sequence[str] = ()
) -> Launcher:
    """What starts hosts with this command and `environment`: this machine, where the command is empty.

    `libraries` are those of the runtime, where that is not the stand-in. `through` is the program of hosts of another
    kind, to which nothing is said of memory: it is TensorFlow's.
    """
    if through:
        return Local(environment, {}, through)
    given = {**environment, RUNTIME_VARIABLE: ":".join(libraries)} if libraries else environment
    return Command(command, given) if command else Local(given)
