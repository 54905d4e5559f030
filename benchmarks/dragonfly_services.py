"""What the benchmarks of the dragonfly plugin use: Dragonfly and a store in docker, or stubs of the tests."""

import json
import os
import random
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.dragonfly_client import configuration
from tests.faulty_http import Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server
from tests.topology import Store
from tffs_conformance.harness import services
from tffs_conformance.harness.targets.shipped import compose_files

PORTS = ("S3", "SEED_METRICS", "A_PROXY", "A_METRICS", "B_PROXY", "B_METRICS")


@dataclass(frozen=True)
class Place:
    """A store with a bucket, and a client of Dragonfly.

    `config` is the plugin's. `outside` is the store as this process knows it, `inside` as Dragonfly does. `fail` lets
    Dragonfly's client, for an even number, or the store, for an odd one, fail for a moment.
    """

    bucket: str
    config: dict[str, Any]
    outside: Store
    inside: Store
    fail: Callable[[int], None]


@contextmanager
def in_docker() -> Iterator[Place]:
    """Dragonfly and a store, which have the same ports when they are started again."""
    os.environ.update({f"DRAGONFLY_{name}_PORT": str(_free_port()) for name in PORTS})
    running = services.up(
        services.read(compose_files()["dragonfly"]), "dragonfly", keep=False, fixed_ports=True,
        say=lambda text: print(text, file=sys.stderr),
    )  # fmt: skip

    def fail(number: int) -> None:
        # With no time to end by themselves they are killed at once.
        running.containers[("client-a", "s3")[number % 2]].restart(timeout=0)

    try:
        config = json.loads(Path(running.environment["DRAGONFLY_CONFIG_PATH"]).read_text())
        keys = config["object_storage"]["access_key"], config["object_storage"]["secret_key"]
        outside, inside = Store(running.address("s3", 7070), *keys), Store("s3:7070", *keys)
        yield Place("tffs", config, outside, inside, fail)
    finally:
        running.stop()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def with_stubs() -> Iterator[Place]:
    """A store and a proxy of the tests. From the first failure on, some transfers are cut and some requests refused."""
    numbers = random.Random(1)
    with S3Server() as store, ProxyStub() as proxy:

        def fail(number: int) -> None:
            failing = (proxy, store)[number % 2]
            failing.heal()
            failing.inject(lambda _, __: Reply(200, head=0), done=False)
            time.sleep(1)
            # A client of Dragonfly that is started again has no objects.
            proxy.tasks.clear()
            for server in (proxy, store):
                server.heal()
                server.inject(
                    lambda _, right: replace(right, cut=numbers.randrange(len(right.body) or 1)),
                    when=lambda asked: asked.method == "GET" and numbers.random() < 0.1,
                )
                server.inject(lambda _, __: Reply(503), when=lambda _: numbers.random() < 0.02, done=False)

        at = Store(store.host, ACCESS_KEY, SECRET_KEY)
        yield Place(BUCKET, configuration(store.url, proxy.url), at, at, fail)
