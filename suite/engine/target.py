"""The target of a run as cases meet it: hosts with the plugin loaded, and directories below the root."""

import functools
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...harness import paths
from ...harness.backing import Backing, Unable
from ...harness.codes import Code
from ...harness.defaults import answer
from ...harness.filesystem import Filesystem
from ...harness.guard import Guard, Refused
from ...harness.loader import MAX_HANGS, Blocked, Loaded, Loader
from ...harness.native import native_directory
from ...harness.outcomes import Died, Outcome
from ...harness.raw import Call, RawFilesystem
from ...harness.registration import Scheme
from ...harness.tables import DEFAULT_NEEDS, asks_for_the_kind
from ..contract.claims import Claims, Value

#: Histories that each property tries unless it is told otherwise.
EXAMPLES = 100


@dataclass(frozen=True, slots=True)
class Target:
    """A plugin, one of its schemes, and the root below which cases work; `timeout` in seconds.

    `backing` is the URL of another way to the same storage, where `{path}` stands for the path of the root. `claims`
    `backing_options` are those of fsspec for it. `claims`
    and `limits` are those of a profile. The values of the environment variables in `secrets` are told to nobody.

    Properties try `examples` histories that follow from `seed`, and leave what they find in the folder `traces`; with
    `replay`, the path of a trace, they try that one only. `command` is the line that judges this target again.
    """

    name: str
    plugin: Path
    scheme: str | None
    root: str | None
    environment: dict[str, str] = field(default_factory=dict)
    timeout: float = 10.0
    host_scope: str = "case"
    keep: bool = False
    backing: str | None = None
    backing_options: dict[str, Any] = field(default_factory=dict)
    missing: str | None = None
    claims: dict[str, Value] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    examples: int = EXAMPLES
    seed: int = 0
    traces: str | None = None
    replay: str | None = None
    command: tuple[str, ...] = ()


