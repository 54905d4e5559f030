"""What a shared object says of itself."""

import random
import re
import struct
import time
from collections.abc import Iterator

import pytest

from tests.test_header import HEADER
from tffs_conformance.harness.shared_object.elf import NotElfError, SharedObject, read
from tffs_conformance.harness.shared_object.releases import functions_of_c
from tffs_conformance.harness.targets.shipped import plugin_path

RIGHT = plugin_path("posix").read_bytes()


def linked(name: str) -> SharedObject:
    return read(plugin_path(f"fakes/{name}").read_bytes())


def wrong(plugin: SharedObject) -> list[str]:
    """In which ways a shared object is not linked as a plugin should be."""
    found = [name for name in ("executable_stack", "text_relocations", "static_tls") if getattr(plugin, name)]
    found += ["run_path"] if plugin.run_path else []
    found += ["exported"] if plugin.exported != {"TF_InitPlugin"} else []
    return found


def test_read_of_a_right_plugin_finds_nothing_wrong() -> None:
    plugin = read(RIGHT)
    assert wrong(plugin) == []
    # It looks TensorFlow's functions up in the process. What the libraries of C and C++ have is left out.
    assert not any(name.startswith("TF_") or name in {"memcpy", "_Znwm"} for name in plugin.needed)
    assert "TF_VLog" in linked("verbose").needed
    assert "__gmon_start__" in plugin.weak
    assert re.fullmatch(r"2\.\d+(\.\d+)?", plugin.glibc)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("executable_stack", "executable_stack"),
        ("text_relocations", "text_relocations"),
        ("static_tls", "static_tls"),
        ("absolute_run_path", "run_path"),
        ("exports", "exported"),
    ],
)
def test_read_of_a_fake_finds_its_fault(name: str, what: str) -> None:
    plugin = linked(name)
    assert wrong(plugin) == [what]
    assert plugin.run_path == (("/opt/vendor/lib",) if what == "run_path" else ())


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", RIGHT[:4], RIGHT[:64], RIGHT[:2000], b"\x7fELF" + bytes(200)])
def test_what_is_no_shared_object(content: bytes) -> None:
    with pytest.raises(NotElfError):
        read(content)


def test_the_header_declares_what_a_release_exports() -> None:
    declared = set(re.findall(r"\b(TF_(?!FS_)\w+)\(", HEADER.read_text())) - {"TF_InitPlugin"}
    assert declared <= functions_of_c().keys()


# Damage ---------------------------------------------------------------------------------------------------------------

#: Seconds of processor time in which a damaged object is read or refused.
MAX_SECONDS = 1
DAMAGED_OBJECTS = 400
#: Where the file header has the place of the section headers, and their number; the size of one.
SECTIONS_OFFSET, SECTION_COUNT_OFFSET, SECTION_BYTES = 40, 60, 64
#: Where fields are in a section header.
TYPE, OFFSET, SIZE, INFO = 4, 24, 32, 44
VERSION_NEEDS, SYMBOL_VERSIONS, DYNAMIC_SYMBOLS, DYNAMIC = 0x6FFFFFFE, 0x6FFFFFFF, 11, 6


def headers_of(content: bytes | bytearray) -> Iterator[tuple[int, int, int, int]]:
    """Where each section header is, and the type, the offset and the size of its section."""
    (start,) = struct.unpack_from("<Q", content, SECTIONS_OFFSET)
    (count,) = struct.unpack_from("<H", content, SECTION_COUNT_OFFSET)
    for place in range(start, start + count * SECTION_BYTES, SECTION_BYTES):
        yield (
            place,
            *struct.unpack_from("<I", content, place + TYPE),
            *struct.unpack_from("<QQ", content, place + OFFSET),
        )


def header_of(content: bytes | bytearray, kind: int) -> tuple[int, int, int]:
    """Where the first section header of a type is, and the offset and the size of its section."""
    return next((place, offset, size) for place, found, offset, size in headers_of(content) if found == kind)


def targets_of(content: bytes | bytearray) -> list[range]:
    """Ranges of bytes that damage is aimed at: all headers, each section that is read, the whole file."""
    places = [place for place, *_ in headers_of(content)]
    read_sections = {VERSION_NEEDS, SYMBOL_VERSIONS, DYNAMIC_SYMBOLS, DYNAMIC}
    sections = [range(offset, offset + size) for _, kind, offset, size in headers_of(content) if kind in read_sections]
    return [
        range(SECTION_BYTES),
        range(SECTION_BYTES, 1000),
        range(places[0], places[-1] + SECTION_BYTES),
        *sections,
        range(len(content)),
    ]


