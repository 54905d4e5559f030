"""Memory regions: the bytes of a file and their number."""

import pytest

from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.files import MemoryRegion
from tffs_conformance.suite.case import Case
from tffs_conformance.suite.marks import clauses, smoke

BYTES = bytes(range(256))
SIZES = (1, 4095, 4096, 4097, 65536, 1 << 20)


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


@pytest.mark.parametrize("size", [pytest.param(n, id=str(n)) for n in SIZES])
@clauses("data.holds-the-file", "length.is-the-file-size")
def test_content(case: Case, size: int) -> None:
    """A file of this size is mapped."""
    content = (BYTES * (size // 256 + 1))[:size]
    with region(case, content) as mapped:
        length = mapped.length().value
        case.equal("length.is-the-file-size", "length", size, length)
        case.equal("data.holds-the-file", "data", content, mapped.data(0, min(length, size)).value[1])
