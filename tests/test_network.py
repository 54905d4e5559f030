"""--conditions=network: what a plugin with services does in each trouble of the network, and nothing else changes."""

import socketserver
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.dragonfly_client import BUILT, MISSING
from tests.test_conditions import wrong
from tests.test_objectstore_minimal import judged
from tests.test_relay import serving
from tests.test_runtimes import release
from tests.test_suite import judged_report
from tffs_conformance.harness.network.exchanges import Exchange
from tffs_conformance.suite.contract.network import endings
from tffs_conformance.suite.engine.disturbing import Attempt
from tffs_conformance.suite.engine.networking import places, services, surely
from tffs_conformance.suite.engine.stimulus import Performance

NETWORK = "--conditions=network"
CLASS = "network"
TOLD, IN_TIME, NEVER = f"{CLASS}.failure-is-told", f"{CLASS}.answers-in-time", f"{CLASS}.never-not-found"
KEPT, AGAIN = f"{CLASS}.keeps-what-was-there", f"{CLASS}.works-again"
CODE, GIVEN_BACK = f"{CLASS}.code", f"{CLASS}.gives-connections-back"

#: Those that are tried at night: others show the same clause in the same trouble. Each takes some seconds.
AT_NIGHT = (
    "half-a-listing", "writes-are-lost", "rename-in-two", "resumes-behind", "rename-half", "delete-forgets",
    "exists-at-once", "lists-a-page", "misses-all", "appends-anew", "retry-writes-twice", "replaces-in-two",
)  # fmt: skip
#: What a check says of the service between the trouble and what came of it.
LEADS = ", to which TFFS_SERVICE leads: "
DOWN = "the service is down"
#: Each fault, the op that shows it, the clause that it breaks, in which trouble, and what comes of that.
FAULTS = {
    "not-found": ("stat", NEVER, DOWN, "stat: code=NOT_FOUND"),
    "cut-is-the-end": ("read", TOLD, "answers end after 20,000 bytes", "OK, but"),
    "half-a-listing": ("get_children", TOLD, DOWN, "OK, but"),
    "waits-for-ever": ("path_exists", IN_TIME, "the service says nothing", "path_exists did"),
    "internal": ("delete_file", CODE, DOWN, "delete_file: code=INTERNAL"),
    "stays-down": ("copy", AGAIN, DOWN, "copy_file: code=UNAVAILABLE"),
    "leaks-connections": ("stat", GIVEN_BACK, "connections are reset", "1 more are open"),
    "writes-are-lost": ("write", TOLD, "requests end after 20,000 bytes", "OK, but file has"),
    "appends-anew": ("append", KEPT, DOWN, "file has b'a second"),
    "rename-in-two": ("rename", KEPT, DOWN, "file is gone"),
    "append-forgets": ("append", KEPT, "request 1 of 3 is reset", "file has 51214 bytes"),
    "retry-writes-twice": ("write", TOLD, "request 2 of 3 is reset", "OK, but file has 102"),
    "resumes-behind": ("read", TOLD, "the answer to request 3 of 3 ends after 40 bytes", "OK, but the answer is"),
    "rename-half": ("rename", TOLD, "request 2 of 2 is reset", "OK, but file is still"),
    "replaces-in-two": ("rename-over", KEPT, "request 2 of 2 is reset", "target is gone"),
    "delete-forgets": ("delete_file", TOLD, "request 1 of 1 is reset", "OK, but file is"),
    "exists-at-once": ("path_exists", NEVER, "request 1 of 1 is reset", "path_exists: code="),
    "misses-all": ("paths_exist", NEVER, DOWN, "paths_exist: code=NOT_FOUND"),
    "lists-a-page": ("get_children", TOLD, "request 2 of 2 is reset", "OK, but the answer"),
    "last-code-counts": ("copy", TOLD, "each second request is reset, from request 1 of 3 on", "OK, but new has"),
    "dies": ("create_dir", IN_TIME, DOWN, "create_dir ended the process"),
}


class _Answer(socketserver.StreamRequestHandler):
    """Takes what is announced, and gives what is asked for."""

    def handle(self) -> None:
        with suppress(OSError, ValueError):
            up, down = map(int, self.rfile.read(31).split())
            if len(self.rfile.read(up)) == up:
                self.wfile.write(bytes(down))


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with serving(_Answer) as server:
        yield f"--env=TFFS_SERVICE=127.0.0.1:{server.server_address[1]}"


def case(op: str) -> str:
    return f"--case={CLASS}/in-trouble[{op}]"


def faulty(directory: Path, fault: str, service: str, *options: str, code: int = 1) -> dict[str, Any]:
    given = ("--plugin=fakes/faulty", f"--env=TFFS_FAULT=networked.{fault}", service, NETWORK, *options)
    return judged_report(directory, *given, code=code)


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=pytest.mark.nightly) if fault in AT_NIGHT else fault for fault in FAULTS]
)
def test_what_a_trouble_makes_of_an_op_is_told(tmp_path: Path, service: str, fault: str) -> None:
    op, clause, trouble, came = FAULTS[fault]
    said = f"{op}: {trouble}{LEADS}{came}"
    found = wrong(faulty(tmp_path, fault, service, case(op), code=clause not in (CODE, GIVEN_BACK)))
    assert any(name == clause and got.startswith(said) for _, name, got in found), found
    assert all(name.startswith(f"{CLASS}.") for _, name, _ in found)


