"""In which releases of TensorFlow a shared object loads, without loading it."""

import runpy
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.commands import output_of
from tests.pages import PROJECT
from tffs_conformance.harness.native import CXX_NAME, RUNTIME_NAME
from tffs_conformance.harness.shared_object import abi, releases
from tffs_conformance.harness.shared_object.abi import Abi, Symbols
from tffs_conformance.harness.shared_object.releases import Exports
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.suite.contract.catalogue import clause

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

BOTH = ("2.1", "2.2")


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
    ],
)
def test_plugin_loads_where_its_symbols_are(
    folder: Path, symbol: str, links: Sequence[str], table: Exports, loads: tuple[str, ...], missing: list[object]
) -> None:
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


def test_library_of_another_tensorflow_is_missing(folder: Path) -> None:
    library(folder, "libtensorflow_framework.so.1", "void TF_Ancient(void) {}")
    found = seen(folder, "TF_NewStatus", "-l:libtensorflow_framework.so.1", TENSORFLOW)
    assert (found.loads, found.unknown) == ((), ())
    assert fates(found.missing) == [("", ("libtensorflow_framework.so.1",), BOTH)]


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
        (TEMPLATE, True),
        ("_Z3getIiEvT_", True),
        ("_ZNK4absl8StatusOrIiE2okEv", True),
        ("_ZN4llvmlsIRNS_6RemarkEEERT_OS3_", True),
        ("_ZN4absl6StatusC1IiEET_", True),
        ("_ZTVN10tensorflow4BaseIiEE", True),
        (RUN, False),
        ("_ZN10tensorflow3runENS_4BaseIiEE", False),
        ("_ZN4absllsERSoRKNS_4CordE", False),
        ("_ZN9999999993run", False),
        ("I", False),
    ],
)
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
    done = output_of("abi", library(folder, "plugin.so", USES.format(symbol), *links), code=code)
    assert all(line in done for line in lines), done
    remedies = [line for line in done.splitlines() if line.startswith("To do: ")]
    assert [line.startswith(f"To do: {remedy}") for line in remedies] == [True] * bool(remedy)
    assert not remedy or done.splitlines()[-1:] == remedies


@pytest.mark.parametrize("content", [b"", b"no ELF", None])
def test_what_is_no_shared_object_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.so"
    if content is not None:
        path.write_bytes(content)
    done = output_of("abi", path, code=2)
    assert str(path) in done
    assert "Traceback" not in done


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
