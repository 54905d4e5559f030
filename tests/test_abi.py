"""In which releases of TensorFlow a shared object loads, without loading it, and what it says of itself."""

import platform
import random
import re
import runpy
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.commands import output_of
from tests.pages import PROJECT
from tests.test_runtime import declared
from tffs_conformance.harness.native import CXX_NAME, RUNTIME_NAME, native_directory
from tffs_conformance.harness.shared_object import abi, releases
from tffs_conformance.harness.shared_object.abi import Abi, Symbols
from tffs_conformance.harness.shared_object.elf import NotElfError, SharedObject, read
from tffs_conformance.harness.shared_object.releases import Exports
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.suite.contract.catalogue import clause

RIGHT = plugin_path("posix").read_bytes()
#: The same for another machine.
FOREIGN = RIGHT[:18] + b"\xb7\0" + RIGHT[20:]
RUN = "_ZN10tensorflow3runEv"
TEMPLATE = "_ZN10tensorflow4BaseIiE3runEv"
#: Two releases. The newer one has a function less and a copy of a library, and all of it is in the global scope.
TABLE = Exports(
    ("2.1", "2.2"),
    (2, 2, 0),
    {"TF_NewStatus": (3, 0, 0), "TF_Old": (1, 0, 0), "copied": (2, 0, 0), "early": (3, 0, 0), RUN: (0, 3, 0)},
)
#: The same where nothing is in the global scope.
APART = Exports(TABLE.releases, (0, 0, 0), TABLE.symbols)


def library(folder: Path, name: str, code: str, *links: str) -> Path:
    """A shared object of C, which is called `name` also by those that link to it."""
    path = folder / name
    command = ("cc", "-shared", "-fPIC", "-xc", "-", "-o", str(path), f"-Wl,-soname,{name}", "-Wl,--no-as-needed")
    subprocess.run([*command, "-xnone", f"-L{folder}", *links], input=code, text=True, check=True)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    library(tmp_path, RUNTIME_NAME, "void TF_NewStatus(void) {} void copied(void) {}")
    library(tmp_path, CXX_NAME, "void of_cxx(void) {}")
    library(tmp_path, "libother.so", "void copied(void) {} void early(void) {} void only_here(void) {}")
    return tmp_path


TENSORFLOW, CXX, OTHER = f"-l:{RUNTIME_NAME}", f"-l:{CXX_NAME}", "-l:libother.so"
BESIDE = "-Wl,-rpath,$ORIGIN"
USES = "void {0}(void); void use(void) {{ {0}(); }}"


def seen(folder: Path, symbol: str, *links: str, table: Exports = TABLE) -> Abi:
    """What is told of a plugin that needs one function."""
    return abi.read(library(folder, "plugin.so", USES.format(symbol), *links), table=table)


def fates(found: Sequence[Symbols]) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(one.library, one.symbols, one.releases) for one in found]


# Where it loads -------------------------------------------------------------------------------------------------------

BOTH, ANCIENT = ("2.1", "2.2"), "libtensorflow_framework.so.1"


