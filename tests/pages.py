"""The documents as tests see them: the commands and files of a page, its links, and its anchors."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

PROJECT = Path(__file__).parent.parent

#: The words behind `console` or `sh` that keep a block from being run here, and why.
NOT_RUN = {
    "installs": "installs packages",
    "services": "needs docker and the images of the services",
    "minutes": "takes minutes",
    "docker": "needs docker, and minutes",
    "cluster": "needs a scheduler of Dask and a store that many machines reach",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a page, and the lines that the page shows of its output: none, where it shows none."""

    text: str
    output: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `line` is where it begins in its page, from 1.

    `file` is the name under which its text is saved (` ```toml file=mine.toml `). `not_run` says why its commands are
    not run.
    """

    line: int
    text: str
    commands: tuple[Command, ...] = ()
    file: str | None = None
    not_run: str | None = None


def pages() -> list[Path]:
    """All documents: those of the root, of `docs/`, and the one beside the published reports."""
    return [*sorted(PROJECT.glob("*.md")), *sorted(PROJECT.glob("docs/*.md")), PROJECT / "reports/published/README.md"]


def name(page: Path) -> str:
    return str(page.relative_to(PROJECT))


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that are to be run or saved, from top to bottom."""
    return [block for block in map(_block, _tokens(page)) if block]


def _block(token: Token) -> Block | None:
    if token.map is None:
        return None
    if token.type == "html_block" and (hidden := re.search(r"^<!-- \$ (.*) -->$", token.content, re.MULTILINE)):
        # What a reader has already, such as a plugin, and a test has to make.
        return Block(token.map[0] + 1, token.content, (Command(hidden[1]),))
    if token.type != "fence":
        return None
    kind, *words = token.info.split() or [""]
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    if kind in ("console", "sh"):
        commands = _console(token.content) if kind == "console" else [Command(token.content.strip())]
        reasons = [NOT_RUN[word] for word in words]
        return Block(token.map[0] + 1, token.content, tuple(commands), not_run=reasons[0] if reasons else None)
    if "file" in settings:
        return Block(token.map[0] + 1, token.content, file=settings["file"])
    return None


def _console(text: str) -> Iterator[Command]:
    """`$ ` begins a command, which goes on behind a backslash at the end of a line; the rest is its output."""
    lines = iter(text.splitlines())
    command = ""
    output: list[str] = []
    for line in lines:
        if not line.startswith("$ "):
            output.append(line)
            continue
        if command:
            yield Command(command, tuple(output))
        command, output = line.removeprefix("$ "), []
        while command.endswith("\\"):
            command += "\n" + next(lines)
    yield Command(command, tuple(output))


def fits(shown: tuple[str, ...], got: str) -> bool:
    """Whether an output is the one that is shown: `…` stands for any text in a line, and alone for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else ".*".join(map(re.escape, re.split(" ?…", line.rstrip()))) + r" *\n"
        for line in shown
    )
    return re.fullmatch(pattern, got if got.endswith("\n") else got + "\n") is not None


def links(page: Path) -> list[str]:
    """Where the links and pictures of a page lead."""
    inline = [child for token in _tokens(page) for child in token.children or []]
    return [str(token.attrs[key]) for token in inline for key in ("href", "src") if key in token.attrs]


def prose(page: Path) -> Iterator[str]:
    """The texts of a page, without its code."""
    for token in _tokens(page):
        yield from (child.content for child in token.children or [] if child.type == "text")


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a link into the repository leads to a file, and its fragment to a heading. Others are not looked at."""
    if re.match(r"[a-z]+:", link):
        return True
    path, _, anchor = link.partition("#")
    target = (page.parent / unquote(path)).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def anchors(page: Path) -> set[str]:
    """The fragments that the headings of a page have on GitHub."""
    tokens = _tokens(page)
    headings = [tokens[k + 1].content for k, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
