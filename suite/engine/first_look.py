"""The first look at a target: each op once where nothing is special about it, in hosts of their own.

What goes wrong here goes wrong everywhere, and one case that is about the op says so. All others can then tell a set-up
that fails for that reason from one that is news.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from ...harness.hosting.loader import BlockedError
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import Filesystem
from ...harness.ops.guard import Guard
from ...harness.ops.outcomes import Outcome, Source
from ...harness.ops.tables import DEFAULT_NEEDS, asks_for_the_kind
from ...harness.over_tables.filesystem import HostFilesystem
from ...harness.targets.backing import BackingUnableError
from ..contract.claims import READ_ONLY
from . import witnesses
from .plugin_facts import UNSEEN, PluginFacts
from .target import Target
from .workbench import HostedFilesystem, Workbench

CONTENT = b"plain"
#: With what an op refuses to change what is only read.
REFUSING = (Code.UNIMPLEMENTED, Code.PERMISSION_DENIED, Code.FAILED_PRECONDITION)
#: The ops that change something, and where each is called: of these `file` is there, and so is the directory `below`.
CHANGES: Mapping[str, tuple[str, ...]] = {
    "new_writable_file": ("written",),
    "new_appendable_file": ("file",),
    "copy_file": ("file", "copy"),
    "rename_file": ("file", "renamed"),
    "delete_file": ("file",),
    "delete_dir": ("below",),
    "create_dir": ("new",),
    "recursively_create_dir": ("one/two",),
    "delete_recursively": ("below",),
}


def first_look(target: Target, seen: PluginFacts = UNSEEN) -> PluginFacts:
    """What there is to know of a target. Where something hangs, one more is taken with memory that is not filled."""
    first, hung = _looked(target, seen)
    if not hung:
        return first
    second, hangs = _looked(target, replace(seen, filling=False))
    # The second look finds what the first has made.
    return first if hangs else replace(second, made_above=first.made_above)


def _looked(target: Target, start: PluginFacts) -> tuple[PluginFacts, bool]:
    """What one look finds out, and whether anything hung. An op that hangs is not called again."""
    bench = Workbench(target, start, max_hangs=1)
    try:
        bench.learn(unusable=_unusable(bench))
        if not bench.facts.unusable:
            _look(bench)
        return bench.facts, bench.loader.hung
    finally:
        bench.close()


def _look(bench: Workbench) -> None:
    look = Look(bench)
    try:
        look.make_root()
        for walk in WALKS:
            look.take(walk)
        bench.learn(wrong_backing=witnesses.wrong_backing(bench))
    except BlockedError as blocked:
        look.note(blocked)
    except BackingUnableError:
        pass
    look.report()


def refusals(bench: Workbench) -> dict[str, Code]:
    """The code of each op that refuses to change something: one that is NULL does, one that changes something not."""
    directory = bench.directory("refused")
    inside = paths.basename(directory)
    backing = bench.backing if bench.target.backing is not None else None
    found: dict[str, Code] = {}

    def ask(fs: HostedFilesystem) -> None:
        for op, names in CHANGES.items():
            before = backing.tree(inside) if backing else {}
            uris = [paths.join(directory, name) for name in names]
            code = getattr(fs, op)(*uris).code if op in fs.present else Code.UNIMPLEMENTED
            if code in REFUSING and (not backing or backing.tree(inside) == before):
                found[op] = code

    if backing:
        backing.write(f"{inside}/file", CONTENT)
        backing.make_directory(f"{inside}/below")
    with suppress(BlockedError):
        bench.alone(Guard(directory), ask)
    if backing:
        backing.delete_tree(inside)
    return found


def _unusable(bench: Workbench) -> str | None:
    """Why the plugin does not load or register, in the words of the cases that are blocked by it.

    It is tried twice: a plugin that comes up now and then is judged by all cases.
    """
    reasons: list[str] = []
    for _ in range(2):
        try:
            bench.alone(Guard(bench.directory("plain")), lambda _: None)
        except BlockedError as blocked:
            if blocked.op == "host":
                return None
            reasons.append(str(blocked))
        else:
            return None
    return reasons[0]


class Look:
    """What was seen so far on walks through the filesystem of `bench`."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._fails: dict[str, str] = {}
        self._unimplemented: dict[str, Code] = {}
        self._works: set[str] = set()
        self._ok_for_files = False
        #: The ops of which others have seen that they do what they say.
        self._proven: set[str] = set()

    def make_root(self) -> None:
        """Make the root, through the backing where what the plugin has for it only refuses.

        Raises BlockedError.
        """
        try:
            self._bench.make_root()
        except BlockedError as blocked:
            absent = {blocked.op: Code.UNIMPLEMENTED} if blocked.absent else {}
            found = {} if blocked.death else refusals(self._bench)
            # What has lost the right to write refuses, too: only a claim says that it is meant.
            is_claimed = self._bench.target.claims.get(READ_ONLY) is True
            if not is_claimed and found != dict.fromkeys(CHANGES, Code.UNIMPLEMENTED):
                found = {}
            refusing = absent | found
            if refusing.keys() <= self._unimplemented.keys():
                raise
            self._unimplemented |= refusing
            self.report()
            self.make_root()
        else:
            if self._bench.target.claims.get(READ_ONLY) and not self._unimplemented:
                self._unimplemented |= refusals(self._bench)
                self.report()

    def report(self) -> None:
        """Add what was seen so far to the facts of the workbench."""
        self._bench.learn(
            fails_plainly=dict(self._fails),
            unimplemented=dict(self._unimplemented),
            works=frozenset(self._works - self._fails.keys() - self._unimplemented.keys()),
            is_directory_ok_for_files=self._ok_for_files,
        )

    def take(self, walk: "Walk") -> None:
        """Go one way, in a directory and a host of its own. Where it ends early, what was seen until then is known."""
        bench = self._bench
        directory = bench.directory(walk.__name__)

        def go(filesystem: HostedFilesystem) -> None:
            if not self.went_well(bench.make(filesystem, directory)):
                return
            if not bench.makes_directories or self._proves("create_dir", filesystem, directory):
                at = self.file(filesystem, directory) if walk in ON_A_FILE else directory
                if at is not None:
                    walk(self, filesystem, at)

        try:
            bench.alone(Guard(directory), go)
        except BlockedError as blocked:
            self.note(blocked)
        except BackingUnableError:
            pass
        bench.remove(directory)
        # What follows may need to know it: defaults of core depend on the kind that is_directory tells.
        self.report()

    def note(self, blocked: BlockedError) -> None:
        """Note the op behind which nothing more can be looked at."""
        if not blocked.absent:
            self._fails.setdefault(blocked.op, blocked.why)

    def went_well(self, outcome: Outcome[object], *codes: Code, holds: bool = True, got: object = "") -> bool:
        """Whether an op gave one of these codes, OK where none is named, and what it gave `holds`; if not, note it."""
        if outcome.source is Source.ABSENT:
            return False
        op = outcome.passed_on or outcome.op
        if outcome.code is Code.UNIMPLEMENTED:
            if outcome.source is Source.PLUGIN:
                self._unimplemented[op] = outcome.code
            return False
        if outcome.code not in (codes or (Code.OK,)):
            self._fails.setdefault(op, f"{outcome.code} {outcome.message}".strip())
            return False
        if not holds:
            self._fails.setdefault(op, f"it gave {got!r:.100}")
        elif outcome.ok and outcome.source is Source.PLUGIN:
            self._works.add(op)
        return holds

    def saw(self, outcome: Outcome[object]) -> None:
        """Note an op that works. What else its answer says is for the cases."""
        if outcome.ok and outcome.source is Source.PLUGIN:
            self._works.add(outcome.op)

    def file(self, filesystem: Filesystem, directory: str) -> str | None:
        """A file of CONTENT, through the backing where the plugin writes none; None where that went wrong."""
        uri = paths.join(directory, "file")
        if self._bench.seeds(filesystem, "new_writable_file"):
            self._bench.backing.write(f"{paths.basename(directory)}/file", CONTENT)
            return uri
        written = filesystem.new_writable_file(uri)
        if not self.went_well(written) or written.value is None:
            return None
        with written.value as file:
            good = self.went_well(file.append(CONTENT)) & self.went_well(file.flush())
            good &= self.went_well(file.close())
        return uri if good and self._proves("new_writable_file", filesystem, uri) else None

    def _proves(self, op: str, filesystem: Filesystem, uri: str) -> bool:
        """Whether what `op` made is there; looked at once."""
        if op not in self._proven:
            if witnesses.nobody_finds(filesystem, uri, is_file=op != "create_dir"):
                self._fails.setdefault(op, "all steps answered OK, and no op finds anything afterwards")
                return False
            self._proven.add(op)
        return True

    def kind_of_a_file(self, filesystem: HostedFilesystem, uri: str) -> None:
        """Ask for the kind of a file, but only where a default of core depends on the answer."""
        present = filesystem.present
        if "is_directory" in present and any(asks_for_the_kind(op, present) for op in DEFAULT_NEEDS):
            self._ok_for_files = filesystem.is_directory(uri).ok


