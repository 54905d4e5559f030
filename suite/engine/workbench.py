"""Where the cases of one target run: hosts with the plugin loaded, and directories below the root."""

import functools
import os
import re
import zlib
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ...harness.hosting.loader import MAX_HANGS, BlockedError, Loaded, Loader
from ...harness.hosting.registration import Scheme
from ...harness.launchers.choice import launcher, sanitizer_of
from ...harness.launchers.launcher import HostLostError, Launcher
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.defaults import answer
from ...harness.ops.filesystem import Filesystem
from ...harness.ops.guard import Guard, RefusedError
from ...harness.ops.outcomes import DiedError, Outcome, Source
from ...harness.over_tables.filesystem import HostFilesystem
from ...harness.over_tables.raw import Call, LateListings, RawFilesystem
from ...harness.targets.backing import Backing, BackingIncapableError, BackingUnableError, BackingUnnamedError
from ...harness.through.filesystem import TensorFlowFilesystem
from ..contract.claims import Claims
from ..contract.through import hidden
from .bounds import Keeper
from .plugin_facts import UNSEEN, PluginFacts
from .target import Target


class WrongBackingError(Exception):
    """The backing shows another storage than the plugin: a mistake of whoever named it."""


#: A filesystem in a host, which performs the ops through a plugin's tables, or through TensorFlow.
HostedFilesystem = HostFilesystem | TensorFlowFilesystem
#: A removal by hand looks at so many entries at most, whatever a plugin lists.
MOST_ENTRIES = 5000


def launcher_of(target: Target) -> Launcher:
    """What starts the hosts of a target.

    Raises NotCompiledSoError and NoToolError where its plugin has to be compiled for a sanitizer.
    """
    tool = sanitizer_of(target.sanitizer, target.plugin)
    return launcher(target.host_command, target.environment, target.runtime, target.through, tool)


