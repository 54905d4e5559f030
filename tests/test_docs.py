"""The documents: every command that a page shows is run and answers as shown, and every link leads somewhere.

The commands of a page run in one shell, in an empty directory, from top to bottom, between the files that the page
shows; tests/transcript.py has the rules.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import transcript
from tests.pages import Block, blocks, leads_somewhere, links, name, pages

#: tests/fresh_machine.py runs the first for each change, the second at night; the third takes a whole run.
AT_NIGHT = {"docs/start.md", "docs/site.md"}
RUN = [
    pytest.param(page, marks=pytest.mark.nightly) if name(page) in AT_NIGHT else page
    for page in pages()
    if any(block.commands and not block.not_run for block in blocks(page))
]
LEFT_OUT = [(page, block) for page in pages() for block in blocks(page) if block.not_run]


def environment() -> dict[str, str]:
    """A person's own: the installed package's commands first, and nothing of the pytest that runs this test."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV_", "GITHUB_"))}
    commands = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # The order of cases is ours to show, whatever plugins are installed beside; so is the width.
    return kept | {"PATH": commands, "COLUMNS": "100", "PYTEST_ADDOPTS": "-p no:randomly -p no:cacheprovider"}


#: Pages that show what was measured. On a machine that is busy beside a growth may not be seen, as the page says.
TRIES = {"docs/conditions.md": 3}


@pytest.mark.long
@pytest.mark.parametrize("page", RUN, ids=name)
def test_commands_of(page: Path, tmp_path: Path) -> None:
    for number in range(TRIES.get(name(page), 1)):
        wrong = performed(page, tmp_path / str(number))
        if not wrong:
            return
    pytest.fail(wrong, pytrace=False)


def performed(page: Path, folder: Path) -> str:
    """What differs from what the page shows when its commands are run in an empty folder; nothing where all is so."""
    empty, files = folder / "empty", folder / "files"
    empty.mkdir(parents=True)
    files.mkdir()
    text, commands = transcript.script(blocks(page), files)
    ran = subprocess.run(
        ["bash", "-c", text], cwd=empty, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=900, check=False,
    )  # fmt: skip
    return transcript.difference(transcript.read(ran.stdout, commands))


@pytest.mark.parametrize(("page", "block"), LEFT_OUT, ids=[f"{name(page)}:{block.line}" for page, block in LEFT_OUT])
def test_commands_left_out(page: Path, block: Block) -> None:
    # Counted, and named by `pytest -rx`. It is no skip: nothing that could be installed here would let it run.
    pytest.xfail(f"not run: {name(page)}:{block.line} {block.not_run}")


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_of(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def test_every_page_is_in_the_index() -> None:
    index = next(page for page in pages() if name(page) == "docs/README.md")
    listed = {(index.parent / link).resolve() for link in links(index) if link.endswith(".md")}
    assert [name(page) for page in index.parent.glob("*.md") if page != index and page not in listed] == []
