"""Memory regions: the bytes of a file and their number."""

from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.files import MemoryRegion
from tffs_conformance.suite.case import Case
from tffs_conformance.suite.marks import clauses, smoke


def region(case: Case, content: bytes) -> MemoryRegion:
    """A file with this content, mapped."""
    uri = case.write("file", content)
    with case.setup():
        return case.opened(case.fs.new_read_only_memory_region_from_file(uri))


@smoke
@clauses("data.succeeds", "length.succeeds", "read_only_memory_region.cleanup.succeeds", "data.is-constant")
def test_plain(case: Case) -> None:
    """A file is mapped, looked at twice, and unmapped."""
    mapped = region(case, b"plain")
    case.status("length.succeeds", mapped.length(), Code.OK)
    first, second = mapped.data(0, 0), mapped.data(0, 0)
    case.check(
        "data.succeeds", first.value[0] != 0, "address is set", "address is " + ("set" if first.value[0] else "NULL")
    )
    same = first.value[0] == second.value[0]
    case.check("data.is-constant", same, "one address", "one address" if same else "two addresses")
    case.status("read_only_memory_region.cleanup.succeeds", mapped.cleanup(), Code.OK)
