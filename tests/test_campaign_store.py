"""The store of a campaign: what ended counts once, whoever wrote it and however often; status needs nothing else."""

import errno
import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.records import GOOD, broken, report_of
from tffs_conformance.campaign import findings, status
from tffs_conformance.campaign.findings import Found
from tffs_conformance.campaign.perform import unpacked
from tffs_conformance.campaign.plan import BadPlanError, Plan, parsed
from tffs_conformance.campaign.store import Ended, Store, StoreError, digest
from tffs_conformance.campaign.tasks import Block, Task

FOUND = Found(target="a", clause="read.succeeds", case="read/b", expected="code=OK", got="code=UNKNOWN", reason=None,
              seed=0, task="a/shard/0000001", ended=100)  # fmt: skip


def plan(seeds: int = 2000, **more: Any) -> Plan:
    tables = {"name": "p", "target": [{"name": "a", "plugin": "x"}], "shards": 2, "histories": {"seeds": seeds}}
    return parsed({**tables, **more}, "p")


def ended(task: Task, at: int = 60, content: bytes = b"journal") -> Ended:
    return Ended(task.number, digest(content), ended=at, seconds=2, cases=5, histories=100)


@pytest.fixture(params=["directory", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store") if request.param == "directory" else f"memory://{tmp_path}")


def test_what_ended_twice_counts_once(store: Store) -> None:
    store.claim(plan(), "1")
    task = Task("a", "seed", 1001)
    assert store.keep(task, b"journal", ended(task), [FOUND]) == 1
    assert store.keep(task, b"journal", ended(task), [FOUND]) == 0
    assert store.keep(task, b"other", ended(task, at=90, content=b"other"), [FOUND]) == 0
    assert list(store.ended(task.block).values()) == [ended(task)]
    assert store.ended(Block("a", "seed", 0)) == {}
    now = status.read(store)
    assert (now.tasks, now.ended, now.cases, now.histories, now.findings) == (2002, 1, 5, 100, 1)
    assert store.result(ended(task)) == b"journal"
    assert list(store.findings()) == [FOUND]


def test_an_entry_is_what_its_name_says(store: Store) -> None:
    one = ended(Task("a", "seed", 7))
    assert Ended.of(one.name) == one
    for other in ("", "x", ".nfs0001", one.name.replace("0000007", "seven")):
        assert Ended.of(other) is None


def test_a_store_belongs_to_one_plan(store: Store) -> None:
    began = store.claim(plan(), "1")
    assert store.claim(plan(stop={"hours": 3}), "1") == began
    assert store.plan() == (plan(), began)
    with pytest.raises(BadPlanError, match="has the results of another plan"):
        store.claim(plan(seeds=3), "1")
    with pytest.raises(BadPlanError, match="has the results of the suite 1, and this is 2: choose another store"):
        store.claim(plan(), "2")


def test_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(BadPlanError, match=r"is no store of a campaign: it has no plan\.json"):
        status.read(Store(str(tmp_path)))
    with pytest.raises(BadPlanError, match="--store=nosuch://x: Protocol not known"):
        Store("nosuch://x")


def test_a_result_that_was_changed_is_not_read(store: Store) -> None:
    task = Task("a", "shard", 1)
    store.keep(task, b"changed", ended(task), [])
    with pytest.raises(StoreError, match="is missing or not what its name says"):
        store.result(ended(task))


@pytest.mark.parametrize(
    ("name", "kind"), [("../outside", tarfile.REGTYPE), ("/tmp/outside", tarfile.REGTYPE), ("link", tarfile.SYMTYPE),
                       ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE)],
)  # fmt: skip
def test_a_result_is_files_below_its_folder_and_nothing_else(tmp_path: Path, name: str, kind: bytes) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        tar.addfile(entry)
    folder = tmp_path / "result"
    with pytest.raises(tarfile.TarError, match="which no run makes"):
        unpacked(archive.getvalue(), folder)
    assert not list(tmp_path.iterdir())


def test_a_full_store_keeps_nothing_of_a_task_by_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(tmp_path))
    task = Task("a", "shard", 1)

    def full(path: str, content: bytes) -> None:
        Path(path).write_bytes(content[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store._fs, "pipe_file", full)
    with pytest.raises(StoreError, match=r"cannot write results/.*: No space left on device"):
        store.keep(task, b"journal", ended(task), [FOUND])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_histories_without_a_new_difference(store: Store) -> None:
    store.claim(plan(), "1")
    for number, at in ((1, 50), (2, 150), (3, 160)):
        task = Task("a", "seed", number)
        store.keep(task, b"journal", ended(task, at), [FOUND] if number == 1 else [])
    assert status.read(store).quiet == 200
    store.keep(Task("a", "seed", 4), b"journal", ended(Task("a", "seed", 4), 170), [replace(FOUND, got="x", ended=170)])
    now = status.read(store)
    assert (now.quiet, now.findings) == (0, 2)


def test_the_rate_is_that_of_late() -> None:
    now = status.CampaignProgress(plan(), 0, 2002)
    assert (now.rate, now.left) == (0.0, None)
    for second in range(0, 6000, 60):
        now.add(ended(Task("a", "seed", second + 1), at=second))
    # Then four a minute, for longer than the rate looks back.
    for second in range(6000, 7800, 15):
        now.add(ended(Task("a", "seed", second + 1), at=second))
    assert now.rate == pytest.approx(4, rel=0.1)
    assert now.left == pytest.approx((2002 - 220) / 4, rel=0.1)
    assert len(now.by_minute) <= 4 * status.MINUTES


def test_findings_are_told_apart_by_what_they_got(tmp_path: Path) -> None:
    report = report_of(*GOOD, broken("read/c"))
    one = next(findings.found(report, "a", "t", 1, tmp_path))
    other = replace(one, seed=9, task="u", ended=2, reason="2 histories were tried: seed 9")
    assert one.fingerprint == other.fingerprint
    assert len({replace(one, **{key: "z"}).fingerprint for key in ("target", "clause", "case", "got")}) == 4
    told = report_of(replace(GOOD[0], reason="12 histories were tried: seed 3, Hypothesis 6"), GOOD[1])  # fmt: skip
    assert findings.histories(told) == 12