@pytest.mark.parametrize(
    ("symbol", "links", "table", "loads", "missing"),
    [
        ("TF_NewStatus", (TENSORFLOW,), TABLE, BOTH, []),
        ("TF_Old", (TENSORFLOW,), TABLE, ("2.1",), [("", ("TF_Old",), ("2.2",))]),
        ("TF_Never", (TENSORFLOW,), TABLE, (), [("", ("TF_Never",), BOTH)]),
        # A library that the plugin does not name gives it something only in the global scope.
        (RUN, (), TABLE, ("2.2",), [(CXX_NAME, (RUN,), ("2.1",))]),
        (RUN, (TENSORFLOW,), TABLE, ("2.2",), [(CXX_NAME, (RUN,), ("2.1",))]),
        (RUN, (TENSORFLOW,), APART, (), [(CXX_NAME, (RUN,), BOTH)]),
        (RUN, (CXX,), APART, BOTH, []),
        # A library that a library of TensorFlow names is named.
        ("TF_NewStatus", (CXX,), APART, BOTH, []),
        # A program has the libraries of C.
        ("floor", ("-nostdlib",), TABLE, BOTH, []),
        ("puts", ("-Wl,-Bsymbolic",), TABLE, BOTH, []),
        # Libraries that a library names are asked, too, and may lack something themselves.
        ("only_here", ("-l:libmiddle.so", BESIDE), TABLE, BOTH, []),
        ("nowhere", ("-l:libmiddle.so", BESIDE), TABLE, (), [("", ("nowhere",), BOTH)]),
        ("use", ("-l:libneedy.so", TENSORFLOW, BESIDE), TABLE, ("2.1",), [("", ("TF_Old",), ("2.2",))]),
        # A library of another TensorFlow is missing.
        ("TF_NewStatus", (f"-l:{ANCIENT}", TENSORFLOW), TABLE, (), [("", (ANCIENT,), BOTH)]),
    ],
)
def test_plugin_loads_where_its_symbols_are(
    folder: Path, symbol: str, links: Sequence[str], table: Exports, loads: tuple[str, ...], missing: list[object]
) -> None:
    library(folder, ANCIENT, "void TF_Ancient(void) {}")
    library(folder, "libmiddle.so", "void middle(void) {}", OTHER, BESIDE)
    library(folder, "libneedy.so", USES.format("TF_Old"), BESIDE)
    found = seen(folder, symbol, *links, table=table)
    assert (found.loads, fates(found.missing), found.unknown) == (loads, missing, ())


def test_missing_library_leaves_its_symbols_unknown(folder: Path) -> None:
    code = "".join(USES.format(name).replace("use", f"use_{name}") for name in ("TF_Old", "only_here", "early"))
    plugin = library(folder, "plugin.so", code, TENSORFLOW, OTHER)
    found = abi.read(plugin, table=APART)
    assert found.unknown == ("libother.so",)
    assert fates(found.missing) == [("", ("TF_Old",), ("2.2",))]
    # Read from another machine, whose libraries are all not here.
    (folder / "libother.so").write_bytes(b"")
    assert abi.read(Path("/elsewhere/plugin.so"), plugin.read_bytes(), APART) == found


def test_library_that_the_loaders_cache_lacks_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abi, "_cached_by_loader", dict)
    assert seen(folder, "malloc", "-nostdlib").loads == BOTH


def test_library_named_like_the_plugin_is_read(folder: Path) -> None:
    (folder / "below").mkdir()
    library(folder / "below", "plugin.so", "void only_below(void) {}")
    found = seen(folder, "only_below", f"{folder}/below/plugin.so", f"{BESIDE}/below")
    assert (found.loads, found.unknown) == (BOTH, ())


@pytest.mark.parametrize(
    ("symbol", "is_of_template"),
    [
        (TEMPLATE, True), ("_Z3getIiEvT_", True), ("_ZNK4absl8StatusOrIiE2okEv", True),
        ("_ZN4llvmlsIRNS_6RemarkEEERT_OS3_", True), ("_ZN4absl6StatusC1IiEET_", True),
        ("_ZTVN10tensorflow4BaseIiEE", True), (RUN, False), ("_ZN10tensorflow3runENS_4BaseIiEE", False),
        ("_ZN4absllsERSoRKNS_4CordE", False), ("_ZN9999999993run", False), ("I", False),
    ],
)  # fmt: skip
def test_symbols_of_templates_are_undecided(folder: Path, symbol: str, is_of_template: bool) -> None:
    found = seen(folder, symbol, TENSORFLOW, table=Exports(("2.1",)))
    assert (found.untold, found.loads) == (((symbol,), ("2.1",)) if is_of_template else ((), ()))


