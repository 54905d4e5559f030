"""Plugins in a process that forks while its threads are in ops."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.credential_services import Issuer, RotatingStore
from tests.dragonfly_client import BUILT, MISSING, at, configuration
from tests.faulty_http import Asked, Reply
from tests.pages import PROJECT
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server, is_head, is_part
from tests.test_dragonfly_credentials import Machine
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.targets.shipped import plugin_path

RUNTIME = str(native_directory() / RUNTIME_NAME)


def built(name: str, folder: Path) -> Path:
    """The program whose source is beside this file."""
    program = folder / name
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-pthread", f"-I{PROJECT / 'harness/include'}", "-o", program,
         Path(__file__).with_name(f"{name}.cc"), RUNTIME, "-ldl"], check=True,
    )  # fmt: skip
    return program


def test_a_child_of_fork_finds_no_lock_taken(tmp_path: Path) -> None:
    environment = {"LD_LIBRARY_PATH": str(Path(RUNTIME).parent)}
    command = [str(built("forking", tmp_path)), RUNTIME, str(plugin_path("memory"))]
    done = subprocess.run(command, env=environment, timeout=600, check=False)
    assert done.returncode == 0


@pytest.fixture
def servers() -> Iterator[tuple[S3Server, ProxyStub]]:
    with S3Server() as store, ProxyStub() as proxy:
        yield store, proxy


def forked(
    folder: Path,
    servers: tuple[S3Server, ProxyStub],
    name: str,
    *arguments: str,
    has_begun: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
) -> str:
    """What a program says that forks as soon as something has begun, over its one connection to a server.

    What has begun is answered when the child has ended.
    """
    store, proxy = servers
    program, path, ended = built(name, folder), folder / "dragonfly.json", threading.Event()

    def hold(_: Asked, right: Reply) -> Reply:
        ended.wait(60)
        return right

    config = configuration(store.url, proxy.url, max_connections=1)
    if environment is None:
        proxy.inject(hold, 1)
    else:
        del config["object_storage"]["access_key"], config["object_storage"]["secret_key"]
    store.inject(hold, 1, when=lambda asked: is_part(asked) or (asked.target == "/container" and has_begun()))
    path.write_text(json.dumps(config), encoding="utf-8")
    given = {"LD_LIBRARY_PATH": str(Path(RUNTIME).parent), "DRAGONFLY_CONFIG_PATH": str(path), **(environment or {})}
    with subprocess.Popen(
        [program, RUNTIME, plugin_path("dragonfly"), at("file"), *arguments],
        env=os.environ | given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        while not has_begun():
            time.sleep(0.01)
        process.stdin.write("\n")
        process.stdin.flush()
        said = process.stdout.readline()
        ended.set()
    assert process.returncode == 0
    return said


@pytest.mark.skipif(not BUILT, reason=MISSING)
def test_a_child_of_fork_reads_what_a_thread_of_its_parent_fetches(
    tmp_path: Path, servers: tuple[S3Server, ProxyStub]
) -> None:
    store, proxy = servers
    store.put("tests/file", b"content")
    assert forked(tmp_path, servers, "forking_reader", "1", has_begun=lambda: bool(proxy.asked)) == "came back\n"


@pytest.mark.skipif(not BUILT, reason=MISSING)
def test_a_child_of_fork_waits_for_no_credentials(tmp_path: Path) -> None:
    """A thread of its parent asks for them. Its sockets are for their service, the store and the proxy."""
    with RotatingStore(Issuer()) as store, ProxyStub() as proxy:
        store.put("tests/file", b"content")
        machine = Machine(tmp_path, store, proxy)
        machine.from_container()

        def revoke(_: Asked, right: Reply) -> Reply:
            store.issuer.revoke_all()
            return right

        store.inject(revoke, 1, when=is_head)
        assert forked(
            tmp_path, (store, proxy), "forking_reader", "3", environment=machine.environment,
            has_begun=lambda: store.services_asked().count("/container") == 2,
        ) == "came back\n"  # fmt: skip
        assert len(store.issuer.issued) == 3


@pytest.mark.skipif(not BUILT, reason=MISSING)
@pytest.mark.parametrize("size", [4, 65 << 20])
def test_child_of_fork_leaves_what_its_parent_writes(
    tmp_path: Path, servers: tuple[S3Server, ProxyStub], size: int
) -> None:
    """A part of the large file is on its way."""
    store, _ = servers
    has_begun = (lambda: any(map(is_part, store.asked))) if size > 4 else lambda: True
    assert forked(tmp_path, servers, "forking_writer", str(size), has_begun=has_begun) == "refused\n"
    assert store.buckets[BUCKET]["tests/file"].content == b"w" * (2 * size)
    assert "DELETE" not in {asked.method for asked in store.asked}
