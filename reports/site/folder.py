"""The folder that a site is written to. What is there already is touched only where an earlier site put it."""

import contextlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from ..escape import printable
from .releases import NoSiteError

#: Names the files of a site, one a line.
MARKER = ".tffs-conformance-site"


def claim(folder: Path) -> None:
    """Make the folder, and remove what an earlier site put there.

    A folder that is not empty and not a site is refused, before anything is touched. Raises NoSiteError or OSError.
    """
    marker = folder / MARKER
    if folder.exists() and not folder.is_dir():
        raise NoSiteError(f"{printable(str(folder))} is no folder")
    if folder.is_dir() and any(folder.iterdir()) and not (marker.is_file() and not marker.is_symlink()):
        made_by = "'tffs-conformance published site'"
        raise NoSiteError(f"{printable(str(folder))} is not empty, and no site that {made_by} made")
    folder.mkdir(parents=True, exist_ok=True)
    if marker.exists():
        for name in marker.read_text(encoding="utf-8", errors="replace").splitlines():
            if _inside(folder, name):
                (folder / name).unlink(missing_ok=True)
                _remove_if_empty(folder, name)


def _remove_if_empty(folder: Path, name: str) -> None:
    """The folders that a file was in, as long as nothing else is in them."""
    with contextlib.suppress(OSError):
        for parent in PurePosixPath(name).parents[:-1]:
            (folder / parent).rmdir()


def write(folder: Path, pages: Iterable[tuple[str, bytes]]) -> int:
    """Write files, by their paths in the folder; how many. Raises NoSiteError or OSError."""
    count = 0
    # The marker comes first: a site that was interrupted is one still.
    with (folder / MARKER).open("w", encoding="utf-8") as marker:
        for name, content in pages:
            if not _inside(folder, name):
                raise NoSiteError(f"{printable(name)} would not be in {printable(str(folder))}: a link leads elsewhere")
            marker.write(f"{name}\n")
            marker.flush()
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            count += 1
    return count


def _inside(folder: Path, name: str) -> bool:
    """Whether a file of this name lies in the folder, whatever links there are on the way."""
    parts = PurePosixPath(name)
    if not name or parts.is_absolute() or ".." in parts.parts:
        return False
    path = folder / name
    return not path.is_symlink() and path.parent.resolve() == folder.resolve().joinpath(*parts.parts[:-1])
