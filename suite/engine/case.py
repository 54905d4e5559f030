"""A case at work: what it sets up, what it calls, and the checks it makes."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn, TypeVar

from ...harness import paths
from ...harness.backing import Backing, Unable
from ...harness.codes import Code
from ...harness.files import WritableFile
from ...harness.filesystem import Filesystem
from ...harness.guard import Guard, Refused
from ...harness.loader import Blocked, Loaded
from ...harness.outcomes import Crashed, Death, Died, Hung, Outcome, Source
from ...harness.raw import Call
from ...harness.registration import DiedRegistering, Scheme
from ...harness.tables import OPS
from ...reports.records import CaseRecord
from ...reports.verdicts import Verdict, worst
from ..contract import laws
from ..contract.catalogue import clause
from . import callformat
from .checks import AbsentOp, Checks
from .target import Workbench

T = TypeVar("T")
#: What is in a case's directory: relative path to content, None for a directory.
Tree = dict[str, bytes | None]

#: The verdicts of cases with which nothing is wrong.
UNREMARKABLE = (Verdict.CONFORM, Verdict.TOLERATED, Verdict.INFORMATIONAL, Verdict.ABSENT)

#: The clauses that every op keeps by coming back.
SURVIVED = ("robustness.no-crash", "robustness.no-hang", "robustness.no-exception")

#: The clause that says of a step of loading what `<op>.succeeds` says of an op.
BLOCKING: Mapping[str, str] = {
    "dlopen": "registration.loads",
    "TF_InitPlugin": "registration.loads",
    "registration": "registration.required-ops",
    "plugin_memory_free": "registration.blocks-are-freeable",
}


#: What the names are about that a filesystem may refuse: cases that check it give names beyond the limits, too.
ILLEGAL = "paths.illegal-names"


class Limited(Exception):
    """A case needs more than the profile's limits allow."""