#: One way through files and directories, in a directory of its own, or on a file in one.
Walk = Callable[[Look, HostedFilesystem, str], None]


def _questions(look: Look, fs: HostedFilesystem, uri: str) -> None:
    """What is there is asked for, and what is not."""
    look.kind_of_a_file(fs, uri)
    directory = paths.dirname(uri)
    missing = paths.join(directory, "missing")
    look.went_well(fs.path_exists(uri))
    look.went_well(fs.path_exists(missing), Code.NOT_FOUND)
    looked = fs.stat(uri)
    is_that_file = looked.value.length == len(CONTENT) and not looked.value.is_directory
    look.went_well(looked, holds=is_that_file, got=looked.value)
    looked = fs.stat(directory)
    look.went_well(looked, holds=bool(looked.value.is_directory), got=looked.value)
    size = fs.get_file_size(uri)
    look.went_well(size, holds=size.value == len(CONTENT), got=size.value)
    look.went_well(fs.is_directory(directory))
    found = fs.paths_exist([uri])
    look.went_well(found, holds=found.value.returned, got=found.value)
    names = fs.get_children(directory)
    look.went_well(names, holds=names.value.names == ("file",), got=names.value.names)
    matched = fs.get_matching_paths(paths.join(directory, "*"))
    look.went_well(matched, holds=len(matched.value.names) == 1, got=matched.value.names)


