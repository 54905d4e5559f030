"""URIs and paths as TensorFlow's core treats them, and core's default for translate_name.

Source: TensorFlow's path.cc and ModularFileSystem::TranslateName.
"""

import posixpath
import re
from typing import NamedTuple

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.]*)://")


class Uri(NamedTuple):
    """The parts of a URI: `mine://bucket/a` has the scheme `mine`, the host `bucket` and the path `/a`.

    A name without a scheme is all path.
    """

    scheme: str
    host: str
    path: str

    @property
    def prefix(self) -> str:
        """`scheme://host`, or the empty text where there is no scheme."""
        return f"{self.scheme}://{self.host}" if self.scheme else ""


def parse(name: str) -> Uri:
    """Split a name into scheme, host and path. The host ends at the first slash after `://`."""
    match = _SCHEME.match(name)
    if match is None:
        return Uri("", "", name)
    rest = name[match.end() :]
    host, slash, path = rest.partition("/")
    return Uri(match[1], host, slash + path)


def clean(path: str) -> str:
    """Clean a path as core's CleanPath does: `/a//./b/../c/` becomes `/a/c`, and the empty path becomes `.`.

    `..` is resolved in the text alone; no file is looked at.
    """
    normal = posixpath.normpath(path)
    # normpath keeps exactly two leading slashes, as POSIX allows. Core makes them one.
    return normal[1:] if normal.startswith("//") else normal


def translate(name: str) -> str:
    """What core does where translate_name is NULL: `mine://bucket/a//b` becomes `/a/b`."""
    if not name:
        return ""
    return clean(parse(name).path or "/")


def join(directory: str, *names: str) -> str:
    """Join a directory and names with single slashes: `mine://bucket/`, `a`, `b` give `mine://bucket/a/b`."""
    for name in names:
        directory += name if directory.endswith("/") else "/" + name
    return directory


def dirname(name: str) -> str:
    """The URI of the directory that holds `name`. A root is its own directory."""
    uri = parse(name)
    head = posixpath.dirname(uri.path.rstrip("/"))
    return uri.prefix + (head if head or not uri.scheme else "/")


def basename(name: str) -> str:
    """The text after the last slash of the path: `c` of `mine://bucket/a/c`, empty where the path ends with a slash."""
    return posixpath.basename(parse(name).path)


def components(path: str) -> list[str]:
    """The names in a path: `a` and `b` of `/a//b/`."""
    return [name for name in clean(path).split("/") if name not in ("", ".")]
