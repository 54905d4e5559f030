"""What grows every time is a leak, what grows once is none; and freed memory is met as junk."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.hosted import hosted
from tests.test_conditions import wrong
from tests.test_suite import report, run
from tffs_conformance.harness.hosting import leaks
from tffs_conformance.harness.hosting.state import State
from tffs_conformance.harness.launchers.launcher import ALLOCATOR
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.programs import Program

#: Some of the cases that see a block which is given back and still read.
BYTES = ("--case=content/*",)


@pytest.fixture(scope="module", autouse=True)
def _glibc_allocates() -> None:
    with hosted("posix") as (loaded, _):
        if not State.of(loaded.host).heap:
            pytest.skip("the allocator of a sanitizer tells nothing, and sees more by itself")


def leaked(plugin: str, environment: dict[str, str], path: str, seconds: float = 0.0) -> dict[str, int]:
    """What leaks where a round takes so much longer."""
    with hosted(plugin, environment=environment) as (loaded, raw):
        program = Program(raw)
        program.stat(path)

        def repeat(rounds: int) -> None:
            time.sleep(rounds * seconds)
            programs.repeat(raw, program, rounds)

        return leaks.leaked_per_round(loaded.host, repeat)


@pytest.mark.parametrize(
    ("fault", "what", "least"),
    [
        ("leaks-bytes:stat", "heap", 16),
        ("records-calls:stat", "heap", 64),
        ("leaks-memory:stat", "heap", 1 << 20),
        ("leaks-descriptor:stat", "descriptors", 1),
        ("leaks-thread:stat", "threads", 1),
        ("leaks-mapping:stat", "mapped", 4096),
    ],
)
def test_what_grows_every_time_is_a_leak(tmp_path: Path, fault: str, what: str, least: int) -> None:
    found = leaked("fakes/faulty", {"TFFS_FAULT": fault}, str(tmp_path))
    assert list(found) == [what]
    assert least <= found[what] < least + 64 + least // 16


def test_few_bytes_leak_in_few_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = {"TFFS_FAULT": "leaks-bytes:stat"}
    monkeypatch.setattr(leaks, "FILLING", 64)
    assert list(leaked("fakes/faulty", fault, str(tmp_path), seconds=0.01)) == ["heap"]
    for limit, why in (("FILLING_SECONDS", "do not fill"), ("UNDECIDED_SECONDS", "do not tell")):
        monkeypatch.setattr(leaks, limit, 0.0)
        with pytest.raises(leaks.UndecidedError, match=why):
            leaked("fakes/faulty", fault, str(tmp_path), seconds=0.01)


def test_leak_of_a_round_is_given_for_each_call(tmp_path: Path) -> None:
    """The round of the case opens files of several sizes, too."""
    fault = "--env=TFFS_FAULT=leaks-descriptor:new_random_access_file"
    run(tmp_path, "--plugin=fakes/faulty", fault, "--case=leaks/one-path[new_random_access_file-file]")
    said = [check["plugin_said"] for case in report(tmp_path)["cases"] for check in case["checks"]
            if check["verdict"] == "violation"]  # fmt: skip
    assert said == ["1 for each call of new_random_access_file"]


@pytest.mark.parametrize(
    ("plugin", "environment"),
    [
        ("fakes/faulty", {"TFFS_FAULT": "fills-a-cache:stat"}),
        # A slow one is repeated less often.
        ("posix_choices", {"TFFS_CHOICES": "slow"}),
        # A ring of 4,096 calls, and a pool of 256 connections.
        ("posix_choices", {"TFFS_CHOICES": "remembers-calls"}),
        ("posix_choices", {"TFFS_CHOICES": "connects-as-needed"}),
    ],
)
def test_what_stops_growing_is_no_leak(tmp_path: Path, plugin: str, environment: dict[str, str]) -> None:
    assert leaked(plugin, environment, str(tmp_path)) == {}


def of_freed_memory(directory: Path, *arguments: str, **environment: str) -> dict[str, Any]:
    run(directory, "--plugin=fakes/faulty", "--env=TFFS_FAULT=read.freed-block", *arguments, **environment)
    return report(directory)


def test_a_use_of_freed_memory_shows(tmp_path: Path) -> None:
    found = wrong(of_freed_memory(tmp_path, *BYTES))
    assert "read.returns-the-bytes" in {clause for verdict, clause, _ in found if verdict == "violation"}


@pytest.mark.parametrize(
    "some", [BYTES, pytest.param(("--tier=quick",), marks=pytest.mark.nightly)], ids=["some", "all"]
)
def test_a_use_of_freed_memory_shows_only_because_hosts_overwrite_it(tmp_path: Path, some: tuple[str, ...]) -> None:
    counts = of_freed_memory(tmp_path, *some, **dict.fromkeys(ALLOCATOR, ""))["counts"]
    assert counts["conform"]
    assert counts["violation"] == 0
