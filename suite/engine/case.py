"""A case at work: what it prepares, what it reads back, and what it tries many times over."""

import time
from collections.abc import Callable, Mapping, Sequence

from ...harness.hosting.loader import Blocked
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import WritableFile
from ...harness.ops.tables import OPS
from ...reports.model.records import CaseRecord
from .surroundings import Surroundings
from .witnesses import Prepared, flaw
from .workbench import MOST_ENTRIES, Workbench

#: What is in a case's directory: relative path to content, None for a directory.
Tree = dict[str, bytes | None]


class NoStimulus(Exception):
    """What a case is about cannot be brought about on this target. The text says why; the case is absent."""


class Case(Surroundings):
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
        super().__init__(bench, identity, clauses, over_tables=over_tables)
        self.tier = tier
        self.stimulus = stimulus
        #: The record that this case takes over from one of its trials, with a note.
        self.adopted: tuple[CaseRecord, str | None] | None = None
        self.target_name = bench.target.name
        self.started = time.perf_counter()

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

    def mkdir_where_known(self, name: str) -> str:
        """Set up a directory, unless there are only files: where it is, nobody is asked; its URI."""
        return self.uri(name) if "create_dir" in self.claims.ops_given_up else self.mkdir(name)

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
        identity = f"{self.id}/{number}"
        trial = Case(bench, identity, self.clauses, self.stimulus, over_tables=self.over_tables, tier=self.tier)
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


Body = Callable[[Case], None]


def written(case: Case, file: WritableFile, *pieces: bytes) -> None:
    """Append pieces as set-up steps."""
    with case.setup():
        for piece in pieces:
            case.require(file.append(piece))
