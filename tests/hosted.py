"""A plugin with one filesystem in a host of its own, as tests of the host have it."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from tffs_conformance.harness.hosting.loader import Loaded, Loader
from tffs_conformance.harness.launchers.launcher import Launcher
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.over_tables.raw import Call, RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path


@contextmanager
def hosted(
    plugin: str | Path,
    fault: str = "",
    environment: Mapping[str, str] = MappingProxyType({}),
    *,
    launcher: Launcher | None = None,
    timeout: float = 20,
    trace: list[Call] | None = None,
) -> Iterator[tuple[Loaded, RawFilesystem]]:
    """The host and the filesystem, whose calls go into `trace`. A launcher has an environment of its own.

    Each call may take `timeout` seconds; to load the plugin may take longer.
    """
    starts = launcher or Local({**environment, **({"TFFS_FAULT": fault} if fault else {})})
    loader = Loader(starts, plugin if isinstance(plugin, Path) else plugin_path(plugin), max(timeout, 20))
    loaded = loader.load()
    loaded.host.timeout = timeout
    yield loaded, raw_filesystem(loaded, trace)
    loaded.host.close()
    loader.close()


def raw_filesystem(loaded: Loaded, trace: list[Call] | None = None) -> RawFilesystem:
    """The first filesystem that a plugin registered."""
    entry = next(iter(loaded.registration.registered.values()))
    assert entry.filesystem is not None
    return RawFilesystem(loaded.call, entry.filesystem, [] if trace is None else trace)


def preloaded(folder: Path, source: str) -> dict[str, str]:
    """The environment in which a library of this source comes before the C library."""
    (folder / "before.c").write_text(f"#define _GNU_SOURCE\n{source}")
    library = folder / "before.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, folder / "before.c"], check=True)
    return {"LD_PRELOAD": str(library)}