class Case(Checks):
    """One case on one target. Cases read as rule, stimulus, verdict: `setup`, calls on `fs`, then checks."""

    def __init__(self, bench: Workbench, identity: str, clauses: Sequence[str], stimulus: str) -> None:
        super().__init__(identity, clauses, bench.directory(identity), bench.claims)
        self._stimulus = stimulus
        self._bench = bench
        self._stands_for: tuple[CaseRecord, str | None] | None = None
        self.target_name = bench.target.name
        self._module = identity.partition("/")[0]
        self._directory_made = False
        self._loaded: Loaded | None = None
        self._filesystem: Filesystem | None = None
        self._trace: list[Call] = []
        self._setting_up = False
        self._spent = False
        self._output = ""
        self._started = time.perf_counter()

    # What a case works with ------------------------------------------------------------------------------------------

    @property
    def loaded(self) -> Loaded:
        """The host of this case."""
        if self._loaded is None:
            # Loading is what the cases of registration are about; it prepares all others.
            before, self._setting_up = self._setting_up, self._module != "registration"
            self._loaded = self._bench.load(self._module)
            self._setting_up = before
        return self._loaded

    @property
    def announced(self) -> tuple[Scheme, ...]:
        """What the plugin says of its schemes, also where it does not survive their registration."""
        try:
            with self.setup():
                return self.loaded.registration.schemes
        except DiedRegistering as died:
            self._setting_up = False
            return died.schemes

    @property
    def fs(self) -> Filesystem:
        """The filesystem under test. Raises AbsentOp where the op of the first clause cannot be performed."""
        if self._filesystem is None:
            self._filesystem = self._bench.filesystem(self.loaded, Guard(self._directory), self._trace)
            op = clause(self.clauses[0]).op if self.clauses else ""
            if op and not self._filesystem.available(op) and op not in ("init", "cleanup"):
                self.missing(op)
        return self._filesystem

    @property
    def present(self) -> frozenset[str]:
        """The ops that the plugin itself has."""
        return self._bench.scheme(self.loaded).present

    def uri(self, *names: str) -> str:
        """A path in the case's own directory, which is made at the first use."""
        if not self._directory_made:
            filesystem = self.fs
            with self.setup():
                self._bench.make_root()
                self._directory_made = True
                if "create_dir" not in self._claims.ops_given_up:
                    self.require(self._bench.make(filesystem, self._directory))
        uri = paths.join(self._directory, *names)
        if ILLEGAL not in self.clauses:
            self._within(self._claims.beyond(uri))
        return uri

    def within_limits(self, name: str) -> None:
        """End a case of names beyond all limits: the profile promises no more of one that it leaves out."""
        self._within(self._claims.beyond(self.uri(name)))

    @property
    def backing(self) -> Backing:
        """The other way to the storage; the case is not run where there is none."""
        return self._bench.backing

    @property
    def seeded(self) -> bool:
        """Whether files come from the backing, because the plugin writes none."""
        return self._bench.seeds(self.fs, "new_writable_file")

    def backing_name(self, name: str) -> str:
        """What a name in the case's own directory is called in the backing."""
        return paths.join(paths.basename(self._directory), name)

    @contextmanager
    def setup(self) -> Iterator[None]:
        """What is done inside prepares the stimulus: where it fails the case could not be run."""
        before, self._setting_up = self._setting_up, True
        yield
        self._setting_up = before

    def require(self, outcome: Outcome[T]) -> T:
        """The value of a set-up step. Where it failed: news about that op, or a case that is blocked by it."""
        if outcome.source is Source.ABSENT:
            raise Blocked(outcome.op, outcome.message, absent=True)
        if outcome.ok:
            return outcome.value
        if self.unimplemented(outcome):
            raise Blocked(outcome.op, "it answers UNIMPLEMENTED", absent=True)
        succeeds = f"{outcome.op}.succeeds"
        if succeeds in self.clauses or outcome.op in self._bench.works_plainly:
            self._record(succeeds, False, "code=OK", f"code={outcome.code}", outcome.message, declared=True)
        raise Blocked(outcome.op, f"{outcome.code} {outcome.message}")

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
        self._within(self._claims.too_large(len(content)))
        if self.seeded:
            self.backing.write(self.backing_name(name), content)
            return uri
        with self.setup(), self.opened(self.fs.new_writable_file(uri)) as file:
            if content:
                self.require(file.append(content))
            self.require(file.close())
        return uri

    def write_sparse(self, name: str, pieces: Mapping[int, bytes]) -> str:
        """Set up a file that holds `pieces` at these offsets, through the backing; its URI."""
        uri = self.uri(name)
        self._within(self._claims.too_large(max(offset + len(piece) for offset, piece in pieces.items())))
        self.backing.write_sparse(self.backing_name(name), pieces)
        return uri

    def mkdir(self, name: str) -> str:
        """Set up a directory, through the backing where the plugin makes none; its URI."""
        uri = self.uri(name)
        if self._bench.seeds(self.fs, "create_dir"):
            self.backing.make_directory(self.backing_name(name))
            return uri
        with self.setup():
            self.require(self.fs.create_dir(uri))
        return uri

    def opened(self, outcome: Outcome[T | None]) -> T:
        """What an op of the new_* family opened, as a set-up step."""
        value = self.require(outcome)
        if value is None:
            raise Blocked(outcome.op, "it answered OK and opened nothing")
        return value

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
                got = self.fs.get_children(self.uri(directory) if directory else self.uri())
                if got.code is Code.NOT_FOUND and "create_dir" in self._claims.ops_given_up:
                    # Where there are no directories there is none without anything in it.
                    continue
                for name in self.require(got).names:
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
    def bench(self) -> Workbench:
        """Where the case runs."""
        return self._bench

    @property
    def performed(self) -> frozenset[str]:
        """The ops that can be performed, by the plugin or by core's default."""
        return frozenset(op for op in OPS if self.fs.available(op))

    @property
    def calls(self) -> Sequence[Call]:
        """All calls so far, as they went."""
        return self._trace

    @property
    def named(self) -> dict[str, str]:
        """The paths relative to the case's own directory that were asked for, by the names that ops got for them."""
        base = self._directory
        known = {base: base} | (self._filesystem.translated if self._filesystem else {})
        return {name: uri.removeprefix(base).lstrip("/") for uri, name in known.items() if uri.startswith(base)}

    def trial(self, bench: Workbench, number: int) -> "Case":
        """A case like this one, with a directory and a host of its own."""
        trial = Case(bench, f"{self.id}/{number}", self.clauses, self._stimulus)
        trial.any_clause = True
        return trial

    def adopt(self, record: CaseRecord, note: str | None = None) -> None:
        """What came of this case is what came of a trial; `note` tells more about it."""
        self._stands_for = (record, note)

    # The end ---------------------------------------------------------------------------------------------------------

    def finish(self, error: BaseException | None) -> CaseRecord:
        """The record of this case; `error` is what ended it early."""
        if self._stands_for is not None and error is None:
            record, note = self._stands_for
            took = time.perf_counter() - self._started
            return replace(record, id=self.id, reason=note or record.reason, duration=took)
        reason: str | None = None
        verdict: Verdict | None = None
        match error:
            case None:
                pass
            case Died():
                reason = self._died(error.death)
                verdict = Verdict.NOT_RUN if reason else None
            case Blocked() | AbsentOp() if error.op in self._claims.ops_given_up:
                verdict, reason = Verdict.ABSENT, f"the profile claims {self._claims.ops_given_up[error.op]}"
            case Blocked():
                self._blocked(error)
                verdict, reason = Verdict.NOT_RUN, f"blocked by {error.op}: {error.why}"
            case Refused() | Unable():
                verdict, reason = Verdict.NOT_RUN, str(error)
            case Limited():
                verdict, reason = Verdict.ABSENT, str(error)
            case AbsentOp() if error.op in self._claims.ops_promised:
                self._blocked(Blocked(error.op, str(error)))
                verdict = Verdict.NOT_RUN
                reason = f"blocked by {error.op}, which the profile claims: {self._claims.ops_promised[error.op]}"
            case AbsentOp():
                verdict, reason = Verdict.ABSENT, str(error)
            case _:
                verdict, reason = Verdict.ERROR, f"{type(error).__name__}: {error}"
        self._held_to_laws()
        verdicts = [check.verdict for check in self._checks] + ([verdict] if verdict else [])
        if not verdicts:
            verdicts, reason = [Verdict.ERROR], "the case made no check"
        final = worst(verdicts)
        if final is Verdict.ABSENT and reason is None:
            given_up = next(check.clause for check in self._checks if check.verdict is Verdict.ABSENT)
            reason = f"the profile claims {self._claims.unsupported[given_up]}"
        return CaseRecord(
            id=self.id,
            clauses=self.clauses,
            verdict=final,
            checks=tuple(self._checks),
            reason=self._plain(reason) if reason else None,
            stimulus=self._stimulus,
            # Nobody reads the ops of a case with which nothing is wrong, and they are the bulk of a report.
            ops=() if final in UNREMARKABLE else tuple(self._plain(callformat.line(call)) for call in self._trace),
            executed=bool(self._trace),
            duration=time.perf_counter() - self._started,
            output=self._plain(self._loaded.host.output if self._loaded else self._output),
        )

    def clear(self) -> None:
        """Remove what the case left in the filesystem and give its host back."""
        if self._loaded is None:
            return
        try:
            if self._directory_made and not self._bench.target.keep:
                if self._filesystem is not None and self._loaded.host.alive:
                    self._bench.remove_with(self._filesystem, self._directory)
                else:
                    self._bench.remove(self._directory)
        except (Died, Blocked, Refused):
            self._bench.left_behind.append(self._directory)
        finally:
            if self._spent:
                self._loaded.host.close()  # no other case can use what is in it
            self._bench.release(self._loaded)

    def _within(self, broken: str | None) -> None:
        if broken:
            raise Limited(broken)

    def _died(self, death: Death) -> str | None:
        """Record a death, or say by what the case is blocked."""
        if (
            self._setting_up
            and death.op not in self._bench.works_plainly
            and f"{death.op}.succeeds" not in self.clauses
        ):
            return f"blocked by {death.op}: {death}"
        match death:
            case Hung():
                name = "robustness.no-hang"
            case Crashed(op="plugin_memory_free"):
                name = "registration.blocks-are-freeable"
            case Crashed():
                name = "robustness.no-crash"
            case _:
                name = "robustness.no-exception"
        self._output = death.output
        expected, got = f"{death.op} comes back", str(death)
        self._record(name, False, expected, got, declared=True)
        # An op without a status has no other way to fail.
        for about in (f"{death.op}.succeeds", f"{death.op}.after-init"):
            if about in self.clauses:
                self._record(about, False, expected, got)
        return None

    def _blocked(self, blocked: Blocked) -> None:
        """Where the case is about the op that blocks it, that is the violation which all others wait for."""
        name = BLOCKING.get(blocked.op, f"{blocked.op}.succeeds")
        judged = any(check.clause == name and check.verdict is Verdict.VIOLATION for check in self._checks)
        absent = blocked.absent and blocked.op not in self._claims.ops_promised
        if name in self.clauses and not absent and not judged:
            self._record(name, False, f"{blocked.op} works", f"{blocked.op}: {blocked.why}")

    def _held_to_laws(self) -> None:
        """What was broken is recorded wherever it shows, what was kept where the case is about it."""
        for finding in laws.rulings(self._trace, self.clauses):
            self._record(
                finding.clause, finding.holds, finding.expected, finding.got, reading=finding.reading, declared=True
            )
        for name in SURVIVED:
            if name in self.clauses and self._trace and not any(check.clause == name for check in self._checks):
                self._record(name, True, "every op comes back", "every op came back")


Body = Callable[[Case], None]


def written(case: Case, file: WritableFile, *pieces: bytes) -> None:
    """Append pieces as set-up steps."""
    with case.setup():
        for piece in pieces:
            case.require(file.append(piece))
