"""Tours: fixed histories that bring every op into every situation of a path, and look at what came of it.

A tour is taken at a *place*: with plain names, with odd ones, far down, in a crowd. What goes wrong at a place, and not
with plain names, is the fault of the names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ...harness.hosting.loader import BlockedError
from ..contract.catalogue import catalogue, clause
from ..contract.model import Step
from ..contract.statuses import ONE_PATH
from ..engine.case import Case, NoStimulusError
from .making import Making
from .search import DivergedError, Search, explore

#: The names of a tour.
NAMES = ("a", "b", "c")
#: More than any file of a tour holds, in bytes.
WHOLE = 1 << 18
#: The ops that are asked of every path, each by itself.
ASKS = ("path_exists", "stat", "is_directory", "get_file_size", "get_children")
KEPT = "paths.names-are-kept"


@dataclass(frozen=True, slots=True)
class TourPlace:
    """Where a tour is taken: below `top`, with other names in the place of some of the tour's."""

    top: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, path: str) -> str:
        """A path of the tour, relative to the directory of the history."""
        inner = "/".join(self.names.get(name, name) for name in path.split("/")) if path else ""
        return "/".join(filter(None, (self.top, inner)))


#: What a tour is at when nothing is odd.
PLAIN = TourPlace()


class Tour:
    """The making of one tour. `thorough` looks in every way after each change, and not once in each situation."""

    def __init__(self, making: Making, place: TourPlace, escaped: Callable[[str], str], *, thorough: bool) -> None:
        self._making = making
        self._place = place
        self._escaped = escaped
        self._thorough = thorough
        self._looked: set[str] = set()
        if place.top:
            making.step("recursively_create_dir", place.top)

    def do(self, op: str, *names: str) -> None:
        """Perform an op, and look at its paths."""
        self._making.step(op, *map(self._place, names))
        self.look(*names)

    def refuse(self, op: str, *names: str) -> None:
        """Perform an op that has to fail, and look at nothing yet."""
        self._making.step(op, *map(self._place, names))

    def write(self, name: str, *pieces: bytes, op: str = "new_writable_file") -> None:
        """Write a file, and look at it."""
        self._making.write(op, self._place(name), *pieces)
        self.look(name)

    def look(self, *names: str) -> None:
        """Ask about paths in every way, and about each in few ways where its situation was looked at before."""
        making, place, known = self._making, self._place, len(self._looked)
        for name in names:
            path = place(name)
            situation = making.model.situation(path)
            if situation in self._looked and not self._thorough:
                making.step("stat", path)
                continue
            self._looked.add(situation)
            for op in ASKS:
                making.step(op, path)
            self.read(name)
            making.step("get_matching_paths", self._escaped(path))
        if self._thorough or len(self._looked) > known:
            making.step("get_children", place(""))
            making.step("get_matching_paths", self._escaped(place("")) + "/*" if place("") else "*")
            making.step("paths_exist", *map(place, NAMES))

    def read(self, name: str) -> None:
        """Read a file whole, and map it."""
        making, path = self._making, self._place(name)
        file = making.step("new_random_access_file", path)
        if file is not None:
            making.step("read", file=file, n=WHOLE)
            making.step("random_access_file.cleanup", file=file)
        region = making.step("new_read_only_memory_region_from_file", path)
        if region is not None:
            making.step("length", file=region)
            making.step("data", file=region)
            making.step("read_only_memory_region.cleanup", file=region)


def around(tour: Tour) -> None:
    """The tour: a path is nothing, a file, a directory, one that holds a file, or a directory, and nothing again."""
    tour.look("a", "a/b")
    for op in ("delete_file", "delete_dir", "delete_recursively"):
        tour.refuse(op, "a")
        tour.refuse(op, "a/b")
    for op in ("create_dir", "new_writable_file", "new_appendable_file"):
        tour.refuse(op, "a/b")
    for op in ("rename_file", "copy_file"):
        tour.refuse(op, "a", "b")
    tour.write("a", b"a file\0")
    for op in ("create_dir", "recursively_create_dir", "delete_dir", "delete_recursively"):
        tour.refuse(op, "a")
    for op in ONE_PATH:
        tour.refuse(op, "a/b")
    tour.write("a", b", and more", op="new_appendable_file")
    tour.write("b")
    for op in ("copy_file", "rename_file"):
        tour.refuse(op, "a", "c/a")
        tour.refuse(op, "a", "b/a")
        tour.do(op, "a", "c")
        tour.do(op, "c", "b")
        tour.do(op, "b", "a")
    tour.write("b", b"another")
    tour.do("delete_file", "a")
    tour.do("create_dir", "a")
    for op in ("create_dir", "new_writable_file", "new_appendable_file", "delete_file"):
        tour.refuse(op, "a")
    for op in ("rename_file", "copy_file"):
        tour.refuse(op, "a", "c")
        tour.refuse(op, "b", "a")
    tour.do("recursively_create_dir", "a/b/c")
    tour.refuse("recursively_create_dir", "a/b")
    tour.refuse("delete_dir", "a")
    tour.do("delete_dir", "a/b")
    tour.do("delete_dir", "a/b/c")
    tour.do("delete_dir", "a/b")
    tour.write("a/c", b"inside")
    tour.refuse("delete_dir", "a")
    for op in ("copy_file", "rename_file"):
        tour.do(op, "b", "a/b")
        tour.do(op, "a/b", "b")
    tour.write("a/c", b"anew, and longer than before")
    tour.write("a/c", b"short")
    tour.write("a/b", b"made to be appended to", op="new_appendable_file")
    tour.do("delete_recursively", "a")
    tour.do("recursively_create_dir", "a/b")
    tour.do("delete_recursively", "a")
    tour.write("a", b"where a directory was")
    tour.do("delete_file", "a")
    tour.do("recursively_create_dir", "a")
    tour.do("delete_dir", "a")
    tour.do("create_dir", "c")


