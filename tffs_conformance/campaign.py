"""A campaign: a run of pytest in shards, under several seeds, each a task of Dask that leaves its report in a folder.

Dask schedules the tasks, tries them again, and goes on without workers that it loses. `folder` is a directory or a URL
of fsspec; a task whose report is there has ended.
"""

import asyncio
import hashlib
import logging
import os
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import fsspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from . import __version__
from .harness.targets import profile
from .harness.targets.profile import ProfileError
from .harness.targets.shipped import declared, plugin_path
from .reports import document
from .reports.model.report import REPORT_NAME, Report
from .reports.plain import digest_of
from .run.options import TRACES
from .run.sandboxing import linked

if TYPE_CHECKING:
    from distributed import Client

#: Where the one report goes, with its traces.
OUT = Path("tffs-report")
#: What the names of the workers' directories begin with, and one of them as reports name it, for their traces.
_PREFIX = "tffs-campaign-"
_DIRECTORY = re.compile(rf"[^\s=]*/{_PREFIX}\w+/")
#: So often Dask tries a task again that gave no report.
RETRIES = 2
#: Of what a run printed that gave no report, so many characters are shown.
_SHOWN = 600


class CannotStartError(Exception):
    """Dask is missing, or its scheduler or the folder cannot be reached. The text is one sentence."""


