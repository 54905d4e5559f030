"""Compiles mutants one by one: only the unit that was changed, and links it with what the plugin has already."""

import json
import shlex
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.score.sources import CLONE, FOLDER, PLUGINS


@dataclass(frozen=True)
class Build:
    """The build of the right plugins, in a folder of its own: how its units are compiled, and its plugins linked."""

    folder: Path

    def prepare(self) -> None:
        """Bring it up to date. Raises CalledProcessError."""
        flags = ("-DTFFS_CCACHE=OFF", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1",
                 "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")  # fmt: skip
        for command in (
            ["cmake", "-S", str(CLONE), "-B", str(self.folder), "-G", "Ninja", *flags],
            ["cmake", "--build", str(self.folder), "--target", *(plugin.name for plugin in PLUGINS)],
        ):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def unchanged(self, plugin: str) -> Path:
        """The plugin itself."""
        return self.folder / "reference_plugins" / plugin / f"lib{plugin}.so"

    def compiled(self, source: str, text: str, into: Path) -> bytes | None:
        """The machine code of a unit with this text, which is kept in the folder `into`; None if that is no C++."""
        original = FOLDER / source
        into.mkdir(parents=True, exist_ok=True)
        changed, made = into / original.name, into / "unit.o"
        changed.write_text(text)
        command, output = self._unit(source)
        words = [{str(original): str(changed), output: str(made)}.get(word, word) for word in command]
        # What stands beside the source is found there. An object does not say where its source was.
        done = self._run([*words, "-w", "-iquote", str(original.parent)])
        return made.read_bytes() if done else None

    def linked(self, plugin: str, source: str, into: Path) -> Path | None:
        """The plugin with the unit that was compiled into this folder; None if it cannot be linked."""
        made = into / f"lib{plugin}.so"
        command = _link(self.folder, plugin)
        command[command.index("-o") + 1] = str(made)
        # A source that every plugin compiles for itself has a unit in each: this plugin links its own.
        name = f"/{Path(source).name}.o"
        unit = next(at for at, word in enumerate(command) if word.endswith(name))
        command[unit] = str(into / "unit.o")
        return made if self._run(command) else None

    def _unit(self, source: str) -> tuple[list[str], str]:
        """The words that compile a unit, and what that makes."""
        words = _commands(self.folder)[str(FOLDER / source)]
        return words, words[words.index("-o") + 1]

    def _run(self, command: list[str]) -> bool:
        return subprocess.run(command, cwd=self.folder, check=False, capture_output=True).returncode == 0


@cache
def _commands(folder: Path) -> dict[str, list[str]]:
    entries = json.loads((folder / "compile_commands.json").read_text())
    return {entry["file"]: shlex.split(entry["command"]) for entry in entries}


def _link(folder: Path, plugin: str) -> list[str]:
    ask = ["ninja", "-C", str(folder), "-t", "commands", plugin]
    told = subprocess.run(ask, check=True, capture_output=True, text=True).stdout
    # `: && c++ … && :`
    return shlex.split(told.strip().splitlines()[-1].split("&&")[1])