# The command ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("symbol", "links", "code", "lines", "remedy"),
    [
        ("copied", (TENSORFLOW, OTHER, BESIDE), 0,
         (f"plugin.so names {RUNTIME_NAME}, libother.so, libc.so.6", "  2.1 to 2.2        loads"), ""),
        ("TF_NewStatus", (), 0, ("does not load",), "look TensorFlow's functions up at run time"),
        ("TF_Never", (TENSORFLOW,), 1, ("TF_Never: TensorFlow does not have that",), "look TensorFlow's functions up"),
        (RUN, (TENSORFLOW,), 0, (f"{RUN}: in {CXX_NAME}, which it does not name",), "use the functions of the C int"),
        ("nowhere", (), 1, ("does not load",), "link the plugin with whatever has"),
    ],
)  # fmt: skip
def test_command_names_releases_reasons_and_remedy(
    monkeypatch: pytest.MonkeyPatch, folder: Path, symbol: str, links: Sequence[str], code: int,
    lines: Sequence[str], remedy: str,
) -> None:  # fmt: skip
    for function in ("of_c", "whole"):
        monkeypatch.setattr(releases, function, lambda: TABLE)
    source = USES.format(symbol).replace("use", "TF_InitPlugin")
    done = output_of("abi", library(folder, "plugin.so", source, *links), code=code)
    assert all(line in done for line in lines), done
    remedies = [line for line in done.splitlines() if line.startswith("To do: ")]
    assert [line.startswith(f"To do: {remedy}") for line in remedies] == [True] * bool(remedy)
    assert not remedy or done.splitlines()[-1:] == remedies


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"", 4, "cannot be loaded as a plugin: it does not begin as an ELF file does"),
        (RIGHT[:40], 4, "cannot be loaded as a plugin: a header or a table of it is not whole"),
        (b"no ELF", 4, "cannot be loaded as a plugin: it does not begin as an ELF file does"),
        (None, 2, "cannot be read: No such file"),
        (FOREIGN, 4, f"it is built for aarch64, and this machine is {platform.machine()}"),
        ((native_directory() / RUNTIME_NAME).read_bytes(), 4, "it exports no TF_InitPlugin"),
    ],
    ids=["empty", "cut", "text", "missing", "machine", "entry point"],
)
def test_what_is_no_plugin_is_a_sentence(tmp_path: Path, content: bytes | None, code: int, said: str) -> None:
    path = tmp_path / "x.so"
    if content is not None:
        path.write_bytes(content)
    done = output_of("abi", path, code=code)
    assert f"Error: {path} " in done
    assert said in done


# The tables -----------------------------------------------------------------------------------------------------------


def test_tables_have_symbols_and_scope_of_releases() -> None:
    table, known = releases.whole(), releases.functions_of_c()
    assert len(table.releases) >= 19
    assert table.exporters("TF_NewStatus")[0] == table.everywhere
    assert table.exporters("no such symbol") == (0, 0, 0)
    assert all(0 < max(bits) <= table.everywhere for bits in table.symbols.values())
    later = tuple(release for release in table.releases if release >= "2.19")
    assert {table.named(bits) for bits in table.scope} == {later}
    assert (known["TF_VLog"], known["TF_SetStatus"]) == (table.releases[:-1], table.releases)
    assert all(known.values())
    assert "curl_easy_init" in releases.of_c().symbols.keys() - known.keys()
    # The clause names the same releases.
    (source,) = clause("registration.loads-in-every-release").sources
    assert source.rpartition("TensorFlow ")[2].split(", ") == [*table.releases]


