"""What a shared object states about itself, read before it is loaded.

The bytes may be damaged, and they are read in pytest's own process: every count is bounded by the size of the section
or table that it counts, and every offset by the end of the file.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

_MAGIC = b"\x7fELF"
_64_BIT, _LITTLE_ENDIAN = 2, 1
#: Magic, class, byte order; where program and section headers begin; size and number of each.
_FILE_HEADER = struct.Struct("<4sBB10x16xQQ6xHHHH2x")
#: Type, flags.
_SEGMENT = struct.Struct("<II48x")
#: Type, flags, offset, size, link, info.
_SECTION = struct.Struct("<4xIQ8xQQII16x")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<qQ")
_VERSION = struct.Struct("<H")
#: Number of auxiliaries, where the first is, where the next need is.
_VERSION_NEED = struct.Struct("<2xH4xII")
#: Number of the version, its name, where the next auxiliary is.
_VERSION_AUXILIARY = struct.Struct("<6xHII")
_STRING_TABLE, _DYNAMIC_SECTION, _NO_BITS, _DYNAMIC_SYMBOLS = 3, 6, 8, 11
_VERSION_NEEDS, _SYMBOL_VERSIONS = 0x6FFFFFFE, 0x6FFFFFFF
_COMPRESSED_FLAG = 0x800
_STACK_SEGMENT = 0x6474E551
_EXECUTABLE_FLAG = 0x1
_NULL_TAG, _NEEDED_TAG, _RPATH_TAG, _TEXTREL_TAG, _RUNPATH_TAG, _FLAGS_TAG = 0, 1, 15, 22, 29, 30
_TEXTREL_FLAG = 0x4
_STATIC_TLS_FLAG = 0x10
_LOCAL, _GLOBAL, _WEAK = 0, 1, 2
_DEFAULT, _PROTECTED = 0, 3
_GLIBC = re.compile(r"GLIBC_([0-9]{1,9}(?:\.[0-9]{1,9})*)")
#: How the versions of symbols begin that the libraries of C and C++ have.
_STANDARD = ("GLIBC_", "GLIBCXX_", "CXXABI_", "GCC_")
#: What compilers and linkers add to every shared object.
_OF_THE_LINKER = frozenset({"_init", "_fini", "_edata", "_end", "__bss_start"})
#: Names may share their ends, so that all of them together are longer than their table, but not much.
_MAX_NAME_BYTES_BY_TABLE_BYTE = 16


class NotElfError(Exception):
    """The file is no shared object that can be read; the text says why."""


@dataclass(frozen=True, slots=True)
class SharedObject:
    """What the dynamic loader reads: the symbols that it has to find, and how it has to load the file.

    `weak` symbols may be missing. `standard` are those that the libraries of C and C++ have, as
    their versions say. `libraries` are those that it names, in their order; `run_path` has the directories in which
    they are looked for first. `glibc` is the newest version of the C library whose symbols it needs, empty for none.
    """

    libraries: tuple[str, ...]
    needed: frozenset[str]
    standard: frozenset[str]
    weak: frozenset[str]
    exported: frozenset[str]
    executable_stack: bool
    text_relocations: bool
    static_tls: bool
    run_path: tuple[str, ...]
    glibc: str


def require_magic(content: bytes) -> None:
    """Raise NotElfError where a file is something else altogether, and no damaged shared object."""
    if not content.startswith(_MAGIC):
        raise NotElfError("it does not begin as an ELF file does")


def read(content: bytes) -> SharedObject:
    """Read a shared object. Raises NotElfError."""
    require_magic(content)
    try:
        return _read(_File(content))
    except struct.error as error:
        raise NotElfError(f"a table of it has no whole number of entries: {error}") from error


class _Section(NamedTuple):
    """The header of a section. `info` is a number of entries in sections that count them there."""

    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


class _File:
    """The tables of a file, and the bytes of its sections."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        if len(content) < _FILE_HEADER.size:
            raise NotElfError("it ends within its header")
        _, bits, order, segments, sections, *numbers = _FILE_HEADER.unpack_from(content)
        if (bits, order) != (_64_BIT, _LITTLE_ENDIAN):
            raise NotElfError("it is for another kind of machine")
        segment_size, segment_count, section_size, section_count = numbers
        self.segments = [*self._headers(_SEGMENT, segments, segment_size, segment_count)]
        self.sections = [_Section(*one) for one in self._headers(_SECTION, sections, section_size, section_count)]

    def _headers(self, header: struct.Struct, offset: int, size: int, count: int) -> Iterator[tuple[int, ...]]:
        if count and size != header.size:
            raise NotElfError(f"its headers have {size} bytes, not {header.size}")
        return header.iter_unpack(self._bytes(offset, count * header.size))

    def first(self, kind: int) -> _Section | None:
        """The first section of a type."""
        return next((one for one in self.sections if one.type == kind), None)

    def content_of(self, section: _Section) -> bytes:
        """The bytes of a section."""
        if section.type == _NO_BITS or section.flags & _COMPRESSED_FLAG:
            raise NotElfError("the content of a section is not in the file as it is")
        return self._bytes(section.offset, section.size)

    def strings_of(self, section: _Section) -> "_Strings":
        """The names of which a section has the places."""
        table = self.sections[section.link] if section.link < len(self.sections) else None
        if table is None or table.type != _STRING_TABLE:
            raise NotElfError("a section has no table of names")
        return _Strings(self.content_of(table))

    def _bytes(self, offset: int, size: int) -> bytes:
        if offset + size > len(self._content):
            raise NotElfError(f"it ends before the {size} bytes at {offset}")
        return self._content[offset : offset + size]


