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


def build(this: Case, situation: str, name: str) -> tuple[str, Tree]:
    """Set up a situation with paths that begin with `name`. Return the relative path for the op, and the tree."""
    match situation:
        case statuses.FILE:
            this.setup.write(name, CONTENT)
            return name, {name: CONTENT}
        case statuses.EMPTY_FILE:
            this.setup.write(name, b"")
            return name, {name: b""}
        case statuses.EMPTY_DIRECTORY:
            this.setup.mkdir(name)
            return name, {name: None}
        case statuses.FULL_DIRECTORY:
            this.setup.mkdir(name)
            this.setup.write(f"{name}/inside", b"inside")
            return name, {name: None, f"{name}/inside": b"inside"}
        case statuses.MISSING:
            this.uri()
            return name, {}
        case statuses.MISSING_PARENT:
            this.uri()
            return f"{name}/leaf", {}
        case statuses.BELOW_A_FILE:
            this.setup.write(name, CONTENT)
            return f"{name}/leaf", {name: CONTENT}
        case statuses.FAR_BELOW_A_FILE:
            this.setup.write(name, CONTENT)
            return f"{name}/missing/leaf", {name: CONTENT}
        case _:
            return "", {}
