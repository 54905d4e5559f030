"""The whole site: pages of the reports and guides bound into a book, and what stands beside it."""

import posixpath
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from . import guides
from .book import Cover, bound
from .pages import Site, files, pages


def made(site: Site, published: Path, suite: str, contract: str) -> tuple[Iterator[tuple[str, bytes]], str]:
    """The files of the site by their paths, and what is wrong in the guides: nothing, or a line for each complaint.

    `published` is the folder of the reports, `suite` and `contract` are the versions that the site shows. Raises
    OSError.
    """
    shown = guides.found(published)
    text = pages(site, shown.chapters if shown else ())

    def leads(path: str) -> str | None:
        """Where a file of the clone leads: links of the guides are relative to it."""
        return site.leads(posixpath.relpath(path, "reports/published"))

    book, complaints = bound(text, shown, leads, Cover("TensorFlow filesystem plugins", suite, contract, site.url))
    return chain(book.items(), files(site)), complaints
