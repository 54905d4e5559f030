"""The mutants of three right plugins: universalmutator changes one line of a source, and only that unit is compiled."""

import functools
import hashlib
import io
import json
import re
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

CLONE = Path(__file__).parents[2]
SOURCES = CLONE / "reference_plugins"
BUILD = CLONE / "build" / "score"
#: The rules of universalmutator that fit C++, and the lines that are none.
RULES, IGNORED_LINES = ["universal.rules", "c_like.rules", "cpp.rules"], [r"^\s*//", r"^#"]
_TABLE = re.compile(r"^TF_(\w+)Ops \w+\(\) \{")
_ENTRY = re.compile(r"^\s*ops\.(\w+) = (?:\w+::)*(\w+);")
_FUNCTION = re.compile(r"^(?!namespace|using|enum)\w.*?\b(\w+)\(")


@dataclass(frozen=True, slots=True)
class MutatedPlugin:
    """A plugin, and the sources that it is judged for: patterns below SOURCES.

    `profile` is what it claims, `backing` another way to its files. Sources of `unused` do nothing while it is judged.
    It is right except for warnings of the clauses in `warnings`, which do not count for its mutants.
    """

    name: str
    patterns: tuple[str, ...]
    profile: str | None = None
    backing: str | None = None
    unused: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def library(self) -> Path:
        """Its shared object."""
        return BUILD / "reference_plugins" / self.name / f"lib{self.name}.so"

    def units(self) -> list[tuple[str, str]]:
        """Path and text of its sources, each of which is compiled by itself."""
        paths = sorted(path for pattern in self.patterns for path in SOURCES.glob(pattern))
        paths = [path for path in paths if path.name not in self.unused]
        return [(path.relative_to(SOURCES).as_posix(), path.read_text()) for path in paths]


PLUGINS = (
    # What plugins share belongs to the one that uses it. What is durable shows if power is lost, not in a plain run.
    MutatedPlugin(
        "posix", ("posix/*.cc", "support/*.cc"), backing="file://{path}", unused=("options.cc", "durable.cc")
    ),
    MutatedPlugin("memory", ("memory/*.cc", "support/options.cc")),
    MutatedPlugin(
        "objectstore_minimal",
        ("objectstore_minimal/*.cc",),
        profile="object-store",
        unused=("http_bucket.cc",),
        # A file that is dropped never becomes an object, and one request looks before another one acts.
        warnings=("writable_file.cleanup.unclosed-data", "common.one-winner", "common.fits-an-order"),
    ),
)


@dataclass(frozen=True, slots=True)
class PluginMutant:
    """One line of a source, changed from `out` to `put_in`.

    Of equal lines of a function that are changed alike, `nth` is the number of this one. `ops` are those of the
    function or, if it belongs to none, those of the source: their cases are run first.
    """

    plugin: str
    source: str
    line: int
    function: str
    out: str
    put_in: str
    nth: int
    ops: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """Its name, wherever in the file its line moves to."""
        return (self.source, self.function, self.out, self.put_in, self.nth)

    @property
    def digest(self) -> str:
        """The order of samples."""
        return hashlib.sha256(repr(self.key).encode()).hexdigest()[:16]

    @property
    def folder(self) -> Path:
        """The files that are made of it."""
        return BUILD / "mutants" / self.plugin / self.digest

    def text(self) -> str:
        """The source with the change in it."""
        lines = (SOURCES / self.source).read_text().splitlines(keepends=True)
        lines[self.line - 1] = lines[self.line - 1].replace(self.out, self.put_in)
        return "".join(lines)


def mutants(plugin: MutatedPlugin) -> list[PluginMutant]:
    """All mutants of a plugin. The first of them are a sample, which stays the same if sources change elsewhere."""
    ops = ops_of_functions(plugin)
    found = (one for source, text in plugin.units() for one in _named(plugin.name, source, text, ops))
    return sorted(found, key=lambda one: one.digest)


def _changes(text: str) -> list[tuple[int, str]]:
    """The changes that the tool makes in a text: the number of a line, and the line changed."""
    from universalmutator import mutator  # noqa: PLC0415 - only this needs the tool

    with redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp(text.splitlines(keepends=True), ruleFiles=RULES, ignorePatterns=IGNORED_LINES)
    return [(number, line) for number, line, *_ in made]


