"""The book that Sphinx makes of the pages and the guides: contents, search, a light and a dark side, sure links."""

import base64
import hashlib
import io
import posixpath
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from . import parser
from .guides import Guides
from .notes import Leads
from .page import Page

_HERE = Path(__file__).parent
#: What Sphinx writes for itself.
_ITS_OWN = {".buildinfo", "objects.inv"}
#: Syntax of MyST that is none on GitHub, where the guides are read as well, and footnotes, which look like links there.
_NO_SYNTAX = [
    "footnote_def", "footnote_inline", "footnote_ref", "myst_block_break", "myst_line_comment", "myst_role",
    "myst_target",
]  # fmt: skip
#: The theme leaves a reader of the screen with two landmarks of one name, and what scrolls out of the keyboard's reach.
_MENDED = {
    b'<aside class="sidebar-drawer">': b'<aside class="sidebar-drawer" aria-label="Contents of the site">',
    b'<aside class="toc-drawer': b'<aside aria-label="Contents of the page" class="toc-drawer',
    b"<pre>": b'<pre tabindex="0">',
    b'<div class="table-wrapper ': b'<div tabindex="0" role="group" aria-label="Table" class="table-wrapper ',
}
#: A page that is opened without a server has no 'self'.
_POLICY = "; ".join([
    "default-src 'none'", "script-src 'self' file: 'sha256-SCRIPT'", "style-src 'self' file: 'unsafe-inline'",
    "img-src 'self' file: data:", "connect-src 'self' file:", "base-uri 'none'", "form-action 'self' file:",
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cover:
    """What stands on every page: the name of the book, and the versions of what it describes. `url` is where it is."""

    title: str
    suite: str
    contract: str
    url: str | None = None


def bound(pages: Iterable[Page], guides: Guides | None, leads: Leads, cover: Cover) -> tuple[dict[str, bytes], str]:
    """The files of the book, by their paths, and what Sphinx complained about, which is nothing for good guides.

    `leads` says where a link in a guide leads from the folder of the guides where it leads to none of them.
    """
    with tempfile.TemporaryDirectory() as temporary:
        source, out = Path(temporary, "source"), Path(temporary, "out")
        contents, wide = {}, []
        for page in pages:
            contents[page.name] = page.contents
            wide += [page.name] if page.is_wide else []
            _put(source / f"{page.name}.html", page.text)
        if guides is not None:
            for name in guides.pages:
                _put(source / name, (guides.folder / name).read_text(encoding="utf-8"))
            shutil.copytree(guides.folder / "docs" / "images", source / "docs" / "images", dirs_exist_ok=True)
        said = io.StringIO()
        settings = {**_settings(cover), "page_contents": contents, "wide_pages": wide}
        with patch_docutils(source), docutils_namespace():
            book = Sphinx(source, None, out, Path(temporary, "trees"), "html", settings, status=None, warning=said)
            if guides is not None:
                book.connect("doctree-read", partial(_led_elsewhere, guides, leads))
            book.build()
        return dict(_files(out)), said.getvalue()


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _settings(cover: Cover) -> dict[str, Any]:
    return {
        "extensions": ["myst_parser", parser.__name__],
        "project": cover.title,
        "html_title": cover.title,
        "html_baseurl": cover.url or "",
        "html_context": {"cover": cover},
        "html_theme": "furo",
        "html_theme_options": {"top_of_page_buttons": []},
        "html_sidebars": {
            "**": ["sidebar/brand.html", "versions.html", "sidebar/search.html", "sidebar/navigation.html"]
        },
        "html_static_path": [str(_HERE / "theme" / "static")],
        "templates_path": [str(_HERE / "theme")],
        "html_favicon": str(_HERE / "theme" / "static" / "favicon.svg"),
        "html_css_files": ["site.css"],
        "html_search_scorer": str(_HERE / "theme" / "scorer.js"),
        "html_copy_source": False,
        "html_show_copyright": False,
        "html_use_index": False,
        "highlight_language": "none",
        "smartquotes": False,
        "myst_disable_syntax": _NO_SYNTAX,
        "myst_heading_anchors": 4,
    }


def _led_elsewhere(guides: Guides, leads: Leads, book: Sphinx, document: nodes.document) -> None:
    """Links of a guide to files that are no pages lead to where `leads` says, or are their text alone."""
    for node in list(document.findall(pending_xref)):
        if node["reftype"] != "myst" or node["refdomain"] == "doc":
            continue
        path, _, fragment = unquote(node["reftarget"]).partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(node["refdoc"]), path))
        if not (guides.folder / path).exists():
            continue
        if to := leads(path):
            up = "" if "//" in to else "../" * node["refdoc"].count("/")
            uri = f"{up}{to}{fragment and '#'}{fragment}"
            node.replace_self(nodes.reference("", "", *node.children, internal=False, refuri=uri))
        else:
            node.replace_self(node.children)


def _files(out: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(out.rglob("*")):
        if path.is_file() and path.name not in _ITS_OWN:
            content = path.read_bytes()
            if path.suffix == ".html":
                content = _mended(content)
            yield str(path.relative_to(out)), content


def _mended(page: bytes) -> bytes:
    """A page with what the theme leaves out, and a policy: nothing runs or is loaded but what lies beside it."""
    for theirs, ours in _MENDED.items():
        page = page.replace(theirs, ours)
    # It sets the side, light or dark, and stands before all that somebody else wrote.
    script = page.partition(b"<body>")[2].partition(b"<script>")[2].partition(b"</script>")[0]
    policy = _POLICY.replace("SCRIPT", base64.b64encode(hashlib.sha256(script).digest()).decode())
    head = f'<head>\n    <meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace(b"<head>", head.encode(), 1)
