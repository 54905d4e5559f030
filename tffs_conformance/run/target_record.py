"""What is found out about a plugin before its first op: its file, what it registers, and what a report says of it."""

import hashlib
import json
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ..harness.hosting import remote_file
from ..harness.hosting.client import Host
from ..harness.hosting.loader import BlockedError, Loader
from ..harness.hosting.registration import Registration
from ..harness.launchers.sandbox import is_in_one
from ..harness.ops.outcomes import DiedError
from ..harness.ops.tables import DEFAULT_NEEDS, OPS, available
from ..harness.shared_object import abi
from ..harness.shared_object.abi import Abi, Symbols
from ..harness.shared_object.elf import NotElfError, require_magic
from ..harness.targets.runtimes import Runtime
from ..harness.through.filesystem import REACHED
from ..reports.model.abi import LONGEST_SYMBOL, MOST_GROUPS, MOST_SYMBOLS, AbiFacts, AbiSymbols
from ..reports.model.header import TargetRecord
from ..suite.engine.plugin_facts import PluginFacts
from ..suite.engine.target import Target
from ..suite.engine.workbench import launcher_of


def see(target: Target, runtime: Runtime) -> PluginFacts:
    """Look at the plugin of a target where its hosts run.

    Raises FileNotFoundError where it is not there, NotElfError for another kind of file or machine, and HostLostError;
    where it has to be compiled for a sanitizer, NotCompiledSoError and NoToolError.

    One that lacks symbols is tried with all libraries of the runtime.
    """
    starts = launcher_of(replace(target, runtime=runtime.libraries))
    plugin, is_far = target.plugin, bool(target.host_command)
    loader = Loader(starts, plugin, target.timeout)
    try:
        content = _content(Host(starts, target.timeout), plugin) if is_far else plugin.read_bytes()
        # A damaged shared object is judged; another file is a mistake of whoever named it.
        require_magic(content, platform.machine() if not is_far or is_in_one(target.host_command) else "")
        # TensorFlow's own filesystems are in the library that others are loaded with.
        told = None if str(plugin) in runtime.libraries else _told(plugin, content if is_far else None)
        registration = _registration(loader)
    finally:
        loader.close()
    if registration is not None and registration.missing and runtime.more:
        return see(target, runtime.whole)
    return PluginFacts(registration, hashlib.sha256(content).hexdigest(), len(content), runtime, told)


def _content(host: Host, plugin: Path) -> bytes:
    try:
        return remote_file.read(host, plugin)
    finally:
        host.close()


def _told(plugin: Path, content: bytes | None) -> Abi | None:
    """What the file says; with `content` it is another machine's."""
    try:
        return abi.read(plugin, content)
    except NotElfError:
        return None


def _registration(loader: Loader) -> Registration | None:
    try:
        loaded = loader.load()
    except (DiedError, BlockedError):
        return None
    loaded.host.close()
    return loaded.registration


def target_record(target: Target, seen: PluginFacts, profile: str | None, variables: Collection[str]) -> TargetRecord:
    """What the report says of a target; `profile` is the name of its profile, which gives values to `variables`."""
    entry = seen.registration.registered.get(target.scheme or "") if seen.registration else None
    present = REACHED if target.through else entry.present if entry else frozenset()
    interface = " and its interface" if target.through else ""
    here = Path.cwd()
    # A sandbox is on this machine: a baseline from outside of it is one of the same.
    elsewhere = target.host_command and not is_in_one(target.host_command)
    machine = f"through {target.host_command[0]}" if elsewhere else f"on {platform.system()}"
    return TargetRecord(
        # As a person types it: reports are compared between machines.
        plugin=str(target.plugin.relative_to(here) if target.plugin.is_relative_to(here) else target.plugin),
        name=target.name,
        sha256=seen.sha256,
        size=seen.size,
        scheme=target.scheme,
        root=target.root,
        runtime=f"{seen.runtime}{interface} {machine} {platform.machine()}",
        profile=profile,
        environment=tuple(sorted(target.environment)),
        values=_digest({name: target.environment[name] for name in variables if name not in target.secrets}),
        tables={op: _answered_by(op, present) for op in OPS} if entry else {},
        abi=_abi(seen.abi) if seen.abi else None,
        limits=dict(target.limits),
    )


def _digest(values: Mapping[str, str]) -> str | None:
    """A digest by which parts of a run agree on the values of variables.

    Whoever has a report can try values. So all values are in one digest, each try takes a tenth of a second, and the
    names are the salt. That does not protect a secret of few possible values: secrets are left out. They are often
    issued to each shard anew, too.
    """
    text = json.dumps(sorted(values.items())).encode()
    salt = json.dumps(sorted(values)).encode()
    return hashlib.scrypt(text, salt=salt, n=1 << 15, r=8, p=1, maxmem=1 << 26, dklen=32).hex() if values else None


def _abi(told: Abi) -> AbiFacts:
    return AbiFacts(
        releases=told.releases,
        loads=told.loads,
        missing=_symbols(told.missing),
        unknown=told.unknown[:MOST_GROUPS],
        untold=len(told.untold),
        glibc=told.glibc,
    )


def _symbols(groups: Sequence[Symbols]) -> tuple[AbiSymbols, ...]:
    return tuple(
        AbiSymbols(
            library=one.library,
            symbols=tuple(symbol[:LONGEST_SYMBOL] for symbol in one.symbols[:MOST_SYMBOLS]),
            count=len(one.symbols),
            releases=one.releases,
        )
        for one in groups[:MOST_GROUPS]
    )


def _answered_by(op: str, present: frozenset[str]) -> Literal["plugin", "default", "absent"]:
    if op in present:
        return "plugin"
    return "default" if op in DEFAULT_NEEDS and available(op, present) else "absent"
