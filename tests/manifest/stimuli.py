"""The set of stimuli that the suite gives to a plugin: what must not be lost while cases move.

A stimulus is one call as text: op, situation, name and depth of each path, sizes and counts in classes, for an op that
looks what changed there last, in which process, and whether it was looked at before; and the code that was answered.

This is a plugin of pytest, too: it writes down what a run gives, but for what is drawn.

`python -m tests.manifest.stimuli` writes what three runs on posix and on memory have in common: what threads meet
differs from run to run.
"""

import lzma
import os
import re
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from unittest import mock

import pytest

from tffs_conformance.harness.ops.outcomes import Outcome
from tffs_conformance.harness.ops.tables import FILESYSTEM, TABLES
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.suite.engine.case import Case

#: One text a line, sorted.
COMMITTED = Path(__file__).with_name("stimuli.txt.xz")
PLUGINS = ("posix", "memory")
#: Hypothesis draws what these try.
RANDOM = "properties/"
MAKES_FILE = {"new_writable_file", "new_appendable_file"}
MAKES_DIRECTORY = {"create_dir", "recursively_create_dir"}
DELETES = {"delete_file", "delete_dir", "delete_recursively"}
MOVES = {"rename_file", "copy_file"}
CHANGES = MAKES_FILE | MAKES_DIRECTORY | DELETES | MOVES
WITHOUT_PATH = {
    "init", "cleanup", "flush_caches", "start_transaction", "end_transaction", "decode_transaction_token",
    *(op for op in TABLES[FILESYSTEM] if op.endswith(("configuration", "_option", "_keys"))),
}  # fmt: skip
#: The first that fits names the class of a name.
NAME_CLASSES = (
    ("root", r"/?"),
    ("slashes", r".*//.*|.*/"),
    ("dots", r"(.*/)?\.\.?(/.*)?"),
    ("glob", r".*[*?\[\]{}].*"),
    ("backslash", r".*\\.*"),
    ("percent", r".*%.*"),
    ("control", r".*[\x00-\x1f\x7f].*"),
    ("not-text", r".*[\udc80-\udcff].*"),
    ("not-ascii", r".*[^\x00-\x7f].*"),
    ("long", r".*[^/]{65,}"),
    ("space", r".*[ +&=#;,:@$!'\"()<>|~^`].*"),
    ("hidden", r"(.*/)?[.][^/]*"),
    ("capital", r".*[A-Z].*"),
)


def size_class(number: int) -> str:
    """A number of bytes or of entries by its order of magnitude; edges of pages and blocks are their own."""
    if number < 0:
        return "negative"
    if number in (0, 1, 4096, 65536, 1 << 20):
        return str(number)
    return next((f"<{edge}" for edge in (10, 100, 1000, 4096, 65536, 1 << 20, 1 << 31) if number < edge), "huge")


