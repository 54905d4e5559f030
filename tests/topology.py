"""What the tests of services have in common."""

import os
import time
from collections.abc import Callable
from typing import Any

from tffs_conformance.services_cli import shipped

#: Where docker has to be there, as in the environment `services` of tox, its absence is a failure.
REQUIRED = bool(os.environ.get("TFFS_SERVICES_REQUIRED"))
COMPOSE = shipped()["dragonfly"]
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
