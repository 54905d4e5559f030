"""A plugin with one filesystem in a host of its own, as tests of the host have it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from tffs_conformance.harness.hosting.loader import Loaded, Loader
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.over_tables.raw import Call, RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path


@contextmanager
def hosted(
    plugin: str,
    fault: str = "",
    environment: Mapping[str, str] = MappingProxyType({}),
    *,
    timeout: float = 20,
    trace: list[Call] | None = None,
) -> Iterator[tuple[Loaded, RawFilesystem]]:
    """The host and the filesystem, whose calls go into `trace`."""
    loader = Loader(Local({**environment, **({"TFFS_FAULT": fault} if fault else {})}), plugin_path(plugin), timeout)
    loaded = loader.load()
    entry = next(iter(loaded.registration.registered.values()))
    assert entry.filesystem is not None
    yield loaded, RawFilesystem(loaded.call, entry.filesystem, [] if trace is None else trace)
    loaded.host.close()
    loader.close()
