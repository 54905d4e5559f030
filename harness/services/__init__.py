"""The services that a plugin needs, such as an object store: started from a compose file, in docker.

`read` reads a compose file, `up` starts its services, and the `Services` it returns says what the target is given.
`down` removes services that were started to stay, and those whose process was killed.
"""

from .compose import Compose, ComposeError, Measure, read
from .engine import ServiceMissingError, ServicesError, ServicesRun, connect, remove, runs
from .topology import Services, attach, up

__all__ = [
    "Compose",
    "ComposeError",
    "Measure",
    "ServiceMissingError",
    "Services",
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
    """Remove the containers, networks and files of all runs with this name, or of every run.

    A run that another living process uses is removed only with `also_alive`.

    Return the runs that were removed. Raise ServicesError where docker refuses.
    """
    client = connect()
    gone = [found for found in runs(client, name) if also_alive or not found.alive]
    for found in gone:
        remove(client, found)
    return gone
