"""The driver of a campaign: every task once, whatever dies, and a sentence where it cannot go on.

The tasks are made up; the workers are Dask's own, in this process.
"""

import functools
import gc
import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from distributed import Client

from tests.test_campaign_store import FOUND, ended, plan
from tests.test_suite import environment
from tffs_conformance.campaign import driver, engine, status
from tffs_conformance.campaign.driver import CampaignBrokenError, Driver
from tffs_conformance.campaign.perform import TaskResult
from tffs_conformance.campaign.plan import Plan
from tffs_conformance.campaign.status import CampaignProgress
from tffs_conformance.campaign.store import Store
from tffs_conformance.campaign.tasks import Task

Perform = Callable[[Plan, Task, str], TaskResult]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client(
        processes=False, n_workers=1, threads_per_worker=4, dashboard_address=":0", set_as_default=False
    ) as made:
        yield made


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(driver, "LONGEST_PAUSE", 0.05)


#: What a task is, for each driver of these tests. Dask sends functions as their names, where they have one.
WORK: list[Perform] = []


def hooked(driver: int, asked: Plan, task: Task, url: str) -> TaskResult:
    return WORK[driver](asked, task, url)


def campaign(client: Client, folder: Path, work: Perform, patience: float = 60, asked: Plan | None = None) -> Driver:
    asked = asked or plan(seeds=20)
    store = Store(str(folder / "store"))
    store.claim(asked, "1")
    # What a worker still has of a driver that broke stays that driver's.
    WORK.append(work)
    perform = functools.partial(hooked, len(WORK) - 1)
    return Driver(asked, store, client, status.read(store), patience, lambda _: None, print, perform)


def works(asked: Plan, task: Task, url: str) -> TaskResult:
    entry = ended(task, at=int(time.time()))
    return TaskResult(task, ended=entry, new=Store(url).keep(task, b"journal", entry, []))


def test_what_ended_is_not_run_again(client: Client, tmp_path: Path) -> None:
    ran: list[str] = []
    turns = itertools.count(1)

    def dies(asked: Plan, task: Task, url: str) -> TaskResult:
        return works(asked, task, url) if next(turns) <= 10 else TaskResult(task, usage="the plug was pulled")

    with pytest.raises(CampaignBrokenError, match="the plug was pulled"):
        campaign(client, tmp_path, dies).run()
    # What was at work when the plug was pulled comes to its end.
    while (before := status.read(Store(str(tmp_path / "store"))).ended) < 10:
        time.sleep(0.01)
    assert before == 10

    def lives(asked: Plan, task: Task, url: str) -> TaskResult:
        ran.append(task.id)
        return works(asked, task, url)

    again = campaign(client, tmp_path, lives)
    assert again.run() == "all tasks ended"
    assert len(ran) == len(set(ran)) == 22 - before
    assert (again.status.ended, again.status.histories) == (22, 2200)
    assert status.read(again.store).histories == 2200


def test_a_full_store_is_tried_again(client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turns = itertools.count(1)

    def full(asked: Plan, task: Task, url: str) -> TaskResult:
        if 5 < next(turns) < 12:
            return TaskResult(task, store="the store cannot write x: No space left on device")
        return works(asked, task, url)

    done = campaign(client, tmp_path, full)
    assert done.run() == "all tasks ended"
    assert status.read(done.store).ended == 22
    assert set(capsys.readouterr().out.splitlines()) == {
        "the store cannot write x: No space left on device; it is tried again",
        "the store takes results again",
    }


def test_a_store_that_stays_full(client: Client, tmp_path: Path) -> None:
    def full(asked: Plan, task: Task, url: str) -> TaskResult:
        return TaskResult(task, store="no room")

    with pytest.raises(CampaignBrokenError, match="no room; make room, and the same command goes on") as broken:
        campaign(client, tmp_path, full, patience=0.2).run()
    assert broken.value.code == 5


def test_a_task_that_fails_is_tried_three_times(client: Client, tmp_path: Path) -> None:
    tries: list[str] = []

    def fails(asked: Plan, task: Task, url: str) -> TaskResult:
        if task.number != 7:
            return works(asked, task, url)
        tries.append(task.id)
        return TaskResult(task, failure="pytest failed")

    with pytest.raises(CampaignBrokenError, match="pytest failed; it was tried 3 times") as broken:
        campaign(client, tmp_path, fails).run()
    assert (tries, broken.value.code) == (["a/seed/0000007"] * 3, 3)


def test_a_task_that_cannot_be_performed(client: Client, tmp_path: Path) -> None:
    def raises(asked: Plan, task: Task, url: str) -> TaskResult:
        raise ValueError("a defect")

    with pytest.raises(CampaignBrokenError, match="cannot be performed: ValueError: a defect"):
        campaign(client, tmp_path, raises).run()


def test_it_stops_where_nothing_new_is_found(client: Client, tmp_path: Path) -> None:
    def finds(asked: Plan, task: Task, url: str) -> TaskResult:
        entry = ended(task, at=task.number)
        found = [FOUND] if task.number == 3 else []
        return TaskResult(task, ended=entry, new=Store(url).keep(task, b"journal", entry, found))

    done = campaign(client, tmp_path, finds, asked=plan(seeds=500, stop={"quiet": 1000}))
    assert "without a new difference" in done.run()
    # What was on its way is taken in.
    assert 10 < done.status.ended < 40


def test_it_stops_when_its_hours_are_over(client: Client, tmp_path: Path) -> None:
    done = campaign(client, tmp_path, works, asked=plan(seeds=500, stop={"hours": 1}))
    done.status.began -= 3601
    assert done.run() == "stopped after 1 hours"
    assert done.status.ended == 0


def test_few_tasks_are_on_their_way(client: Client, tmp_path: Path) -> None:
    seen = []

    def looks(asked: Plan, task: Task, url: str) -> TaskResult:
        seen.append(len(watched._flying))
        return works(asked, task, url)

    watched = campaign(client, tmp_path, looks, asked=plan(seeds=60))
    watched.run()
    assert max(seen) <= driver.AHEAD * 4


def remembered(folder: Path) -> float:
    """How many blocks of memory a campaign on one machine keeps of a task; the scheduler is in the driver's process.

    What is on its way changes from moment to moment, so the least of twenty moments is taken, early and late.
    """
    driver.AHEAD = 20
    asked = plan(seeds=1500)
    store = Store(str(folder / "store"))
    store.claim(asked, "1")
    early, late = list(range(300, 500, 10)), list(range(1300, 1500, 10))
    points = [*early, *late]
    taken: list[int] = []

    def show(now: CampaignProgress) -> None:
        if points and now.ended >= points[0]:
            points.pop(0)
            gc.collect()
            taken.append(sys.getallocatedblocks())

    with engine.connected(None, 1) as client:
        Driver(asked, store, client, status.read(store), 60, show, print, works).run()
    grown = min(taken[len(early) :]) - min(taken[: len(early)])
    return grown / (late[0] - early[0])


def test_nothing_is_remembered_of_tasks_that_ended(tmp_path: Path) -> None:
    # In a process of its own: what other tests left still ends in this one.
    ask = f"import pathlib, tests.test_campaign_driver as t; print(t.remembered(pathlib.Path({str(tmp_path)!r})))"
    # What distributed keeps of its machine grows with the time that a run takes, and not with its tasks.
    quiet = environment() | {"DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "1h"}
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True, env=quiet)
    assert float(done.stdout) < 1
