"""What the tests of services have in common."""

import random
import time
from collections.abc import Callable
from typing import Any

from tests.store import Store, through
from tffs_conformance.harness.services import Running
from tffs_conformance.harness.services.figures import Figure
from tffs_conformance.harness.targets.shipped import compose_files

COMPOSE = compose_files()["dragonfly"]
#: The defaults of the compose file.
ACCESS, SECRET = "tffs-access", "tffs-test-secret"
#: In seconds; for waiting for what has to come.
PATIENCE = 120


def until(what: Callable[[], Any], sentence: str) -> Any:
    """What `what` gives as soon as it gives something."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if got := what():
            return got
        time.sleep(0.05)
    raise AssertionError(sentence)


def traffic(running: Running, client: str) -> dict[str, int]:
    """The bytes that a client got so far, by where from."""
    kinds = ("BACK_TO_SOURCE", "REMOTE_PEER", "LOCAL_PEER")
    name = 'dragonfly_client_download_traffic{type="%s"}'
    figures = {kind: Figure(kind, url=f"http://{{{client}:4002}}/metrics", sample=name % kind) for kind in kinds}
    return {kind: figure.read(running.placed, running.containers) for kind, figure in figures.items()}


def sent(running: Running) -> int:
    """The bytes that left the store so far, over all connections."""
    return Figure("sent", sender="s3").read(running.placed, running.containers)


def whole(running: Running) -> None:
    """Waits until clients fetch from each other again.

    The health of a container does not tell: a scheduler knows of a client when that client announces itself, and
    until then a client fetches from the store.
    """
    outside, inside = (Store(address, ACCESS, SECRET) for address in (running.address("s3", 7070), "s3:7070"))
    # What is smaller does not go through the scheduler.
    content = random.Random(5).randbytes(8 << 20)

    def shared() -> bool:
        path = f"/tffs/whole/{running.run}/{time.monotonic_ns()}"
        outside.put(path, content)
        before = traffic(running, "client-b")["REMOTE_PEER"]
        for client in ("client-a", "client-b"):
            through(running.address(client, 4001), inside.url("GET", path), "whole")
        # The figure follows the bytes by a moment.
        for _ in range(20):
            if traffic(running, "client-b")["REMOTE_PEER"] - before >= len(content):
                return True
            time.sleep(0.05)
        return False

    until(shared, "the clients do not fetch from each other any more")