def damaged(seed: int) -> bytes:
    """A shipped plugin that was cut, or of which 1 to 8 bytes were changed."""
    chosen = random.Random(seed)
    content = bytearray(plugin_path(chosen.choice(("posix", "memory", "objectstore_minimal"))).read_bytes())
    if chosen.random() < 0.1:
        return bytes(content[: chosen.randrange(len(content))])
    target = chosen.choice(targets_of(content))
    for _ in range(chosen.choice((1, 1, 2, 8))):
        content[chosen.choice(target)] = chosen.choice((0, 1, 0x7F, 0xFF, chosen.randrange(256)))
    return bytes(content)


def read_in_time(content: bytes) -> SharedObject | None:
    """What is read; None where it is refused. Fails where that takes too long, or another error is raised."""
    start = time.process_time()
    try:
        return read(content)
    except NotElfError:
        return None
    finally:
        assert time.process_time() - start < MAX_SECONDS


def test_damaged_objects_are_read_or_refused() -> None:
    found = [read_in_time(damaged(seed)) is None for seed in range(DAMAGED_OBJECTS)]
    assert {True, False} == set(found)


@pytest.mark.parametrize("count", [0x7F, 0x7F00, 0x7F0000, 0x7F000000, 0xFFFFFFFF])
def test_version_count_above_its_section_is_refused(count: int) -> None:
    content = bytearray(RIGHT)
    place, offset, _ = header_of(content, VERSION_NEEDS)
    struct.pack_into("<I", content, place + INFO, count)
    assert read_in_time(bytes(content)) is None
    # The entry is followed by itself, and so is its first auxiliary.
    struct.pack_into("<H4xII", content, offset + 2, 0xFFFF, 16, 0)
    struct.pack_into("<I", content, offset + 16 + 12, 0)
    assert read_in_time(bytes(content)) is None


@pytest.mark.parametrize("kind", [VERSION_NEEDS, SYMBOL_VERSIONS, DYNAMIC_SYMBOLS, DYNAMIC])
@pytest.mark.parametrize(
    ("field", "form", "value"),
    [
        (TYPE, "<I", 8),  # of another type
        (OFFSET, "<Q", 1 << 63),
        (SIZE, "<Q", 1 << 40),
        (SIZE, "<Q", (1 << 64) - 1),
    ],
)
def test_section_outside_the_file_is_not_read(kind: int, field: int, form: str, value: int) -> None:
    content = bytearray(RIGHT)
    place, _, _ = header_of(content, kind)
    struct.pack_into(form, content, place + field, value)
    found = read_in_time(bytes(content))
    # A section of another type is as good as none, and only the versions can be done without.
    assert (found is not None) == (field == TYPE and kind in (VERSION_NEEDS, SYMBOL_VERSIONS))


@pytest.mark.parametrize(("entry_bytes", "count"), [(0, 0xFFFF), (1, 0xFFFF), (SECTION_BYTES, 0xFFFF), (0, 0)])
def test_section_headers_outside_the_file_are_refused(entry_bytes: int, count: int) -> None:
    content = bytearray(RIGHT)
    struct.pack_into("<HH", content, SECTION_COUNT_OFFSET - 2, entry_bytes, count)
    # With a number of 0 the first header would have the number.
    place = struct.unpack_from("<Q", content, SECTIONS_OFFSET)[0]
    struct.pack_into("<Q", content, place + SIZE, 1 << 60)
    assert read_in_time(bytes(content)) is None


def test_names_that_overlap_are_refused() -> None:
    content = bytearray(RIGHT)
    _, symbols, size = header_of(content, DYNAMIC_SYMBOLS)
    strings = len(content)
    content += b"x" * (1 << 20) + b"\0"
    for place, kind, _, _ in [*headers_of(content)]:
        if kind == 3:
            struct.pack_into("<QQ", content, place + OFFSET, strings, (1 << 20) + 1)
    for k, entry in enumerate(range(symbols, symbols + size, 24)):
        struct.pack_into("<I", content, entry, k)
    assert read_in_time(bytes(content)) is None
