"""The C++ programs that a run left beside its report: each does what broke a clause, without the suite."""

import re
from pathlib import Path

#: The folder of the traces, beside the report.
_TRACES = "traces"
#: How the reason of a case names its program: a path, of which only the name of the file counts.
_NAMED = re.compile(r"; program [^;]*?([a-z0-9-]+\.cc)(?:;|$)")
#: A program that we write has a tenth of this.
_LONGEST = 200_000


def program(reason: str | None, directory: Path) -> tuple[str, str] | None:
    """The path below `directory` and the text of the program that the reason of a case names, if it is there.

    Nothing outside `directory` is read, whatever a report says: no path of the report is followed, and no link.
    """
    named = _NAMED.search(reason or "")
    if named is None:
        return None
    path = directory / _TRACES / named[1]
    try:
        inside = path.resolve().parent == directory.resolve() / _TRACES
        if not inside or not path.is_file() or path.stat().st_size > _LONGEST:
            return None
        return f"{_TRACES}/{named[1]}", path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