class Workbench:
    """Where the cases of one target run: gives each of them a filesystem and a directory, and takes both back."""

    def __init__(self, target: Target, max_hangs: int | None = MAX_HANGS) -> None:
        self.target = target
        self.claims = Claims.of(target.claims, target.limits)
        command = [str(native_directory() / "tffs-host")]
        self.loader = Loader(command, target.plugin, target.environment, target.timeout, max_hangs)
        self.left_behind: list[str] = []
        self._root_made = False
        self._hosts_differ = False
        self._works_plainly: frozenset[str] | None = None
        self._ok_for_files: bool | None = None
        self._kept: tuple[str, Loaded] | None = None

    def with_timeout(self, timeout: float) -> "Workbench":
        """The same target with less patience, in seconds, for histories that hang: as often as they are tried."""
        bench = Workbench(replace(self.target, timeout=min(timeout, self.target.timeout), host_scope="case"), None)
        bench._root_made, bench._hosts_differ = self._root_made, self._hosts_differ
        bench._works_plainly, bench._ok_for_files = self._works_plainly, self._ok_for_files
        return bench

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

    def _host(self) -> Loaded:
        if self.target.missing:
            raise Blocked("services", self.target.missing)
        return self.loader.load()

    def release(self, loaded: Loaded) -> None:
        """A case is done with a host."""
        if self._kept is None or self._kept[1] is not loaded:
            loaded.host.close()

    def scheme(self, loaded: Loaded) -> Scheme:
        """The registered scheme that is judged. Raises Blocked where the plugin did not register it."""
        registration = loaded.registration
        if registration.error is not None:
            raise Blocked("dlopen", registration.error)
        entry = registration.registered.get(self.target.scheme or "")
        if entry is None:
            raise Blocked("registration", registration.message or "the plugin registered no scheme")
        return entry

    def filesystem(self, loaded: Loaded, guard: Guard, trace: list[Call]) -> Filesystem:
        """The target's filesystem in a host."""
        entry = self.scheme(loaded)
        if entry.filesystem is None:
            raise Blocked("registration", entry.message)
        raw = RawFilesystem(loaded.call, entry.filesystem, trace)
        return Filesystem(raw, entry.present, guard, literal=self._is_directory_ok_for_files(entry.present))

    def _is_directory_ok_for_files(self, present: frozenset[str]) -> bool:
        """Whether is_directory answers OK for a file; found out once, where a default of core depends on it."""
        if self._ok_for_files is None:
            # Filesystems that are used to find it out must not ask.
            self._ok_for_files = False
            if "is_directory" in present and any(asks_for_the_kind(op, present) for op in DEFAULT_NEEDS):
                self._ok_for_files = self._kind_is_literal()
        return self._ok_for_files

    def _kind_is_literal(self) -> bool:
        directory = self.directory("kind")
        answers: list[bool] = []

        def ask(filesystem: Filesystem) -> None:
            self.make(filesystem, directory)
            file = paths.join(directory, "file")
            written = filesystem.new_writable_file(file).value
            if written is not None:
                written.close()
                written.cleanup()
                answers.append(filesystem.is_directory(file).ok)

        try:
            self.make_root()
            self._alone(Guard(directory), ask)
            self.remove(directory)
        except Blocked:
            return False
        return any(answers)

    def directory(self, case: str) -> str:
        """The URI of the directory that belongs to a case."""
        root = self.target.root or f"{self.target.scheme or 'none'}:///tmp/tffs-none"
        slug = re.sub(r"[^A-Za-z0-9]+", "-", case).strip("-")[:48]
        return paths.join(root, f"{slug}-{zlib.crc32(case.encode()):08x}")

    @functools.cached_property
    def backing(self) -> Backing:
        """The other way to the storage. Raises Unable where none is known."""
        if self.target.backing is None or self.target.root is None:
            raise Unable("no backing is known: --backing=URL names another way to the same storage")
        path = paths.parse(self.target.root).path
        return Backing(self.target.backing.replace("{path}", path), self.target.backing_options)

    def make_root(self) -> None:
        """Create the root through the plugin, once. Raises Blocked."""
        if self._root_made or self.target.root is None or "create_dir" in self.claims.ops_given_up:
            return
        root = self.target.root
        self._alone(Guard(root, making=True), lambda fs: self._make_root(fs, root))
        self._root_made = True

    def _make_root(self, filesystem: Filesystem, root: str) -> None:
        if self.seeds(filesystem, "create_dir"):
            self.backing.make_directory("")
        else:
            _made(filesystem, root)

    def seeds(self, filesystem: Filesystem, op: str) -> bool:
        """Whether it takes the backing to prepare what a plugin without this op is then asked about.

        Raises Unable where it does and there is none.
        """
        return not filesystem.available(op) and self.backing is not None

    def make(self, filesystem: Filesystem, directory: str) -> Outcome[None]:
        """Create a directory right below the root, which was made before.

        Where a filesystem lives and dies with its process, the root is not in this host, and is made here again.
        """
        if self.seeds(filesystem, "create_dir"):
            self.backing.make_directory(paths.basename(directory))
            return answer("create_dir", None)
        if not self._hosts_differ:
            got = filesystem.create_dir(directory)
            if got.code is not Code.NOT_FOUND:
                return got
        present = filesystem.present
        maker = Filesystem(
            filesystem.raw, present, Guard(directory, making=True), literal=self._is_directory_ok_for_files(present)
        )
        made = maker.recursively_create_dir(directory)
        self._hosts_differ = self._hosts_differ or made.ok
        return made

    def remove_root(self) -> None:
        """Delete the root through the plugin; what cannot be deleted is listed in `left_behind`."""
        root = self.target.root
        if root is None or self.target.keep:
            return
        try:
            # With pytest-xdist the root was made elsewhere, so it is looked for.
            self._alone(Guard(root), lambda fs: self._remove_if_there(fs, root))
        except Blocked:
            if self._root_made:
                self.left_behind.append(root)

    def _remove_if_there(self, filesystem: Filesystem, root: str) -> None:
        if filesystem.path_exists(root).ok:
            self.remove_with(filesystem, root)

    def remove(self, directory: str) -> None:
        """Delete a directory in a host of its own."""
        if self._hosts_differ:
            return  # it went with its host
        try:
            self._alone(Guard(directory), lambda fs: self.remove_with(fs, directory))
        except Blocked:
            self.left_behind.append(directory)

    def remove_with(self, filesystem: Filesystem, directory: str) -> None:
        """Delete a directory."""
        if "delete_recursively" in filesystem.present:
            gone = filesystem.delete_recursively(directory).ok
        elif self.target.backing and not filesystem.available("delete_dir"):
            self.backing.delete_tree("" if directory == self.target.root else paths.basename(directory))
            gone = True
        else:
            gone = _removed(filesystem, directory)
        # Where there are no directories, one is gone when nothing is in it any more.
        if not gone and ("create_dir" not in self.claims.ops_given_up or filesystem.path_exists(directory).ok):
            self.left_behind.append(directory)

    @property
    def works_plainly(self) -> frozenset[str]:
        """The set-up ops that work in the plainest situation: those of which a failure elsewhere is news."""
        if self._works_plainly is None:
            trace: list[Call] = []
            directory = self.directory("plain")

            def tour(filesystem: Filesystem) -> None:
                self.make(filesystem, directory)
                if self.seeds(filesystem, "new_writable_file"):
                    self.backing.write(f"{paths.basename(directory)}/file", b"plain")
                _tour(filesystem, directory)

            try:
                self.make_root()
                self._alone(Guard(directory), tour, trace)
            except (Blocked, Unable):
                pass
            self.remove(directory)
            self._works_plainly = frozenset(op for op, _, outcome in trace if getattr(outcome, "ok", False))
        return self._works_plainly

    def close(self) -> None:
        """End all hosts."""
        if self._kept:
            self._kept[1].host.close()
        self.loader.close()

    def _alone(self, guard: Guard, use: Callable[[Filesystem], None], trace: list[Call] | None = None) -> None:
        """Use a filesystem in a host of its own; whatever goes wrong is Blocked."""
        try:
            loaded = self._host()
            try:
                use(self.filesystem(loaded, guard, trace if trace is not None else []))
            finally:
                loaded.host.close()
        except Died as died:
            raise Blocked(died.death.op, str(died)) from died
        except Refused as refused:
            raise Blocked("guard", str(refused)) from refused


