"""Pages in HTML as Sphinx reads them: headings become sections, in contents and search, and the rest stays as it is."""

import html
import re
from collections.abc import Iterator

from docutils import nodes
from docutils.parsers import Parser
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from .page import Chapter

_HEADING = re.compile(r'^<h([1-4])(?: id="([^"]*)")?>(.*)</h\1>$', re.MULTILINE)


class PageParser(Parser):
    """Reads what `pages.py` wrote. The setting `page_contents` has the chapters of each page, by its name."""

    supported = ("html",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Fill the document with the sections of a page."""
        self.setup_parse(inputstring, document)
        book: BuildEnvironment = document.settings.env
        within: list[nodes.Element] = [document]
        for level, name, title, text in _sections(inputstring):
            section = nodes.section(ids=[name])
            section += nodes.title("", title)
            section += nodes.raw("", text, format="html")
            del within[level:]
            within[-1] += section
            within.append(section)
        if book.docname in book.config.wide_pages:
            book.metadata[book.docname]["hide-toc"] = ""
        if book.docname.count("/") > 2:
            book.metadata[book.docname]["nosearch"] = ""  # an older release of a plugin
        for chapter in book.config.page_contents.get(book.docname, ()):
            within[1] += _toctree(book.docname, chapter)
        self.finish_parse()


def setup(book: Sphinx) -> dict[str, bool]:
    """What Sphinx asks of an extension."""
    book.add_config_value("page_contents", {}, "env")
    book.add_config_value("wide_pages", [], "env")
    book.add_source_suffix(".html", "html")
    book.add_source_parser(PageParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _sections(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Level, id, title and text of each section."""
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for number, (heading, end) in enumerate(zip(headings, ends, strict=True)):
        title = html.unescape(re.sub("<[^>]+>", "", heading[3]))
        yield int(heading[1]), html.unescape(heading[2] or f"section-{number}"), title, text[heading.end() : end]


def _toctree(page: str, chapter: Chapter) -> nodes.Element:
    """What the directive `toctree` makes: the pages stand in the contents, and not on the page."""
    return addnodes.toctree(
        parent=page,
        entries=[(None, name) for name in chapter.pages],
        includefiles=list(chapter.pages),
        maxdepth=1,
        caption=chapter.caption,
        rawcaption=chapter.caption,
        glob=False,
        hidden=True,
        includehidden=False,
        numbered=0,
        titlesonly=True,
    )
