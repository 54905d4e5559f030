"""Hosts for a plugin that is not the same each time it is loaded."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.faults.driven import all_cases, judge
from tests.test_suite import report, run
from tffs_conformance.harness.hosting.loader import Loaded, Loader
from tffs_conformance.harness.launchers.local import Local, LocalProcess
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.model.verdicts import Verdict


class Changing:
    """Starts hosts with one environment or the other, in an order that is the same every time."""

    def __init__(self, *faults: str) -> None:
        self._launchers = [Local({"TFFS_FAULT": fault}) for fault in faults]
        self._chance = random.Random(0)

    def start(self) -> LocalProcess:
        """A host of one of them."""
        return self._chance.choice(self._launchers).start()

    def without_filling(self) -> "Changing":
        """The same: what the allocator fills makes no difference here."""
        return self

    def reap(self) -> None:
        """Wait for what was killed by both."""
        for launcher in self._launchers:
            launcher.reap()

    def close(self) -> None:
        """Close both."""
        for launcher in self._launchers:
            launcher.close()


def test_a_plugin_that_announces_other_schemes_each_time_is_loaded_as_it_is() -> None:
    loader = Loader(Changing("two-schemes", "api:filesystem"), plugin_path("fakes/malformed"), 10.0)
    try:
        loader.load().host.close()
        before = len(os.listdir("/proc/self/fd"))
        seen = []
        for _ in range(20):
            loaded = loader.load()
            seen.append(tuple(loaded.registration.registered))
            loaded.host.close()
        assert set(seen) == {("malformed", "malformed2"), ("malformed",)}
        assert len(os.listdir("/proc/self/fd")) <= before + 3, "a host that was not used is ended"
    finally:
        loader.close()


@pytest.mark.parametrize("tier", ["smoke", pytest.param("quick", marks=pytest.mark.nightly)])
def test_a_plugin_for_one_process_at_a_time_is_judged_as_any_other(tmp_path: Path, tier: str) -> None:
    with_a_lock(tmp_path, f"--tier={tier}")
    found = report(tmp_path)
    wrong = [(case["id"], case.get("reason")) for case in found["cases"] if case["verdict"] in ("not run", "violation")]
    assert wrong == []
    assert found["verdict"] == "conformant"


def test_what_a_plugin_for_one_process_at_a_time_made_is_removed(tmp_path: Path) -> None:
    done = with_a_lock(tmp_path, "--case=registration/*", "--case=lifetimes/filesystem-ends-last")
    assert "Left behind" not in done.stdout
    assert report(tmp_path)["counts"]["violation"] == 0


@pytest.mark.parametrize(("fault", "cases"), [("read.one-less", "read/plain"), ("history.crash", "properties/tree")])
def test_no_host_loads_a_plugin_that_another_host_of_the_case_has(
    fault: str, cases: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases that fail prepare once more what they prepared, and properties try histories: one host after the other."""
    loaded: list[Loaded] = []
    beside: list[int] = []
    load = Loader.load

    def counted(loader: Loader) -> Loaded:
        beside.append(sum(one.host.alive for one in loaded))
        loaded.append(load(loader))
        return loaded[-1]

    monkeypatch.setattr(Loader, "load", counted)
    judged = judge("fakes/faulty", fault, [one for one in all_cases("full") if one.id.startswith(cases)])
    assert any(record.verdict is Verdict.VIOLATION for record in judged.records)
    assert len(beside) > len(judged.records)
    assert not any(beside)


def with_a_lock(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    lock = directory / "lock"
    return run(
        directory, "-q", "--plugin=posix_choices", "--env=TFFS_CHOICES=one-process", f"--env=TFFS_CHOICES_LOCK={lock}",
        *arguments,
    )  # fmt: skip
