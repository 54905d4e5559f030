"""What a shared object says of itself before anybody loads it."""

import functools
import io
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection

_TEXTREL_FLAG = 0x4
_STATIC_TLS_FLAG = 0x10
_EXECUTABLE = 0x1
_GLIBC = "GLIBC_"
#: The tags of libraries and of their directories, and what pyelftools calls their texts.
_NEEDED = {"DT_NEEDED": "needed"}
_PATHS = {"DT_RPATH": "rpath", "DT_RUNPATH": "runpath"}
#: What compilers and linkers add to every shared object.
_OF_THE_LINKER = frozenset({"_init", "_fini", "_edata", "_end", "__bss_start"})


class NotElf(Exception):
    """The file is no shared object that can be read; the text says why."""


@dataclass(frozen=True, slots=True)
class SharedObject:
    """What the dynamic loader is told: symbols that must and that may be missing, and how it has to load the file.

    `weak` symbols are NULL where nobody has them. `libraries` are those that it names, in their order; `run_path` has
    the directories in which they are looked for first. `glibc` is the newest version of the C library whose symbols it
    needs, empty for none.
    """

    libraries: tuple[str, ...]
    needed: frozenset[str]
    weak: frozenset[str]
    exported: frozenset[str]
    executable_stack: bool
    text_relocations: bool
    static_tls: bool
    run_path: tuple[str, ...]
    glibc: str


def read(content: bytes) -> SharedObject:
    """Read a shared object. Raises NotElf."""
    try:
        return _read(ELFFile(io.BytesIO(content)))
    except (ELFError, UnicodeDecodeError, AssertionError, ValueError, OverflowError, MemoryError) as error:
        raise NotElf(str(error) or type(error).__name__) from error


def _read(file: "ELFFile") -> SharedObject:
    dynamic = next((section for section in file.iter_sections() if isinstance(section, DynamicSection)), None)
    symbols = file.get_section_by_name(".dynsym")
    if dynamic is None or not isinstance(symbols, SymbolTableSection):
        raise NotElf("it has no table of dynamic symbols")
    tags = [(tag.entry.d_tag, tag) for tag in dynamic.iter_tags()]
    flags = next((tag.entry.d_val for name, tag in tags if name == "DT_FLAGS"), 0)
    stack = next((one for one in file.iter_segments() if one.header.p_type == "PT_GNU_STACK"), None)
    paths = [str(getattr(tag, field)) for name, tag in tags if (field := _PATHS.get(name))]
    undefined: dict[str, set[str]] = {"STB_GLOBAL": set(), "STB_WEAK": set()}
    exported = set()
    for symbol in symbols.iter_symbols():
        binding = symbol.entry.st_info.bind
        if symbol.entry.st_shndx == "SHN_UNDEF":
            undefined.get(binding, set()).add(symbol.name)
        elif binding != "STB_LOCAL" and symbol.entry.st_other.visibility in ("STV_DEFAULT", "STV_PROTECTED"):
            exported.add(symbol.name)
    return SharedObject(
        libraries=tuple(str(getattr(tag, _NEEDED[name])) for name, tag in tags if name in _NEEDED),
        needed=frozenset(undefined["STB_GLOBAL"]) - {""},
        weak=frozenset(undefined["STB_WEAK"]) - {""},
        exported=frozenset(exported) - _OF_THE_LINKER,
        # Without the entry the loader takes the older way, an executable stack.
        executable_stack=stack is None or bool(stack.header.p_flags & _EXECUTABLE),
        text_relocations=any(name == "DT_TEXTREL" for name, _ in tags) or bool(flags & _TEXTREL_FLAG),
        static_tls=bool(flags & _STATIC_TLS_FLAG),
        run_path=tuple(path for text in paths for path in text.split(":") if path),
        glibc=_glibc(file),
    )


def _glibc(file: "ELFFile") -> str:
    versions = [
        auxiliary.name.removeprefix(_GLIBC)
        for section in file.iter_sections()
        if isinstance(section, GNUVerNeedSection)
        for _, auxiliaries in section.iter_versions()
        for auxiliary in auxiliaries
        if auxiliary.name.startswith(_GLIBC) and auxiliary.name[len(_GLIBC)].isdigit()
    ]
    return max(versions, key=lambda version: [int(part) for part in version.split(".")], default="")


@functools.cache
def tensorflow_symbols() -> dict[str, tuple[str, ...]]:
    """The C functions of TensorFlow, each with the releases whose libraries export it."""
    lines = Path(__file__).with_name("tensorflow_symbols.tsv").read_text(encoding="ascii").splitlines()[1:]
    return {name: tuple(releases.split(" ")) for name, _, releases in (line.partition("\t") for line in lines)}


#: The releases that were looked at, the last of them last.
RELEASES = ("2.12", "2.15", "2.18", "2.20", "2.21")
