"""Names as people write them: patterns for the ids of clauses and cases, and what an unknown name may have meant."""

import difflib
import fnmatch
import re
from collections.abc import Iterable


def fits(pattern: str, name: str) -> bool:
    """Whether a pattern fits an id. `*` and `?` stand for others, all else for itself: ids of cases have brackets."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def nearest(given: str, names: Iterable[str], *, groups: bool = False) -> str:
    """The end of a sentence about an unknown name: what may have been meant, with `groups` such as `read.*`, too."""
    known = dict.fromkeys(names)
    if groups:
        known |= dict.fromkeys(re.sub(r"[./].*", lambda found: f"{found[0][0]}*", name) for name in known)
    near = difflib.get_close_matches(given.strip("*?"), known, n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
