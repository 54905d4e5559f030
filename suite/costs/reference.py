"""The reference plugin that does the same work as a target: the one of the same kind of storage, where there is one."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from ...harness.native import NativePartsMissingError
from ...harness.ops import paths
from ...harness.targets.shipped import plugin_path
from ..engine.target import Target

#: Where the local reference works when the target's files are not on a disk of this machine.
ELSEWHERE = "/tmp"


@dataclass(frozen=True, slots=True)
class Reference:
    """What stands beside a target. `plugin` is None where nothing can; `alike` says that its storage is of the kind.

    `target` is the target that stands for it.
    """

    storage: str
    plugin: str | None = None
    alike: bool = False
    target: Target | None = None


def reference(target: Target, root: str, *, hosts_differ: bool) -> Reference:
    """The reference for a target whose `root` was made. `hosts_differ` says that files live and die with their host."""
    if target.host_command:
        return Reference("another machine, or behind another command")
    if hosts_differ:
        return _beside(target, "memory of the process", "memory", "/tffs-reference", alike=True)
    path = paths.parse(root).path
    if path and os.path.isdir(path):
        name = f"{path.rstrip('/')}-reference"
        return _beside(target, "a disk of this machine", "posix", name, alike=True)
    name = f"{ELSEWHERE}/{paths.basename(root)}-reference"
    return _beside(target, "something else than a disk of this machine", "posix", name, alike=False)


def _beside(target: Target, storage: str, plugin: str, path: str, *, alike: bool) -> Reference:
    try:
        shared_object: Path = plugin_path(plugin)
    except NativePartsMissingError:
        return Reference(storage)
    if not shared_object.is_file():
        return Reference(storage)
    other = replace(
        target,
        name=plugin,
        plugin=shared_object,
        scheme=plugin,
        root=f"{plugin}://{path}",
        environment={},
        secrets=(),
        claims={},
        limits={},
        backing=None,
        backing_options={},
        missing=None,
        keep=False,
    )
    return Reference(storage, plugin, alike, other)
