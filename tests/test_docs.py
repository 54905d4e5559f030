"""The documents: every command that a page shows is run and answers as shown, and every link leads somewhere.

The commands of a page run in one shell, in an empty directory, from top to bottom, between the files that the page
shows. A command succeeds, unless the page asks `echo $?` right behind it.
"""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import record_run
from tests.pages import Block, Command, blocks, fits, leads_somewhere, links, name, pages

RUN = [page for page in pages() if any(block.commands and not block.not_run for block in blocks(page))]
LEFT_OUT = [(page, block) for page in pages() for block in blocks(page) if block.not_run]
MARK = "\x01"


def environment() -> dict[str, str]:
    """A person's own: the installed package's commands first, and nothing of the pytest that runs this test."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV_"))}
    commands = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # The order of cases is ours to show, whatever plugins are installed beside; so is the width.
    return kept | {"PATH": commands, "COLUMNS": "100", "PYTEST_ADDOPTS": "-p no:randomly -p no:cacheprovider"}


def script(page: list[Block], directory: Path) -> tuple[str, list[Command]]:
    """What the shell is given: each command, a mark with its exit code, and then that exit code again for `$?`."""
    lines, commands = [], []
    for number, block in enumerate(page):
        if block.file is not None:
            source = directory / f"block-{number}"
            source.write_text(block.text, encoding="utf-8")
            lines.append(f"mkdir -p $(dirname {block.file}) && cp {source} {block.file}")
        elif block.not_run is None:
            for command in block.commands:
                lines += [command.text, f"set -- $?; printf '\\n{MARK}%d\\n' $1; (exit $1)"]
                commands.append(command)
    return "\n".join(lines), commands


@pytest.mark.long
@pytest.mark.parametrize("page", RUN, ids=name)
def test_commands_of(page: Path, tmp_path: Path) -> None:
    empty, files = tmp_path / "empty", tmp_path / "files"
    empty.mkdir()
    files.mkdir()
    text, commands = script(blocks(page), files)
    ran = subprocess.run(
        ["bash", "-c", text], cwd=empty, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=900, check=False,
    )  # fmt: skip
    got = ran.stdout.split(f"\n{MARK}")
    assert len(got) == len(commands) + 1, ran.stdout
    codes = [int(piece.split("\n", 1)[0]) for piece in got[1:]]
    outputs = [got[0], *(piece.partition("\n")[2] for piece in got[1:])]
    for k, command in enumerate(commands):
        is_asked = k + 1 < len(commands) and commands[k + 1].text == "echo $?"
        assert codes[k] == 0 or is_asked, f"$ {command.text}\n{outputs[k]}\nexit code {codes[k]}"
        if command.output and not fits(command.output, outputs[k]):
            shown = "\n".join(command.output)
            pytest.fail(f"$ {command.text}\nthe page shows\n{shown}\nit printed\n{outputs[k]}", pytrace=False)


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
