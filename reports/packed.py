"""Reports packed with gzip, a fifteenth as long: published ones are. What reads a report reads both."""

import gzip
import zlib
from io import BytesIO
from pathlib import Path

from .errors import NotAReportError, TruncatedReportError

#: So many bytes are unpacked at most: a short file can hold very many.
_MOST = 1 << 28


def packed(text: str) -> bytes:
    """A text packed; the same text gives the same bytes."""
    return gzip.compress(text.encode("utf-8"), mtime=0)


def contents(path: Path) -> bytes:
    """The bytes of a report, unpacked where its file is packed. Raises a ReportError or OSError."""
    raw = path.read_bytes()
    if path.suffix != ".gz":
        return raw
    try:
        with gzip.open(BytesIO(raw)) as file:
            unpacked = file.read(_MOST + 1)
    except EOFError:
        raise TruncatedReportError(path, "the packed report breaks off") from None
    except (OSError, zlib.error):
        raise NotAReportError(path, "this is not a report: it cannot be unpacked") from None
    if len(unpacked) > _MOST:
        raise NotAReportError(path, f"this is not a report: unpacked it has more than {_MOST >> 20} MiB")
    return unpacked
