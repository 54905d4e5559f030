"""What the benchmarks of the dragonfly plugin talk to: Dragonfly and a store in docker, or stubs."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Protocol, Self

from tests.proxy_stub import ProxyStub
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server
from tests.store import Store
from tffs_conformance.harness import services
from tffs_conformance.harness.targets.shipped import compose_files


class Place(Protocol):
    """A store with a bucket, and a client of Dragonfly."""

    bucket: str
    proxy: str  # the address of Dragonfly's client
    store: Store  # as this process knows it
    inside: Store  # as Dragonfly knows it
    config: dict[str, Any]  # the plugin's
    environment: dict[str, str]  # for a process with the plugin

    def requests(self) -> int:
        """How many requests the store has had."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Docker:
    bucket = "tffs"

    def __enter__(self) -> Self:
        self._running = services.up(
            services.read(compose_files()["dragonfly"]), "dragonfly", keep=False, fixed_ports=False,
            say=lambda text: print(text, file=sys.stderr),
        )  # fmt: skip
        self.environment = {**os.environ, **self._running.environment}
        self.config = json.loads(Path(self._running.environment["DRAGONFLY_CONFIG_PATH"]).read_text())
        self.proxy = self.config["addr"]
        storage = self.config["object_storage"]
        keys = storage["access_key"], storage["secret_key"]
        self.store, self.inside = Store(self._running.address("s3", 7070), *keys), Store("s3:7070", *keys)
        return self

    def __exit__(self, *_: object) -> None:
        self._running.stop()

    def requests(self) -> int:
        # The store writes a line for each into its log; those of its health are none of ours.
        said = self._running.containers["s3"].logs(stdout=True, stderr=False).splitlines()
        return sum(b"/health" not in line for line in said)


class Stubs:
    bucket = BUCKET

    def __enter__(self) -> Self:
        self._store, self._proxy = S3Server(), ProxyStub()
        self._folder = tempfile.TemporaryDirectory()
        self.proxy = self._proxy.url
        keys = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
        self.config = {"addr": self.proxy, "object_storage": {"endpoint": self._store.url, **keys}}
        path = Path(self._folder.name, "dragonfly.json")
        path.write_text(json.dumps(self.config))
        self.environment = {**os.environ, "DRAGONFLY_CONFIG_PATH": str(path)}
        self.store = self.inside = Store(self._store.host, ACCESS_KEY, SECRET_KEY)
        return self

    def __exit__(self, *_: object) -> None:
        self._store.stop()
        self._proxy.stop()
        self._folder.cleanup()

    def requests(self) -> int:
        return len(self._store.asked)