class Workbench:
    """Where the cases of one target run: gives each of them a filesystem and a directory, and takes both back."""

    def __init__(
        self,
        target: Target,
        facts: PluginFacts = UNSEEN,
        max_hangs: int | None = MAX_HANGS,
        starts: Launcher | None = None,
    ) -> None:
        self.target = target
        self.facts = facts
        self.claims = Claims.of(target.claims, target.limits)
        if target.through:
            self.claims = replace(self.claims, hidden=hidden())
        starts = starts or launcher_of(target)
        self.loader = Loader(starts, target.plugin, target.timeout, max_hangs, filling=facts.filling)
        self.redaction = target.redaction
        self.keeper = Keeper(target.traces, self.redaction)
        self.left_behind: list[str] = []
        self._kept: tuple[str, Loaded] | None = None
        self._no_root: BlockedError | None = None
        #: The ids of the cases of the run, where they are known: who leaves something to another case leaves it to one.
        self.cases: Container[str] | None = None
        #: The same target for hosts beside those of cases, once one was asked for, or why there is none.
        self._beside: Workbench | BlockedError | None = None
        #: The same target under a condition, once a case was repeated there, or why that cannot be.
        self.watched: Workbench | str | None = None

    def learn(self, **found: Any) -> None:
        """Add to the facts what was found out about the plugin."""
        self.facts = replace(self.facts, **found)

    def apart(self, **changes: Any) -> "Workbench":
        """The same target, with these changes, in hosts of their own: what hangs there says nothing of other cases."""
        return Workbench(replace(self.target, host_scope="case", **changes), self.facts, max_hangs=None)

    def filling_again(self) -> "Workbench":
        """The same target with hosts whose allocator fills what it gives, though something hung there."""
        return Workbench(replace(self.target, host_scope="case"), replace(self.facts, filling=True))

    def load(self, module: str) -> Loaded:
        """A host for a case of this module: a fresh one, or the one before where `--host-scope` says so."""
        scope = {"case": None, "module": module, "session": "session"}[self.target.host_scope]
        if self._kept and self._kept[0] == scope and self._kept[1].host.alive:
            return self._kept[1]
        if self._kept:
            self._kept[1].host.close()
            self._kept = None
        loaded = self._host()
        if scope is not None:
            self._kept = (scope, loaded)
        return loaded

    def begin(self) -> None:
        """A case begins, which nearly always asks for a host, and nobody has one."""
        # Through TensorFlow many cases ask for none.
        if self._kept is None and not self.target.missing and not self.target.through:
            self.loader.begin()

    def _host(self) -> Loaded:
        if self.target.missing:
            raise BlockedError("services", self.target.missing)
        return self.loader.load()

    def another(self) -> Loaded:
        """A fresh host beside that of the case, whatever `--host-scope` says. Who asks for it ends it.

        Raises BlockedError where the plugin does not come up there. One that waits for the other process is not asked
        again, and says nothing of other cases.
        """
        if isinstance(self._beside, BlockedError):
            raise self._beside
        self._beside = self._beside or self.apart()
        try:
            loaded = self._beside._host()
            self.scheme(loaded)
        except (BlockedError, DiedError, HostLostError) as failed:
            self._beside.close()
            self._beside = BlockedError("registration", f"beside another process: {failed}")
            raise self._beside from failed
        return loaded

    def release(self, loaded: Loaded) -> None:
        """A case is done with a host."""
        if self._kept is None or self._kept[1] is not loaded:
            loaded.host.close()

    def scheme(self, loaded: Loaded) -> Scheme:
        """The registered scheme that is judged. Raises BlockedError where the plugin did not register it."""
        registration = loaded.registration
        if registration.failure is not None:
            raise BlockedError("dlopen", registration.failure)
        entry = registration.registered.get(self.target.scheme or "")
        if entry is None:
            raise BlockedError("registration", registration.message or "the plugin registered no scheme")
        return entry

    def filesystem(self, loaded: Loaded, guard: Guard, trace: list[Call]) -> HostedFilesystem:
        """The target's filesystem in a host."""
        entry = self.scheme(loaded)
        if entry.filesystem is None:
            raise BlockedError("registration", entry.message)
        nobody = ("TensorFlow's users cannot call",) if self.target.through else ()
        delay = self.claims.limits.get("listing_delay_ms")
        call = LateListings(loaded.call, delay / 1000) if delay else loaded.call
        raw = RawFilesystem(call, entry.filesystem, trace, *nobody)
        return self._over(raw, entry.present, guard)

    def _over(self, raw: RawFilesystem, present: frozenset[str], guard: Guard) -> HostedFilesystem:
        facts = self.facts
        if self.target.through:
            return TensorFlowFilesystem(raw, guard, unimplemented=facts.unimplemented)
        return HostFilesystem(
            raw,
            present,
            guard,
            unimplemented=facts.unimplemented,
            is_directory_ok_for_files=facts.is_directory_ok_for_files,
        )

    def asks(self, filesystem: Filesystem, op: str) -> bool:
        """Whether an op can be asked for: the table of the plugin or core's default has it.

        One that answers UNIMPLEMENTED in the plainest situation may do more in another: each situation asks again.
        """
        return filesystem.available(op) or self.facts.unimplemented.get(op) is Code.UNIMPLEMENTED

    def does(self, filesystem: Filesystem, op: str) -> bool:
        """Whether an op can be asked for, and the profile does not give it up."""
        return op not in self.claims.ops_given_up and self.asks(filesystem, op)

    @property
    def makes_directories(self) -> bool:
        """Whether there are directories: a profile may say that there are only files."""
        return "create_dir" not in self.claims.ops_given_up

    def directory(self, case: str) -> str:
        """The URI of the directory that belongs to a case."""
        root = self.target.root or f"{self.target.scheme or 'none'}:///tmp/tffs-none"
        room = min(48, max(self.claims.limits.get("max_name", 255) - 9, 0))
        slug = re.sub(r"[^A-Za-z0-9]+", "-", case).strip("-")[:room]
        return paths.join(root, f"{slug}-{zlib.crc32((self.target.apart + case).encode()):08x}")

    @functools.cached_property
    def backing(self) -> Backing:
        """The other way to the storage.

        Raises BackingUnnamedError where none is known, BackingIncapableError where there is none.
        """
        if self.target.unbacked:
            raise BackingIncapableError("--backing=none: there is no other way to its storage")
        if self.target.backing is None and self.facts.hosts_differ:
            raise BackingIncapableError("its storage lives in its process: there is no other way to it")
        if self.target.backing is None or self.target.root is None:
            raise BackingUnnamedError("no backing is known: --backing=URL names another way to the same storage")
        if self.facts.wrong_backing is not None:
            raise WrongBackingError(self.facts.wrong_backing)
        path = paths.parse(self.target.root).path
        return Backing(self.target.backing.replace("{path}", path), self.target.backing_options)

    def make_root(self) -> None:
        """Create the root through the plugin, once. Raises BlockedError."""
        if self.facts.root_made or self.target.root is None or not self.makes_directories:
            return
        if self._no_root is not None and not self._no_root.absent and "create_dir" not in self.facts.unimplemented:
            raise self._no_root
        root = self.target.root
        with suppress(BlockedError, BackingUnableError):
            self.alone(Guard(root), lambda fs: self._look_above(fs, root))
        try:
            self.alone(Guard(root, making=True), lambda fs: self._make_root(fs, root))
        except BlockedError as blocked:
            # What is wrong with the op is the affair of its own cases. All others need a root, however it is made.
            try:
                self.alone(Guard(root, making=True), lambda fs: _made_by_steps(fs, root))
            except BlockedError as stepwise:
                self._no_root = stepwise if blocked.absent else blocked
                raise self._no_root from None
        self.learn(root_made=True)

    def _look_above(self, filesystem: Filesystem, root: str) -> None:
        """Find out which directories above the root are not there: they come with it, and go with it."""
        above: list[str] = []
        directory = paths.dirname(root)
        while paths.parse(directory).path.strip("/") and {
            filesystem.path_exists(directory).code,
            filesystem.stat(directory).code,
        } == {Code.NOT_FOUND}:
            above.append(directory)
            directory = paths.dirname(directory)
        self.learn(made_above=tuple(above))

    def _make_root(self, filesystem: Filesystem, root: str) -> None:
        if self.seeds(filesystem, "create_dir"):
            self.backing.make_directory("")
            return
        got = filesystem.recursively_create_dir(root)
        if not got.ok:
            op = got.passed_on or got.op
            raise BlockedError(op, f"the root {root} cannot be made: {got.code} {got.message}", absent=_is_absent(got))

    def seeds(self, filesystem: Filesystem, op: str) -> bool:
        """Whether it takes the backing to prepare what a plugin without this op is then asked about.

        Raises BackingUnableError where it does and there is none. An op that goes wrong everywhere is as good as none.
        """
        # What the profile gives up is absent, and needs nobody else to do it.
        if op in self.claims.ops_given_up:
            return False
        if filesystem.available(op):
            return op in self.facts.fails_plainly and self.target.backing is not None
        try:
            return self.backing is not None
        except BackingIncapableError as lacking:
            raise BackingUnableError(
                f"{op} is not there, and nothing else prepares what is asked for: {lacking}"
            ) from lacking

    def make(self, filesystem: HostedFilesystem, directory: str) -> Outcome[None]:
        """Create a directory right below the root, which was made before.

        Where a filesystem lives and dies with its process, the root is not in this host, and is made here again.
        """
        if not self.makes_directories:
            return answer("create_dir", None)
        if self.seeds(filesystem, "create_dir"):
            self.backing.make_directory(paths.basename(directory))
            return answer("create_dir", None)
        if not self.facts.hosts_differ:
            got = filesystem.create_dir(directory)
            if got.code is not Code.NOT_FOUND:
                return got
        maker = self._over(filesystem.raw, filesystem.present, Guard(directory, making=True))
        made = maker.recursively_create_dir(directory)
        self.learn(hosts_differ=self.facts.hosts_differ or made.ok)
        return made

    def remove_root(self) -> None:
        """Delete the root through the plugin; what cannot be deleted is listed in `left_behind`."""
        root = self.target.root
        if root is None or self.target.keep:
            return
        try:
            # With pytest-xdist the root was made elsewhere, so it is looked for.
            self.alone(Guard(root), lambda fs: self._remove_if_there(fs, root))
        except (BlockedError, BackingUnableError):
            if self.facts.root_made:
                self.left_behind.append(root)
        for directory in self.facts.made_above:
            with suppress(BlockedError):
                self.alone(Guard(directory), functools.partial(_remove_if_empty, directory=directory))

    def _remove_if_there(self, filesystem: Filesystem, root: str) -> None:
        # A plugin that deletes nothing may not know directories either.
        if self._deletes_through_backing(filesystem) or filesystem.path_exists(root).ok:
            self.remove_with(filesystem, root)

    def remove(self, directory: str) -> None:
        """Delete a directory in a host of its own."""
        if self.facts.hosts_differ:
            return  # it went with its host
        try:
            self.alone(Guard(directory), lambda fs: self.remove_with(fs, directory))
        except (BlockedError, BackingUnableError):
            self.left_behind.append(directory)

    def begin_to_remove(self, loaded: Loaded, filesystem: HostedFilesystem, directory: str) -> None:
        """Ask for what `remove_with` begins with, where that is one op."""
        if "delete_recursively" in filesystem.present:
            (name,) = filesystem.names("delete_recursively", directory)
            loaded.ask("delete_recursively", filesystem.raw.filesystem, os.fsencode(name))

    def remove_with(self, filesystem: Filesystem, directory: str) -> None:
        """Delete a directory."""
        if "delete_recursively" in filesystem.present:
            gone = filesystem.delete_recursively(directory).ok
        elif self._deletes_through_backing(filesystem):
            self.backing.delete_tree("" if directory == self.target.root else paths.basename(directory))
            gone = True
        else:
            gone = _removed(filesystem, directory)
        # Where there are no directories, one is gone when nothing is in it any more.
        asked = (filesystem.path_exists, filesystem.get_children)
        if not gone and all(ask(directory).code is not Code.NOT_FOUND for ask in asked):
            self.left_behind.append(directory)

    def _deletes_through_backing(self, filesystem: Filesystem) -> bool:
        return self.target.backing is not None and not filesystem.available("delete_dir")

    def close(self) -> None:
        """End all hosts."""
        if isinstance(self.watched, Workbench):
            self.watched.close()
        if isinstance(self._beside, Workbench):
            self._beside.close()
        if self._kept:
            self._kept[1].host.close()
        self.loader.close()

    def alone(self, guard: Guard, use: Callable[[HostedFilesystem], None]) -> None:
        """Use a filesystem in a host of its own; whatever goes wrong is Blocked."""
        try:
            loaded = self._host()
            try:
                use(self.filesystem(loaded, guard, []))
            finally:
                loaded.host.close()
        except DiedError as died:
            raise BlockedError(died.death.op, str(died), death=died.death) from died
        except RefusedError as refused:
            raise BlockedError("guard", str(refused)) from refused
        except HostLostError as lost:
            raise BlockedError("host", str(lost)) from lost


