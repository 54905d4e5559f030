"""The suite on the dragonfly plugin, in front of S3 servers that differ: s3rver and moto, each in a process of its own.

There is no Dragonfly: the plugin reads from the store itself. versitygw is what the services are tested with. The
packages are installed for the test.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store import Store
from tests.test_suite import report, run

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]

BUCKET = "tffs"
#: s3rver knows no others.
KEYS = ("S3RVER", "S3RVER")
#: Seconds until a server answers.
PATIENCE = 60


def s3rver(folder: Path, port: int) -> list[str]:
    if shutil.which("npm") is None:
        pytest.skip("not run: there is no npm")
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), "s3rver@3.7.1"]
    subprocess.run(install, check=True)
    command = ["s3rver", "--directory", str(folder / "objects"), "--address", "127.0.0.1", "--port", str(port)]
    return [str(folder / "node_modules/.bin" / command[0]), *command[1:], "--silent"]


def moto(folder: Path, port: int) -> list[str]:
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    subprocess.run([str(folder / "venv/bin/pip"), "install", "-q", "moto[server]>=5,<6"], check=True)
    return [str(folder / "venv/bin/moto_server"), "-H", "127.0.0.1", "-p", str(port)]


#: s3rver ends when a name has more than 240 bytes, as some of the MUST tier have.
TIERS = {s3rver: "smoke", moto: "must"}


@pytest.fixture(scope="module", params=TIERS, ids=["s3rver", "moto"])
def config(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The plugin's configuration for a store that has an empty bucket, and the tier for it."""
    folder = tmp_path_factory.mktemp("store")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Node 17 and newer refuse the digest of s3rver's listings.
    environment = os.environ | {"NODE_OPTIONS": "--openssl-legacy-provider"}
    with (folder / "log").open("wb") as log:
        command = request.param(folder, port)
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
    try:
        made(Store(f"127.0.0.1:{port}", *KEYS), server)
        storage = {"endpoint": f"http://127.0.0.1:{port}", "access_key": KEYS[0], "secret_key": KEYS[1]}
        path = folder / "dragonfly.json"
        path.write_text(json.dumps(
            # Each first read waits a tenth of the deadline for a Dragonfly that is not there.
            {"addr": "http://127.0.0.1:9", "fallback_to_source": True, "retry_deadline_s": 1, "object_storage": storage}
        ))  # fmt: skip
        yield path, TIERS[request.param]
    finally:
        server.terminate()
        server.wait()


def made(store: Store, server: "subprocess.Popen[bytes]") -> None:
    """Make the bucket as soon as the store answers."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            store.put(f"/{BUCKET}", b"")
            return
        except OSError:
            if time.monotonic() > end or server.poll() is not None:
                raise
            time.sleep(0.2)


def test_the_suite_is_conformant(config: tuple[Path, str], tmp_path: Path) -> None:
    path, tier = config
    done = run(tmp_path, "--plugin=dragonfly", f"--env=DRAGONFLY_CONFIG_PATH={path}", f"--root=dragonfly://{BUCKET}/",
               "--plugin-profile=object-store", f"--tier={tier}")  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    found = report(tmp_path)
    assert found["verdict"] == "conformant"
    assert found["executed"]["must"] > {"smoke": 60, "must": 1000}[tier]
