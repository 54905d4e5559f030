"""The dragonfly plugin in a host, with the store and the proxy that a test talks to it about."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.hosted import preloaded
from tests.proxy_stub import ProxyStub
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server
from tffs_conformance.harness.hosting import limits as host_limits
from tffs_conformance.harness.hosting.loader import Loaded, Loader
from tffs_conformance.harness.hosting.registration import Registration
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.guard import Guard
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path

ROOT = f"dragonfly://{BUCKET}/tests"

BUILT = plugin_path("dragonfly").is_file()
MISSING = "the dragonfly plugin is not built: tffs-conformance doctor dragonfly names the packages it needs"


def configuration(store: str, proxy: str | None = None, /, **more: Any) -> dict[str, Any]:
    """A configuration for these two; of `more`, what is None is left out, and object_storage is merged."""
    storage = {"endpoint": store, "access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
    config = {"addr": proxy, "object_storage": storage | more.pop("object_storage", {}), **more}
    return {name: value for name, value in config.items() if value is not None}


def configured(folder: Path, config: Mapping[str, Any]) -> Path:
    """The file in this folder that the configuration is written to."""
    path = folder / "dragonfly.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


@contextmanager
def loaded(plugin: str, environment: Mapping[str, str]) -> Iterator[Loaded]:
    """One of the shipped plugins in a host."""
    loader = Loader(Local(environment), plugin_path(plugin), 60)
    found = loader.load()
    yield found
    found.host.close()
    loader.close()


def registration(plugin: str, environment: Mapping[str, str]) -> Registration:
    """What comes of registering a plugin."""
    with loaded(plugin, environment) as found:
        return found.registration


def filesystem_in(found: Loaded, scheme: str, root: str) -> HostFilesystem:
    """The filesystem of a plugin that is registered; nothing is changed but below `root`."""
    entry = found.registration.registered[scheme]
    assert entry.filesystem is not None, entry.message
    return HostFilesystem(RawFilesystem(found.call, entry.filesystem, []), entry.present, Guard(root))


def registered(path: Path | str, environment: Mapping[str, str] | None = None) -> Registration:
    """What comes of registering dragonfly with the configuration in this file."""
    return registration("dragonfly", {"DRAGONFLY_CONFIG_PATH": str(path), **(environment or {})})


@contextmanager
def filesystem(
    folder: Path,
    config: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    file_size: int = -1,
    root: str = ROOT,
    log: list[str] | None = None,
) -> Iterator[HostFilesystem]:
    """The plugin with this configuration, which is written to `folder`; nothing is changed but below `root`.

    No file may grow beyond `file_size` bytes. In the end `log` has the lines that were logged.
    """
    variables = {"DRAGONFLY_CONFIG_PATH": str(configured(folder, config)), **(environment or {})}
    with loaded("dragonfly", variables) as found:
        with host_limits.file_size(found.host, file_size):
            yield filesystem_in(found, "dragonfly", root)
        found.host.close()
        if log is not None:
            log += [line for line in found.host.output.splitlines() if "dragonfly: " in line]


@contextmanager
def served(
    folder: Path,
    environment: Mapping[str, str] | None = None,
    file_size: int = -1,
    log: list[str] | None = None,
    preload: str = "",
    **config: Any,
) -> Iterator[tuple[S3Server, ProxyStub, HostFilesystem]]:
    """A store and a proxy, and the plugin on them; it tries again for half a second unless `config` says otherwise.

    A library of the source `preload` comes before all others.
    """
    if preload:
        environment = {**(environment or {}), **preloaded(folder, preload)}
    with S3Server() as store, ProxyStub() as proxy:
        given = configuration(store.url, proxy.url, **{"retry_deadline_s": 0.5, **config})
        with filesystem(folder, given, environment, file_size, log=log) as fs:
            yield store, proxy, fs


def at(name: str) -> str:
    return f"{ROOT}/{name}"


def read(fs: HostFilesystem, uri: str, most: int = 1 << 26) -> tuple[Code, str, bytes]:
    """All of a file in one read: the code and message of the op that failed, or of the read, and the bytes."""
    opened = fs.new_random_access_file(uri)
    if opened.value is None:
        return opened.code, opened.message, b""
    with opened.value as file:
        got = file.read(0, most)
        # The end of the file came first: that is all of it.
        return (Code.OK if got.code is Code.OUT_OF_RANGE else got.code), got.message, got.value.data


def write(fs: HostFilesystem, uri: str, content: bytes) -> tuple[Code, str]:
    """The code and message of the first op that failed, or of close."""
    opened = fs.new_writable_file(uri)
    if opened.value is None:
        return opened.code, opened.message
    with opened.value as file:
        for got in (file.append(content), file.close()):
            if not got.ok:
                break
        return got.code, got.message


def unnamed(folder: Path) -> int:
    """The bytes of the files without a name in this folder, which some process has open."""
    files = {}
    for opened in Path("/proc").glob("[0-9]*/fd"):
        # What is of somebody else, or closed by now, is not looked at.
        with suppress(OSError):
            for link in list(opened.iterdir()):
                with suppress(OSError):
                    facts = link.stat()
                    if facts.st_nlink == 0 and link.readlink().is_relative_to(folder):
                        files[facts.st_ino] = facts.st_size
    return sum(files.values())
