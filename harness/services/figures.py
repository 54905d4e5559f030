"""Figures that services keep of themselves: counters in their metrics, and the bytes that left a container."""

import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .engine import ServicesError

#: In seconds.
_PATIENCE = 30


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of bytes that only grows, and `what` it counts.

    Either a `sample` of the Prometheus metrics at `url`, as it stands there in front of its value; or all that the
    container of the service `sender` sent, over all its connections.
    """

    what: str
    url: str = ""
    sample: str = ""
    sender: str = ""

    def __post_init__(self) -> None:
        if bool(self.url and self.sample) == bool(self.sender):
            raise ValueError(f"{self.what}: either url and sample, or sender")

    def read(self, placed: Callable[[str], str], containers: Mapping[str, Any]) -> int:
        """What it is now. Raises ServicesError."""
        if self.sender:
            networks = containers[self.sender].stats(stream=False)["networks"]
            return sum(int(network["tx_bytes"]) for network in networks.values())
        return sample(_metrics(placed(self.url)), self.sample)


def sample(metrics: str, name: str) -> int:
    """The value of a sample; 0 where there is none, for services show a counter when they first count."""
    values = (line.removeprefix(name) for line in metrics.splitlines() if line.startswith(f"{name} "))
    return int(float(next(values, "0")))


def _metrics(url: str) -> str:
    # Whatever proxy there is for the world, the services are here.
    here = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with here.open(url, timeout=_PATIENCE) as answer:
            return str(answer.read().decode(errors="replace"))
    except OSError as error:
        raise ServicesError(f"{url} cannot be read: {error}") from error
