"""The arrows between rooms of reference plugins: dragonfly stands on objectstore, which knows nothing of it.

objectstore_minimal takes one file of objectstore, and stays small.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[1] / "reference_plugins"
#: What each room may include in quotes besides its own files, by the folder in front of the name.
MAY = {
    "objectstore": {"support", "posix"},
    "dragonfly": {"dragonfly", "objectstore", "support", "unit"},
    "objectstore_minimal": {"support"},
}
#: In quotes, but of no room.
HEADERS = {"tf_filesystem_plugin.h"}


def strangers(room: str, folder: Path) -> Iterator[str]:
    """`file includes header`, of each include of a file below `folder` that the room may not have."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in {".cc", ".h"}:
            continue
        for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
            at, _, name = header.rpartition("/")
            own = not at and any((place / name).is_file() for place in (path.parent, folder))
            if not own and at not in MAY[room] and header not in HEADERS:
                yield f"{path.relative_to(folder)} includes {header}"


def test_objectstore_includes_nothing_of_dragonfly() -> None:
    assert list(strangers("objectstore", PLUGINS / "objectstore")) == []


def test_dragonfly_includes_what_it_stands_on() -> None:
    assert list(strangers("dragonfly", PLUGINS / "dragonfly")) == []


def test_the_minimal_plugin_takes_of_the_large_one_how_it_finds_libcurl() -> None:
    room = "objectstore_minimal"
    assert list(strangers(room, PLUGINS / room)) == ["http_bucket.cc includes objectstore/curl.h"]


def test_the_minimal_plugin_is_read_in_an_hour() -> None:
    lengths = {
        path.name: len(path.read_text(encoding="utf-8").splitlines())
        for path in (PLUGINS / "objectstore_minimal").iterdir()
    }
    assert lengths.pop("README.md") < 60
    assert len(lengths) > 5
    assert sum(lengths.values()) < 1000


@pytest.mark.parametrize("header", ["dragonfly/config.h", "../dragonfly/config.h", "dragonfly.h", "../posix/files.h"])
def test_an_include_of_another_room_is_seen(tmp_path: Path, header: str) -> None:
    (tmp_path / "config.h").write_text("")
    (tmp_path / "s3.cc").write_text(f'#include "config.h"\n#include "support/paths.h"\n  # include "{header}"\n')
    assert list(strangers("objectstore", tmp_path)) == [f"s3.cc includes {header}"]


def test_what_is_to_be_read_in_an_afternoon() -> None:
    """The README says about how long it is, and it stays that long."""
    text = (PLUGINS / "objectstore" / "README.md").read_text(encoding="utf-8")
    section = text.partition("## An afternoon of reading")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*`) \| (\d+) \|", section, re.MULTILINE)
    files = [re.findall(r"`([^`]+)`", row) for row, _ in rows]
    lengths = [
        sum(len((PLUGINS / "objectstore" / name).read_text(encoding="utf-8").splitlines()) for name in names)
        for names in files
    ]
    assert [int(said) for _, said in rows] == pytest.approx(lengths, abs=20)
    assert 1400 < sum(lengths) < 1600


def test_objectstore_says_nothing_of_dragonfly() -> None:
    files = [path for path in (PLUGINS / "objectstore").rglob("*") if path.suffix in {".cc", ".h"}]
    assert len(files) > 80
    said = re.compile("dragonfly|dfdaemon|p2p", re.IGNORECASE)
    assert [path.name for path in files if said.search(path.read_text(encoding="utf-8"))] == []
