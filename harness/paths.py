"""Names as core treats them: URIs, their parts, and the default of translate_name.

The rules are those of TensorFlow's path.cc and of ModularFileSystem::TranslateName.
"""

import posixpath
import re
from typing import NamedTuple

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.]*)://")


class Uri(NamedTuple):
    """The parts of a name. A name without a scheme is all path."""

    scheme: str
    host: str
    path: str

    @property
    def prefix(self) -> str:
        """What stands before the path: `scheme://host`, or nothing."""
        return f"{self.scheme}://{self.host}" if self.scheme else ""


def parse(name: str) -> Uri:
    """Split a name into scheme, host and path; the host ends at the first slash behind the scheme."""
    match = _SCHEME.match(name)
    if match is None:
        return Uri("", "", name)
    rest = name[match.end() :]
    host, slash, path = rest.partition("/")
    return Uri(match[1], host, slash + path)


def clean(path: str) -> str:
    """Collapse slashes, drop `.`, resolve `..` by the letters, drop one trailing slash; the empty path becomes `.`."""
    normal = posixpath.normpath(path)
    # POSIX gives exactly two leading slashes a meaning of their own; core does not.
    return normal[1:] if normal.startswith("//") else normal


def translate(name: str) -> str:
    """Core's own translation, used where translate_name is NULL: scheme and host are dropped, the path is cleaned."""
    if not name:
        return ""
    return clean(parse(name).path or "/")


def join(directory: str, *names: str) -> str:
    """`directory` and `names`, with a slash between them where there is none yet."""
    for name in names:
        directory += name if directory.endswith("/") else "/" + name
    return directory


def dirname(name: str) -> str:
    """The URI of the directory that holds `name`; of a root: itself."""
    uri = parse(name)
    head = posixpath.dirname(uri.path.rstrip("/"))
    return uri.prefix + (head if head or not uri.scheme else "/")


def basename(name: str) -> str:
    """What stands behind the last slash of the path."""
    return posixpath.basename(parse(name).path)


def components(path: str) -> list[str]:
    """The names a path consists of."""
    return [name for name in clean(path).split("/") if name not in ("", ".")]
