"""Memory regions: the bytes of a file and their number."""

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import MemoryRegion
from ..engine.case import Case
from ..engine.marks import clauses, smoke


def region(case: Case, content: bytes) -> MemoryRegion:
    """Set up a file with this content and make a memory region of it."""
    uri = case.setup.write("file", content)
    with case.setup:
        return case.setup.opened(case.fs.new_read_only_memory_region_from_file(uri))


@smoke
@clauses("data.succeeds", "length.succeeds", "new_read_only_memory_region_from_file.succeeds",
         "read_only_memory_region.cleanup.succeeds", "data.is-constant")  # fmt: skip
def test_plain(case: Case) -> None:
    """A file is mapped, looked at twice, and unmapped."""
    mapped = region(case, b"plain")
    case.check.status("length.succeeds", mapped.length(), Code.OK)
    first, second = mapped.data(0, 0), mapped.data(0, 0)
    case.check.that(
        "data.succeeds", first.value[0] != 0, "address is set", "address is " + ("set" if first.value[0] else "NULL")
    )
    same = first.value[0] == second.value[0]
    case.check.that("data.is-constant", same, "one address", "one address" if same else "two addresses")
    case.check.status("read_only_memory_region.cleanup.succeeds", mapped.cleanup(), Code.OK)


@clauses("data.outlives-other-ops", "data.is-constant")
def test_others_come_and_go(case: Case) -> None:
    """A region is looked at again after files and regions were opened, read and ended beside it."""
    with region(case, b"the first region") as mapped:
        address = mapped.data(0, 0).value[0]
        for k in range(5):
            uri = case.setup.write(f"other{k}", b"another region %d" % k)
            with case.setup, case.setup.opened(case.fs.new_read_only_memory_region_from_file(uri)) as other:
                case.check.equal(
                    "data.outlives-other-ops", "other", b"another region %d" % k, other.data(0, 16).value[1]
                )
            case.setup.content(uri)
            case.check.equal("data.outlives-other-ops", "data", b"the first region", mapped.data(0, 16).value[1])
        same = mapped.data(0, 0).value[0] == address
        case.check.that("data.is-constant", same, "one address", "one address" if same else "two addresses")


@clauses("data.outlives-other-ops", "length.is-the-file-size")
def test_two_of_one_file(case: Case) -> None:
    """A file is mapped twice; the first region ends, the second stays."""
    first = region(case, b"mapped twice")
    with case.setup, case.setup.opened(case.fs.new_read_only_memory_region_from_file(case.uri("file"))) as second:
        first.cleanup()
        case.check.equal("length.is-the-file-size", "length", 12, second.length().value)
        case.check.equal("data.outlives-other-ops", "data", b"mapped twice", second.data(0, 12).value[1])
