"""What is there after ops of which something failed, compared with what was there before, and with what should be."""

from collections.abc import Collection

from .setup import Tree


def missing(before: Tree, whole: Tree, got: Tree) -> str | None:
    """What lacks of the work that was done in `whole`, the first of it in words; None where all was done.

    More than that may be there, such as a file that a plugin works with.
    """
    for path, content in sorted(whole.items()):
        if path not in got:
            return f"{path} is not there"
        if got[path] != content:
            return f"{path} has {_shown(got[path])} instead of {_shown(content)}"
    left = sorted(path for path in before if path not in whole and path in got)
    return f"{left[0]} is still there" if left else None


def harmed(before: Tree, whole: Tree, got: Tree, gives_up: Collection[str]) -> str | None:
    """What is lost of what was there, the first of it in words.

    What the ops move is in one of two places, what they append to begins as it did, and what they replace is the old or
    the new one, unless they may give it up; what they delete may be gone.
    """
    for path, content in sorted(before.items()):
        if path in gives_up or (path in got and got[path] == content):
            continue
        moved = [new for new, there in whole.items() if there == content and before.get(new) != content]
        if path in whole:
            kept = path in got and _is_between(content, whole[path], got[path])
        elif moved:
            kept = any(new in got and got[new] == content for new in moved)
        else:
            kept = path not in got
        if not kept:
            return f"{path} has {_shown(got[path])}" if path in got else f"{path} is gone"
    return None


def _is_between(old: bytes | None, new: bytes | None, got: bytes | None) -> bool:
    if old is None or new is None or got is None:
        return False
    return got == new or (new.startswith(old) and got.startswith(old))


def _shown(content: bytes | None) -> str:
    if content is None:
        return "a directory"
    return f"{content!r}" if len(content) <= 24 else f"{len(content)} bytes ({content[:8]!r}…)"
