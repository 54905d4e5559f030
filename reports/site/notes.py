"""`reproduce.md` as a part of a page. Markup in it is text, and its links lead to pages of the site or to the web."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from ..escape import printable

#: A link into the repository as it stands in the notes, to where it leads from a page; None where it leads nowhere.
Leads = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes that were read: their first heading as plain text, and the rest."""

    title: str
    tokens: list[Token]


def read_notes(path: Path) -> Notes:
    """Read notes, whatever bytes they are. Raises OSError."""
    source = path.read_bytes().decode("utf-8", errors="replace").expandtabs()
    tokens = _MARKDOWN.parse("\n".join(map(printable, source.splitlines())))
    title = ""
    if len(tokens) >= 3 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title = "".join(child.content for child in tokens[1].children or [])
        tokens = tokens[3:]
    return Notes(title, tokens)


def rendered(notes: Notes, leads: Leads) -> Markup:
    """The markup of notes, for a section of a page: their headings are one level lower there."""
    tokens = [_lower(token) for token in notes.tokens]
    for token in tokens:
        if token.children:
            token.children = list(_links(token.children, leads))
    # What is wider than its place scrolls, and so has to be within reach of the keyboard.
    text = str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    text = text.replace("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>')
    return Markup(text.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">'))


def _lower(token: Token) -> Token:
    token = token.copy()
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
    return token


def _links(children: list[Token], leads: Leads) -> Iterator[Token]:
    """What stands in a line, with links that lead somewhere; of the others the text is left."""
    opened: list[bool] = []
    for child in children:
        if child.type == "link_open":
            written = str(child.attrs["href"])
            to = written if re.match(r"https?:", written) else leads(written)
            opened.append(to is not None)
            if to is not None:
                yield child.copy(attrs={"href": to})
        elif child.type != "link_close" or opened.pop():
            yield child


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
