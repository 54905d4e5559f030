"""Lifetimes: open files and regions in every legal order, many at once, and while their path is deleted or replaced."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import MemoryRegion, RandomAccessFile, WritableFile
from ...harness.ops.outcomes import Outcome
from ..engine.answers import written
from ..engine.case import Case
from ..engine.marks import clauses, full, over_tables
from ..judge.blame import SURVIVED

CONTENT = b"the content of a file"
#: The number of objects of one kind that are open at once.
MANY = 100
#: Every filesystem has room for so many; one that has it for no more of them says RESOURCE_EXHAUSTED.
FEW = 32

READER = "new_random_access_file"
REGION = "new_read_only_memory_region_from_file"
WRITABLE = "new_writable_file"
APPENDABLE = "new_appendable_file"

Seen = RandomAccessFile | MemoryRegion


def look(got: Seen, length: int = len(CONTENT)) -> bytes | str:
    """The first bytes of an open file or region, or the code of the error."""
    if isinstance(got, MemoryRegion):
        return got.data(0, length).value[1]
    read = got.read(0, length)
    return read.value.data if read.code in (Code.OK, Code.OUT_OF_RANGE) else f"code={read.code}"


def opened(case: Case, op: str, uri: str) -> Seen:
    """Open a file or a region as a set-up step."""
    with case.setup:
        got: Seen = case.setup.opened(getattr(case.fs, op)(uri))
    return got


def at_once(case: Case, op: str, uris: Sequence[str]) -> list[Any]:
    """Open as many of these as the filesystem has room for, as a set-up step."""
    found: list[Any] = []
    most = case.bench.claims.limits.get("max_open_files")
    with case.setup:
        for uri in uris[:most]:
            got = getattr(case.fs, op)(uri)
            if got.code is Code.RESOURCE_EXHAUSTED and len(found) >= FEW and most is None:
                break
            found.append(case.setup.opened(got))
    return found


def independent(case: Case, wrong: list[str]) -> None:
    """Check that open objects do not depend on each other."""
    case.check.that("common.objects-are-independent", not wrong, "as if each were alone", "; ".join(wrong[:2]) or
               "as if each were alone")  # fmt: skip


@full
@pytest.mark.parametrize("closed", ["closed", "dropped"])
@pytest.mark.parametrize("op", [WRITABLE, APPENDABLE])
@clauses("common.ops-in-any-order", *SURVIVED)
def test_orders(case: Case, op: str, closed: str) -> None:
    """append, flush, sync and tell in every order of up to three, with and without a close."""
    case.needs(op)
    wrong, kept = [], True
    uri = case.uri("file")
    for length in range(4):
        for order in itertools.product(("append", "flush", "sync", "tell"), repeat=length):
            with case.setup:
                file = case.setup.opened(case.fs.new_writable_file(uri))
                if op == APPENDABLE:
                    case.setup.require(file.close())
                    file.cleanup()
                    file = case.setup.opened(case.fs.new_appendable_file(uri))
            got = [use(file, step) for step in order]
            got += [use(file, "close")] if closed == "closed" else []
            file.cleanup()
            named = f"{', '.join(order) or 'nothing'}, {closed}"
            wrong += [f"{named}: code={code}" for code in got if code is not Code.OK]
            whole = b"piece" * order.count("append")
            if closed == "closed" and kept and (content := case.setup.content(uri)) != whole:
                kept = case.check.equal(
                    "common.ops-in-any-order", f"content after {named}", whole, content, of=written(whole, content)
                )
    case.check.that("common.ops-in-any-order", not wrong, "every op is OK", wrong[0] if wrong else "every op is OK")


def use(file: WritableFile, step: str) -> Code:
    """Perform one op. Return its code, or OK where it answers UNIMPLEMENTED."""
    got: Outcome[object] = file.append(b"piece") if step == "append" else getattr(file, step)()
    return Code.OK if got.code is Code.UNIMPLEMENTED else got.code


@full
@pytest.mark.parametrize("op", [READER, REGION])
@clauses("common.objects-are-independent", *SURVIVED)
def test_many(case: Case, op: str) -> None:
    """A hundred are open at once, each is looked at while others end."""
    contents = [b"number %04d" % k for k in range(MANY)]
    uris = [case.setup.write(f"file{k}", content) for k, content in enumerate(contents)]
    case.needs(op)
    many = at_once(case, op, uris)
    wrong = []
    for round_ in range(2):
        for k in range(len(many)):
            if many[k].open and look(many[k], 11) != contents[k]:
                wrong.append(f"file {k}: {look(many[k], 11)!r}")
            if k % 2 == round_:
                many[k].cleanup()
    independent(case, wrong)


@full
@pytest.mark.parametrize("op", [WRITABLE, APPENDABLE])
@clauses("common.objects-are-independent", *SURVIVED)
def test_many_writers(case: Case, op: str) -> None:
    """A hundred files are written in turn."""
    case.needs(op)
    uris = [case.uri(f"file{k}") for k in range(MANY)]
    files: list[WritableFile] = at_once(case, op, uris)
    uris = uris[: len(files)]
    for piece in range(3):
        for k, file in enumerate(files):
            case.setup.require(file.append(b"%d of %d;" % (piece, k)))
    for file in [*files[::2], *files[1::2]]:
        case.setup.require(file.close())
        file.cleanup()
    contents = {uri: b"".join(b"%d of %d;" % (piece, k) for piece in range(3)) for k, uri in enumerate(uris)}
    wrong = [f"file {k}" for k, uri in enumerate(uris) if case.setup.content(uri) != contents[uri]]
    independent(case, wrong)


@full
@pytest.mark.parametrize("order", ["".join(order) for order in itertools.permutations("abcd")])
@clauses("common.objects-are-independent", *SURVIVED)
def test_one_path(case: Case, order: str) -> None:
    """Two readers, two regions of one path end in this order; those that are left are looked at."""
    uri = case.setup.write("file", CONTENT)
    regions = REGION in case.fs.present
    ops = (READER, READER, *([REGION] * 2 if regions else [READER] * 2))
    open_ = {name: opened(case, op, uri) for name, op in zip("abcd", ops, strict=True)}
    wrong = []
    for name in order:
        open_.pop(name).cleanup()
        wrong += [f"after {name} of {order}: {left}" for left, got in open_.items() if look(got) != CONTENT]
    independent(case, wrong)


@full
@over_tables
@clauses("cleanup.succeeds", *SURVIVED)
def test_filesystem_ends_last(case: Case) -> None:
    """One of everything is opened and ended, then the filesystem itself."""
    uri = case.setup.write("file", CONTENT)
    for op in (READER, REGION, APPENDABLE):
        if op in case.fs.present:
            with case.setup:
                case.setup.opened(getattr(case.fs, op)(uri)).cleanup()
    case.fs.get_children(case.uri())
    case.fs.stat(case.uri("missing"))
    raw = case.tables
    case.surroundings.discard_filesystem()
    case.check.status("cleanup.succeeds", raw.cleanup(), Code.OK)
    # Another case in the same host would have no filesystem.
    case.surroundings.host.close()


def deleted(case: Case, uri: str) -> None:
    """Delete the file."""
    case.setup.require(case.fs.delete_file(uri))


def renamed(case: Case, uri: str) -> None:
    """Rename the file."""
    case.setup.require(case.fs.rename_file(uri, case.uri("elsewhere")))


def replaced(case: Case, uri: str) -> None:
    """Rename another file onto the path."""
    case.setup.require(case.fs.rename_file(case.setup.write("new", NEW), uri))


def created_again(case: Case, uri: str) -> None:
    """Delete the file and create another one at its path."""
    case.setup.require(case.fs.delete_file(uri))
    case.setup.write("file", NEW)


def continued(case: Case, uri: str) -> None:
    """Append to the file."""
    with case.setup.opened(case.fs.new_appendable_file(uri)) as file:
        case.setup.require(file.append(b" and more of it"))
        case.setup.require(file.close())


#: It has the length of CONTENT.
NEW = CONTENT.upper()
#: What happens to the path, each with the op it needs.
BEFALLS: dict[str, tuple[str, Callable[[Case, str], None]]] = {
    "deleted": ("delete_file", deleted),
    "renamed": ("rename_file", renamed),
    "replaced": ("rename_file", replaced),
    "created-again": ("delete_file", created_again),
    "continued": (APPENDABLE, continued),
}


@full
@pytest.mark.parametrize("befallen", list(BEFALLS))
@pytest.mark.parametrize("op", [READER, REGION])
@clauses("common.objects-outlive-their-path", "data.is-constant", *SURVIVED)
def test_path_changes(case: Case, op: str, befallen: str) -> None:
    """A file or region is looked at before and after something befell its path."""
    needed, befall = BEFALLS[befallen]
    case.needs(op, needed)
    uri = case.setup.write("file", CONTENT)
    got = opened(case, op, uri)
    address = got.data(0, 0).value[0] if isinstance(got, MemoryRegion) else 0
    look(got)
    befall(case, uri)
    seen = look(got)
    readings = {"kept": seen == CONTENT, "follows": seen == NEW, "refused": True}
    case.check.reading("common.objects-outlive-their-path", readings, f"{befallen}: {seen!r}")
    if isinstance(got, MemoryRegion):
        same = got.data(0, 0).value[0] == address
        case.check.that("data.is-constant", same, "one address", "one address" if same else "two addresses")
    got.cleanup()
    case.fs.path_exists(uri)


@full
@pytest.mark.parametrize("befallen", ["deleted", "renamed", "replaced"])
@pytest.mark.parametrize("op", [WRITABLE, APPENDABLE])
@clauses("common.objects-outlive-their-path", *SURVIVED)
def test_path_of_a_writer_changes(case: Case, op: str, befallen: str) -> None:
    """A file is written on after something befell its path."""
    needed, befall = BEFALLS[befallen]
    case.needs(op, needed)
    uri = case.setup.write("file", CONTENT)
    with case.setup:
        file: WritableFile = case.setup.opened(getattr(case.fs, op)(uri))
        case.setup.require(file.append(b"before"))
        case.setup.require(file.flush())
    befall(case, uri)
    codes = [file.append(b" after").code, file.flush().code, file.close().code]
    file.cleanup()
    refused = any(code is not Code.OK for code in codes)
    here = b"after" in case.setup.content(uri) if case.fs.path_exists(uri).ok else False
    readings = {"refused": refused, "follows": here, "kept": True}
    said = "an error" if refused else "at the path" if here else "with the file that was opened"
    case.check.reading("common.objects-outlive-their-path", readings, f"{befallen}: {said}")
