"""What the tests of services have in common: calls to a store by presigned URLs, and what comes when."""

import base64
import random
import time
import urllib.request
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tffs_conformance.harness.services import Services
from tffs_conformance.harness.services.figures import ByteCounter
from tffs_conformance.harness.targets.shipped import compose_files

COMPOSE = compose_files()["dragonfly"]
#: The defaults of the compose file.
ACCESS, SECRET = "tffs-access", "tffs-test-secret"
#: In seconds; for waiting for what has to come.
PATIENCE = 120


@dataclass(frozen=True)
class Store:
    """An S3 store, by the address `HOST:PORT` under which the one who calls it knows it."""

    address: str
    access_key: str
    secret_key: str

    def url(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> str:
        """A URL that allows one method on `/bucket/key` for some time, with headers by names in lower case."""
        request = AWSRequest(method, f"http://{self.address}{quote(path)}", headers)
        S3SigV4QueryAuth(Credentials(self.access_key, self.secret_key), "s3", "us-east-1", 900).add_auth(request)
        return str(request.prepare().url)

    def put(self, path: str, content: bytes, *, crc: bool = False) -> None:
        """Put an object there; with `crc` as today's SDKs do, with a CRC-32 that the store compares and keeps."""
        headers = {}
        if crc:
            headers["x-amz-checksum-crc32"] = base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()
        url = self.url("PUT", path, headers=headers)
        request = urllib.request.Request(url, data=content, headers=headers, method="PUT")
        with direct().open(request, timeout=60) as answer:
            assert answer.status == 200


def direct() -> urllib.request.OpenerDirector:
    """Whatever the environment says of proxies."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def through(proxy: str, url: str, tag: str) -> tuple[bytes, dict[str, str]]:
    """The content and the headers of a GET through a Dragonfly client at `proxy`."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://{proxy}"}))
    request = urllib.request.Request(url, headers={"X-Dragonfly-Use-P2P": "true", "X-Dragonfly-Tag": tag})
    with opener.open(request, timeout=120) as answer:
        return answer.read(), {name.lower(): value for name, value in answer.headers.items()}


def until(what: Callable[[], Any], sentence: str) -> Any:
    """What `what` gives as soon as it gives something."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if got := what():
            return got
        time.sleep(0.05)
    raise AssertionError(sentence)


def traffic(running: Services, client: str) -> dict[str, int]:
    """The bytes that a client got so far, by where from."""
    kinds = ("BACK_TO_SOURCE", "REMOTE_PEER", "LOCAL_PEER")
    name = 'dragonfly_client_download_traffic{type="%s"}'
    figures = {kind: ByteCounter(kind, url=f"http://{{{client}:4002}}/metrics", sample=name % kind) for kind in kinds}
    return {kind: figure.read(running.placed, running.containers) for kind, figure in figures.items()}


def sent(running: Services) -> int:
    """The bytes that left the store so far, over all connections."""
    return ByteCounter("sent", sender="s3").read(running.placed, running.containers)


def whole(running: Services) -> None:
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