def _named(plugin: str, source: str, text: str, ops: Mapping[str, Sequence[str]]) -> Iterator[PluginMutant]:
    """The mutants of a source."""
    lines = text.splitlines()
    functions = list(_functions(lines))
    all_ops = [op for name in dict.fromkeys(functions) for op in ops.get(name, ())]
    seen: Counter[tuple[str, str, str]] = Counter()
    for number, put_in in dict.fromkeys((number, line.strip()) for number, line in _changes(text)):
        out, function = lines[number - 1].strip(), functions[number - 1]
        if put_in != out:
            change = (function, out, put_in)
            yield PluginMutant(plugin, source, number, *change, seen[change], tuple(ops.get(function, all_ops)))
            seen[change] += 1


def ops_of_functions(plugin: MutatedPlugin) -> dict[str, list[str]]:
    """The ops whose entry in a table of ops is a function of this name."""
    found: dict[str, list[str]] = {}
    for _, text in plugin.units():
        kind = ""
        for line in text.splitlines():
            if opened := _TABLE.match(line):
                kind = re.sub(r"(?<!^)(?=[A-Z])", "_", opened[1]).lower()
            elif entry := _ENTRY.match(line):
                op = f"{kind}.cleanup" if entry[1] == "cleanup" and kind != "filesystem" else entry[1]
                found.setdefault(entry[2], []).append(op)
    return found


def _functions(lines: Sequence[str]) -> Iterator[str]:
    """For each line the function that it is in, or that ended last before it."""
    function = ""
    for line in lines:
        function = found[1] if (found := _FUNCTION.match(line)) else function
        yield function


def build() -> None:
    """Bring the plugins up to date, in a folder of their own. Raises CalledProcessError."""
    flags = ("-DTFFS_CCACHE=OFF", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1",
             "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")  # fmt: skip
    for command in (
        ["cmake", "-S", str(CLONE), "-B", str(BUILD), "-G", "Ninja", *flags],
        ["cmake", "--build", str(BUILD), "--target", *(plugin.name for plugin in PLUGINS)],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def drawn(plugin: MutatedPlugin, sample: int | None, workers: int) -> list[tuple[PluginMutant, Path]]:
    """Mutants of a plugin in their order, each with its shared object, until the sample is full.

    Leaves out those that are no C++, and those with the machine code of the plugin or of another mutant.
    """
    shutil.rmtree(BUILD / "mutants" / plugin.name, ignore_errors=True)
    unchanged = BUILD / "mutants" / plugin.name / "unchanged"
    codes = {_compiled(source, text, unchanged) for source, text in plugin.units()} | {None}
    found: list[tuple[PluginMutant, Path]] = []
    waiting = mutants(plugin)
    with ThreadPoolExecutor(workers) as pool:
        while waiting and len(found) != sample:
            batch, waiting = waiting[:workers], waiting[workers:]
            for one, code in zip(batch, pool.map(lambda one: _compiled(one.source, one.text(), one.folder), batch),
                                 strict=True):  # fmt: skip
                library = _linked(one) if code not in codes and len(found) != sample else None
                codes.add(code)
                if library is not None:
                    found.append((one, library))
                else:
                    shutil.rmtree(one.folder)
    return found


def _compiled(source: str, text: str, into: Path) -> bytes | None:
    """The machine code of a unit with this text; None if that is no C++."""
    original, changed, made = SOURCES / source, into / Path(source).name, into / "unit.o"
    into.mkdir(parents=True, exist_ok=True)
    changed.write_text(text)
    words = _commands()[str(original)]
    replaced = {str(original): str(changed), words[words.index("-o") + 1]: str(made)}
    # Headers beside the source are found there. An object does not say where its source was.
    command = [*(replaced.get(word, word) for word in words), "-w", "-iquote", str(original.parent)]
    return made.read_bytes() if _succeeds(command) else None


def _linked(mutant: PluginMutant) -> Path | None:
    """The plugin with the mutant's unit, which has been compiled; None if it cannot be linked."""
    made = mutant.folder / f"lib{mutant.plugin}.so"
    ask = ["ninja", "-C", str(BUILD), "-t", "commands", mutant.plugin]
    printed = subprocess.run(ask, check=True, capture_output=True, text=True).stdout
    # `: && c++ … && :`
    command = shlex.split(printed.strip().splitlines()[-1].split("&&")[1])
    command[command.index("-o") + 1] = str(made)
    # A source that every plugin compiles for itself has a unit in each: this plugin links its own.
    name = f"/{Path(mutant.source).name}.o"
    unit = next(at for at, word in enumerate(command) if word.endswith(name))
    command[unit] = str(mutant.folder / "unit.o")
    return made if _succeeds(command) else None


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, cwd=BUILD, check=False, capture_output=True).returncode == 0


@functools.cache
def _commands() -> dict[str, list[str]]:
    """The words that compile each source."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    return {entry["file"]: shlex.split(entry["command"]) for entry in entries}