def _reading(look: Look, fs: HostedFilesystem, uri: str) -> None:
    """A file is read, and mapped."""
    opened = fs.new_random_access_file(uri)
    if look.went_well(opened) and opened.value is not None:
        with opened.value as file:
            got = file.read(0, len(CONTENT))
            look.went_well(got, holds=got.value.data == CONTENT, got=got.value)
    mapped = fs.new_read_only_memory_region_from_file(uri)
    if look.went_well(mapped) and mapped.value is not None:
        with mapped.value as region:
            length = region.length()
            look.went_well(length, holds=length.value == len(CONTENT), got=length.value)
            look.went_well(region.data(0, len(CONTENT)))


def _appending(look: Look, fs: HostedFilesystem, uri: str) -> None:
    """A file gets more."""
    opened = fs.new_appendable_file(uri)
    if look.went_well(opened) and opened.value is not None:
        with opened.value as file:
            look.went_well(file.append(CONTENT))
            look.went_well(file.tell())
            look.went_well(file.sync())
            look.went_well(file.close())


def _moving(look: Look, fs: HostedFilesystem, uri: str) -> None:
    """A file is copied, and renamed."""
    for op, name in ((fs.copy_file, "copy"), (fs.rename_file, "renamed")):
        look.went_well(op(uri, paths.join(paths.dirname(uri), name)))


def _directories(look: Look, fs: HostedFilesystem, directory: str) -> None:
    """Directories come and go."""
    below = paths.join(directory, "below")
    if look.went_well(fs.create_dir(below)):
        look.went_well(fs.delete_dir(below))
    look.went_well(fs.recursively_create_dir(paths.join(directory, "one", "two")))
    look.went_well(fs.delete_recursively(paths.join(directory, "one")))


def _deleting(look: Look, fs: HostedFilesystem, uri: str) -> None:
    """A file is deleted."""
    look.went_well(fs.delete_file(uri))


def _caches(look: Look, fs: HostedFilesystem, directory: str) -> None:
    """Caches are dropped."""
    del directory
    look.went_well(fs.flush_caches())


def _transactions(look: Look, fs: HostedFilesystem, directory: str) -> None:
    """A transaction is started, gets a path, and ends. Nobody reaches them through TensorFlow."""
    if not isinstance(fs, HostFilesystem):
        return
    started = fs.raw.start_transaction()
    look.saw(started)
    # The host knows no token where the plugin gives none.
    if started.ok and started.value.token:
        look.saw(fs.raw.add_to_transaction(fs.translate(directory), started.value.token))
        look.saw(fs.raw.end_transaction(started.value.token))


#: The questions come first: what they find out decides how defaults of core are performed on the others.
WALKS: tuple[Walk, ...] = (_questions, _reading, _appending, _moving, _directories, _deleting, _caches,
                           _transactions)  # fmt: skip
ON_A_FILE = (_questions, _reading, _appending, _moving, _deleting)
