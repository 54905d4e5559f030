"""What a case works with: a host, the filesystem in it, a directory of its own, and a backing."""

import contextlib
from collections.abc import Iterator, Sequence

from ...harness.hosting.client import Host
from ...harness.hosting.loader import BlockedError, Loaded
from ...harness.hosting.registration import DiedRegisteringError, Registration, Scheme
from ...harness.launchers.launcher import HostLostError
from ...harness.ops import paths
from ...harness.ops.guard import Guard, RefusedError
from ...harness.ops.outcomes import DiedError, Outcome
from ...harness.ops.tables import DEFAULT_NEEDS, OPS
from ...harness.over_tables.raw import RawFilesystem
from ...harness.targets.backing import Backing, BackingUnableError
from ..contract.catalogue import clause
from .bounds import CallLog
from .checks import AbsentOpError, MisusedError
from .workbench import HostedFilesystem, Workbench

#: What the names are about that a filesystem may refuse: cases that check it give names beyond the limits, too.
ILLEGAL = "paths.illegal-names"


class BeyondLimitsError(Exception):
    """A case needs more than the profile's limits allow."""


class Surroundings:
    """Each part is made at its first use, and given back by `clear`."""

    def __init__(self, bench: Workbench, identity: str, clauses: Sequence[str], *, over_tables: bool) -> None:
        self.bench = bench
        self._id = identity
        self._clauses = tuple(clauses)
        self._over_tables = over_tables
        self._module = identity.partition("/")[0]
        #: The URI of the case's own directory, whether it is there or not.
        self.directory = bench.directory(identity)
        #: Whether there may be something that `clear` has to remove.
        self.directory_made = False
        self._loaded: Loaded | None = None
        self._filesystem: HostedFilesystem | None = None
        #: The ops for which core does the work.
        self._by_core = frozenset[str]()
        #: All calls so far, as they went.
        self.trace = CallLog(bench.redaction)
        self._spent = False
        self._output = ""

    @property
    def loaded(self) -> Loaded:
        """The host of this case."""
        if self._loaded is None:
            # Loading is what the cases of registration are about; it prepares all others.
            before, self.trace.is_preparing = self.trace.is_preparing, self._module != "registration"
            self._loaded = self.bench.load(self._module)
            self.trace.is_preparing = before
        return self._loaded

    @property
    def host(self) -> Host:
        """The process with the plugin in it, for cases that are marked `over_tables`."""
        self._is_over_tables()
        return self.loaded.host

    @contextlib.contextmanager
    def patient(self, seconds: float) -> Iterator[None]:
        """Within, a call may take so many seconds, if that is more than elsewhere: it moves what takes long."""
        host = self.loaded.host
        usual = host.timeout
        host.timeout = max(usual, seconds)
        try:
            yield
        finally:
            host.timeout = usual

    @property
    def registration(self) -> Registration:
        """What the plugin registered, for cases that are marked `over_tables`."""
        self._is_over_tables()
        return self.loaded.registration

    @property
    def announced(self) -> tuple[Scheme, ...]:
        """What the plugin says of its schemes, also where it does not survive their registration."""
        self._is_over_tables()
        try:
            return self.loaded.registration.schemes
        except DiedRegisteringError as died:
            self.trace.is_preparing = False
            return died.schemes

    @property
    def fs(self) -> HostedFilesystem:
        """The filesystem under test. Raises AbsentOpError where the op of the first clause cannot be performed."""
        if self._filesystem is None:
            self._filesystem = self.bench.filesystem(self.loaded, Guard(self.directory), self.trace)
            self._by_core = frozenset(DEFAULT_NEEDS) - self._filesystem.present
            op = clause(self._clauses[0]).op if self._clauses else ""
            if op and not self.bench.asks(self._filesystem, op) and op not in ("init", "cleanup"):
                raise AbsentOpError(op, self._filesystem.absence(op))
        return self._filesystem

    @property
    def tables(self) -> RawFilesystem:
        """The ops as the plugin's tables have them, for cases that are marked `over_tables`. No guard, no default."""
        self._is_over_tables()
        return self.fs.raw

    @property
    def present(self) -> frozenset[str]:
        """The ops that the plugin itself has."""
        return self.bench.scheme(self.loaded).present

    @property
    def available_ops(self) -> frozenset[str]:
        """The ops that can be performed, by the plugin or by core's default."""
        return frozenset(op for op in OPS if self.fs.available(op))

    @property
    def called(self) -> frozenset[str] | None:
        """The ops that were called, and those that core does instead of the plugin; None through TensorFlow."""
        if self.bench.target.through:
            return None
        core = {outcome.called_by for _, _, outcome in self.trace if isinstance(outcome, Outcome)}
        return self._by_core.union(core, (op for op, _, _ in self.trace), ("init", "cleanup"))

    def discard_filesystem(self) -> None:
        """What follows is the last use of this filesystem: the case's directory is removed through another one."""
        self._filesystem = None
        self._spent = True

    def end_host(self) -> None:
        """Kill the host, whatever it is doing. What follows is in another one."""
        self.loaded.host.close()
        self.bench.release(self.loaded)
        self._loaded = self._filesystem = None

    @contextlib.contextmanager
    def in_another_process(self) -> Iterator[None]:
        """Within, ops are performed in another host. The first one lives on, with all that it remembers.

        Raises BlockedError where the plugin does not come up in two processes.
        """
        first = self._loaded, self._filesystem
        other = self.bench.another()
        try:
            self._loaded, self._filesystem = other, None
            yield
        finally:
            other.host.close()
            self._loaded, self._filesystem = first

    def uri(self, *names: str) -> str:
        """A path in the case's own directory, whether that is made or not."""
        uri = paths.join(self.directory, *names)
        if ILLEGAL not in self._clauses:
            self.within_limits(uri)
        return uri

    @property
    def named(self) -> dict[str, str]:
        """The paths relative to the case's own directory that were asked for, by the names that ops got for them."""
        base = self.directory
        known = {base: base} | (self._filesystem.translated if self._filesystem else {})
        return {name: uri.removeprefix(base).lstrip("/") for uri, name in known.items() if uri.startswith(base)}

    def within_size(self, size: int) -> None:
        """End a case whose files, of so many bytes, are larger than the profile says that a file can be."""
        self._within(self.bench.claims.too_large(size))

    def within_limits(self, uri: str) -> None:
        """End a case of names beyond all limits: the profile promises no more of one that it leaves out."""
        self._within(self.bench.claims.beyond(uri))

    @property
    def backing(self) -> Backing:
        """The other way to the storage; the case is not run where there is none."""
        return self.bench.backing

    @property
    def writes_files(self) -> bool:
        """Whether files come from the plugin; they come from the backing if it writes none."""
        return not self.bench.seeds(self.fs, "new_writable_file")

    def backing_name(self, name: str) -> str:
        """What a name in the case's own directory is called in the backing."""
        return paths.join(paths.basename(self.directory), name)

    def begin_to_clear(self) -> None:
        """Have the plugin delete the case's directory, of which `clear` sees what comes, where it does so by itself."""
        filesystem, loaded = self._filesystem, self._loaded
        if loaded is None or filesystem is None or not self.directory_made or self._spent or self.bench.target.keep:
            return
        if loaded.host.alive:
            with contextlib.suppress(DiedError, BlockedError, HostLostError, RefusedError):
                self.bench.begin_to_remove(loaded, filesystem, self.directory)

    def clear(self) -> None:
        """Remove what the case left in the filesystem and give its host back."""
        if self._loaded is None:
            # Whoever comes next may be about another target of the same plugin.
            self.bench.loader.withdraw()
            return
        if self._spent:
            self._loaded.host.close()  # no other case can use what is in it, and another host removes the directory
        try:
            if self.directory_made and not self.bench.target.keep:
                if self._filesystem is not None and self._loaded.host.alive:
                    self.bench.remove_with(self._filesystem, self.directory)
                else:
                    self.bench.remove(self.directory)
        except (DiedError, BlockedError, HostLostError, RefusedError, BackingUnableError, OSError):
            self.bench.left_behind.append(self.directory)
        finally:
            self.bench.release(self._loaded)

    def abandon(self) -> None:
        """End the host as it is, in the middle of an op, too: nothing more is asked of it."""
        if self._loaded is not None:
            self._loaded.host.close()

    @property
    def output(self) -> str:
        """What the host printed. Where it printed nothing, what one did that died before, as `died_with` says."""
        return (self._loaded.host.output if self._loaded else "") or self._output

    def died_with(self, output: str) -> None:
        """Remember what a host printed that is gone."""
        self._output = output

    def _is_over_tables(self) -> None:
        if not self._over_tables:
            raise MisusedError(f"{self._id} calls the tables and is not marked over_tables")

    def _within(self, broken: str | None) -> None:
        if broken:
            raise BeyondLimitsError(broken)