class _Strings:
    """A table of names."""

    def __init__(self, table: bytes) -> None:
        self._table = table
        self._bytes_left = len(table) * _MAX_NAME_BYTES_BY_TABLE_BYTE

    def at(self, start: int) -> str:
        """The name that begins there."""
        end = self._table.find(b"\0", start)
        self._bytes_left -= end - start
        if end < 0 or self._bytes_left < 0:
            raise NotElfError("a name does not end in the table of names, or they overlap")
        return self._table[start:end].decode("utf-8", "backslashreplace")


def _read(file: _File) -> SharedObject:
    dynamic, symbols = file.first(_DYNAMIC_SECTION), file.first(_DYNAMIC_SYMBOLS)
    if dynamic is None or symbols is None:
        raise NotElfError("it has no table of dynamic symbols")
    tags = [*_tags(file, dynamic)]
    names = file.strings_of(dynamic)
    flags = next((value for tag, value in tags if tag == _FLAGS_TAG), 0)
    stack = next((flags for kind, flags in file.segments if kind == _STACK_SEGMENT), None)
    paths = [names.at(value) for tag, value in tags if tag in (_RPATH_TAG, _RUNPATH_TAG)]
    needs = _version_needs(file)
    versions = _standard_symbols(file, needs)
    needed, weak, exported, standard = (set[str]() for _ in range(4))
    for k, (name, binding, visibility, undefined) in enumerate(_symbols(file, symbols)):
        if undefined:
            {_GLOBAL: needed, _WEAK: weak}.get(binding, set()).add(name)
            if k in versions:
                standard.add(name)
        elif binding != _LOCAL and visibility in (_DEFAULT, _PROTECTED):
            exported.add(name)
    return SharedObject(
        libraries=tuple(names.at(value) for tag, value in tags if tag == _NEEDED_TAG),
        needed=frozenset(needed) - {""},
        standard=frozenset(standard),
        weak=frozenset(weak) - {""},
        exported=frozenset(exported) - _OF_THE_LINKER,
        # Without the entry the loader takes the older way, an executable stack.
        executable_stack=stack is None or bool(stack & _EXECUTABLE_FLAG),
        text_relocations=any(tag == _TEXTREL_TAG for tag, _ in tags) or bool(flags & _TEXTREL_FLAG),
        static_tls=bool(flags & _STATIC_TLS_FLAG),
        run_path=tuple(path for text in paths for path in text.split(":") if path),
        glibc=_newest_glibc(needs),
    )


def _tags(file: _File, section: _Section) -> Iterator[tuple[int, int]]:
    """The entries of the dynamic section, each a tag and its value."""
    for tag, value in _DYNAMIC.iter_unpack(file.content_of(section)):
        if tag == _NULL_TAG:
            return
        yield tag, value


def _symbols(file: _File, section: _Section) -> Iterator[tuple[str, int, int, bool]]:
    """Name, binding and visibility of each symbol, and whether it is undefined."""
    names = file.strings_of(section)
    for start, info, other, index, _, _ in _SYMBOL.iter_unpack(file.content_of(section)):
        yield names.at(start), info >> 4, other & 3, index == 0


def _standard_symbols(file: _File, needs: Mapping[int, str]) -> set[int]:
    """The numbers of the symbols that have a version of the libraries of C and C++."""
    section = file.first(_SYMBOL_VERSIONS)
    if section is None:
        return set()
    known = {number for number, name in needs.items() if name.startswith(_STANDARD)}
    return {k for k, (number,) in enumerate(_VERSION.iter_unpack(file.content_of(section))) if number in known}


def _version_needs(file: _File) -> Mapping[int, str]:
    """The versions of symbols that it needs of its libraries, by their numbers."""
    section = file.first(_VERSION_NEEDS)
    if section is None:
        return {}
    content, names = file.content_of(section), file.strings_of(section)
    entries_left = len(content) // _VERSION_NEED.size
    found = {}
    offset = 0
    for _ in range(section.info):
        count, first, step = _VERSION_NEED.unpack_from(content, offset)
        # An entry and its auxiliaries are of one size.
        entries_left -= 1 + count
        if entries_left < 0:
            raise NotElfError("it needs more versions of symbols than their section has")
        place = offset + first
        for _ in range(count):
            number, name, next_step = _VERSION_AUXILIARY.unpack_from(content, place)
            found[number] = names.at(name)
            place += next_step
        offset += step
    return found


def _newest_glibc(needs: Mapping[int, str]) -> str:
    versions = [found[1] for name in needs.values() if (found := _GLIBC.fullmatch(name))]
    return max(versions, key=lambda version: [int(part) for part in version.split(".")], default="")