class Recorder:
    """Follows the calls of a case and adds each to `found`: case, call without what lies around it, and stimulus."""

    def __init__(self) -> None:
        self.found: set[tuple[str, str, str]] = set()
        self._case = ""
        self.begin("", "")

    def begin(self, case: str, root: str) -> None:
        """A case begins, below this directory; nothing is known there. A trial of a case goes on with what is known."""
        case = case if not case.startswith(RANDOM) else ""
        self._root = root
        if self._case and case.startswith(f"{self._case}/"):
            return
        self._case = case
        self._sizes: dict[str, int | None] = {}  # None: a directory
        self._files: dict[tuple[int, int], str] = {}
        self._changes: dict[str, tuple[str, int]] = {}
        self._looked: set[str] = set()
        self._ended: set[int] = set()
        self.step = 0

    def call(self, raw: RawFilesystem, op: str, arguments: Sequence[Any], outcome: Outcome[Any]) -> None:
        """Add one call of a case."""
        if not self._case:
            return
        host = id(getattr(raw.call, "__self__", raw))
        names: list[str] = []
        if op in WITHOUT_PATH:
            parts = [size_class(len(arguments)), *self._values(op, arguments)]
        elif op in TABLES[FILESYSTEM]:
            # Core hands over a pattern with its scheme.
            names = [os.fsdecode(one).rpartition("://")[2] for one in arguments if isinstance(one, bytes)]
            parts = [size_class(len(names)), *(self._path(op, name, host) for name in names[:2])]
            parts += self._values(op, arguments)
            self._follow(op, names, outcome, host)
        else:
            parts = self._file(op, arguments, outcome, host)
        asked = names if op == "translate_name" else parts[op in TABLES[FILESYSTEM] :]
        # What lies outside of a case's directory depends on the machine.
        is_outside = any("outside" in part for part in parts)
        texts = [" ".join([op, *words, str(outcome.code)]) for words in (filter(None, asked), parts)]
        call, stimulus = (re.sub(r"[\x00-\x1f\x7f]", "^", text) for text in texts)
        self.found.add((self._case, call, "" if is_outside else stimulus))

    def _values(self, op: str, arguments: Sequence[Any]) -> list[str]:
        """The type and number of an option's values, what a token is, or the shape of a pattern."""
        if op == "get_matching_paths":
            _, found, inside = os.fsdecode(arguments[1]).rpartition(f"{self._root}/")
            return [re.sub(r"[A-Za-z0-9]+", "a", inside.partition("/")[2])] if found else ["outside"]
        if op == "set_filesystem_configuration_option":
            return [f"type={arguments[4]}", f"values={arguments[5]}"]
        if op in ("end_transaction", "add_to_transaction", "decode_transaction_token"):
            token = arguments[-1]
            kind = "none" if token == 0 else "foreign" if token < 0 else "ended" if token in self._ended else "live"
            if op == "end_transaction":
                self._ended.add(token)
            return [kind]
        return []

    def _path(self, op: str, name: str, host: int) -> str:
        inside = name.removeprefix(self._root)
        kind = next((kind for kind, fits in NAME_CLASSES if re.fullmatch(fits, inside, re.DOTALL)), "plain")
        # How deep the root lies is not up to the suite.
        is_below = name.startswith(f"{self._root}/")
        depth = str(min(inside.strip("/").count("/"), 4)) if is_below else "outside"
        parts = [self._situation(_plain(name)), kind if is_below else "any", depth]
        if op not in CHANGES:
            changed, by = self._changes.get(_plain(name), ("nothing", host))
            parts += [changed, "same" if by == host else "other", "again" if _plain(name) in self._looked else "first"]
            self._looked.add(_plain(name))
        return ":".join(parts)

    def _situation(self, name: str) -> str:
        if name in self._sizes:
            size = self._sizes[name]
            children = sum(_parent(one) == name for one in self._sizes) if size is None else 0
            return f"directory={size_class(children)}" if size is None else f"file={size_class(size)}"
        above = _parent(name)
        if above in self._sizes:
            return "missing" if self._sizes[above] is None else "below-file"
        return "no-parent"

    def _file(self, op: str, arguments: Sequence[Any], outcome: Outcome[Any], host: int) -> list[str]:
        handle = arguments[0]
        name = self._files.get((host, handle), "")
        size = self._sizes.get(name) or 0
        if op == "append":
            added = len(arguments[1])
            self._sizes[name] = size + added
            self._change("append", name, host)
            return [size_class(size), size_class(added)]
        if op in ("read", "data"):
            offset, n = arguments[1:3]
            place = "begin" if offset == 0 else "inside" if offset < size else "end" if offset == size else "past"
            reach = "none" if n == 0 else "short" if offset + n < size else "all" if offset + n == size else "more"
            changed, by = self._changes.get(name, ("nothing", host))
            return [size_class(size), place, reach, size_class(n), changed, "same" if by == host else "other"]
        return [size_class(size)]

    def _follow(self, op: str, names: Sequence[str], outcome: Outcome[Any], host: int) -> None:
        if not outcome.ok or not names:
            return
        first, last = _plain(names[0]), _plain(names[-1])
        if op.startswith("new_"):
            for handle in (outcome.value, -self.step - 1):
                self._files[host, handle] = first
        if op in MAKES_FILE:
            kept = self._sizes.get(first) or 0
            self._sizes[first] = kept if op == "new_appendable_file" else 0
        elif op in MAKES_DIRECTORY:
            self._sizes[first] = None
        elif op in DELETES:
            for name in self._below(first):
                del self._sizes[name]
        elif op in MOVES:
            for name in self._below(first):
                size = self._sizes[name] if op == "copy_file" else self._sizes.pop(name)
                self._sizes[last + name[len(first) :]] = size
        elif op == "stat":
            self._sizes[first] = None if outcome.value.is_directory else outcome.value.length
        if op in CHANGES:
            for name in (first, last):
                self._change(op, name, host)

    def _below(self, name: str) -> list[str]:
        return [one for one in self._sizes if one == name or one.startswith(f"{name}/")]

    def _change(self, op: str, name: str, host: int) -> None:
        self._changes[name] = self._changes[_parent(name)] = op, host