def _removed(filesystem: Filesystem, directory: str) -> bool:
    """Whether a directory could be deleted with what is in it; by hand, for core's default may be of no use."""
    for name in filesystem.get_children(directory).value.names:
        child = paths.join(directory, name)
        if name in ("", ".", "..") or "/" in name:
            return False
        if filesystem.stat(child).value.is_directory == 1:
            _removed(filesystem, child)
        else:
            filesystem.delete_file(child)
    return filesystem.delete_dir(directory).ok


def _made(filesystem: Filesystem, root: str) -> None:
    got = filesystem.recursively_create_dir(root)
    if not got.ok:
        absent = not filesystem.available("recursively_create_dir")
        raise Blocked(
            "recursively_create_dir", f"the root {root} cannot be made: {got.code} {got.message}", absent=absent
        )


def _tour(filesystem: Filesystem, directory: str) -> None:
    filesystem.create_dir(paths.join(directory, "directory"))
    written = filesystem.new_writable_file(paths.join(directory, "file")).value
    if written is not None:
        written.append(b"plain")
        written.flush()
        written.close()
        written.cleanup()
    opened = filesystem.new_random_access_file(paths.join(directory, "file")).value
    if opened is not None:
        opened.read(0, 5)
        opened.cleanup()
    region = filesystem.new_read_only_memory_region_from_file(paths.join(directory, "file")).value
    if region is not None:
        region.length()
        region.data(0, 5)
        region.cleanup()
    filesystem.get_children(directory)
    filesystem.stat(directory)