@pytest.mark.parametrize("name", ["posix", "memory"])
def test_reference_plugin_needs_only_the_small_table(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(releases, "whole", None)
    found = abi.read(plugin_path(name))
    assert found.loads == found.releases


@pytest.fixture
def tool() -> Any:
    """packaging/tensorflow_exports.py."""
    return SimpleNamespace(**runpy.run_path(str(PROJECT / "packaging" / "tensorflow_exports.py")))


def test_a_table_grows_by_a_release(tool: Any) -> None:
    grown = tool.extended(TABLE, "2.3", {CXX_NAME}, {RUNTIME_NAME: {"TF_NewStatus", "TF_New"}, CXX_NAME: {"TF_New"}})
    assert grown.releases == ("2.1", "2.2", "2.3")
    assert grown.scope == (2, 6, 0)
    assert grown.exporters("TF_NewStatus") == (7, 0, 0)
    assert grown.exporters("TF_New") == (4, 4, 0)
    assert TABLE.exporters("TF_New") == (0, 0, 0)


def test_what_is_written_is_read(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "TABLES", tmp_path)
    for function in (releases.of_c, releases.whole):
        monkeypatch.setattr(releases, function.__name__, function.__wrapped__)
    tool.write(TABLE)
    assert releases.whole() == TABLE
    assert releases.of_c().symbols.keys() == TABLE.symbols.keys() - {RUN}


# What a shared object says of itself ----------------------------------------------------------------------------------


def linked(name: str) -> SharedObject:
    return read(plugin_path(f"fakes/{name}").read_bytes())


def wrong(plugin: SharedObject) -> list[str]:
    """In which ways a shared object is not linked as a plugin should be."""
    flags = ("executable_stack", "text_relocations", "static_tls", "run_path")
    found = [name for name in flags if getattr(plugin, name)]
    return found + ["exported"] * (plugin.exported != {"TF_InitPlugin"})


def test_read_of_a_right_plugin_finds_nothing_wrong() -> None:
    plugin = read(RIGHT)
    assert wrong(plugin) == []
    # It looks TensorFlow's functions up in the process. What the libraries of C and C++ have is left out.
    assert not any(name.startswith("TF_") or name in {"memcpy", "_Znwm"} for name in plugin.needed)
    assert "TF_VLog" in linked("verbose").needed
    assert "__gmon_start__" in plugin.weak
    assert re.fullmatch(r"2\.\d+(\.\d+)?", plugin.glibc)


@pytest.mark.parametrize("what", ["executable_stack", "text_relocations", "static_tls", "run_path", "exported"])
def test_read_of_a_fake_finds_its_fault(what: str) -> None:
    plugin = linked({"run_path": "absolute_run_path", "exported": "exports"}.get(what, what))
    assert wrong(plugin) == [what]
    assert plugin.run_path == (("/opt/vendor/lib",) if what == "run_path" else ())


def test_the_header_declares_what_a_release_exports() -> None:
    assert declared() <= releases.functions_of_c().keys()


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
        (kind,) = struct.unpack_from("<I", content, place + TYPE)
        yield (place, kind, *struct.unpack_from("<QQ", content, place + OFFSET))


def header_of(content: bytes | bytearray, kind: int) -> tuple[int, int, int]:
    """Where the first section header of a type is, and the offset and the size of its section."""
    return next((place, offset, size) for place, found, offset, size in headers_of(content) if found == kind)


def targets_of(content: bytes | bytearray) -> list[range]:
    """Ranges of bytes that damage is aimed at: all headers, each section that is read, the whole file."""
    places = [place for place, *_ in headers_of(content)]
    read_sections = {VERSION_NEEDS, SYMBOL_VERSIONS, DYNAMIC_SYMBOLS, DYNAMIC}
    sections = [range(offset, offset + size) for _, kind, offset, size in headers_of(content) if kind in read_sections]
    headers = range(places[0], places[-1] + SECTION_BYTES)
    return [range(SECTION_BYTES), range(SECTION_BYTES, 1000), headers, *sections, range(len(content))]


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
    # The first has another type.
    [(TYPE, "<I", 8), (OFFSET, "<Q", 1 << 63), (SIZE, "<Q", 1 << 40), (SIZE, "<Q", (1 << 64) - 1)],
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
