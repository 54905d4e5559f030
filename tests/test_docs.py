"""The documents: every command that a page shows is run and answers as shown, and every link leads somewhere.

The commands of a page run in one shell, in an empty directory, from top to bottom, between the files that the page
shows; tests/transcript.py has the rules.
"""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import record_run, transcript
from tests.pages import Block, Command, blocks, fits, leads_somewhere, links, name, pages

#: tests/fresh_machine.py runs the first for each change, the second at night; the third takes a whole run.
AT_NIGHT = {"docs/plugin-authors.md", "docs/author-guide-mend.md", "docs/site.md"}
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
TRIES = {"docs/costs.md": 3}


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


def test_the_picture_shows_a_real_run() -> None:
    spans = re.findall(r"<text[^>]*>([^<]*)</text>", record_run.PICTURE.read_text(encoding="utf-8"))
    title, *shown = map(html.unescape, spans)
    assert title == "tffs-conformance"
    printed = re.sub(r"\x1b\[[0-9;]*m", "", f"$ {' '.join(record_run.COMMAND)}{record_run.run()}")
    assert _without_times("".join(shown)) == _without_times(printed)


def _without_times(text: str) -> str:
    return re.sub(r"in[\d.]+s", "", re.sub(r"\s", "", text))


def test_every_page_is_in_the_index() -> None:
    index = next(page for page in pages() if name(page) == "docs/README.md")
    listed = {(index.parent / link).resolve() for link in links(index) if link.endswith(".md")}
    assert [name(page) for page in index.parent.glob("*.md") if page != index and page not in listed] == []


@pytest.mark.parametrize(
    ("shown", "got", "same"),
    [
        (["a", "b"], "a\nb\n", True),
        (["a", "b"], "a\n\nb\n", False),
        (["a", "…", "b"], "a\nx\ny\nb\n", True),
        (["a", "…"], "b\n", False),
        (["3 cases in … s"], "3 cases in 0.12 s\n", True),
        (["3 cases in … s"], "4 cases in 0.12 s\n", False),
    ],
)
def test_an_output_is_compared(shown: list[str], got: str, same: bool) -> None:
    assert fits(tuple(shown), got) is same


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    links_of_all_kinds = "[a](#a-heading-with-a-comma) [b](#nowhere) [c](gone.md) ![d](page.md)"
    page.write_text(f"# A heading, with a comma\n{links_of_all_kinds}\n")
    assert [link for link in links(page) if not leads_somewhere(page, link)] == ["#nowhere", "gone.md"]


@pytest.mark.parametrize(
    ("shown", "code", "asked", "wrong"),
    [
        (["a"], 0, False, ""),
        ([], 1, False, "$ try\na\n\nexit code 1"),
        (["a"], 1, True, ""),
        (["b"], 1, True, "$ try\nthe page shows\nb\nit printed\na\n"),
    ],
)
def test_a_command_that_failed_is_found(shown: list[str], code: int, asked: bool, wrong: str) -> None:
    commands = [Command("try", tuple(shown)), *([Command("echo $?", (str(code),))] if asked else [])]
    printed = f"a\n\n\x01{code} 1.5\n" + (f"{code}\n\n\x010 1.6\n" if asked else "")
    assert transcript.difference(transcript.read(printed, commands)) == wrong


def test_a_shell_that_ended_early_is_found() -> None:
    with pytest.raises(ValueError, match="no such command"):
        transcript.read("no such command\n", [Command("try")])
