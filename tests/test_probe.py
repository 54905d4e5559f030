"""Probing: the profile it writes is right for the plugin it was found out from."""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.test_suite import environment, judged_report
from tffs_conformance.cli.probe import _toml
from tffs_conformance.reports.escape import printable

UNKNOWN = "could not be found out"


def probed(directory: Path, *arguments: str, code: int = 0, both: bool = False) -> str:
    """What the command prints; with `both`, and where it fails, on its standard error, too."""
    done = subprocess.run(
        [sys.executable, "-m", "tffs_conformance", "probe", *arguments],
        cwd=directory, env=environment(), text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr if code or both else done.stdout


def claims(text: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(text)["claims"]
    return found


#: What a profile claims most of is about.
ABOUT_CLAIMS = [
    f"--clause={name}"
    for name in ("*.missing-parent-*", "*.below-a-file-*", "flush.*", "new_appendable_file.*", "is_directory.*",
                 "new_read_only_memory_region_from_file.*")
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
    probed(tmp_path, plugin, "-o", "mine.toml")
    text = (tmp_path / "mine.toml").read_text()
    assert claims(text).items() >= some.items()
    limits = tomllib.loads(text)["limits"]
    assert limits["max_name"] == (255 if plugin == "posix" else limits["max_name"])
    assert limits["mtime_granularity_ns"] < 10**9
    # Nobody else sees what is in the store.
    alone = [] if plugin == "posix" else ["--backing=none"]
    found = judged_report(tmp_path, "--plugin-profile=mine.toml", "--tier=quick", *alone, *asked)
    assert found["verdict"] == verdict
    states = {claim["name"]: claim["state"] for claim in found["claims"]}
    assert not {"broken", "under-declared"} & set(states.values())
    assert {"directories", "append", "visibility", "memory_regions"} <= {
        name for name, state in states.items() if state == "kept"
    }
    assert not list(Path(tempfile.gettempdir()).glob(Path(found["target"]["root"]).name))


def test_storage_that_lives_in_its_process_is_found_out(tmp_path: Path) -> None:
    text = probed(tmp_path, "memory", "-o", "mine.toml", both=True)
    assert text == "written: mine.toml\n"
    found = (tmp_path / "mine.toml").read_text()
    assert UNKNOWN not in found
    some = {"directories": "real", "append": True, "visibility": "append", "transactions": True, "configuration": True}
    assert claims(found).items() >= some.items()
    assert tomllib.loads(found)["limits"]["max_name"] == 255


@pytest.mark.parametrize(
    ("choice", "name", "value"),
    [
        ("header-is-directory", "is_directory_on_file", "header"),
        ("rename-directories", "rename_directories", True),
        ("copy-into-directory", "copy_onto_directory", "inside"),
        ("refuse-tree-of-file", "delete_recursively_on_file", "refuses"),
        ("tell-from-handle", "tell_on_appendable_file", "handle"),
        ("far-below-a-file-is-not-found", "far_below_a_file", "not-found"),
        ("late-visibility", "visibility", "flush"),
        ("coarse-mtime", "mtime_granularity_ns", 10**9),
        ("no-mtime", "mtime_granularity_ns", 0),
    ],
)
def test_what_a_plugin_chose_is_found_out(tmp_path: Path, choice: str, name: str, value: str | int) -> None:
    found = tomllib.loads(probed(tmp_path, "posix_choices", f"--env=TFFS_CHOICES={choice}"))
    assert (found["claims"] | found["limits"])[name] == value


@pytest.mark.parametrize(
    ("fault", "unknown", "known"),
    [
        ("crash:new_appendable_file", "append", "visibility"),
        ("hang:rename_file", "rename_directories", "is_directory_on_file"),
        ("throw:copy_file", "copy_onto_directory", "append"),
        ("exit:stat", "mtime_granularity_ns", "append"),
    ],
)
def test_a_dying_plugin_is_asked_the_next_question(tmp_path: Path, fault: str, unknown: str, known: str) -> None:
    # What hangs costs that time, and nothing else may need it.
    text = probed(tmp_path, "fakes/faulty", f"--env=TFFS_FAULT={fault}", "--call-timeout=3")
    found = tomllib.loads(text)
    assert unknown not in found["claims"] | found["limits"]
    assert f"\n# {unknown} =\n" in text
    assert known in found["claims"]
    assert UNKNOWN in text
    assert fault.partition(":")[2] in text


@pytest.mark.parametrize("fault", ["crash:init", "crash:create_dir", "crash:new_writable_file"])
def test_where_nothing_works_everything_is_unknown(tmp_path: Path, fault: str) -> None:
    dead = fault == "crash:init"
    text = probed(tmp_path, "fakes/faulty", f"--env=TFFS_FAULT={fault}", code=1 if dead else 0)
    assert text.count(UNKNOWN) >= 8
    assert "append = " not in text.partition("[claims]")[2].replace("# append =", "")


@pytest.mark.parametrize(
    ("plugin", "fault", "why"),
    [("null", "", "is not there"), ("faulty", "unimplemented:create_dir", "answers UNIMPLEMENTED")],
)
def test_where_no_directory_can_be_made_everything_is_unknown(
    tmp_path: Path, plugin: str, fault: str, why: str
) -> None:
    text = probed(tmp_path, f"fakes/{plugin}", f"--env=TFFS_FAULT={fault}", both=True)
    assert text.count(f"{UNKNOWN}: create_dir {why}") >= 8
    assert plugin == "faulty" or text.count(f"{UNKNOWN}: create_dir {why}") == text.count(UNKNOWN)
    assert "left behind" not in text


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    assert "no such file" in probed(tmp_path, "./no-such.so", code=2)
    assert "NAME=VALUE" in probed(tmp_path, "posix", "--env=NAME", code=2)
    assert "--scheme=other" in probed(tmp_path, "posix", "--scheme=other", code=2)
    for seconds in ("-3", "0", "nan", "inf"):
        assert "--call-timeout must be" in probed(tmp_path, "posix", f"--call-timeout={seconds}", code=2)
    (tmp_path / "plain.so").write_text("not a shared object")
    assert "is no shared object" in probed(tmp_path, "./plain.so", code=2)
    (tmp_path / "short.so").write_bytes(b"\x7fELF, and no more of a shared object")
    assert "registered no scheme" in probed(tmp_path, "./short.so", code=1)


def test_secrets_are_taken_from_the_environment(tmp_path: Path) -> None:
    text = probed(tmp_path, "posix", "--env=MINE_TOKEN=abcdef", '--env=MINE_URL=http://x/"y"', "--root=posix:///tmp/r")
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
