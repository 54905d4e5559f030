"""The dragonfly plugin on Dragonfly itself: services in docker, the bytes' way by the clients' own metrics."""

import json
import random
import threading
import urllib.error
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.dragonfly_client import BUILT, MISSING, filesystem, read, unnamed, write
from tests.topology import ACCESS, SECRET, Store, sent, through, traffic, until, whole
from tffs_conformance.harness.network.exchanges import Disturbance
from tffs_conformance.harness.network.relay import Relay
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.services import Services

pytestmark = [
    pytest.mark.skipif(not BUILT, reason=MISSING),
    # One worker has the services.
    pytest.mark.xdist_group("dragonfly"),
    pytest.mark.long,
]

SIZE = 20 << 20
ROOT = "dragonfly://tffs/tests"


@pytest.fixture(scope="module")
def store(running: Services) -> Store:
    return Store(running.address("s3", 7070), ACCESS, SECRET)


def config(running: Services, client: str = "client-a", **more: Any) -> dict[str, Any]:
    """What the services hand over, with another client of Dragonfly and other settings."""
    path = Path(running.environment["DRAGONFLY_CONFIG_PATH"])
    given: dict[str, Any] = json.loads(path.read_text())
    storage = given["object_storage"] | more.pop("object_storage", {})
    return given | {"addr": f"http://{running.address(client, 4001)}", "object_storage": storage, **more}


def plugin(folder: Path, given: dict[str, Any]) -> AbstractContextManager[HostFilesystem]:
    return filesystem(folder, given, root=ROOT)


def start(running: Services, service: str) -> None:
    """A service that was stopped or killed is there again, and all is as before."""
    container = running.containers[service]
    container.start()
    until(
        lambda: container.reload() or container.attrs["State"]["Health"]["Status"] == "healthy",
        f"{service} does not get healthy",
    )
    whole(running)


def test_a_second_client_gets_the_object_from_the_first_and_the_store_sends_it_once(
    running: Services, store: Store, tmp_path: Path
) -> None:
    content = random.Random(3).randbytes(SIZE)
    store.put("/tffs/tests/model", content)
    before = {client: traffic(running, client) for client in ("client-a", "client-b", "seed")}
    left = sent(running)
    for client in ("client-a", "client-b"):
        with plugin(tmp_path, config(running, client)) as fs:
            code, message, got = read(fs, f"{ROOT}/model")
            assert code is Code.OK, message
            assert got == content

    def gained(client: str) -> dict[str, int]:
        return {kind: count - before[client][kind] for kind, count in traffic(running, client).items()}

    until(lambda: gained("client-b")["REMOTE_PEER"] >= SIZE, "client-b does not fetch from client-a")
    assert gained("client-b") == {"BACK_TO_SOURCE": 0, "REMOTE_PEER": SIZE, "LOCAL_PEER": 0}
    # Either client-a or the seed peer fetched it from the store, as the scheduler decided.
    assert gained("client-a")["BACK_TO_SOURCE"] + gained("seed")["BACK_TO_SOURCE"] == SIZE
    assert SIZE <= sent(running) - left < 1.2 * SIZE
    # What a client of Dragonfly has it does not fetch again.
    left = sent(running)
    with plugin(tmp_path, config(running)) as fs:
        assert read(fs, f"{ROOT}/model")[2] == content
    assert sent(running) - left < SIZE / 100


def test_proxy_names_the_store_as_the_cause_of_404(running: Services) -> None:
    with pytest.raises(urllib.error.HTTPError) as raised:
        through(running.address("client-b", 4001), Store("s3:7070", ACCESS, SECRET).url("GET", "/tffs/none"), "none")
    assert (raised.value.code, raised.value.headers["x-dragonfly-error-type"]) == (404, "backend")


def test_overwritten_object_is_new_and_deleted_one_gone(running: Services, store: Store, tmp_path: Path) -> None:
    uri = f"{ROOT}/changing"
    with plugin(tmp_path, config(running)) as fs:
        for content in (b"old" * 1000, b"new" * 1000):
            store.put("/tffs/tests/changing", content)
            assert read(fs, uri)[2] == content
            assert read(fs, uri)[2] == content
        assert fs.delete_file(uri).ok
        assert read(fs, uri)[0] is Code.NOT_FOUND