def made(case: Case, take: Callable[[Making], None]) -> Sequence[Step]:
    """The steps of a history with the ops that can be performed. Raises NoStimulusError where none is left."""
    making = Making(case.surroundings.available_ops, case.bench.claims.undecided)
    take(making)
    if not making.steps:
        raise NoStimulusError("contract and profile decide nothing of the tour")
    return tuple(making.steps)


def tour(case: Case, place: TourPlace, escaped: Callable[[str], str]) -> None:
    """Take the tour at a place. The case takes what comes of it, shrunk where something is wrong."""
    odd = place is not PLAIN

    def at(there: TourPlace) -> Sequence[Step]:
        return made(case, lambda making: around(Tour(making, there, escaped, thorough=not odd)))

    steps, plain = at(place), at(PLAIN)
    case.surroundings.end_host()

    def generate(search: Search) -> None:
        try:
            search.attempt(steps)
        except DivergedError:
            if odd:
                _not_of_the_place(case, plain)
            raise

    explore(case, generate, lambda: "a tour", instead=KEPT if odd else "")


def _not_of_the_place(case: Case, plain: Sequence[Step]) -> None:
    """End the case where the tour with plain names goes wrong, too: the case of that tour says so."""
    search = Search(case)
    with suppress(DivergedError):
        search.attempt(plain)
    if search.found is not None:
        broken, calls = search.found.broken or "", search.found.calls
        op = clause(broken).op if broken in catalogue() else ""
        raise BlockedError(op or (calls[-1][0] if calls else "host"), "the same history fails with plain names")


def contents(case: Case, kinds: Iterable[bytes]) -> None:
    """Files of these contents are written, copied, renamed, and appended to."""

    def take(making: Making) -> None:
        tour = Tour(making, PLAIN, str, thorough=False)
        for kind in kinds:
            making.write("new_writable_file", "a", kind)
            making.step("copy_file", "a", "b")
            making.step("stat", "b")
            tour.read("b")
            making.step("rename_file", "b", "c")
            making.step("stat", "c")
            # What was lost on the way here is read behind it.
            making.write("new_appendable_file", "c", kind[:1000])
            tour.read("c")

    steps = made(case, take)
    case.surroundings.end_host()
    explore(case, lambda search: search.attempt(steps), lambda: "a tour")


def crowded(case: Case, count: int) -> None:
    """A directory with so many directories and a file is looked at, changed, and deleted.

    Nothing is shrunk: with fewer it says nothing.
    """

    def take(making: Making) -> None:
        making.step("create_dir", "a")
        for number in range(count):
            making.step("create_dir", f"a/{number:04}")
        last = f"a/{count - 1:04}"

        def look() -> None:
            for op, path in ((op, path) for path in ("a", last) for op in ASKS):
                making.step(op, path)

        look()
        making.step("get_matching_paths", "a/*")
        making.write("new_writable_file", "a/file", b"beside many")
        making.step("copy_file", "a/file", last)
        making.step("rename_file", "a/file", "b")
        making.step("delete_dir", "a/0000")
        look()
        making.step("rename_file", "b", "a/0000")
        making.step("delete_dir", last)
        look()
        making.step("delete_dir", "a")
        # Two are gone: as many directories as at first are deleted.
        for name in ("more", "and-more"):
            making.step("create_dir", f"a/{name}")
        # Whether it is gone is seen in what is left: an op that is asked now would be blamed for what it finds.
        making.step("delete_recursively", "a")

    steps = made(case, take)
    case.surroundings.end_host()
    search = Search(case)
    with suppress(DivergedError):
        search.attempt(steps)
    if tried := search.found or search.best:
        case.adopt(tried.record)
