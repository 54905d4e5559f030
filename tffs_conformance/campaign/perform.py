"""A task where a worker runs: pytest in a process of its own, and its journal into the store.

A plugin can hurt neither the worker nor the results of others. Nothing but a few numbers goes back to the driver.
"""

import gzip
import io
import tarfile
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from ..reports.errors import ReportError
from ..reports.journal import JOURNAL_NAME
from ..run.options import TRACES
from ..suite.judge.reports import recover
from . import empty_shards, findings, fork_server
from .fork_server import Asked, ForkServerGoneError
from .plan import Plan
from .store import Ended, Store, StoreError, digest
from .tasks import Task, arguments

#: The exit codes of pytest with which a run came to its end.
_DONE = (0, 1)
_USAGE = 4
#: The one with which `empty_shards` says that there was no case.
_NOTHING = 5
#: Of what a run printed that failed, so many characters are told.
_TOLD = 600


class TaskResult(Struct, frozen=True):
    """What came of a task: `ended`, or one sentence that says what went wrong, and whose fault that is."""

    task: Task
    ended: Ended | None = None
    new: int = 0
    store: str | None = None
    usage: str | None = None
    failure: str | None = None


def perform(plan: Plan, task: Task, url: str) -> TaskResult:
    """Perform a task, and keep what came of it in the store at `url`. Raises nothing that a task can cause."""
    target = next(one for one in plan.judged if one.name == task.target)
    with tempfile.TemporaryDirectory(prefix="tffs-campaign-") as name:
        folder = Path(name)
        reports = folder / "report"
        began = time.monotonic()
        try:
            code, printed = _pytest([*arguments(plan, target, task), f"--report-dir={reports}"], folder, plan.minutes)
        except TimeoutError:
            return TaskResult(task, failure=f"{task.id} took longer than {plan.minutes:g} minutes, and was ended")
        except ForkServerGoneError as gone:
            return TaskResult(task, failure=f"{task.id}: {gone}")
        # A plan may have more shards than cases; all of its seeds have the same ones.
        is_empty = code == _NOTHING and task.kind == "shard"
        if code in (_USAGE, _NOTHING) and not is_empty:
            return TaskResult(task, usage=f"{task.id}: {_last(printed)}")
        try:
            report = None if is_empty else recover(reports / JOURNAL_NAME)
        except (ReportError, OSError) as error:
            return TaskResult(task, failure=f"{task.id} gave no journal ({error}): {_last(printed)}")
        if report is not None and (code not in _DONE or report.suite.duration is None):
            return TaskResult(task, failure=f"{task.id} ended with exit code {code}: {_last(printed)}")
        result = packed(reports, folder)
        ended = Ended(
            number=task.number,
            digest=digest(result),
            ended=int(time.time()),
            seconds=round(time.monotonic() - began),
            cases=len(report.cases) if report else 0,
            histories=findings.histories(report) if report else 0,
        )
        found = list(findings.found(report, task.target, task.id, ended.ended, reports / TRACES)) if report else []
    try:
        new = Store(url).keep(task, result, ended, found)
    except StoreError as trouble:
        return TaskResult(task, store=str(trouble))
    return TaskResult(task, ended=ended, new=new)


def packed(reports: Path, folder: Path) -> bytes:
    """The journal and the traces of a run in one archive, in which nothing says where or when it was made."""
    archive = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=archive, mode="wb", mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as tar,
    ):
        for path in (reports / JOURNAL_NAME, *sorted((reports / TRACES).rglob("*"))):
            if path.is_file() and not path.is_symlink():
                # The folder is gone when somebody reads this.
                content = path.read_bytes().replace(f"{folder}/report/".encode(), b"")
                entry = tarfile.TarInfo(str(path.relative_to(reports)))
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def unpacked(result: bytes, folder: Path) -> Path:
    """Put the journal and the traces of a task into a folder; the path of the journal. Raises tarfile.TarError.

    Python 3.11.2, which is Debian 12's, has no filter for archives that others could have changed. `packed` makes files
    alone, so nothing else is taken.
    """
    with tarfile.open(fileobj=io.BytesIO(result), mode="r:gz") as tar:
        for entry in tar:
            path = folder / entry.name
            content = tar.extractfile(entry) if entry.isreg() else None
            if content is None or not path.resolve().is_relative_to(folder.resolve()):
                raise tarfile.ExtractError(f"a result holds {entry.name}, which no run makes")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
    return folder / JOURNAL_NAME


def _pytest(given: list[str], folder: Path, minutes: float) -> tuple[int, str]:
    """Run pytest; its exit code, and what it printed. Raises TimeoutError and ForkServerGoneError."""
    printed = folder / "printed"
    options = ["-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--color=no", "-o", "addopts="]
    options += ["-p", empty_shards.__name__]
    code = fork_server.run(Asked([*options, *given], str(folder), str(printed)), minutes * 60)
    with printed.open("rb") as back:
        back.seek(max(0, printed.stat().st_size - 16384))
        return code, back.read().decode("utf-8", errors="replace")


def _last(printed: str) -> str:
    """The end of what was printed, on one line."""
    return " ".join(printed.split())[-_TOLD:]
