"""Hosts for a plugin that is not the same each time it is loaded."""

import os
import random

from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.launchers.local import Local, LocalProcess
from tffs_conformance.harness.targets.shipped import plugin_path


class Changing:
    """Starts hosts with one environment or the other, in an order that is the same every time."""

    def __init__(self, *faults: str) -> None:
        self._launchers = [Local({"TFFS_FAULT": fault}) for fault in faults]
        self._chance = random.Random(0)

    def start(self) -> LocalProcess:
        """A host of one of them."""
        return self._chance.choice(self._launchers).start()

    def without_filling(self) -> "Changing":
        """The same: what the allocator fills makes no difference here."""
        return self

    def close(self) -> None:
        """Close both."""
        for launcher in self._launchers:
            launcher.close()


def test_a_plugin_that_announces_other_schemes_each_time_is_loaded_as_it_is() -> None:
    loader = Loader(Changing("two-schemes", "api:filesystem"), plugin_path("fakes/malformed"), 10.0)
    try:
        loader.load().host.close()
        before = len(os.listdir("/proc/self/fd"))
        seen = []
        for _ in range(20):
            loaded = loader.load()
            seen.append(tuple(loaded.registration.registered))
            loaded.host.close()
        assert set(seen) == {("malformed", "malformed2"), ("malformed",)}
        assert len(os.listdir("/proc/self/fd")) <= before + 3, "a host that was not used is ended"
    finally:
        loader.close()
