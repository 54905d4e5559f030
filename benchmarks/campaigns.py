"""`python benchmarks/campaigns.py SHOW`: what a campaign costs, and what it survives. Takes minutes to hours.

slow      the MUST tier at 20 ms an op, with one worker and with sixteen
killed    histories with a worker killed every 20 s, the driver killed twice, and the store full once
memory    what the driver takes for very many results
"""

import argparse
import gc
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tffs_conformance.campaign import driver, engine, status
from tffs_conformance.campaign.driver import Driver
from tffs_conformance.campaign.perform import TaskResult
from tffs_conformance.campaign.plan import Plan, parsed
from tffs_conformance.campaign.store import Ended, Store
from tffs_conformance.campaign.tasks import Task, blocks
from tffs_conformance.reports.document import load
from tffs_conformance.reports.model.report import Report

SLOW = """name = "slow"
tier = "must"
shards = 16
[[target]]
name = "slow"
plugin = "posix_choices"
environment = {TFFS_CHOICES = "slow"}
"""
HISTORIES = """name = "killed"
shards = 0
[histories]
seeds = %d
each = %d
cases = ["properties/tree"]
[[target]]
name = "wrong"
plugin = "fakes/faulty"
environment = {TFFS_FAULT = "history.crash"}
"""
RIGHT = """[[target]]
name = "right"
plugin = "memory"
"""
#: Seconds between two deaths of a worker, and for which the store is full.
DEATHS, FULL = 20, 30


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python benchmarks/campaigns.py", description=__doc__)
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("show", choices=("slow", "killed", "memory"))
    arguments.add_argument("--histories", type=int, default=100_000, help="of the right plugin (killed)")
    arguments.add_argument("--each", type=int, default=100, help="histories a task (killed)")
    arguments.add_argument("--results", type=int, default=100_000, help="at most (memory)")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="tffs-campaigns-") as name:
        folder = Path(name)
        if options.show == "slow":
            slow(folder)
        elif options.show == "killed":
            killed(folder, options.histories // options.each, options.each)
        else:
            memory(folder, options.results)


# One worker and sixteen ----------------------------------------------------------------------------------------------


def slow(folder: Path) -> None:
    (folder / "plan.toml").write_text(SLOW)
    took, found = {}, {}
    for workers in (1, 16):
        began = time.monotonic()
        subprocess.run([*command(folder, f"store-{workers}"), f"--workers={workers}"], cwd=folder, check=True)
        took[workers] = time.monotonic() - began
        found[workers] = without_times(load(folder / "tffs-report/slow/slow/report.json"))
        print(f"the MUST tier at 20 ms an op, {workers} workers: {took[workers]:.0f} s", flush=True)
    print(f"{took[1] / took[16]:.1f} times as fast; reports equal but for times: {found[1] == found[16]}")


def without_times(report: Report) -> object:
    return report.clauses, report.classes, report.counts, report.verdict, [
        (case.id, case.verdict, case.checks) for case in report.cases
    ]  # fmt: skip


# What dies -----------------------------------------------------------------------------------------------------------


def killed(folder: Path, seeds: int, each: int) -> None:
    """Undisturbed, only the wrong plugin is asked: of the right one each task has all of its histories."""
    (folder / "plan.toml").write_text(HISTORIES % (seeds, each))
    undisturbed = folder / "undisturbed"
    began = time.monotonic()
    subprocess.run(command(folder, undisturbed), cwd=folder, check=False)
    print(f"the wrong plugin, undisturbed: {time.monotonic() - began:.0f} s", flush=True)
    expected = [("right", seed, each) for seed in range(1, seeds + 1)] + list(counted(undisturbed))
    (folder / "plan.toml").write_text(HISTORIES % (seeds, each) + RIGHT)
    with small(folder / "disturbed") as store:
        began = time.monotonic()
        deaths = disturbed(folder, store, 2 * seeds)
        print(f"disturbed: {time.monotonic() - began:.0f} s; {deaths}", flush=True)
        for what, told in (("undisturbed", undisturbed), ("disturbed", store)):
            now = status.read(Store(str(told)))
            print(f"{what}: {now.ended} of {now.tasks} tasks, {now.histories} histories, {now.findings} findings")
        print(f"each task with its histories, counted once: {sorted(expected) == sorted(counted(store))}")
        print(f"the same findings: {differences(undisturbed) == differences(store)}")


def counted(store: Path) -> Iterator[tuple[str, int, int]]:
    """The histories of each task, by target and seed."""
    kept = Store(str(store))
    plan, _ = kept.plan()
    for block in blocks(plan):
        for number, entry in sorted(kept.ended(block).items()):
            yield block.target, number, entry.histories


def differences(store: Path) -> set[tuple[str, str, str]]:
    return {(one.fingerprint, one.expected, one.got) for one in Store(str(store)).findings()}


def disturbed(folder: Path, store: Path, tasks: int) -> str:
    """Run a campaign to its end, whatever is done to it; what was done."""
    workers = drivers = 0
    filled = False
    while True:
        process = subprocess.Popen([*command(folder, store), "--patience=300"], cwd=folder)
        last = time.monotonic()
        while process.poll() is None:
            time.sleep(1)
            ended = sum(1 for _ in (store / "ended").rglob("*-*-*-*-*-*"))
            if ended > (drivers + 1) * tasks // 3 and drivers < 2:
                drivers += 1
                process.send_signal(signal.SIGKILL)
                print(f"the driver is killed after {ended} of {tasks} tasks", flush=True)
            elif ended > tasks // 2 and not filled:
                filled = True
                fill(store)
            elif time.monotonic() - last > DEATHS:
                last = time.monotonic()
                workers += kill_a_worker(process.pid)
        if process.returncode in (3, 4):
            raise SystemExit("the campaign cannot go on")
        if process.returncode in (0, 1):
            return f"{workers} workers and {drivers} drivers were killed, the store was full for {FULL} s"


def kill_a_worker(driver: int) -> int:
    with suppress(psutil.Error):
        for process in psutil.Process(driver).children(recursive=True):
            parent = process.parent()
            if parent is not None and "forkserver" in " ".join(parent.cmdline()) and parent.pid != driver:
                process.send_signal(signal.SIGKILL)
                return 1
    return 0


def fill(store: Path) -> None:
    """Leave no byte in the file system of the store for a while."""
    print("the store is full", flush=True)
    with (store / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    time.sleep(FULL)
    (store / "filler").unlink()


@contextmanager
def small(folder: Path) -> Iterator[Path]:
    """A file system of its own, small enough to be filled."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


# Memory of the driver ------------------------------------------------------------------------------------------------


def memory(folder: Path, most: int) -> None:
    """The tasks are made up: what the driver does with each is the same. The workers are processes."""
    taken: dict[int, float] = {}
    # They end at once: so many at a time keep the workers busy.
    driver.AHEAD = 50

    points = [1_000, 3_000, 10_000, 30_000, 100_000]

    def show(now: status.CampaignProgress) -> None:
        if points and now.ended >= points[0]:
            points.pop(0)
            gc.collect()
            taken[now.ended] = psutil.Process().memory_info().rss / (1 << 20)
            print(f"{now.ended} results: the driver takes {taken[now.ended]:.0f} MiB", flush=True)

    asked = parsed({"name": "m", "shards": 0, "target": [{"name": "a", "plugin": "x"}],
                    "histories": {"seeds": most}}, "memory")  # fmt: skip
    store = Store(str(folder / "store"))
    store.claim(asked, "1")
    with engine.connected(None, 2) as client:
        began = time.monotonic()
        print(Driver(asked, store, client, status.read(store), 60, show, print, made_up).run())
        print(f"{most / (time.monotonic() - began):.0f} tasks a second")
    began = time.monotonic()
    now = status.read(store)
    print(f"status of {now.ended} results: {time.monotonic() - began:.2f} s")
    print(f"from {min(taken)} to {max(taken)} results: {taken[max(taken)] / taken[min(taken)]:.3f} times the memory")


def made_up(plan: Plan, task: Task, url: str) -> TaskResult:
    """A task that gives a small result at once."""
    content = task.id.encode()
    entry = Ended(task.number, hashlib.sha256(content).hexdigest(), int(time.time()), 1, 5, 100)
    return TaskResult(task, ended=entry, new=Store(url).keep(task, content, entry, []))


def command(folder: Path, store: Path | str) -> list[str]:
    campaign = ["tffs_conformance", "campaign", str(folder / "plan.toml"), f"--store={store}"]
    return [sys.executable, "-m", *campaign]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
