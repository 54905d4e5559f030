"""What is told of a shared object without loading it: where it loads, and what TensorFlow's copies would take over."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tffs_conformance.cli import main
from tffs_conformance.harness import abi, releases
from tffs_conformance.harness.demangle import demangled
from tffs_conformance.harness.native import RUNTIME_NAME
from tffs_conformance.harness.releases import Exports
from tffs_conformance.harness.runtimes import CXX_NAME

#: Two releases: the newer one has a function less, and a copy of a library.
TABLE = Exports(
    ("2.1", "2.2"),
    {"TF_NewStatus": (3, 0), "TF_Old": (1, 0), "copied": (2, 0), "_ZN10tensorflow3runEv": (0, 3)},
)


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
    library(tmp_path, "libother.so", "void copied(void) {} void only_here(void) {}")
    return tmp_path


TENSORFLOW, CXX, OTHER = f"-l:{RUNTIME_NAME}", f"-l:{CXX_NAME}", "-l:libother.so"
BESIDE = "-Wl,-rpath,$ORIGIN"
USES = "void {0}(void); void use(void) {{ {0}(); }}"


def test_a_plugin_loads_where_its_symbols_are(folder: Path) -> None:
    for symbol, loads in (("TF_NewStatus", ("2.1", "2.2")), ("TF_Old", ("2.1",)), ("TF_Never", ())):
        plugin = library(folder, "plugin.so", USES.format(symbol), TENSORFLOW)
        found = abi.of(plugin, TABLE)
        assert found.loads_in == loads
        assert found.missing == {one: () if one in loads else (symbol,) for one in TABLE.releases}
        assert found.captured == ()


def test_what_a_plugin_does_not_name_gives_it_nothing(folder: Path) -> None:
    symbol = "_ZN10tensorflow3runEv"
    assert abi.of(library(folder, "plugin.so", USES.format(symbol), TENSORFLOW), TABLE).loads_in == ()
    assert abi.of(library(folder, "plugin.so", USES.format(symbol), CXX), TABLE).loads_in == TABLE.releases


@pytest.mark.parametrize(("links", "captured"), [((TENSORFLOW, OTHER), True), ((OTHER, TENSORFLOW), False)])
def test_the_library_that_is_named_first_gives_the_symbol(folder: Path, links: tuple[str, ...], captured: bool) -> None:
    found = abi.of(library(folder, "plugin.so", USES.format("copied"), *links, BESIDE), TABLE)
    assert found.loads_in == TABLE.releases
    assert [(one.library, one.symbols, one.releases) for one in found.captured] == [
        ("libother.so", ("copied",), ("2.2",))
    ] * captured


def test_what_a_library_needs_is_asked_after_it(folder: Path) -> None:
    library(folder, "libmiddle.so", "void middle(void) {}", OTHER, BESIDE)
    found = abi.of(library(folder, "plugin.so", USES.format("copied"), "-l:libmiddle.so", TENSORFLOW, BESIDE), TABLE)
    assert [one.library for one in found.captured] == ["libother.so"]
    found = abi.of(library(folder, "plugin.so", USES.format("only_here"), "-l:libmiddle.so", BESIDE), TABLE)
    assert found.loads_in == TABLE.releases


def test_of_a_library_that_is_not_here_nobody_can_tell(folder: Path) -> None:
    plugin = library(folder, "plugin.so", USES.format("TF_Old") + "void only_here(void); void v(void) { only_here(); }",
                     TENSORFLOW, OTHER)  # fmt: skip
    found = abi.of(plugin, TABLE)
    assert found.unknown == ("libother.so",)
    assert found.missing == {"2.1": (), "2.2": ("TF_Old",)}


def test_the_command_says_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "read", lambda: TABLE)
    plugin = library(folder, "plugin.so", USES.format("copied"), TENSORFLOW, OTHER, BESIDE)
    done = CliRunner().invoke(main, ["abi", str(plugin)])
    assert done.exit_code == 0
    assert f"plugin.so names {RUNTIME_NAME}, libother.so, libc.so.6" in done.output
    assert "2.1 to 2.2" in done.output
    assert "libother.so is taken from TensorFlow 2.2: copied" in done.output
    plugin = library(folder, "plugin.so", USES.format("_ZN10tensorflow3runEv"), TENSORFLOW)
    done = CliRunner().invoke(main, ["abi", str(plugin)])
    assert done.exit_code == 1
    assert "does not load: tensorflow::run()" in done.output


@pytest.mark.parametrize("content", [b"", b"no ELF", None])
def test_what_is_no_shared_object_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.so"
    if content is not None:
        path.write_bytes(content)
    done = CliRunner().invoke(main, ["abi", str(path)])
    assert done.exit_code == 2
    assert str(path) in done.output
    assert "Traceback" not in done.output


def test_names_of_cxx_are_told_as_people_write_them() -> None:
    assert demangled("_ZN4absl12lts_202206236Status2okEv") == "absl::lts_20220623::Status::ok()"
    assert [demangled(name) for name in ("TF_NewStatus", "_Znonsense")] == ["TF_NewStatus", "_Znonsense"]


def test_the_table_has_every_release_and_what_every_plugin_needs() -> None:
    table = releases.read()
    assert len(table.releases) >= 10
    assert table.of("TF_NewStatus", RUNTIME_NAME) == frozenset(table.releases)
    assert table.of("no such symbol", RUNTIME_NAME) == frozenset()


def test_a_table_grows_by_a_release() -> None:
    grown = TABLE.extended("2.3", {RUNTIME_NAME: {"TF_NewStatus", "TF_New"}, CXX_NAME: {"TF_New"}})
    assert grown.releases == ("2.1", "2.2", "2.3")
    assert grown.of("TF_NewStatus", RUNTIME_NAME) == {"2.1", "2.2", "2.3"}
    assert grown.of("TF_New", CXX_NAME) == {"2.3"}
    assert TABLE.of("TF_New", CXX_NAME) == frozenset()
