"""Probing: the profile it writes is right for the plugin it was found out from."""

import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.commands import output_of
from tests.test_choices import DENYING
from tests.test_suite import judged_report
from tffs_conformance.cli import main
from tffs_conformance.cli.probe import _toml
from tffs_conformance.reports.escape import printable

UNKNOWN = "could not be found out"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command writes, it writes there."""
    monkeypatch.chdir(tmp_path)


def probed(*arguments: str, both: bool = False) -> str:
    """What the command prints; with `both` on its standard error, too."""
    done = CliRunner().invoke(main, ["probe", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output if both else done.stdout


#: What a profile claims most of is about.
ABOUT_CLAIMS = [
    f"--clause={name}"
    for name in ("*.missing-parent-*", "*.below-a-file-*", "flush.*", "new_appendable_file.*-is-*", "is_directory.*",
                 "new_read_only_memory_region_from_file.error-*")
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [(ABOUT_CLAIMS, "incomplete"), pytest.param([], "conformant", marks=pytest.mark.nightly)],
    ids=["some", "quick"],
)
@pytest.mark.parametrize(
    ("plugin", "some"),
    [
        ("posix", {"directories": "real", "append": True, "atomic_rename": True, "visibility": "append"}),
        pytest.param(
            "objectstore_minimal",
            {"directories": "emulated", "append": False, "atomic_rename": False, "visibility": "close"},
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["posix", "objectstore_minimal"],
)
def test_the_profile_of_a_right_plugin_is_kept(
    tmp_path: Path, plugin: str, some: dict[str, Any], asked: list[str], verdict: str
) -> None:
    probed(plugin, "-o", "mine.toml")
    written = tomllib.loads((tmp_path / "mine.toml").read_text())
    assert written["claims"].items() >= some.items()
    limits = written["limits"]
    assert limits["max_name"] == (255 if plugin == "posix" else limits["max_name"])
    assert limits["mtime_granularity_ns"] < 10**9
    # Nobody else sees what is in the store.
    alone = [] if plugin == "posix" else ["--backing=none"]
    found = judged_report(tmp_path, "--plugin-profile=mine.toml", "--tier=quick", *alone, *asked)
    assert found["verdict"] == verdict
    states = {claim["name"]: claim["state"] for claim in found["claims"]}
    assert not {"broken", "under-declared"} & set(states.values())
    assert {states[name] for name in ("directories", "append", "visibility", "memory_regions")} == {"kept"}
    assert not list(Path(tempfile.gettempdir()).glob(Path(found["target"]["root"]).name))


def test_storage_that_lives_in_its_process_is_found_out(tmp_path: Path) -> None:
    assert probed("memory", "-o", "mine.toml", both=True) == "written: mine.toml\n"
    text = (tmp_path / "mine.toml").read_text()
    assert UNKNOWN not in text
    found = tomllib.loads(text)
    some = {"directories": "real", "append": True, "visibility": "append", "transactions": True, "configuration": True}
    assert found["claims"].items() >= some.items()
    assert found["limits"]["max_name"] == 255


@pytest.mark.parametrize(
    ("choices", "some"),
    [
        ("rename-directories,copy-into-directory,tell-from-handle,late-visibility,coarse-mtime,ascii-names,no-sync",
         {"rename_directories": True, "copy_onto_directory": "inside", "tell_on_appendable_file": "handle",
          "visibility": "flush", "mtime_granularity_ns": 10**9, "names": "ascii", "read_only": False}),
        ("header-is-directory,refuse-tree-of-file,far-below-a-file-is-not-found,no-mtime,windows-names,few-open-files",
         {"is_directory_on_file": "header", "delete_recursively_on_file": "refuses", "far_below_a_file": "not-found",
          "mtime_granularity_ns": 0, "names": "windows", "max_open_files": 64}),
        ("locked-files:UNAVAILABLE", {"open_files": "locked"}),
        ("illegal-names", {"names": "windows"}),
        ("read-only", {"read_only": True}),
        (DENYING, {"read_only": True}),
    ],
)  # fmt: skip
def test_what_a_plugin_chose_is_found_out(choices: str, some: dict[str, Any]) -> None:
    found = tomllib.loads(probed("posix_choices", f"--env=TFFS_CHOICES={choices}"))
    assert (found["claims"] | found["limits"]).items() >= some.items()


@pytest.mark.parametrize(
    ("plugin", "variable", "directories"),
    [
        ("objectstore_minimal", "TFFS_DIRECTORIES=nothing", "none"),
        # It makes directories, and one op denies them.
        ("fakes/faulty", "TFFS_FAULT=path_exists.only-files", "real"),
    ],
)
def test_store_that_makes_no_directory_is_found_out(plugin: str, variable: str, directories: str) -> None:
    found = tomllib.loads(probed(plugin, f"--env={variable}"))
    assert found["claims"]["directories"] == directories
    asked = found["claims"].keys() & {"copy_onto_directory", "rename_directories"}
    assert len(asked) == (2 if directories == "real" else 0)


def test_how_late_a_listing_is_is_found_out() -> None:
    found = tomllib.loads(probed("posix_choices", "--env=TFFS_CHOICES=late-listing"))
    assert 60 <= found["limits"]["listing_delay_ms"] <= 4000
    assert "listing_delay_ms" not in tomllib.loads(probed("posix_choices"))["limits"]


@pytest.mark.parametrize(
    ("fault", "unknown", "known"),
    [
        ("crash:new_appendable_file", "append", "visibility"),
        ("hang:rename_file", "rename_directories", "is_directory_on_file"),
        ("throw:copy_file", "copy_onto_directory", "append"),
        ("exit:stat", "mtime_granularity_ns", "append"),
    ],
)
def test_a_dying_plugin_is_asked_the_next_question(fault: str, unknown: str, known: str) -> None:
    # What hangs costs that time, and nothing else may need it.
    text = probed("fakes/faulty", f"--env=TFFS_FAULT={fault}", "--call-timeout=3")
    found = tomllib.loads(text)
    assert (unknown in found["claims"] | found["limits"], known in found["claims"]) == (False, True)
    for part in (f"\n# {unknown} =\n", UNKNOWN, fault.partition(":")[2]):
        assert part in text


@pytest.mark.parametrize(
    ("plugin", "fault", "why"),
    [
        *(("faulty", f"crash:{op}", "") for op in ("init", "create_dir", "new_writable_file")),
        ("null", "", ": create_dir is not there"),
        ("faulty", "unimplemented:create_dir", ": blocked by create_dir: it answers UNIMPLEMENTED"),
    ],
)
def test_where_nothing_works_everything_is_unknown(plugin: str, fault: str, why: str) -> None:
    text = output_of("probe", f"fakes/{plugin}", f"--env=TFFS_FAULT={fault}", code=int(fault == "crash:init"))
    assert text.count(UNKNOWN + why) >= 8
    assert "append = " not in text.partition("[claims]")[2].replace("# append =", "")
    if why:
        assert plugin == "null" or text.count(UNKNOWN + why) == text.count(UNKNOWN)
        assert "left behind" not in text


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("./no-such.so",), 2, "no such file"),
        (("posix", "--env=NAME"), 2, "NAME=VALUE"),
        (("posix", "-ono/x.toml"), 2, "there is no folder "),
        (("posix", "--scheme=other"), 2, "--scheme=other"),
        *((("posix", f"--call-timeout={time}"), 2, "--call-timeout must be") for time in ("-3", "0", "nan", "inf")),
        (("./plain.so",), 2, "cannot be loaded as a plugin"),
        (("./short.so",), 1, "registered no scheme"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    (tmp_path / "plain.so").write_text("not a shared object")
    (tmp_path / "short.so").write_bytes(b"\x7fELF, and no more of a shared object")
    assert said in output_of("probe", *arguments, code=code)


def test_secrets_are_taken_from_the_environment() -> None:
    text = probed("posix", "--env=MINE_TOKEN=abcdef", '--env=MINE_URL=http://x/"y"', "--root=posix:///tmp/r")
    found = tomllib.loads(text)
    assert "abcdef" not in text
    assert found["env"] == {"MINE_TOKEN": {"from": "MINE_TOKEN"}, "MINE_URL": 'http://x/"y"'}
    assert found["plugin"] == {"path": "posix", "scheme": "posix", "root": "posix:///tmp/r"}


@pytest.mark.parametrize("value", ["a", 'a "b" \\ c', "\x1b[31m\u202e\n", "é", "\udcff", True, 7])
def test_no_value_of_a_draft_steers_a_terminal(value: Any) -> None:
    written = _toml(value)
    assert printable(written) == written
    (read,) = tomllib.loads(f"x = {written}").values()
    assert read == (value.replace("\udcff", "?") if isinstance(value, str) else value)
