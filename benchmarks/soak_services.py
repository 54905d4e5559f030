"""What the plugin talks to in a soak, and how it fails: services in docker that are killed, or stubs."""

import json
import os
import random
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

from tests.faulty_http import Asked, FaultyServer, Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server
from tffs_conformance.harness import services
from tffs_conformance.harness.targets.shipped import compose_files


class Failing(Protocol):
    """Services for the plugin: its configuration, and the URI of a directory."""

    config: dict[str, Any]
    root: str

    def fail(self, number: int) -> None:
        """Let one of them fail for a moment: the client of Dragonfly and the store in turn."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Docker:
    """Dragonfly and a store. They keep their ports when they are started again."""

    root = "dragonfly://tffs/soak"

    def __enter__(self) -> Self:
        names = ("S3_PORT", "SEED_METRICS_PORT", "A_PROXY_PORT", "A_METRICS_PORT", "B_PROXY_PORT", "B_METRICS_PORT")
        os.environ.update({f"DRAGONFLY_{name}": str(_free_port()) for name in names})
        self._running = services.up(
            services.read(compose_files()["dragonfly"]), "dragonfly", keep=False, fixed_ports=True,
            say=lambda text: print(text, file=sys.stderr),
        )  # fmt: skip
        self.config = json.loads(Path(self._running.environment["DRAGONFLY_CONFIG_PATH"]).read_text())
        self.config["retry_deadline_s"] = 30
        return self

    def __exit__(self, *_: object) -> None:
        self._running.stop()

    def fail(self, number: int) -> None:
        # 0: by SIGKILL, at once.
        self._running.containers[("client-a", "s3")[number % 2]].restart(timeout=0)


class Stubs:
    """A store and a proxy of the project's tests. Besides, some of what they send breaks off or is refused."""

    root = f"dragonfly://{BUCKET}/soak"
    SECONDS = 1.0

    def __enter__(self) -> Self:
        self._random = random.Random(1)
        self._store, self._proxy = S3Server(), ProxyStub()
        keys = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
        self.config = {"addr": self._proxy.url, "object_storage": {"endpoint": self._store.url, **keys}}
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._store.stop()
        self._proxy.stop()

    def fail(self, number: int) -> None:
        server = (self._proxy, self._store)[number % 2]
        server.heal()
        server.inject(lambda _, __: Reply(200, silent=True), done=False)
        time.sleep(self.SECONDS)
        # A client of Dragonfly that is started again holds nothing.
        self._proxy.tasks.clear()
        self._begin()

    def _begin(self) -> None:
        for server in (self._store, self._proxy):
            server.heal()
            self._injected(server)

    def _injected(self, server: FaultyServer) -> None:
        def cut(_: Asked, right: Reply) -> Reply:
            return replace(right, cut=self._random.randrange(len(right.body) or 1))

        server.inject(cut, when=lambda asked: asked.method == "GET" and self._random.random() < 0.1)
        server.inject(lambda _, __: Reply(503), when=lambda _: self._random.random() < 0.02, done=False)
