"""Files of our own: where they are cached, and how one is written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache() -> Path:
    """The folder of our caches. Raises RuntimeError where this user has no place for such."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tffs-conformance"


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its place at the end; where that is not reached, it is removed."""
    drafted = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        yield drafted
        drafted.replace(path)
    finally:
        drafted.unlink(missing_ok=True)