def test_bytes_altered_behind_the_store_are_found_out(running: Services, store: Store, tmp_path: Path) -> None:
    store.put("/tffs/tests/altered", b"content" * 1000)
    # The store keeps its objects in files, and their ETags and checksums apart.
    alter = "printf X | dd of=/data/tffs/tests/altered bs=1 seek=3000 conv=notrunc"
    done = running.containers["s3"].exec_run(["sh", "-c", alter])
    assert done.exit_code == 0, done.output
    with plugin(tmp_path, config(running, retry_deadline_s=1)) as fs:
        code, message, content = read(fs, f"{ROOT}/altered")
        assert (code, content) == (Code.DATA_LOSS, b""), message
        assert fs.get_file_size(f"{ROOT}/altered").value == 7000
    with plugin(tmp_path, config(running, verify="none")) as fs:
        assert read(fs, f"{ROOT}/altered")[2] == b"content" * 428 + b"contX" + b"nt" + b"content" * 571
    # The ETag is an MD5, and is not asked where there is a checksum for the whole object.
    with plugin(tmp_path, config(running, verify="checksum")) as fs:
        assert read(fs, f"{ROOT}/altered")[0] is Code.DATA_LOSS


@pytest.mark.parametrize("key", ["empty", "with space", "a=b", "a+b", "a%41", "ü/日本", "q?x&y"])
def test_keys_of_all_kinds(running: Services, tmp_path: Path, key: str) -> None:
    content = b"" if key == "empty" else key.encode()
    with plugin(tmp_path, config(running)) as fs:
        uri = f"{ROOT}/keys/{key}"
        fs.recursively_create_dir(uri.rpartition("/")[0])
        assert write(fs, uri, content) == (Code.OK, "")
        assert read(fs, uri)[::2] == (Code.OK, content)
        assert fs.get_file_size(uri).value == len(content)


def test_wrong_secret_is_refused_for_what_a_client_holds(running: Services, store: Store, tmp_path: Path) -> None:
    store.put("/tffs/tests/secret", b"content" * 1000)
    with plugin(tmp_path, config(running)) as fs:
        assert read(fs, f"{ROOT}/secret")[0] is Code.OK
    with plugin(tmp_path, config(running, object_storage={"secret_key": "wrong"})) as fs:
        code, message, content = read(fs, f"{ROOT}/secret")
    assert (code, content) == (Code.PERMISSION_DENIED, b"")
    assert SECRET not in message
    assert "wrong" not in message


def test_client_that_dies_leaves_no_half_file(running: Services, store: Store, tmp_path: Path) -> None:
    # More than what is on its way between two processes may hold: most of it is still with the client.
    store.put("/tffs/tests/huge", b"0123456789abcdef" * (4 << 20))
    cache = tmp_path / "cache"
    cache.mkdir()

    def kill() -> None:
        until(lambda: unnamed(cache) >= 4 << 20, "the plugin does not get the file")
        running.containers["client-b"].kill()

    killer = threading.Thread(target=kill)
    try:
        with Relay() as relay:
            addr = f"http://{relay.through(running.address('client-b', 4001))}"
            given = config(running, retry_deadline_s=0.5, cache_dir=str(cache)) | {"addr": addr}
            with relay.disturbed(0, Disturbance(delay=(20, 20))), plugin(tmp_path, given) as fs:
                killer.start()
                code, message, got = read(fs, f"{ROOT}/huge", 1 << 28)
                killer.join()
    finally:
        start(running, "client-b")
    assert code in (Code.UNAVAILABLE, Code.DATA_LOSS), message
    assert got == b""


def test_without_the_scheduler_reads_go_on(running: Services, store: Store, tmp_path: Path) -> None:
    store.put("/tffs/tests/alone", b"content" * 1000)
    running.containers["scheduler"].stop(timeout=1)
    try:
        with plugin(tmp_path, config(running)) as fs:
            assert read(fs, f"{ROOT}/alone")[2] == b"content" * 1000
    finally:
        start(running, "scheduler")
