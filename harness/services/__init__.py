"""Services that a plugin needs, from a compose file, through the docker engine.

`read` a compose file, bring it `up`, and give a target what the `Running` has for it. `down` removes what is left of
runs whose process is gone, and of those that were asked to stay.
"""

from .compose import Compose, ComposeError, Measure, read
from .engine import Missing, ServicesError, ServicesRun, connect, remove, runs
from .topology import Running, attach, up

__all__ = [
    "Compose",
    "ComposeError",
    "Measure",
    "Missing",
    "Running",
    "ServicesError",
    "ServicesRun",
    "attach",
    "connect",
    "down",
    "read",
    "remove",
    "runs",
    "up",
]


def down(name: str | None = None, *, also_alive: bool = False) -> list[ServicesRun]:
    """Remove the runs of services of this name, or of all; those that another process holds only with `also_alive`.

    Gives what was removed. Raises ServicesError.
    """
    client = connect()
    gone = [found for found in runs(client, name) if also_alive or not found.alive]
    for found in gone:
        remove(client, found)
    return gone
