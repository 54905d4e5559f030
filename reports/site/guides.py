"""What people wrote: the guides of a clone of the suite, in the order of their index, and where their links lead."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .page import Chapter

_INDEX = "docs/README.md"
#: Further pages of a clone, by the reader that the index names.
_FURTHER = {
    "For plugin authors": "reference_plugins/*/*.md",
    "For platform teams": "reports/published/*.md",
    "For contributors": "third_party/README.md",
}
#: The overview of the site is in its place.
_OVERVIEW = "reports/published/README.md"
_LINK = re.compile(r"\]\(([^)#:]+\.md)\)")


@dataclass(frozen=True, slots=True)
class Guides:
    """Pages in Markdown below a folder, by their paths in it, and the chapters that they make."""

    folder: Path
    pages: tuple[str, ...]
    chapters: tuple[Chapter, ...]


def found(published: Path) -> Guides | None:
    """The guides of the clone that a folder of published reports lies in; None where there is none. Raises OSError."""
    folder = published.resolve().parent.parent
    if not (folder / "tffs_conformance").is_dir() or not (folder / _INDEX).is_file():
        return None
    chapters = list(_of_the_index(folder))
    pages = tuple(name for chapter in chapters for name in chapter.pages)
    without_suffix = [Chapter(tuple(name.removesuffix(".md") for name in one.pages), one.caption) for one in chapters]
    return Guides(folder, pages, tuple(without_suffix))


def _of_the_index(folder: Path) -> Iterator[Chapter]:
    """A chapter for each list of the index, with further pages; what stands before a list is its caption."""
    first: tuple[str, ...] = ("README.md", _INDEX)
    for part in re.split(r"^(?=\S.*:$)", (folder / _INDEX).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        names = [posixpath.normpath(posixpath.join("docs", link)) for link in _LINK.findall(part)]
        caption = part.partition(":")[0]
        further = sorted(folder.glob(_FURTHER[caption])) if caption in _FURTHER else []
        names += [name for path in further if (name := str(path.relative_to(folder))) != _OVERVIEW]
        yield Chapter((*first, *names), caption)
        first = ()