class Task(Struct, frozen=True):
    """A run of pytest with these arguments, of shard 1 to `shards` of its cases, in a directory of the workers.

    `inputs` are digests of the files that the arguments name, such as the plugin, and of the plugin's libraries.
    """

    arguments: tuple[str, ...]
    directory: str
    seed: int
    shard: int
    shards: int
    inputs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name in a campaign."""
        return f"seed-{self.seed}-shard-{self.shard}-of-{self.shards}"

    @property
    def place(self) -> str:
        """Where its report goes: other arguments, files or releases of the suite leave theirs elsewhere."""
        return f"{digest_of([__version__, *self.arguments, *self.inputs])[:12]}/{self.name}"


def tasks(arguments: Sequence[str], directory: str, shards: int, seeds: int) -> list[Task]:
    """All tasks of a campaign, with seeds from 0. Raises OSError for a file that cannot be read."""
    # Such as --plugin=FILE and --env=NAME=FILE.
    named = [word.split("=", count)[-1] for word in arguments for count in (1, 2)]
    for argument in arguments:
        option, _, value = argument.partition("=")
        # What is wrong with a profile, pytest reports.
        with suppress(ProfileError):
            if option == "--plugin" and (found := declared(value)):
                named += [str(found), str(plugin_path(value))]
            if option == "--plugin-profile":
                given = profile.read(value)
                named += [given.plugin or "", str(given.services or ""), *given.environment.values()]
    files = dict.fromkeys(os.path.join(directory, name) for name in named)
    read = [one for file in files if os.path.isfile(file) for one in {Path(file), *linked(Path(file))}]
    inputs = tuple(sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in read))
    return [
        Task(tuple(arguments), directory, seed, shard, shards, inputs)
        for seed in range(seeds)
        for shard in range(1, shards + 1)
    ]


def perform(task: Task, folder: str) -> str | None:
    """Run pytest, and leave its report in the folder; what pytest says where its arguments make no sense, else None.

    Raises SubprocessError where pytest gave no report, and OSError where the folder takes nothing.
    """
    from distributed import get_worker  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=get_worker().local_directory) as name:
        reports = Path(name)
        done = subprocess.run(
            [
                *(sys.executable, "-P", "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"),
                # The arguments of the campaign are all that counts: a report is found again by these.
                *("-o", "addopts="),
                *task.arguments,
                *(f"--seed={task.seed}", f"--shard={task.shard}/{task.shards}", f"--report-dir={reports}"),
            ],
            # Another machine need not have the directory.
            cwd=task.directory if Path(task.directory).is_dir() else reports,
            env={name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        said = " ".join(done.stdout.decode("utf-8", errors="replace").split())[-_SHOWN:]
        if done.returncode == pytest.ExitCode.USAGE_ERROR:
            return said
        if list(reports.glob(f"*/{REPORT_NAME}")):
            return "a campaign is of one plugin and one of its schemes, and these arguments name several"
        ended = done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if not ended or not (reports / REPORT_NAME).is_file():
            raise subprocess.SubprocessError(f"pytest gave no report and the exit code {done.returncode}: {said}")
        _leave(reports, task, folder)
    return None


def _leave(reports: Path, task: Task, folder: str) -> None:
    """The report goes last and in one step: where it is, all is."""
    files, root = fsspec.url_to_fs(folder)
    there = f"{root}/{task.place}"
    files.makedirs(there, exist_ok=True)
    if (reports / TRACES).is_dir():
        files.put(f"{reports / TRACES}/", f"{there}/{TRACES}/", recursive=True)
    draft = f"{there}/{uuid.uuid4()}"
    files.put_file(str(reports / REPORT_NAME), draft)
    files.mv(draft, f"{there}/{REPORT_NAME}")


def prepare(folder: str) -> None:
    """Make the folder, and write and delete a file there. Raises CannotStartError."""
    try:
        files, root = fsspec.url_to_fs(folder)
        files.makedirs(root, exist_ok=True)
        draft = f"{root}/{uuid.uuid4()}"
        files.pipe_file(draft, b"")
        files.rm_file(draft)
    except Exception as error:  # each storage has exceptions of its own
        raise CannotStartError(f"--folder={folder}: {type(error).__name__}: {error}") from None


def has_report(task: Task, folder: str) -> bool:
    """Whether a task left its report in the folder."""
    files, root = fsspec.url_to_fs(folder)
    return bool(files.exists(f"{root}/{task.place}/{REPORT_NAME}"))


@contextmanager
def connected(scheduler: str | None) -> "Iterator[Client]":
    """A client of the scheduler at an address, or else of threads of this process. Raises CannotStartError."""
    # Slow to import, and an extra.
    try:
        import dask  # noqa: PLC0415
        from distributed import Client  # noqa: PLC0415
    except ImportError:
        raise CannotStartError("a campaign needs Dask: pip install 'tffs-conformance[campaign]'") from None
    # A task that is interrupted may still write there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        if scheduler is None:
            # What Dask would say is of tasks in the middle, where the arguments of pytest make no sense.
            quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
            with dask.config.set({"temporary-directory": scratch}):
                client = Client(processes=False, n_workers=1, **quiet)
        else:
            try:
                asyncio.run(_reach(scheduler))
                client = Client(scheduler)
            except (OSError, ValueError, TypeError, RuntimeError) as error:
                raise CannotStartError(f"--scheduler={scheduler}: it cannot be reached: {error}") from None
        try:
            yield client
        finally:
            # Tasks in the middle may take longer than Dask waits for.
            with suppress(TimeoutError):
                client.close()


async def _reach(scheduler: str) -> None:
    """Connect once: a client that cannot also prints what it fails at when Python ends."""
    from distributed import Security  # noqa: PLC0415
    from distributed.comm.core import connect  # noqa: PLC0415

    await (await connect(scheduler, **Security().get_connection_args("client"))).close()


def performed(client: "Client", wanted: Sequence[Task], folder: str) -> Iterator[tuple[Task, str | Exception | None]]:
    """Perform tasks; each as it ends, with what `perform` gave or raised."""
    from distributed import as_completed  # noqa: PLC0415

    futures = {client.submit(perform, task, folder, pure=False, retries=RETRIES): task for task in wanted}
    for future in as_completed(futures):
        try:
            yield futures[future], future.result()
        except Exception as error:  # whatever Dask has: a task whose workers all died, a scheduler that is gone
            yield futures[future], error


def fetch(wanted: Sequence[Task], folder: str, into: Path) -> list[Path]:
    """Copy the reports and traces of tasks from the folder; the paths of the reports. Raises OSError."""
    files, root = fsspec.url_to_fs(folder)
    for task in wanted:
        files.get(f"{root}/{task.place}/", f"{into / task.name}/", recursive=True)
    return [into / task.name / REPORT_NAME for task in wanted]


def parts(paths: Sequence[Path], seeds: int) -> Iterator[tuple[Path, Report]]:
    """The reports at these paths as parts of one run. Raises OSError, and ReportError for what is no report."""
    first = document.load(paths[0]).suite
    for path in paths:
        report = document.load(path)
        suite = report.suite
        if seeds > 1:
            suite = replace(suite, seed=first.seed, command=first.command, options={**suite.options, "seeds": seeds})
        # The directory of a task is gone.
        cases = (replace(case, reason=case.reason and _DIRECTORY.sub(f"{OUT}/", case.reason)) for case in report.cases)
        yield path, replace(report, suite=suite, cases=tuple(cases))
