"""What a shared object says of itself before anybody loads it."""

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection, VersionAuxiliary
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import StringTableSection, SymbolTableSection

_MAGIC = b"\x7fELF"
_SYMBOLIC_FLAG = 0x2
_TEXTREL_FLAG = 0x4
_STATIC_TLS_FLAG = 0x10
_EXECUTABLE = 0x1
_GLIBC = "GLIBC_"
#: How the versions of symbols begin that the libraries of C and C++ have.
_STANDARD = (_GLIBC, "GLIBCXX_", "CXXABI_", "GCC_")
#: The tags of libraries and of their directories, and what pyelftools calls their texts.
_NEEDED = {"DT_NEEDED": "needed"}
_PATHS = {"DT_RPATH": "rpath", "DT_RUNPATH": "runpath"}
#: What compilers and linkers add to every shared object.
_OF_THE_LINKER = frozenset({"_init", "_fini", "_edata", "_end", "__bss_start"})
#: How a symbol of a 64-bit machine lies in the file, and bindings and visibilities as numbers.
_SYMBOL = struct.Struct("<IBBHQQ")
_LOCAL, _GLOBAL, _WEAK = 0, 1, 2
_DEFAULT, _PROTECTED = 0, 3


class NotElfError(Exception):
    """The file is no shared object that can be read; the text says why."""


@dataclass(frozen=True, slots=True)
class SharedObject:
    """What the dynamic loader is told: symbols that must and that may be missing, and how it has to load the file.

    `weak` symbols are NULL where nobody has them. `standard` are those that the libraries of C and C++ have, as their
    versions say. `open` are symbols that it exports and looks up all the same, so that whoever is asked before it gives
    them; copies of what headers define are left out. `libraries` are those that it names, in their order; `run_path`
    has the directories in which they are looked for first. `glibc` is the newest version of the C library whose symbols
    it needs, empty for none.
    """

    libraries: tuple[str, ...]
    needed: frozenset[str]
    standard: frozenset[str]
    weak: frozenset[str]
    exported: frozenset[str]
    open: frozenset[str]
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
        return _read(ELFFile(io.BytesIO(content)))
    except (ELFError, AssertionError, ValueError, OverflowError, MemoryError, struct.error) as error:
        raise NotElfError(str(error) or type(error).__name__) from error


def _read(file: "ELFFile") -> SharedObject:
    dynamic = next((section for section in file.iter_sections() if isinstance(section, DynamicSection)), None)
    symbols = file.get_section_by_name(".dynsym")
    if dynamic is None or not isinstance(symbols, SymbolTableSection):
        raise NotElfError("it has no table of dynamic symbols")
    tags = [(tag.entry.d_tag, tag) for tag in dynamic.iter_tags()]
    flags = next((tag.entry.d_val for name, tag in tags if name == "DT_FLAGS"), 0)
    stack = next((one for one in file.iter_segments() if one.header.p_type == "PT_GNU_STACK"), None)
    paths = [str(getattr(tag, field)) for name, tag in tags if (field := _PATHS.get(name))]
    # With -Bsymbolic it is the first to be asked for its own.
    symbolic = any(name == "DT_SYMBOLIC" for name, _ in tags) or bool(flags & _SYMBOLIC_FLAG)
    looked_up = set() if symbolic else _relocated(file)
    versions = _versions(file)
    needed, weak, exported, own, standard = (set[str]() for _ in range(5))
    for k, (name, binding, visibility, undefined) in enumerate(_symbols(file, symbols)):
        if undefined:
            {_GLOBAL: needed, _WEAK: weak}.get(binding, set()).add(name)
            if k in versions:
                standard.add(name)
        elif binding != _LOCAL and visibility in (_DEFAULT, _PROTECTED):
            exported.add(name)
            if binding == _GLOBAL and visibility == _DEFAULT and k in looked_up:
                own.add(name)
    return SharedObject(
        libraries=tuple(str(getattr(tag, _NEEDED[name])) for name, tag in tags if name in _NEEDED),
        needed=frozenset(needed) - {""},
        standard=frozenset(standard),
        weak=frozenset(weak) - {""},
        exported=frozenset(exported) - _OF_THE_LINKER,
        open=frozenset(own) - _OF_THE_LINKER,
        # Without the entry the loader takes the older way, an executable stack.
        executable_stack=stack is None or bool(stack.header.p_flags & _EXECUTABLE),
        text_relocations=any(name == "DT_TEXTREL" for name, _ in tags) or bool(flags & _TEXTREL_FLAG),
        static_tls=bool(flags & _STATIC_TLS_FLAG),
        run_path=tuple(path for text in paths for path in text.split(":") if path),
        glibc=_glibc(file),
    )


def _symbols(file: "ELFFile", section: SymbolTableSection) -> Iterator[tuple[str, int, int, bool]]:
    """Name, binding and visibility of each symbol, and whether it is undefined. pyelftools would take seconds."""
    strings = file.get_section(section["sh_link"])
    if file.elfclass != 64 or not file.little_endian or not isinstance(strings, StringTableSection):
        raise NotElfError("it is for another kind of machine")
    texts = strings.data()
    for start, info, other, index, _, _ in _SYMBOL.iter_unpack(section.data()):
        yield texts[start : texts.index(b"\0", start)].decode(), info >> 4, other & 3, index == 0


def _relocated(file: "ELFFile") -> set[int]:
    """The numbers of the symbols that the loader looks up."""
    return {
        info >> 32
        for section in file.iter_sections()
        if isinstance(section, RelocationSection) and section.is_RELA()
        for _, info, _ in struct.iter_unpack("<QQq", section.data())
    }


def _versions(file: "ELFFile") -> set[int]:
    """The numbers of the symbols that have a version of the libraries of C and C++."""
    section = next((one for one in file.iter_sections() if isinstance(one, GNUVerSymSection)), None)
    if section is None:
        return set()
    known = {version.entry.vna_other for version in _needed_versions(file) if version.name.startswith(_STANDARD)}
    return {k for k, (number,) in enumerate(struct.iter_unpack("<H", section.data())) if number in known}


def _glibc(file: "ELFFile") -> str:
    versions = [
        version.name.removeprefix(_GLIBC)
        for version in _needed_versions(file)
        if version.name.startswith(_GLIBC) and version.name[len(_GLIBC)].isdigit()
    ]
    return max(versions, key=lambda version: [int(part) for part in version.split(".")], default="")


def _needed_versions(file: "ELFFile") -> Iterator[VersionAuxiliary]:
    """The versions of symbols that it needs of its libraries."""
    for section in file.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for _, auxiliaries in section.iter_versions():
                yield from auxiliaries