@pytest.mark.parametrize("ops", [("write", "get_children"), pytest.param(("*",), marks=pytest.mark.nightly)])
def test_a_right_plugin_is_not_blamed(tmp_path: Path, service: str, ops: tuple[str, ...]) -> None:
    found = faulty(tmp_path, "none", service, *map(case, ops), code=0)
    assert wrong(found) == set()
    assert {one["verdict"] for one in found["cases"]} == {"conform"}
    # Nine that last, and at least three that end within the op.
    assert all(int(one["output"].removesuffix(" troubles were tried\n")) >= 12 for one in found["cases"])
    clauses = {one["clause"] for record in found["cases"] for one in record["checks"]}
    assert clauses == {TOLD, IN_TIME, NEVER, KEPT, AGAIN, CODE, GIVEN_BACK}


def test_who_finds_done_what_had_no_answer_is_not_blamed(tmp_path: Path, service: str) -> None:
    assert wrong(faulty(tmp_path, "deletes-again", service, case("delete_file"), code=0)) == set()


@pytest.mark.skipif(not BUILT, reason=MISSING)
@pytest.mark.parametrize("op", ["read", pytest.param("*", marks=pytest.mark.nightly)])
def test_a_store_of_objects_is_not_blamed(tmp_path: Path, op: str) -> None:
    found = judged(tmp_path, NETWORK, case(op))
    assert wrong(found) == set()
    assert "conform" in {one["verdict"] for one in found["cases"]}


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ("", "neither its root nor a variable of its environment leads to a service, HOST:PORT or http://HOST:PORT"),
        ("posix://{service}{path}/r", "the op asks none of the services"),
    ],
)
def test_plugin_that_asks_no_service_has_no_network(tmp_path: Path, service: str, root: str, reason: str) -> None:
    given = [f"--root={root.format(service=service.rpartition('=')[2], path=tmp_path)}"] if root else []
    (record,) = judged_report(tmp_path, "--plugin=posix", *given, case("read"), NETWORK, code=1)["cases"]
    assert (record["verdict"], record["reason"]) == ("absent", reason)


def test_what_is_there_is_known_of_a_plugin_that_lists_nothing(tmp_path: Path, service: str) -> None:
    found = faulty(tmp_path, "lists-nothing", service, "--backing=file://{path}", case("stat"))
    assert {name for _, name, _ in wrong(found)} == {NEVER}


def test_it_goes_with_a_tensorflow(tmp_path: Path, service: str) -> None:
    found = faulty(tmp_path, "not-found", service, f"--runtime={release(tmp_path / 'site')}", case("stat"))
    assert found["target"]["runtime"].startswith("TensorFlow 2.99.1")
    assert {name for _, name, _ in wrong(found)} == {NEVER}


def test_what_leads_to_a_service(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"endpoint": "http://127.0.0.1:9001", "proxy": "http://127.0.0.1:9002/x"}')
    no_service = {"C": "https://store.example:443", "D": "file:///srv/a:1", "E": "12:30:45", "F": "/tmp/x:1"}
    environment = {"A": "http://127.0.0.1:9000/bucket", "B": "store.example:80", **no_service, "G": "[::1]:5000",
                   "H": str(tmp_path / "mine.json")}  # fmt: skip
    assert services(environment, "http://127.0.0.1:9003/a:1") == {
        "127.0.0.1:9003": "the root", "127.0.0.1:9000": "A", "store.example:80": "B", "[::1]:5000": "G",
        "127.0.0.1:9001": "H", "127.0.0.1:9002": "H",
    }  # fmt: skip


def test_a_trouble_that_ends_has_the_first_the_last_and_the_middle_exchange_that_can_meet_it() -> None:
    exchanges = [Exchange(10, 50), Exchange(30_000, 50), Exchange(10, 50), Exchange(10, 30_000), Exchange(10, 50)]
    planned = {ending.what: places(exchanges, ending) for ending in endings()}
    assert planned == {
        "{} is reset": [1, 5, 3],
        "{} has no answer": [1, 5, 3],
        "the answer to {} ends after 40 bytes": [1, 5, 3],
        "the answer to {} ends after 20,000 bytes": [4],
        "{} ends after 20,000 bytes": [2],
        "each second request is reset, from {} on": [1, 2],
    }
    assert [places(exchanges[:1], ending) for ending in endings()] == [[1], [1], [1], [], [], []]


@pytest.mark.parametrize(
    ("left", "told"),
    [([1], 1), ([2, 1], 1), ([2, 2], 2), ([2, None], 2)],
    ids=["none", "chance", "kept", "another-way"],
)
def test_a_connection_that_is_kept_is_kept_again(left: list[int | None], told: int) -> None:
    went = Performance.__new__(Performance)
    went.died = None
    attempts = [count and Attempt(went, went, {}, {}, open_before=1, open=count) for count in left]
    found = surely(lambda: attempts.pop(0) or None, lambda attempt: attempt.open - attempt.open_before)
    assert found is not None
    assert (found.open, attempts) == (told, [])
