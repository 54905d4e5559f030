"""A case: what it is about, and the parts with which it sets up, calls and checks."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from ...harness.hosting.loader import BlockedError
from ...harness.ops import paths
from ...harness.ops.filesystem import Filesystem
from ...harness.over_tables.raw import RawFilesystem
from ...reports.model.histories import Histories
from ...reports.model.records import CaseRecord
from ..judge.evidence import Condition, Evidence
from . import looks
from .answers import UNKNOWN
from .checks import AbsentOpError, Checks
from .setup import Setup, Tree
from .surroundings import Surroundings
from .workbench import Workbench


class NotTriedError(Exception):
    """A condition cannot be brought about, or not at each point. The text gives the reason; the case is not run."""


class NoStimulusError(Exception):
    """What a case is about cannot be brought about on this target. The text says why; the case is absent."""


@dataclass(frozen=True, slots=True)
class Control:
    """The same case with a plain name: its body, its id, and what the names of this case are called there."""

    body: "Body"
    id: str
    called: Mapping[str, str]


class Case:
    """One case on one target. Cases read as rule, stimulus, verdict: `setup`, calls on `fs`, then `check`."""

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
        self.bench = bench
        self.id = identity
        self.clauses = tuple(clauses)
        self.stimulus = stimulus
        self.tier = tier
        self.over_tables = over_tables
        #: What the case works with: a host, the filesystem in it, a directory, and a backing.
        self.surroundings = Surroundings(bench, identity, clauses, over_tables=over_tables)
        #: What the case says of clauses.
        self.check = Checks(
            identity,
            clauses,
            self.surroundings.directory,
            bench.redaction,
            self.surroundings.trace,
            # What TensorFlow says of itself is no answer of the plugin.
            replace(bench.facts, works=frozenset()) if bench.target.through else bench.facts,
        )
        #: What prepares the stimulus.
        self.setup = Setup(self.surroundings, self.check)
        #: The record that this case takes over from one of its trials, with a note.
        self.adopted: tuple[CaseRecord, str | None] | None = None
        #: What it is held against where it goes wrong.
        self.control: Control | None = None
        #: The small histories that it tried.
        self.histories: Histories | None = None
        #: What came of it when it was repeated under a condition.
        self.condition = Condition()
        #: What it saw before a further attempt; None before it has ended, and where a control may excuse it.
        self.evidence: Evidence | None = None
        self.target_name = bench.target.name
        self.started = time.perf_counter()

    # What nearly every case says --------------------------------------------------------------------------------------

    @property
    def fs(self) -> Filesystem:
        """The filesystem under test. Raises AbsentOpError where the op of the first clause cannot be performed."""
        return self.surroundings.fs

    @property
    def tables(self) -> RawFilesystem:
        """The ops as the plugin's tables have them, for cases that are marked `over_tables`. No guard, no default."""
        return self.surroundings.tables

    def uri(self, *names: str) -> str:
        """A path in the case's own directory, which is made at the first use."""
        return self.setup.uri(*names)

    def translated(self, *names: str) -> str:
        """What the tables get for a path in the case's directory. A plugin that gives core's names is not asked."""
        above, uri = self.uri(), self.uri(*names)
        plain = paths.translate(uri)
        return plain if self.fs.translate(above) == paths.translate(above) else self.fs.translate(uri)

    def on_disk(self, name: str) -> str:
        """The path of a directory that is there, if it is on this machine: what translate_name gives may be none."""
        uri = self.uri(name)
        translated = self.fs.translate(uri)
        return os.path.realpath(translated if os.path.exists(translated) else paths.translate(uri))

    def unchanged(self, name: str, before: Tree) -> None:
        """Nothing in the case's directory is other than it was."""
        self.tree_is(name, before, is_stored=True)

    def tree_is(
        self, name: str, wanted: Mapping[str, bytes | None], found: Tree | None = None, *, is_stored: bool = False
    ) -> bool:
        """All there is in the case's directory is this. Where an op that looks stands alone, that one is wrong.

        `found` is what is there, where the caller knows. What `is_stored` was there before: where some of its content
        is gone, data is lost.
        """
        there: Mapping[str, bytes | None] = self.setup.tree() if found is None else found
        of = UNKNOWN
        calls = tuple(self.surroundings.trace)
        broken: list[str] = []
        while there != wanted and len(broken) < looks.MOST:
            with self.setup:
                misled = looks.misled_by(self.fs, self.surroundings.uri, wanted, there)
            if misled is None:
                of = looks.changed_last(calls, self.surroundings.uri, wanted, there)
                loses = is_stored and any(content and there.get(path) != content for path, content in wanted.items())
                of = replace(of, loses=loses)
                break
            if misled.clause not in broken:
                self.check.record(misled.clause, False, misled.wanted, misled.got, declared=True, of=misled.answer)
            broken.append(misled.clause)
            # What is wrong beside that is compared without it.
            there = misled.corrected(wanted, there)
        self.surroundings.trace.forget(len(calls))
        if len(broken) == looks.MOST or (broken and there == wanted):
            return False
        return self.check.equal(name, "tree", *(dict(sorted(tree.items())) for tree in (wanted, there)), of=of)

    def agreed(self, wanted: Mapping[str, bytes | None]) -> bool:
        """Whether two ops that look see the same in the case's directory, and something else than this."""
        count = len(self.surroundings.trace)
        with self.setup:
            is_so = looks.agreed(self.fs, self.surroundings.uri, wanted)
        self.surroundings.trace.forget(count)
        return is_so

    def missing(self, op: str) -> NoReturn:
        """End the case: it is about `op`, which can be performed neither by the plugin nor by core."""
        raise AbsentOpError(op, self.fs.absence(op))

    def does(self, op: str) -> bool:
        """Whether this plugin can be asked for an op: it or core has it, and its profile does not give it up.

        An answer of UNIMPLEMENTED is absence for what was asked for only: `check.unimplemented` sees that.
        """
        return self.bench.does(self.fs, op)

    @property
    def makes_directories(self) -> bool:
        """Whether there are directories: a profile may say that there are only files."""
        return self.bench.makes_directories

    @property
    def writes_files(self) -> bool:
        """Whether files come from the plugin; they come from the backing if it writes none."""
        return self.surroundings.writes_files

    def needs(self, *ops: str, itself: bool = False) -> None:
        """End the case where one of these can be performed neither by the plugin nor by core, or not by `itself`.

        Where a profile says that there are only files, ops of directories may answer OK and make nothing.
        """
        hollow = () if self.makes_directories else self.bench.claims.ops_given_up
        for op in ops:
            if op in hollow or not (op in self.fs.present if itself else self.bench.asks(self.fs, op)):
                self.missing(op)

    def blocked(self, op: str, why: str) -> NoReturn:
        """End the case: it cannot be run, because of `op`."""
        raise BlockedError(op, why)

    # Trials: what a case tries many times over ------------------------------------------------------------------------

    def trial(self, bench: Workbench, number: int) -> "Case":
        """A case like this one, with a directory and a host of its own."""
        identity = f"{self.id}/{number}"
        trial = Case(bench, identity, self.clauses, self.stimulus, over_tables=self.over_tables, tier=self.tier)
        trial.check.any_clause = True
        return trial

    def ended_by(self, body: "Body") -> Exception | None:
        """Run what a case does, and give what ended it early, if anything did."""
        try:
            body(self)
        except Exception as raised:
            return raised
        return None if self.check.made or self.adopted else self.check.lacking

    def adopt(self, record: CaseRecord, note: str | None = None) -> None:
        """What came of this case is what came of a trial; `note` tells more about it."""
        self.adopted = (record, note)


Body = Callable[[Case], None]
