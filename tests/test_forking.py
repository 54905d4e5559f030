"""Plugins in a process that forks while its threads are in ops."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.credential_services import RotatingStore
from tests.dragonfly_client import BUILT, MISSING, at, configuration, configured
from tests.faulty_http import Asked, Reply
from tests.pages import PROJECT
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server, is_head, is_part
from tests.test_dragonfly_credentials import Machine
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.targets.shipped import plugin_path

RUNTIME = native_directory() / RUNTIME_NAME
LIBRARIES = {"LD_LIBRARY_PATH": str(RUNTIME.parent)}
needs_dragonfly = pytest.mark.skipif(not BUILT, reason=MISSING)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program whose source is beside this file."""
    path = tmp_path_factory.mktemp("forking") / "forking"
    given = ["-std=c++17", "-O1", "-pthread", f"-I{PROJECT / 'harness/include'}"]
    subprocess.run(["c++", *given, "-o", path, Path(__file__).with_name("forking.cc"), RUNTIME, "-ldl"], check=True)
    return path


def test_a_child_of_fork_finds_no_lock_taken(program: Path) -> None:
    command: list[str | Path] = [program, "locks", RUNTIME, plugin_path("memory")]
    assert subprocess.check_output(command, env=LIBRARIES, timeout=600) == b"well\n"


@pytest.fixture
def servers() -> Iterator[tuple[S3Server, ProxyStub]]:
    with S3Server() as store, ProxyStub() as proxy:
        yield store, proxy


def forked(
    command: list[str | Path],
    servers: tuple[S3Server, ProxyStub],
    folder: Path,
    has_begun: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
) -> str:
    """What the program says, which forks as soon as something has begun, over its one connection to a server.

    What has begun is answered when the child has ended.
    """
    store, proxy = servers
    ended = threading.Event()

    def hold(_: Asked, right: Reply) -> Reply:
        ended.wait(60)
        return right

    config = configuration(store.url, proxy.url, max_connections=1)
    if environment is None:
        proxy.inject(hold, 1)
    else:
        del config["object_storage"]["access_key"], config["object_storage"]["secret_key"]
    store.inject(hold, 1, when=lambda asked: is_part(asked) or (asked.target == "/container" and has_begun()))
    given = {**LIBRARIES, "DRAGONFLY_CONFIG_PATH": str(configured(folder, config)), **(environment or {})}
    with subprocess.Popen(
        [*command[:2], RUNTIME, plugin_path("dragonfly"), at("file"), *command[2:]],
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


@needs_dragonfly
def test_forked_child_reads_what_its_parent_fetches(
    program: Path, tmp_path: Path, servers: tuple[S3Server, ProxyStub]
) -> None:
    store, proxy = servers
    store.put("tests/file", b"content")
    assert forked([program, "reads", "1"], servers, tmp_path, lambda: bool(proxy.asked)) == "well\n"


@needs_dragonfly
def test_a_child_of_fork_waits_for_no_credentials(program: Path, tmp_path: Path) -> None:
    """A thread of its parent asks for them. Its sockets are for their service, the store and the proxy."""
    with RotatingStore() as store, ProxyStub() as proxy:
        store.put("tests/file", b"content")
        machine = Machine(tmp_path, store, proxy)
        machine.from_container()

        def revoke(_: Asked, right: Reply) -> Reply:
            store.revoke_all()
            return right

        def has_begun() -> bool:
            return store.services_asked().count("/container") == 2

        store.inject(revoke, 1, when=is_head)
        command: list[str | Path] = [program, "reads", "3"]
        assert forked(command, (store, proxy), tmp_path, has_begun, machine.environment) == "well\n"
        assert len(store.issued) == 3


@needs_dragonfly
@pytest.mark.parametrize("size", [4, 65 << 20])
def test_child_of_fork_leaves_what_its_parent_writes(
    program: Path, tmp_path: Path, servers: tuple[S3Server, ProxyStub], size: int
) -> None:
    """A part of the large file is on its way."""
    store, _ = servers
    has_begun = (lambda: any(map(is_part, store.asked))) if size > 4 else lambda: True
    assert forked([program, "writes", str(size)], servers, tmp_path, has_begun) == "well\n"
    assert store.buckets[BUCKET]["tests/file"].content == b"w" * (2 * size)
    assert "DELETE" not in {asked.method for asked in store.asked}
