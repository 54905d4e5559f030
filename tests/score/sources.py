"""What is mutated: the sources of three right plugins. A tool makes the mutants; here they get names."""

import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

CLONE = Path(__file__).parents[2]
FOLDER = CLONE / "reference_plugins"
#: The rules of universalmutator that fit C++, and the lines that are none.
RULES, IGNORED = ["universal.rules", "c_like.rules", "cpp.rules"], [r"^\s*//", r"^#"]
_TABLE = re.compile(r"^TF_(\w+)Ops \w+\(\) \{")
_ENTRY = re.compile(r"^\s*ops\.(\w+) = (?:\w+::)*(\w+);")
_FUNCTION = re.compile(r"^(?!namespace|using|enum)\w.*?\b(\w+)\(")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin, and the sources that it is judged for: patterns below the folder of the plugins.

    `profile` is what it claims, `backing` another way to its files. Sources that are `apart` do nothing while it is
    judged. It is right, but for warnings of these clauses: its mutants are told apart by others.
    """

    name: str
    sources: tuple[str, ...]
    profile: str | None = None
    backing: str | None = None
    apart: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def units(self) -> list[tuple[str, str]]:
        """Its sources, each of which is compiled by itself: path and text."""
        paths = sorted(path for pattern in self.sources for path in FOLDER.glob(pattern))
        paths = [path for path in paths if path.name not in self.apart]
        return [(path.relative_to(FOLDER).as_posix(), path.read_text()) for path in paths]


PLUGINS = (
    # What plugins share belongs to the one that uses it. What is durable shows where power is lost, not in a plain run.
    Plugin("posix", ("posix/*.cc", "support/*.cc"), backing="file://{path}", apart=("options.cc", "durable.cc")),
    Plugin("memory", ("memory/*.cc", "support/options.cc")),
    Plugin(
        "objectstore_minimal",
        ("objectstore_minimal/*.cc",),
        profile="object-store",
        apart=("http_bucket.cc",),
        # A file that is dropped never becomes an object, and one request looks before another one acts.
        warnings=("writable_file.cleanup.unclosed-data", "common.one-winner", "common.fits-an-order"),
    ),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One line of a source, changed from `out` to `put_in`.

    Of lines that are the same in a function, changed alike, `nth` says which one it is. `ops` are those whose entry in
    a table is the function, or is set by the line; a function that ops share has none. `near` are those of the source.
    """

    plugin: str
    source: str
    line: int
    function: str
    out: str
    put_in: str
    nth: int
    ops: tuple[str, ...]
    near: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What names it, wherever in the file its line moves to."""
        return (self.source, self.function, self.out, self.put_in, self.nth)

    @property
    def digest(self) -> str:
        """What samples are drawn by."""
        return hashlib.sha256(repr(self.key).encode()).hexdigest()[:16]

    def text(self) -> str:
        """The source with the change in it."""
        lines = (FOLDER / self.source).read_text().splitlines(keepends=True)
        lines[self.line - 1] = lines[self.line - 1].replace(self.out, self.put_in)
        return "".join(lines)


def mutants(plugin: Plugin) -> list[Mutant]:
    """All mutants of a plugin. Any number of the first is a sample, and stays one when sources change elsewhere."""
    table = ops(plugin)
    found = (one for source, text in plugin.units() for one in named(plugin.name, source, text, changes(text), table))
    return sorted(found, key=lambda one: one.digest)


def changes(text: str) -> list[tuple[int, str]]:
    """What the tool makes of a text: the number of a line, and the line changed."""
    from universalmutator import mutator  # noqa: PLC0415 - only who draws mutants needs it

    with redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp(text.splitlines(keepends=True), ruleFiles=RULES, ignorePatterns=IGNORED)
    return [(number, line) for number, line, *_ in made]


def named(
    plugin: str, source: str, text: str, made: Sequence[tuple[int, str]], table: dict[tuple[str, str], list[str]]
) -> Iterator[Mutant]:
    """The mutants that changes of a source are."""
    lines = text.splitlines()
    functions = list(_functions(lines))
    near = [op for name in dict.fromkeys(functions) for op in _ops_of(source, name, table)]
    seen: Counter[tuple[str, str, str]] = Counter()
    for number, put_in in dict.fromkeys((number, line.strip()) for number, line in made):
        line, function = lines[number - 1], functions[number - 1]
        entry = _ENTRY.match(line)
        mine = _ops_of(source, entry[2] if entry else function, table)
        if put_in != line.strip():
            change = (function, line.strip(), put_in)
            yield Mutant(plugin, source, number, *change, seen[change], tuple(mine), tuple(near))
            seen[change] += 1


def _ops_of(source: str, function: str, table: dict[tuple[str, str], list[str]]) -> list[str]:
    return table.get((source, function)) or table.get(("", function), [])


def ops(plugin: Plugin) -> dict[tuple[str, str], list[str]]:
    """The ops whose entry is a function, by its source and name; without the source where it stands in another one."""
    found: dict[tuple[str, str], list[str]] = {}
    for source, text in plugin.units():
        lines = text.splitlines()
        own, kind = set(_functions(lines)), ""
        for line in lines:
            if opened := _TABLE.match(line):
                kind = re.sub(r"(?<!^)(?=[A-Z])", "_", opened[1]).lower()
            elif entry := _ENTRY.match(line):
                op = f"{kind}.cleanup" if entry[1] == "cleanup" and kind != "filesystem" else entry[1]
                found.setdefault((source if entry[2] in own else "", entry[2]), []).append(op)
    return found


def _functions(lines: Sequence[str]) -> Iterator[str]:
    """For each line the function that it stands in, or behind."""
    function = ""
    for line in lines:
        function = found[1] if (found := _FUNCTION.match(line)) else function
        yield function