def _plain(name: str) -> str:
    return str(PurePosixPath(name)) if name else name


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Within it, the recorder gets each call that any host answers."""
    answered, timed, made = RawFilesystem.answered, programs._timed, Case.__init__

    def record(raw: RawFilesystem, op: str, arguments: Any, *rest: Any) -> Outcome[Any]:
        outcome: Outcome[Any] = answered(raw, op, arguments, *rest)
        recorder.call(raw, op, arguments, outcome)
        return outcome

    def one_by_one(raw: RawFilesystem, steps: Any, *rest: Any) -> Iterator[programs.Timed]:
        for number, step in enumerate(steps):
            recorder.step = number
            yield from timed(raw, [step], *rest)

    def begin(case: Case, bench: Any, id: str, *rest: Any, **more: Any) -> None:
        made(case, bench, id, *rest, **more)
        recorder.begin(id, os.path.dirname(bench.directory(id)).partition("://")[2])

    with (
        mock.patch.object(RawFilesystem, "answered", record),
        mock.patch.object(programs, "_timed", one_by_one),
        mock.patch.object(Case, "__init__", begin),
    ):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop() -> Generator[None, object, object]:
    """Write what the cases of this process give, where the run has its folder."""
    recorder = Recorder()
    with recording(recorder):
        result = yield
    lines = "\n".join(map("\t".join, recorder.found))
    Path(f"stimuli-{os.getpid()}.txt").write_text(lines, encoding="ascii", errors="backslashreplace")
    return result


def recorded_in(folder: Path) -> Iterator[list[str]]:
    """What the runs that had this folder recorded: case, call and stimulus."""
    parts = (path.read_text(encoding="ascii").splitlines() for path in folder.glob("stimuli-*.txt"))
    return (line.split("\t") for part in parts for line in part)


def given(folder: Path, plugin: str) -> set[str]:
    """The stimuli of the runs on a plugin that had this folder."""
    return {f"{plugin} {stimulus}" for _, _, stimulus in recorded_in(folder) if stimulus}


def committed() -> set[str]:
    """Those that were there when this was last written."""
    return set(lzma.decompress(COMMITTED.read_bytes()).decode("ascii").splitlines())


def main() -> None:
    """Write what is given each time."""
    # Where this is a plugin, the project's tests are not there.
    from tests.test_suite import recorded  # noqa: PLC0415

    always = set()
    for plugin in PLUGINS:
        runs = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                recorded(Path(folder), plugin)
                runs.append(given(Path(folder), plugin))
        always |= set.intersection(*runs)
    COMMITTED.write_bytes(lzma.compress("\n".join(sorted(always)).encode("ascii")))
    print(f"{len(always)} stimuli, {COMMITTED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
