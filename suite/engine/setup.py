"""Set-up: what a case prepares before its stimulus, and what it means that a step of that fails."""

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NoReturn, Self, TypeVar

from ...harness.hosting.loader import BlockedError
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome, Source
from ..contract.catalogue import clause
from .answers import Answer
from .checks import Checks
from .surroundings import BeyondLimitsError, Surroundings
from .witnesses import Prepared, flaw
from .workbench import MOST_ENTRIES

#: What is in a case's directory: relative path to content, None for a directory.
Tree = dict[str, bytes | None]

T = TypeVar("T")

#: What is open can be deleted, renamed and replaced, by these ops; else they answer with one of these codes.
OPEN_IS_FREE = "common.objects-outlive-their-path"
CHANGES = frozenset({"new_writable_file", "delete_file", "delete_recursively", "rename_file", "copy_file"})
LOCKED = (Code.PERMISSION_DENIED, Code.FAILED_PRECONDITION, Code.UNAVAILABLE)


class Setup:
    """The steps that prepare the stimulus of a case. One that fails is news about its op, or blocks the case.

    As a context, it says of other calls that they prepare the stimulus: `with case.setup: ...`. Contexts may be nested.
    """

    def __init__(self, surroundings: Surroundings, check: Checks) -> None:
        self._surroundings = surroundings
        self._check = check
        #: Whether calls prepared the stimulus already, where a context was entered that is not left yet.
        self._before: list[bool] = []
        #: What was made through the plugin before the stimulus, in this order.
        self.prepared: list[Prepared] = []

    def __enter__(self) -> Self:
        trace = self._surroundings.trace
        self._before.append(trace.is_preparing)
        trace.is_preparing = True
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: object, _: TracebackType | None) -> None:
        before = self._before.pop()
        # Where a step ended the case, its ending asks whether that was in the set-up.
        if kind is None:
            self._surroundings.trace.is_preparing = before

    @property
    def active(self) -> bool:
        """Whether what is called now prepares the stimulus, or the case ended while that was so."""
        return self._surroundings.trace.is_preparing

    def require(self, outcome: Outcome[T]) -> T:
        """The value of a set-up step. Where it failed: news about that op, or a case that is blocked by it."""
        if outcome.op.endswith("_dir") and outcome.op in self._surroundings.bench.claims.ops_given_up:
            raise BlockedError(outcome.op, "there are only files", absent=True)
        if outcome.source is Source.ABSENT:
            raise BlockedError(outcome.op, outcome.message, absent=True)
        if outcome.ok:
            self._check.succeeded(outcome.op)
            return outcome.value
        if self._check.unimplemented(outcome):
            raise BlockedError(outcome.op, "it answers UNIMPLEMENTED", absent=outcome.op not in self._check.works)
        self.may_refuse(outcome)
        self._check.failed(outcome, self._is_listed_empty)
        raise BlockedError(outcome.op, f"{outcome.code} {outcome.message}")

    def optional(self, outcome: Outcome[object]) -> bool:
        """Whether a set-up step was performed whose op may be missing. If it is there, its outcome is required."""
        if self._check.unimplemented(outcome):
            return False
        self.require(outcome)
        return True

    def may_refuse(self, outcome: Outcome[object]) -> None:
        """End the case where the profile limits what is open or in a file, or says that what is open is refused."""
        calls, claims = self._surroundings.trace, self._surroundings.bench.claims
        limit = claims.limits.get("max_open_files")
        at = next((k for k, call in enumerate(calls) if call[2] is outcome), len(calls) - 1)
        op, arguments = calls[at][:2]
        if op == "append" and outcome.code is Code.RESOURCE_EXHAUSTED:
            pieces = [given[1] for called, given, _ in calls if called == op and given[0] == arguments[0]]
            self._surroundings.within_size(sum(len(piece) for piece in pieces if isinstance(piece, bytes)))
        opened: dict[object, bytes] = {}
        for k, (called, given, got) in enumerate(calls):
            # What comes after it was called in another thread, perhaps before it.
            if called.startswith("new_") and isinstance(got, Outcome) and got.ok and isinstance(given[1], bytes):
                opened[got.value] = given[1]
            elif k < at and (called == "close" or called.endswith(".cleanup")):
                opened.pop(given[0], None)
        if op.startswith("new_") and outcome.code is Code.RESOURCE_EXHAUSTED and limit and len(opened) >= limit:
            raise BeyondLimitsError(f"the profile limits max_open_files to {limit}, and more are needed")
        named = [one for one in arguments if isinstance(one, bytes)][op == "copy_file" :]
        changed = tuple(path + b"/" for path in named if op in CHANGES)
        is_open = any((path + b"/").startswith(changed) for path in opened.values())
        if outcome.code in LOCKED and is_open and OPEN_IS_FREE in (*claims.unsupported, *claims.promised):
            said = f"{op}: code={outcome.code}"
            self._check.record(OPEN_IS_FREE, False, "code=OK", said, declared=True, of=Answer.of(outcome))
            raise BeyondLimitsError(f"{op} answers {outcome.code} for what is open")

    def _is_listed_empty(self) -> bool:
        """Whether a listing of the directory that the last call did not delete has no entry."""
        around = self._surroundings
        path = around.trace[-1][1][-1]
        relative = around.named.get(os.fsdecode(path)) if isinstance(path, bytes) else None
        if relative is None:
            return False
        with self:
            listed = around.fs.get_children(self.uri(relative))
        return listed.ok and not listed.value.names

    def opened(self, outcome: Outcome[T | None]) -> T:
        """What an op of the new_* family opened, as a set-up step."""
        value = self.require(outcome)
        if value is None:
            raise BlockedError(outcome.op, "it answered OK and opened nothing")
        return value

    def _answered_wrongly(self, broken: str, expected: str, got: str) -> NoReturn:
        """Record that an answer of OK breaks a clause, which no case of the chosen tier may be about. End the case."""
        self._check.record(broken, False, expected, got, declared=True)
        raise BlockedError(clause(broken).op, got)

    def uri(self, *names: str) -> str:
        """A path in the case's own directory, which is made at the first use."""
        around = self._surroundings
        if not around.directory_made:
            # A case whose op is absent ends here, and makes no directory.
            filesystem = around.fs
            with self:
                around.bench.make_root()
                is_seeded = around.bench.seeds(filesystem, "create_dir")
                around.directory_made = True
                if around.bench.makes_directories:
                    made = around.bench.make(filesystem, around.directory)
                    if not is_seeded:
                        self.require(made)
                        self.prepared.append(Prepared("", None))
        return around.uri(*names)

    def write(self, name: str, content: bytes) -> str:
        """Set up a file with this content, through the backing where the plugin writes none; its URI."""
        uri, around = self.uri(name), self._surroundings
        around.within_size(len(content))
        if not around.writes_files:
            around.backing.write(around.backing_name(name), content)
            return uri
        with self, self.opened(around.fs.new_writable_file(uri)) as file:
            if content:
                self.require(file.append(content))
            self.require(file.close())
        before = next((one.content for one in reversed(self.prepared) if one.name == name), None)
        self.prepared.append(Prepared(name, content, before or b""))
        return uri

    def write_sparse(self, name: str, pieces: Mapping[int, bytes]) -> str:
        """Set up a file that holds `pieces` at these offsets, through the backing; its URI."""
        uri, around = self.uri(name), self._surroundings
        around.within_size(max(offset + len(piece) for offset, piece in pieces.items()))
        around.backing.write_sparse(around.backing_name(name), pieces)
        return uri

    def mkdir(self, name: str) -> str:
        """Set up a directory, through the backing where the plugin makes none; its URI."""
        uri, around = self.uri(name), self._surroundings
        if not around.bench.makes_directories:
            raise BlockedError("create_dir", "there are only files", absent=True)
        if around.bench.seeds(around.fs, "create_dir"):
            around.backing.make_directory(around.backing_name(name))
            return uri
        with self:
            self.require(around.fs.create_dir(uri))
        self.prepared.append(Prepared(name, None))
        return uri

    def build(self, tree: Mapping[str, bytes | None]) -> None:
        """Set up these files and directories, one after the other."""
        for name, content in tree.items():
            if content is None:
                self.mkdir(name)
            else:
                self.write(name, content)

    def mkdir_where_known(self, name: str) -> str:
        """Set up a directory, unless there are only files: where it is, nobody is asked; its URI."""
        return self.mkdir(name) if self._surroundings.bench.makes_directories else self.uri(name)

    def token(self) -> int:
        """The token of a transaction that is started. For cases that are marked `over_tables`."""
        with self:
            token = self.require(self._surroundings.tables.start_transaction()).token
            if token == 0:
                self._answered_wrongly("start_transaction.gives-a-token", "a token", "it answered OK and gave no token")
            return token

    def content(self, uri: str, most: int = 1 << 20) -> bytes:
        """What is in a file; at most `most` bytes."""
        with self, self.opened(self._surroundings.fs.new_random_access_file(uri)) as file:
            got = file.read(0, most)
            if got.code not in (Code.OK, Code.OUT_OF_RANGE):
                self.require(got)
            return got.value.data

    def tree(self) -> Tree:
        """All there is in the case's directory."""
        found: Tree = {}
        with self:
            fs = self._surroundings.fs
            waiting = [""]
            for directory in waiting:
                if len(found) > MOST_ENTRIES:
                    why = f"it lists more than {MOST_ENTRIES} entries, and no end"
                    self._answered_wrongly("get_children.names-every-entry-once", "the entries that were made", why)
                got = fs.get_children(self.uri(directory) if directory else self.uri())
                if got.code is Code.NOT_FOUND and not self._surroundings.bench.makes_directories:
                    # Where there are no directories there is none without anything in it.
                    continue
                for name in self.require(got).bare:
                    if name in ("", ".", "..") or "/" in name:
                        why = f"the entry {name!r}: an entry is the name of one child"
                        self._answered_wrongly("get_children.names-only", "names", why)
                    path = f"{directory}/{name}" if directory else name
                    if self.require(fs.stat(self.uri(path))).is_directory:
                        found[path] = None
                        waiting.append(path)
                    else:
                        found[path] = self.content(self.uri(path))
        return found

    def flaw_of(self, prepared: Sequence[Prepared]) -> BlockedError | None:
        """Prepare the same here, and ask witnesses; what is wrong with it, or None."""
        around = self._surroundings
        fs = around.fs
        backing = around.backing if around.bench.target.backing else None
        for one in prepared:
            if one.name:
                uri = self.mkdir(one.name) if one.content is None else self.write(one.name, one.content)
            else:
                uri = self.uri()
            found = flaw(fs, uri, one, backing, around.backing_name(one.name))
            if found is not None:
                return found
        return None
