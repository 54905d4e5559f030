"""A case at work: what it sets up, what it calls, and the checks it makes."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from ...harness import paths
from ...harness.backing import Backing, Unable
from ...harness.client import Host
from ...harness.codes import Code
from ...harness.filesystem import Filesystem, WritableFile
from ...harness.guard import Guard, Refused
from ...harness.host_filesystem import HostFilesystem
from ...harness.launchers.launcher import Lost
from ...harness.loader import Blocked, Loaded
from ...harness.outcomes import Died, Outcome, Source
from ...harness.raw import Call, RawFilesystem
from ...harness.registration import DiedRegistering, Registration, Scheme
from ...harness.tables import OPS
from ...reports.records import CaseRecord
from ..contract.catalogue import clause
from .bounds import Trace
from .checks import AbsentOp, Checks, Misused
from .witnesses import Prepared, flaw
from .workbench import MOST_ENTRIES, Workbench

T = TypeVar("T")
#: What is in a case's directory: relative path to content, None for a directory.
Tree = dict[str, bytes | None]

#: What the names are about that a filesystem may refuse: cases that check it give names beyond the limits, too.
ILLEGAL = "paths.illegal-names"


class Limited(Exception):
    """A case needs more than the profile's limits allow."""


class NoStimulus(Exception):
    """What a case is about cannot be brought about on this target. The text says why; the case is absent."""


