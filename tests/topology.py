"""What the tests of services have in common."""

import time
from collections.abc import Callable
from typing import Any

from tffs_conformance.harness.services import Running
from tffs_conformance.harness.services.figures import Figure
from tffs_conformance.harness.shipped import compose_files

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
