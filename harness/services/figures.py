"""Reads byte counters of services: a Prometheus metric, or the bytes that a container sent."""

import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .engine import ServicesError

#: Time-out of one HTTP request, in seconds.
_PATIENCE = 30


@dataclass(frozen=True, slots=True)
class ByteCounter:
    """A counter of bytes. `what` says in words what it counts.

    Either `url` and `sample` are set: the counter is a sample of the Prometheus metrics at that URL, spelt as there,
    such as `traffic_bytes{type="peer"}`. Or `sender` is set: the counter is all that the container of that service
    sent.
    """

    what: str
    url: str = ""
    sample: str = ""
    sender: str = ""

    def __post_init__(self) -> None:
        if bool(self.url and self.sample) == bool(self.sender):
            raise ValueError(f"{self.what}: either url and sample, or sender")

    def read(self, placed: Callable[[str], str], containers: Mapping[str, Any]) -> int:
        """The value now, in bytes. Raise ServicesError where it cannot be read."""
        if self.sender:
            networks = containers[self.sender].stats(stream=False)["networks"]
            return sum(int(network["tx_bytes"]) for network in networks.values())
        return sample(_metrics(placed(self.url)), self.sample)


def sample(metrics: str, name: str) -> int:
    """The value of a sample, in bytes. 0 where it is missing, because services list a counter from its first use on."""
    values = (line.removeprefix(name) for line in metrics.splitlines() if line.startswith(f"{name} "))
    return int(float(next(values, "0")))


def _metrics(url: str) -> str:
    # The services are on this machine: a proxy from the environment must not be used.
    here = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with here.open(url, timeout=_PATIENCE) as answer:
            return str(answer.read().decode(errors="replace"))
    except OSError as error:
        raise ServicesError(f"{url} cannot be read: {error}") from error
