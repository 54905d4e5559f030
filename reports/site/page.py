"""A page of the site as it is handed to the book: its name, its text, and which pages it leads to in the contents."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chapter:
    """Pages that stand together in the contents, by their names. Without a caption they stand below their page."""

    pages: tuple[str, ...]
    caption: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page in HTML: `name` is its path without a suffix.

    Headings stand on a line each, as `<h1>…</h1>` and `<h2 id="…">…</h2>`. A page that is wide has no room for a
    list of them at its side.
    """

    name: str
    text: str
    contents: tuple[Chapter, ...] = ()
    is_wide: bool = False
