"""The commands of a page, run by one shell from top to bottom, and compared with what the page shows.

A command succeeds, unless the page asks `echo $?` right behind it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.pages import Block, Command, fits

MARK = "\x01"


@dataclass(frozen=True, slots=True)
class Ran:
    """A command, what it printed, its exit code, and when it ended, in seconds since the epoch."""

    command: Command
    output: str
    code: int
    ended: float


def script(
    page: Sequence[Block], directory: Path, is_run: Callable[[Block], bool] = lambda block: block.not_run is None
) -> tuple[str, list[Command]]:
    """What bash is given: each command, a mark with its exit code, and then that exit code again for `$?`.

    Files that the page shows are put into `directory` and copied from there.
    """
    lines, commands = [], []
    for number, block in enumerate(page):
        if block.file is not None:
            (directory / f"block-{number}").write_text(block.text, encoding="utf-8")
            lines.append(f"mkdir -p $(dirname {block.file}) && cp {directory}/block-{number} {block.file}")
        elif is_run(block):
            for command in block.commands:
                lines += [command.text, f"set -- $?; printf '\\n{MARK}%d %s\\n' $1 $EPOCHREALTIME; (exit $1)"]
                commands.append(command)
    return "\n".join(lines), commands


def read(printed: str, commands: Sequence[Command]) -> list[Ran]:
    """What the script printed, taken apart. Raises ValueError, with all of it, where the shell ended early."""
    got = printed.split(f"\n{MARK}")
    if len(got) != len(commands) + 1:
        raise ValueError(printed)
    ends = [piece.partition("\n") for piece in got[1:]]
    outputs = [got[0], *(rest for _, _, rest in ends)]
    ran = []
    for command, output, (end, _, _) in zip(commands, outputs, ends, strict=False):
        code, ended = end.replace(",", ".").split()  # some languages write a comma
        ran.append(Ran(command, output, int(code), float(ended)))
    return ran


def difference(ran: Sequence[Ran]) -> str:
    """The first command that failed or printed something else than the page shows, with both; empty for none."""
    for k, one in enumerate(ran):
        is_asked = k + 1 < len(ran) and ran[k + 1].command.text == "echo $?"
        if one.code != 0 and not is_asked:
            return f"$ {one.command.text}\n{one.output}\nexit code {one.code}"
        if one.command.output and not fits(one.command.output, one.output):
            shown = "\n".join(one.command.output)
            return f"$ {one.command.text}\nthe page shows\n{shown}\nit printed\n{one.output}"
    return ""
