"""The rooms: how many lines each may have, and what each reference plugin may include of another one."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

CLONE = Path(__file__).parents[1]
PLUGINS = CLONE / "reference_plugins"
#: Lines of Python and C++ that each folder may have.
BUDGETS: dict[str, int] = tomllib.loads((CLONE / "pyproject.toml").read_text())["tool"]["tffs"]["line-budgets"]
LANGUAGES = {".py", ".cc", ".h", ".c"}
#: So many lines may a folder stay below its budget. A commit that deletes more lowers the budget.
MAX_UNUSED_LINES = 200
#: What each room may include in quotes besides its own files, by the folder in front of the name.
MAY = {
    "objectstore": {"support", "posix"},
    "dragonfly": {"dragonfly", "objectstore", "support", "unit"},
    "objectstore_minimal": {"support"},
}
#: In quotes, but of no room.
HEADERS = {"tf_filesystem_plugin.h"}


def lines(folder: str) -> int:
    """The lines of Python and C++ in a folder, without those of folders that have a budget of their own."""
    others = [CLONE / other for other in BUDGETS if other.startswith(f"{folder}/")]
    files = (path for path in (CLONE / folder).rglob("*") if path.suffix in LANGUAGES and not path.is_symlink())
    return sum(path.read_bytes().count(b"\n") for path in files if not any(map(path.is_relative_to, others)))


@pytest.mark.parametrize("folder", BUDGETS)
def test_folder_stays_within_its_line_budget(folder: str) -> None:
    has, may = lines(folder), BUDGETS[folder]
    assert has <= may, (
        f"{folder} has {has} lines, {has - may} more than pyproject.toml allows. Delete what no reader would miss, or "
        "raise the budget, with the reason in the message of the same commit."
    )
    assert may - has <= MAX_UNUSED_LINES, f"{folder} has {has} lines of {may}: lower its budget in pyproject.toml"


def test_each_folder_of_sources_has_a_line_budget() -> None:
    rooms = {path.name for path in CLONE.iterdir() if path.is_dir() and not path.name.startswith(".")}
    with_sources = {room for room in rooms - {"build", "ci-artifacts"} if lines(room)}
    missing = with_sources - {budget.partition("/")[0] for budget in BUDGETS}
    assert not missing, f"give these folders a line in [tool.tffs.line-budgets] of pyproject.toml: {missing}"


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


@pytest.mark.parametrize(
    ("room", "others"),
    [
        ("objectstore", []),
        ("dragonfly", []),
        # How it finds libcurl.
        ("objectstore_minimal", ["http_bucket.cc includes objectstore/curl.h"]),
    ],
)
def test_a_room_includes_what_it_stands_on(room: str, others: list[str]) -> None:
    assert list(strangers(room, PLUGINS / room)) == others, "move what both need to support, or allow it in MAY"


def test_objectstore_says_nothing_of_dragonfly() -> None:
    files = [path for path in (PLUGINS / "objectstore").rglob("*") if path.suffix in {".cc", ".h"}]
    assert len(files) > 80
    said = re.compile("dragonfly|dfdaemon|p2p", re.IGNORECASE)
    assert [path.name for path in files if said.search(path.read_text(encoding="utf-8"))] == []
