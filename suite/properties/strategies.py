"""Hypothesis strategies for histories about one thing: reads, spellings of paths, or patterns."""

from collections.abc import Container

from hypothesis import strategies as st

from ..contract.model import Step

#: The period of the content. It is no power of two, so that places that are a buffer apart look different.
PERIOD = bytes(range(251))
EDGES = (0, 1, 2, 511, 512, 4095, 4096, 4097, 65536, 70000)

Steps = list[Step]


def _written(path: str, content: bytes, at: int) -> Steps:
    """The steps that write a file. The first of them has the number `at` in its history."""
    return [
        Step("new_writable_file", (path,)),
        Step("append", file=at, data=content),
        Step("close", file=at),
        Step("writable_file.cleanup", file=at),
    ]


def _sizes() -> st.SearchStrategy[int]:
    return st.one_of(st.sampled_from(EDGES), st.integers(0, 9000))


@st.composite
def reads(draw: st.DrawFn) -> Steps:
    """Histories that read one file in any places, in any order, also behind its end."""
    size = draw(_sizes())
    steps = _written("file", (PERIOD * (size // len(PERIOD) + 1))[:size], 0)
    steps.append(Step("new_random_access_file", ("file",)))
    for offset, n in draw(st.lists(st.tuples(_sizes(), _sizes()), min_size=1, max_size=12)):
        steps.append(Step("read", file=4, offset=offset, n=n))
    return [*steps, Step("random_access_file.cleanup", file=4)]


#: What can stand before a name, and behind a path, without changing which path is meant.
BEFORE = ("", "", "/", "./", "x/../", "././/")
BEHIND = ("", "", "/", "//", "/.")
SPELT = ("path_exists", "stat", "is_directory", "get_file_size", "get_children", "new_random_access_file", "create_dir",
         "delete_dir", "delete_file", "recursively_create_dir")  # fmt: skip


@st.composite
def spellings(draw: st.DrawFn, performed: Container[str] = SPELT) -> Steps:
    """Histories with paths in other spellings than the canonical one, such as `a//b/.`."""
    ops = [op for op in SPELT if op in performed]
    steps = [Step("recursively_create_dir", ("a/b",)), *_written("a/c", b"c", 1)]
    for op in draw(st.lists(st.sampled_from(ops), min_size=1, max_size=10)):
        names = draw(st.sampled_from(["a", "a/b", "a/c", "a/d", "e"])).split("/")
        spelt = "/".join(draw(st.sampled_from(BEFORE)) + name for name in names)
        steps.append(Step(op, (spelt.lstrip("/") + draw(st.sampled_from(BEHIND)),)))
    return steps


#: Names with all characters that are special in patterns. Names that begin with a dot are disputed, and left out.
LETTERS = "ab-*?[]\\^"
_PLAIN = st.text("ab-", min_size=1, max_size=3)
_ANY = st.text(LETTERS, min_size=1, max_size=3)
#: What a class may hold.
MEMBERS = ("a", "b", "*", "?", "a-b", "[", "^", "\\-", "\\]", "\\\\", "\\a", "\\*")


@st.composite
def _class(draw: st.DrawFn) -> str:
    """A class of the grammar: `-`, `]` and the backslash are members only behind a backslash."""
    negated = "^" if draw(st.booleans()) else ""
    members = draw(st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=3, unique=True))
    if not negated and members[0] == "^":
        members.append(members.pop(0))
    body = "".join(members)
    return f"[{negated}{'a' if body == '^' else body}]"


@st.composite
def _literal(draw: st.DrawFn) -> str:
    return "".join(letter if letter in "ab-]^" else f"\\{letter}" for letter in draw(_ANY))


@st.composite
def _level(draw: st.DrawFn) -> str:
    """A pattern for one name."""
    parts = draw(st.lists(st.sampled_from(["*", "?", "class", "literal", "literal"]), min_size=1, max_size=4))
    return "".join(
        draw(_class()) if part == "class" else draw(_literal()) if part == "literal" else part for part in parts
    )


@st.composite
def patterns(draw: st.DrawFn) -> Steps:
    """Histories that make a small tree with names that look like patterns, and match patterns against it."""
    names = draw(st.lists(st.one_of(_PLAIN, _ANY), min_size=1, max_size=6, unique=True))
    paths = [*names, *(f"{names[0]}/{name}" for name in draw(st.lists(_ANY, max_size=3, unique=True)))]
    steps = [Step("create_dir", (path,)) for path in paths]
    for levels in draw(st.lists(st.lists(_level(), min_size=1, max_size=2), min_size=1, max_size=8)):
        steps.append(Step("get_matching_paths", ("/".join(levels),)))
    return steps
