"""What all pages share: the templates, and texts of plugins made safe to show.

A page is one file that needs nothing else: style and script stand in it, and its policy lets the browser take nothing
from a network and run nothing but that script. Every text that a template shows is escaped; no template has to ask.
"""

import base64
import hashlib
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_environment
from markupsafe import Markup, escape

from ..escape import printable
from ..plain import dumps
from .meanings import tone

#: So many characters of one text are shown; a report has them all.
LONGEST = 20_000
#: A longer name, or one with characters that nobody sees, has its digest as its address.
_LONGEST_ADDRESS = 200


def page(template: str, **values: Any) -> str:
    """The text of a page, which UTF-8 can hold whatever `values` say. The same values give the same text."""
    return _ENVIRONMENT.get_template(template).render(values)


def environment(package: str) -> Environment:
    """An environment for pages whose templates lie in another package."""
    return _ENVIRONMENT.overlay(loader=PackageLoader(package))


def shown(text: str) -> str:
    """A text on one line, with all that could steer a reader's eye or machine as escapes, and not endless."""
    return printable(_cut(text))


def shown_lines(text: str) -> Markup:
    """The same of a text of several lines, for <pre>."""
    return escape("\n".join(map(printable, _cut(text).split("\n"))))


def address(name: str) -> str:
    """What stands for a name of a clause or case in the address of its place on a page."""
    if len(name) <= _LONGEST_ADDRESS and printable(name) == name:
        return name
    return "sha256-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def query(text: str) -> str:
    """What finds a text, or its beginning, by the filter of a page: a value in an address."""
    return quote(shown(text)[:_LONGEST_ADDRESS], safe="")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… (cut: {len(text):,} characters)"


def _final(value: Any) -> Any:
    """What a template shows of a value; markup can only come from templates and from us."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else shown(value)


@pass_environment
def _source(environment: Environment, name: str) -> Markup:
    """A file beside the templates as it is: a style or a script."""
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])


def _allowed(source: str) -> str:
    """What lets a policy allow this style or script and no other."""
    if not source:
        return "'none'"
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


_ENVIRONMENT = Environment(
    loader=PackageLoader(__package__),
    autoescape=True,
    finalize=_final,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters |= {
    "lines": shown_lines,
    "address": address,
    "allowed": _allowed,
    "tone": tone,
    "json": dumps,
    "query": query,
}
_ENVIRONMENT.globals["source"] = _source
