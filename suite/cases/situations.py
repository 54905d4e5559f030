"""Sets up the situations of the status tables through the plugin."""

from ..contract import statuses
from ..engine.case import Case
from ..engine.setup import Tree

CONTENT = b"0123456789"

#: Other spellings of a path, which translate_name makes canonical. `{}` is the last name.
SPELLINGS = {
    "plain": "{}",
    "doubled-slash": "/{}",
    "dot": "./{}",
    "dot-dot": "elsewhere/../{}",
    "trailing-slash": "{}/",
}


#: By situation, the relative path for the op and what is there, of a name in place of {}. The empty path has none.
PLACES: dict[str, tuple[str, Tree]] = {
    statuses.FILE: ("{}", {"{}": CONTENT}),
    statuses.EMPTY_FILE: ("{}", {"{}": b""}),
    statuses.EMPTY_DIRECTORY: ("{}", {"{}": None}),
    statuses.FULL_DIRECTORY: ("{}", {"{}": None, "{}/inside": b"inside"}),
    statuses.MISSING: ("{}", {}),
    statuses.MISSING_PARENT: ("{}/leaf", {}),
    statuses.BELOW_A_FILE: ("{}/leaf", {"{}": CONTENT}),
    statuses.FAR_BELOW_A_FILE: ("{}/missing/leaf", {"{}": CONTENT}),
}


def build(this: Case, situation: str, name: str) -> tuple[str, Tree]:
    """Set up a situation with paths that begin with `name`. Return the relative path for the op, and the tree."""
    path, there = PLACES.get(situation, ("", {}))
    tree = {place.format(name): content for place, content in there.items()}
    if path:
        this.uri()
    this.setup.build(tree)
    return path.format(name), tree
