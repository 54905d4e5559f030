"""Waits until services are healthy."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .compose import Service
from .engine import ServicesError

#: Seconds between two questions to docker.
_PERIOD = 0.1


class UnhealthyError(ServicesError):
    """A service ended, or was not healthy in time. The text is one sentence with the end of its log."""


def wait(
    services: Iterable[Service], containers: Mapping[str, Any], deadline: float, say: Callable[[str], None]
) -> None:
    """Wait until each container is healthy, or running where its image has no health check. Raise UnhealthyError.

    `deadline` is a time of `time.monotonic()` in seconds. `say` is called with one sentence for each healthy service.
    """
    waiting = {service.name: service for service in services}
    started = time.monotonic()
    while waiting:
        for name in list(waiting):
            now = state(containers[name])
            if now in ("healthy", "running"):
                del waiting[name]
                say(f"{name} is {now} ({time.monotonic() - started:.1f} s)")
            elif now in ("exited", "dead", "unhealthy"):
                raise UnhealthyError(f"the service {name} is {now}: {last_words(containers[name])}")
        if waiting and time.monotonic() > deadline:
            name = next(iter(waiting))
            raise UnhealthyError(f"the service {name} did not become healthy in time: {last_words(containers[name])}")
        if waiting:
            time.sleep(_PERIOD)


def state(container: Any) -> str:
    """The state of a container in one word of docker's: `healthy`, `starting`, `running`, `exited`, …"""
    container.reload()
    now = container.attrs["State"]
    if now["Status"] != "running":
        return str(now["Status"])
    return str(now["Health"]["Status"]) if "Health" in now else "running"


def last_words(container: Any) -> str:
    """The last lines of a container's log, joined to one line."""
    lines = container.logs(tail=3).decode(errors="replace").split("\n")
    return " | ".join(line.strip() for line in lines if line.strip())[-400:] or "it wrote nothing"
