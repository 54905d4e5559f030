"""What people wrote: the guides of a clone of the suite, in the order of their index, and where their links lead."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .page import Chapter

_INDEX = "docs/README.md"
#: Further pages of a clone, by the caption that they stand under.
_FURTHER = {
    "Reference plugins": ("reference_plugins/*/*.md", "third_party/README.md"),
    "More about published reports": ("reports/published/*.md",),
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
    chapters = [*_of_the_index(folder), *_further(folder)]
    pages = tuple(name for chapter in chapters for name in chapter.pages)
    without_suffix = [Chapter(tuple(name.removesuffix(".md") for name in one.pages), one.caption) for one in chapters]
    return Guides(folder, pages, tuple(without_suffix))


def _of_the_index(folder: Path) -> Iterator[Chapter]:
    """A chapter for each list of the index; what stands before a list is its caption."""
    first: tuple[str, ...] = ("README.md", _INDEX)
    for part in re.split(r"^(?=\S.*:$)", (folder / _INDEX).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        names = (posixpath.normpath(posixpath.join("docs", link)) for link in _LINK.findall(part))
        yield Chapter((*first, *names), part.partition(":")[0])
        first = ()


def _further(folder: Path) -> Iterator[Chapter]:
    for caption, patterns in _FURTHER.items():
        paths = (path for pattern in patterns for path in sorted(folder.glob(pattern)))
        names = tuple(str(path.relative_to(folder)) for path in paths)
        if names := tuple(name for name in names if name != _OVERVIEW):
            yield Chapter(names, caption)
