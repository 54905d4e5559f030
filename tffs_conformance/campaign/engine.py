"""Dask, which hands tasks to workers: those of a scheduler somewhere, or of a cluster on this machine.

Connections are secured as Dask's own settings say (`distributed.comm.tls`): nothing of it is ours.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from . import fork_server

if TYPE_CHECKING:
    from distributed import Client


class NoEngineError(Exception):
    """Dask is missing, or its scheduler cannot be reached. The text is one sentence."""


@contextmanager
def connected(scheduler: str | None, workers: int) -> "Iterator[Client]":
    """A client of the scheduler at an address, or of a cluster of so many workers on this machine.

    Raises NoEngineError.
    """
    # Slow to import, and an extra.
    try:
        import dask  # noqa: PLC0415
        from distributed import Client, LocalCluster  # noqa: PLC0415
        from distributed import scheduler as dask_scheduler  # noqa: PLC0415
        from distributed import worker as dask_worker  # noqa: PLC0415
    except ImportError:
        raise NoEngineError(
            "a campaign needs Dask, which is not installed: pip install 'tffs-conformance[campaign]'"
        ) from None
    if scheduler is not None:
        try:
            # A client that was made and cannot connect is gone only after a minute, and says so on standard error.
            asyncio.run(_knock(scheduler))
            client = Client(scheduler, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise NoEngineError(f"--scheduler={scheduler}: it cannot be reached: {error}") from None
        with client:
            yield client
        return
    settings = {
        # Workers begin as copies of one process that has Dask imported.
        "distributed.worker.multiprocessing-method": "forkserver",
        # A task has a process of its own: what a worker's takes and does says nothing. To watch sixteen workers that
        # wait, a hundred times a second each, takes four tenths of two processors.
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
        # The scheduler is in the driver's process, and what it remembers of tasks that ended grows up to these.
        "distributed.admin.log-length": 1000,
        "distributed.admin.low-level-log-length": 100,
    }
    # Spans keep a record of each task for ever.
    of_scheduler, of_workers = (
        {name: one for name, one in of.DEFAULT_EXTENSIONS.items() if name != "spans"}
        for of in (dask_scheduler, dask_worker)
    )
    with dask.config.set(settings), fork_server.shared():
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0", silence_logs="CRITICAL",
            scheduler_kwargs={"extensions": of_scheduler}, extensions=of_workers,
        )  # fmt: skip
        with cluster, Client(cluster, set_as_default=False) as client:
            yield client


def forget() -> None:
    """Let Dask forget the names of tasks that ended, of which it keeps 100,000 where the scheduler is."""
    from dask.utils import key_split  # noqa: PLC0415

    key_split.cache_clear()


async def _knock(scheduler: str) -> None:
    """Connect once, as a client does. Raises NoEngineError, and what Dask raises where that is not possible."""
    from distributed import Security  # noqa: PLC0415
    from distributed.comm.core import connect  # noqa: PLC0415

    try:
        given = Security().get_connection_args("client")
    except OSError as error:
        raise NoEngineError(f"the certificates that Dask's settings name cannot be read: {error}") from None
    if scheduler.startswith("tls://") and given["ssl_context"] is None:
        raise NoEngineError(f"--scheduler={scheduler}: Dask's settings name no certificates: set distributed.comm.tls")
    await (await connect(scheduler, **given)).close()
