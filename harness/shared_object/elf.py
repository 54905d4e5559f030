"""What a shared object states about itself, read before it is loaded.

The bytes may be damaged, and they are read in pytest's own process: every count is bounded by the size of the section
or table that it counts, and every offset by the end of the file.
"""

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

_MAGIC = b"\x7fELF"
_64_BIT_LITTLE_ENDIAN = b"\x02\x01"
#: Machines by their numbers, as `uname -m` calls them.
_MACHINES = {3: "i686", 21: "ppc64le", 22: "s390x", 40: "armv7l", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
#: Class and byte order; where program and section headers begin; the number of each.
_FILE_HEADER = struct.Struct("<4x2s26xQQ8xH2xH2x")
#: Type, flags.
_SEGMENT = struct.Struct("<II48x")
#: Type, offset, size, link, info.
_SECTION = struct.Struct("<4xI16xQQII16x")
#: Name, binding, visibility, index of the section.
_SYMBOL = struct.Struct("<IBBH16x")
#: Tag, value.
_DYNAMIC = struct.Struct("<qQ")
_VERSION = struct.Struct("<H")
#: Number of auxiliaries, where the first is, where the next need is.
_VERSION_NEED = struct.Struct("<2xH4xII")
#: Number of the version, its name, where the next auxiliary is.
_VERSION_AUXILIARY = struct.Struct("<6xHII")
_STRING_TABLE, _DYNAMIC_SECTION, _DYNAMIC_SYMBOLS = 3, 6, 11
_VERSION_NEEDS, _SYMBOL_VERSIONS = 0x6FFFFFFE, 0x6FFFFFFF
_STACK_SEGMENT, _EXECUTABLE_FLAG = 0x6474E551, 0x1
_NULL_TAG, _NEEDED_TAG, _RPATH_TAG, _TEXTREL_TAG, _RUNPATH_TAG, _FLAGS_TAG = 0, 1, 15, 22, 29, 30
_TEXTREL_FLAG, _STATIC_TLS_FLAG = 0x4, 0x10
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

    `needed` symbols have no version of the libraries of C and C++; `weak` symbols may be missing. `libraries` are those
    that it names, in their order; `run_path` has the directories in which they are looked for first. If it is
    `inherited`, a DT_RPATH, their libraries are looked for there, too. `glibc` is the newest version of the C library
    whose symbols it needs, empty for none.
    """

    libraries: tuple[str, ...]
    needed: frozenset[str]
    weak: frozenset[str]
    exported: frozenset[str]
    executable_stack: bool
    text_relocations: bool
    static_tls: bool
    run_path: tuple[str, ...]
    inherited: bool
    glibc: str

    def search(self, origin: Path, inherited: Sequence[Path] = ()) -> tuple[list[Path], list[Path]]:
        """The directories where the loader looks for its libraries, and those that these inherit, in their order.

        It is in the directory `origin` itself, and inherits from what names it. Source: ld.so(8).
        """
        own = [Path(one.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(origin))) for one in self.run_path]
        both = [*own, *inherited]
        return (both, both) if self.inherited or not own else (own, [*inherited])


def require_magic(content: bytes, machine: str = "") -> None:
    """Raise NotElfError where a file is something else altogether, or for another `machine`, and not where damaged."""
    if not content.startswith(_MAGIC):
        raise NotElfError("it does not begin as an ELF file does")
    built_for = _MACHINES.get(int.from_bytes(content[18:20], "big" if content[5:6] == b"\x02" else "little"))
    if machine and built_for not in (None, machine):
        raise NotElfError(f"it is built for {built_for}, and this machine is {machine}")


def read(content: bytes, machine: str = "") -> SharedObject:
    """Read a shared object. Raises NotElfError."""
    require_magic(content, machine)
    try:
        return _read(_ObjectBytes(content))
    except struct.error as error:
        raise NotElfError(f"a header or a table of it is not whole: {error}") from error


class _Section(NamedTuple):
    """The header of a section. `info` is a number of entries in sections that count them there."""

    type: int
    offset: int
    size: int
    link: int
    info: int


class _ObjectBytes:
    """The headers of a file, and the bytes of its sections; `first` has the first section of each type."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        kind, segments, sections, segment_count, section_count = _FILE_HEADER.unpack_from(content)
        if kind != _64_BIT_LITTLE_ENDIAN:
            raise NotElfError("it is for another kind of machine")
        self.segments = [*_SEGMENT.iter_unpack(self._bytes(segments, segment_count * _SEGMENT.size))]
        headers = _SECTION.iter_unpack(self._bytes(sections, section_count * _SECTION.size))
        self._sections = [_Section(*one) for one in headers]
        self.first = {section.type: section for section in reversed(self._sections)}

    def entries(self, kind: int, form: struct.Struct) -> list[tuple[int, ...]]:
        """The entries of the first section of a type; none if there is no such section."""
        return [*form.iter_unpack(self.content_of(self.first[kind]))] if kind in self.first else []

    def content_of(self, section: _Section) -> bytes:
        """The bytes of a section."""
        return self._bytes(section.offset, section.size)

    def names_of(self, section: _Section) -> "_Names":
        """The names of which a section has the places."""
        if section.link >= len(self._sections) or self._sections[section.link].type != _STRING_TABLE:
            raise NotElfError("a section has no table of names")
        return _Names(self.content_of(self._sections[section.link]))

    def _bytes(self, offset: int, size: int) -> bytes:
        if offset + size > len(self._content):
            raise NotElfError(f"it ends before the {size} bytes at {offset}")
        return self._content[offset : offset + size]


class _Names:
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


def _read(file: _ObjectBytes) -> SharedObject:
    if not {_DYNAMIC_SECTION, _DYNAMIC_SYMBOLS} <= file.first.keys():
        raise NotElfError("it has no table of dynamic symbols")
    tags = [*takewhile(lambda entry: entry[0] != _NULL_TAG, file.entries(_DYNAMIC_SECTION, _DYNAMIC))]
    names = file.names_of(file.first[_DYNAMIC_SECTION])
    flags = next((value for tag, value in tags if tag == _FLAGS_TAG), 0)
    stack = next((flags for kind, flags in file.segments if kind == _STACK_SEGMENT), None)
    paths = {tag: names.at(value) for tag, value in tags if tag in (_RPATH_TAG, _RUNPATH_TAG)}
    run_path = paths.get(_RUNPATH_TAG, paths.get(_RPATH_TAG, ""))
    versions = _version_needs(file)
    glibc = [match[1] for name in versions.values() if (match := _GLIBC.fullmatch(name))]
    known = {number for number, name in versions.items() if name.startswith(_STANDARD)}
    standard = {k for k, (number,) in enumerate(file.entries(_SYMBOL_VERSIONS, _VERSION)) if number in known}
    needed: dict[int, set[str]] = {_GLOBAL: set(), _WEAK: set()}
    exported = set()
    symbol_names = file.names_of(file.first[_DYNAMIC_SYMBOLS])
    for k, (start, info, other, section) in enumerate(file.entries(_DYNAMIC_SYMBOLS, _SYMBOL)):
        name, binding = symbol_names.at(start), info >> 4
        if section == 0 and binding in needed and k not in standard:
            needed[binding].add(name)
        elif section != 0 and binding != _LOCAL and other & 3 in (_DEFAULT, _PROTECTED):
            exported.add(name)
    return SharedObject(
        libraries=tuple(names.at(value) for tag, value in tags if tag == _NEEDED_TAG),
        needed=frozenset(needed[_GLOBAL]) - {""},
        weak=frozenset(needed[_WEAK]) - {""},
        exported=frozenset(exported) - _OF_THE_LINKER,
        # Without the entry the loader takes the older way, an executable stack.
        executable_stack=stack is None or bool(stack & _EXECUTABLE_FLAG),
        text_relocations=any(tag == _TEXTREL_TAG for tag, _ in tags) or bool(flags & _TEXTREL_FLAG),
        static_tls=bool(flags & _STATIC_TLS_FLAG),
        run_path=tuple(filter(None, run_path.split(":"))),
        inherited=_RUNPATH_TAG not in paths,
        glibc=max(glibc, key=lambda version: [int(part) for part in version.split(".")], default=""),
    )


def _version_needs(file: _ObjectBytes) -> Mapping[int, str]:
    """The versions of symbols that it needs of its libraries, by their numbers."""
    section = file.first.get(_VERSION_NEEDS)
    if section is None:
        return {}
    content, names = file.content_of(section), file.names_of(section)
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