def _removed(filesystem: Filesystem, directory: str) -> bool:
    """Whether a directory could be deleted with what is in it; by hand, for core's default may be of no use."""
    found, seen = [directory], 0
    for at in found:
        names = filesystem.get_children(at).value.bare
        seen += len(names)
        if seen > MOST_ENTRIES or any(name in ("", ".", "..") or "/" in name for name in names):
            return False
        for child in (paths.join(at, name) for name in names):
            if filesystem.stat(child).value.is_directory == 1:
                found.append(child)
            else:
                filesystem.delete_file(child)
    gone = [filesystem.delete_dir(at).ok for at in reversed(found)]
    return gone[-1]


def _is_absent(outcome: Outcome[object]) -> bool:
    """Whether the plugin does not provide what was asked of it."""
    return outcome.source is Source.ABSENT or outcome.code is Code.UNIMPLEMENTED


def _remove_if_empty(filesystem: Filesystem, directory: str) -> None:
    """Delete a directory in which there is nothing, as far as anybody says."""
    got = filesystem.get_children(directory)
    if got.ok and not got.value.names:
        filesystem.delete_dir(directory)


def _made_by_steps(filesystem: Filesystem, root: str) -> None:
    """Create one directory after the other, from the top on; those that are there say so. Raises BlockedError."""
    above = [root]
    while (parent := paths.dirname(above[-1])) != above[-1] and paths.parse(parent).path.strip("/"):
        above.append(parent)
    for directory in reversed(above):
        filesystem.create_dir(directory)
    reached = filesystem.create_dir(paths.join(root, "reached"))
    if not reached.ok:
        why = f"the root {root} cannot be made: {reached.code} {reached.message}"
        raise BlockedError("create_dir", why, absent=_is_absent(reached))
    filesystem.delete_dir(paths.join(root, "reached"))
