"""Bytes from peer to peer, and what the store and the clients answer: Dragonfly for real."""

import random
import urllib.error
from typing import Any

import pytest

from tests.store import Store, direct, through
from tests.topology import ACCESS, COMPOSE, SECRET, sent, traffic, until
from tffs_conformance.harness import services
from tffs_conformance.harness.services import Running
from tffs_conformance.harness.services.engine import RUN
from tffs_conformance.harness.targets.backing import Backing

#: An object of this many bytes is fetched through the scheduler; up to 4 MiB go straight from the store.
SIZE = 20 << 20

# One worker has the services.
pytestmark = [pytest.mark.xdist_group("dragonfly"), pytest.mark.long]


@pytest.fixture
def store(running: Running) -> Store:
    return Store(running.address("s3", 7070), ACCESS, SECRET)


#: The store as the clients know it.
INSIDE = Store("s3:7070", ACCESS, SECRET)


def test_a_second_client_gets_the_object_from_the_first(running: Running, store: Store) -> None:
    content = random.Random(1).randbytes(SIZE)
    store.put("/tffs/large", content)
    before = {client: traffic(running, client) for client in ("client-a", "client-b", "seed")}
    left = sent(running)
    for client in ("client-a", "client-b"):
        got, headers = through(running.address(client, 4001), INSIDE.url("GET", "/tffs/large"), "first")
        assert got == content
        assert headers["x-dragonfly-task-id"]

    def gained(client: str) -> dict[str, int]:
        return {kind: count - before[client][kind] for kind, count in traffic(running, client).items()}

    figures = until(
        lambda: gained("client-b") if gained("client-b")["REMOTE_PEER"] >= SIZE else None,
        f"client-b got {gained('client-b')}",
    )
    assert figures == {"BACK_TO_SOURCE": 0, "REMOTE_PEER": SIZE, "LOCAL_PEER": 0}
    # Who fetched it from the store, client-a or the seed peer, is up to the scheduler; it was one of them, and once.
    assert gained("client-a")["BACK_TO_SOURCE"] + gained("seed")["BACK_TO_SOURCE"] == SIZE
    served = sent(running) - left
    print(f"client-a {gained('client-a')}, client-b {figures}, bytes that left the store: {served}")
    assert SIZE <= served < 1.2 * SIZE


def test_what_a_client_holds_it_does_not_fetch_again(running: Running, store: Store) -> None:
    content = random.Random(2).randbytes(SIZE)
    store.put("/tffs/again", content)
    url = INSIDE.url("GET", "/tffs/again")
    through(running.address("client-a", 4001), url, "again")
    left = sent(running)
    got, headers = through(running.address("client-a", 4001), url, "again")
    assert got == content
    assert headers["x-dragonfly-task-download-finished"] == "true"
    assert sent(running) - left < SIZE / 100


@pytest.mark.parametrize("key", ["empty", "with space", "a=b", "a+b", "a%41", "ü/日本"])
def test_keys_of_all_kinds(running: Running, store: Store, key: str) -> None:
    content = b"" if key == "empty" else key.encode()
    store.put(f"/tffs/keys/{key}", content)
    got, _ = through(running.address("client-a", 4001), INSIDE.url("GET", f"/tffs/keys/{key}"), "keys")
    assert got == content


def test_the_store_is_strict(running: Running, store: Store) -> None:
    store.put("/tffs/strict", b"content")
    for url, code in (
        (store.url("GET", "/tffs/strict", secret="wrong"), 403),
        (store.url("GET", "/tffs/none"), 404),
        (store.url("GET", "/no-such-bucket/none"), 404),
    ):
        with pytest.raises(urllib.error.HTTPError) as raised:
            direct().open(url, timeout=30)
        assert raised.value.code == code
    with pytest.raises(urllib.error.HTTPError) as raised:
        through(running.address("client-b", 4001), INSIDE.url("GET", "/tffs/none"), "none")
    assert raised.value.code == 404
    assert raised.value.headers["x-dragonfly-error-type"] == "backend"


def test_the_backing_is_the_same_storage(running: Running, store: Store) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed (pip install 'tffs-conformance[s3]')")
    assert running.backing is not None
    backing = Backing(running.backing.replace("{path}", "/below/case"), running.backing_options)
    backing.make_directory("")
    assert backing.read("file") is None
    backing.write("file", b"by the backing")
    with direct().open(store.url("GET", "/tffs/below/case/file"), timeout=30) as answer:
        assert answer.read() == b"by the backing"
    store.put("/tffs/below/case/file", b"by the store")
    assert backing.read("file") == b"by the store"
    store.put("/tffs/below/case/late", b"")
    assert backing.read("late") == b""
    backing.delete("file")
    assert backing.read("file") is None
    backing.delete_tree("")
    assert backing.read("late") is None


@pytest.mark.nightly
def test_two_topologies_go_side_by_side(running: Running, docker: Any) -> None:
    other = services.up(services.read(COMPOSE), "dragonfly", keep=False, fixed_ports=False, say=print)
    try:
        assert other.address("s3", 7070) != running.address("s3", 7070)
        assert len(docker.networks.list(filters={"label": [f"{RUN}={other.run}"]})) == 1
    finally:
        other.stop()
    with direct().open(f"http://{running.address('s3', 7070)}/health", timeout=30) as answer:
        assert answer.status == 200