class Case(Checks):
    """One case on one target. Cases read as rule, stimulus, verdict: `setup`, calls on `fs`, then checks."""

    def __init__(
        self,
        bench: Workbench,
        identity: str,
        clauses: Sequence[str],
        stimulus: str,
        *,
        over_tables: bool = False,
        tier: str | None = None,
    ) -> None:
        super().__init__(identity, clauses, bench.directory(identity), bench.claims, bench.redaction)
        self.tier = tier
        self.stimulus = stimulus
        self.bench = bench
        self._over_tables = over_tables
        #: The record that this case takes over from one of its trials, with a note.
        self.adopted: tuple[CaseRecord, str | None] | None = None
        self.target_name = bench.target.name
        self._module = identity.partition("/")[0]
        self._directory_made = False
        self._loaded: Loaded | None = None
        self._filesystem: HostFilesystem | None = None
        #: All calls so far, as they went.
        self.trace: list[Call] = Trace()
        #: What was made through the plugin before the stimulus, in this order.
        self.prepared: list[Prepared] = []
        #: Whether what is called prepares the stimulus.
        self.setting_up = False
        self._spent = False
        self._output = ""
        self.started = time.perf_counter()

    # What a case works with ------------------------------------------------------------------------------------------

    @property
    def loaded(self) -> Loaded:
        """The host of this case."""
        if self._loaded is None:
            # Loading is what the cases of registration are about; it prepares all others.
            before, self.setting_up = self.setting_up, self._module != "registration"
            self._loaded = self.bench.load(self._module)
            self.setting_up = before
        return self._loaded

    @property
    def host(self) -> Host:
        """The process with the plugin in it, for cases that are marked `over_tables`."""
        self._is_over_tables()
        return self.loaded.host

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
            with self.setup():
                return self.loaded.registration.schemes
        except DiedRegistering as died:
            self.setting_up = False
            return died.schemes

    @property
    def fs(self) -> Filesystem:
        """The filesystem under test. Raises AbsentOp where the op of the first clause cannot be performed."""
        return self._in_host()

    def _in_host(self) -> HostFilesystem:
        if self._filesystem is None:
            self._filesystem = self.bench.filesystem(self.loaded, Guard(self.directory), self.trace)
            op = clause(self.clauses[0]).op if self.clauses else ""
            if op and not self._filesystem.available(op) and op not in ("init", "cleanup"):
                self.missing(op)
        return self._filesystem

    @property
    def tables(self) -> RawFilesystem:
        """The ops as the plugin's tables have them, for cases that are marked `over_tables`. No guard, no default."""
        self._is_over_tables()
        return self._in_host().raw

    @property
    def present(self) -> frozenset[str]:
        """The ops that the plugin itself has."""
        return self.bench.scheme(self.loaded).present

    def uri(self, *names: str) -> str:
        """A path in the case's own directory, which is made at the first use."""
        if not self._directory_made:
            # A case whose op is absent ends here, and makes no directory.
            filesystem = self._in_host()
            with self.setup():
                self.bench.make_root()
                self._directory_made = True
                if "create_dir" not in self.claims.ops_given_up:
                    self.require(self.bench.make(filesystem, self.directory))
                    if not self.bench.seeds(filesystem, "create_dir"):
                        self.prepared.append(Prepared("", None))
        uri = paths.join(self.directory, *names)
        if ILLEGAL not in self.clauses:
            self._within(self.claims.beyond(uri))
        return uri

    def within_size(self, size: int) -> None:
        """End a case whose files, of so many bytes, are larger than the profile says that a file can be."""
        self._within(self.claims.too_large(size))

    def within_limits(self, name: str) -> None:
        """End a case of names beyond all limits: the profile promises no more of one that it leaves out."""
        self._within(self.claims.beyond(self.uri(name)))

    @property
    def backing(self) -> Backing:
        """The other way to the storage; the case is not run where there is none."""
        return self.bench.backing

    @property
    def seeded(self) -> bool:
        """Whether files come from the backing, because the plugin writes none."""
        return self.bench.seeds(self.fs, "new_writable_file")

    def backing_name(self, name: str) -> str:
        """What a name in the case's own directory is called in the backing."""
        return paths.join(paths.basename(self.directory), name)

    @contextmanager
    def setup(self) -> Iterator[None]:
        """What is done inside prepares the stimulus: where it fails the case could not be run."""
        before, self.setting_up = self.setting_up, True
        yield
        self.setting_up = before

    def require(self, outcome: Outcome[T]) -> T:
        """The value of a set-up step. Where it failed: news about that op, or a case that is blocked by it."""
        if outcome.source is Source.ABSENT:
            raise Blocked(outcome.op, outcome.message, absent=True)
        if outcome.ok:
            self._succeeded(outcome.op)
            return outcome.value
        if self.unimplemented(outcome):
            raise Blocked(outcome.op, "it answers UNIMPLEMENTED", absent=True)
        self.not_a_consequence(outcome)
        if self.is_news(outcome.op):
            succeeds = f"{outcome.op}.succeeds"
            self.record(succeeds, False, "code=OK", f"code={outcome.code}", outcome.message, declared=True)
        raise Blocked(outcome.op, f"{outcome.code} {outcome.message}")

    def status(self, name: str, outcome: Outcome[object], *codes: Code) -> bool:
        """The code is one of these. Raises AbsentOp or Blocked where that is not for this case to say."""
        if outcome.code not in codes:
            self.not_a_consequence(outcome, clause(name).op)
        return super().status(name, outcome, *codes)

    def is_news(self, op: str) -> bool:
        """Whether it is for this case to say that an op goes wrong: one about it, or where it works plainly."""
        return f"{op}.succeeds" in self.clauses or op not in self.bench.knowledge.fails_plainly

    def not_a_consequence(self, outcome: Outcome[object], of: str = "") -> None:
        """Raise Blocked where an op that goes wrong everywhere was only asked by core, or for a clause of `of`."""
        cause = outcome.passed_on or outcome.op
        only_asked = outcome.passed_on or of not in ("", cause)
        if not outcome.ok and only_asked and not self.is_news(cause):
            raise Blocked(cause, self.bench.knowledge.fails_plainly[cause])

    def _succeeded(self, op: str) -> None:
        """Record once that an op works, where the case is about that."""
        name = f"{op}.succeeds"
        if name in self.clauses and not any(check.clause == name for check in self.made):
            self.record(name, True, "code=OK", "code=OK")

    def blocked(self, op: str, why: str) -> NoReturn:
        """End the case: it cannot be run, because of `op`."""
        raise Blocked(op, why)

    def missing(self, op: str) -> NoReturn:
        """End the case: it is about `op`, which can be performed neither by the plugin nor by core."""
        raise AbsentOp(op, self.fs.absence(op))

    def discard_filesystem(self) -> None:
        """What follows is the last use of this filesystem: the case's directory is removed through another one."""
        self._filesystem = None
        self._spent = True

    def write(self, name: str, content: bytes) -> str:
        """Set up a file with this content, through the backing where the plugin writes none; its URI."""
        uri = self.uri(name)
        self._within(self.claims.too_large(len(content)))
        if self.seeded:
            self.backing.write(self.backing_name(name), content)
            return uri
        with self.setup(), self.opened(self.fs.new_writable_file(uri)) as file:
            if content:
                self.require(file.append(content))
            self.require(file.close())
        self.prepared.append(Prepared(name, content))
        return uri

    def write_sparse(self, name: str, pieces: Mapping[int, bytes]) -> str:
        """Set up a file that holds `pieces` at these offsets, through the backing; its URI."""
        uri = self.uri(name)
        self._within(self.claims.too_large(max(offset + len(piece) for offset, piece in pieces.items())))
        self.backing.write_sparse(self.backing_name(name), pieces)
        return uri

    def mkdir(self, name: str) -> str:
        """Set up a directory, through the backing where the plugin makes none; its URI."""
        uri = self.uri(name)
        if self.bench.seeds(self.fs, "create_dir"):
            self.backing.make_directory(self.backing_name(name))
            return uri
        with self.setup():
            self.require(self.fs.create_dir(uri))
        self.prepared.append(Prepared(name, None))
        return uri

    def opened(self, outcome: Outcome[T | None]) -> T:
        """What an op of the new_* family opened, as a set-up step."""
        value = self.require(outcome)
        if value is None:
            raise Blocked(outcome.op, "it answered OK and opened nothing")
        return value

    def token(self) -> int:
        """The token of a transaction that is started, as a set-up step. For cases that are marked `over_tables`."""
        with self.setup():
            token = self.require(self.tables.start_transaction()).token
            if token == 0:
                raise Blocked("start_transaction", "it answered OK and gave no token")
            return token

    def content(self, uri: str, most: int = 1 << 20) -> bytes:
        """What is in a file, as a set-up step; at most `most` bytes."""
        with self.setup(), self.opened(self.fs.new_random_access_file(uri)) as file:
            got = file.read(0, most)
            if got.code not in (Code.OK, Code.OUT_OF_RANGE):
                self.require(got)
            return got.value.data

    def unchanged(self, name: str, before: Tree) -> None:
        """Nothing in the case's directory is other than it was."""
        self.equal(name, "tree", dict(sorted(before.items())), dict(sorted(self.tree().items())))

    def tree(self) -> Tree:
        """All there is in the case's directory. A set-up step."""
        found: Tree = {}
        with self.setup():
            waiting = [""]
            for directory in waiting:
                if len(found) > MOST_ENTRIES:
                    raise Blocked("get_children", f"it lists more than {MOST_ENTRIES} entries, and no end")
                got = self.fs.get_children(self.uri(directory) if directory else self.uri())
                if got.code is Code.NOT_FOUND and "create_dir" in self.claims.ops_given_up:
                    # Where there are no directories there is none without anything in it.
                    continue
                for name in self.require(got).bare:
                    if name in ("", ".", "..") or "/" in name:
                        raise Blocked("get_children", f"the entry {name!r} is no name")
                    path = f"{directory}/{name}" if directory else name
                    if self.require(self.fs.stat(self.uri(path))).is_directory:
                        found[path] = None
                        waiting.append(path)
                    else:
                        found[path] = self.content(self.uri(path))
        return found

    # Trials: what a case tries many times over ------------------------------------------------------------------------

    @property
    def performed(self) -> frozenset[str]:
        """The ops that can be performed, by the plugin or by core's default."""
        return frozenset(op for op in OPS if self.fs.available(op))

    @property
    def named(self) -> dict[str, str]:
        """The paths relative to the case's own directory that were asked for, by the names that ops got for them."""
        base = self.directory
        known = {base: base} | (self._filesystem.translated if self._filesystem else {})
        return {name: uri.removeprefix(base).lstrip("/") for uri, name in known.items() if uri.startswith(base)}

    def trial(self, bench: Workbench, number: int) -> "Case":
        """A case like this one, with a directory and a host of its own."""
        trial = Case(bench, f"{self.id}/{number}", self.clauses, self.stimulus, over_tables=self._over_tables)
        trial.any_clause = True
        return trial

    def flaw_of(self, prepared: Sequence[Prepared]) -> Blocked | None:
        """Prepare the same here, and ask witnesses; what is wrong with it, or None."""
        fs = self.fs
        backing = self.bench.backing if self.bench.target.backing else None
        for one in prepared:
            if one.name:
                uri = self.mkdir(one.name) if one.content is None else self.write(one.name, one.content)
            else:
                uri = self.uri()
            found = flaw(fs, uri, one, backing, self.backing_name(one.name))
            if found is not None:
                return found
        return None

    def adopt(self, record: CaseRecord, note: str | None = None) -> None:
        """What came of this case is what came of a trial; `note` tells more about it."""
        self.adopted = (record, note)

    def clear(self) -> None:
        """Remove what the case left in the filesystem and give its host back."""
        if self._loaded is None:
            return
        try:
            if self._directory_made and not self.bench.target.keep:
                if self._filesystem is not None and self._loaded.host.alive:
                    self.bench.remove_with(self._filesystem, self.directory)
                else:
                    self.bench.remove(self.directory)
        except (Died, Blocked, Lost, Refused, Unable, OSError):
            self.bench.left_behind.append(self.directory)
        finally:
            if self._spent:
                self._loaded.host.close()  # no other case can use what is in it
            self.bench.release(self._loaded)

    def abandon(self) -> None:
        """The run was interrupted: the host may be in the middle of an op, and cannot be used any more."""
        if self._loaded is not None:
            self._loaded.host.close()

    @property
    def output(self) -> str:
        """What the host printed; that of a host which died while it was loaded is in `died_with`."""
        return self._loaded.host.output if self._loaded else self._output

    def died_with(self, output: str) -> None:
        """Remember what a host printed that is gone."""
        self._output = output

    def _is_over_tables(self) -> None:
        if not self._over_tables:
            raise Misused(f"{self.id} looks behind the ops and is not marked over_tables")

    def _within(self, broken: str | None) -> None:
        if broken:
            raise Limited(broken)


Body = Callable[[Case], None]


def written(case: Case, file: WritableFile, *pieces: bytes) -> None:
    """Append pieces as set-up steps."""
    with case.setup():
        for piece in pieces:
            case.require(file.append(piece))
