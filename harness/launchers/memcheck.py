"""Hosts under valgrind's memcheck."""

import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from .command import Command
from .launcher import NoToolError
from .misuse import Frame, Misuse, host, without_addresses
from .watch import Log, ToolWatch

#: The program, and how to get it.
PROGRAM, ADVICE = "valgrind", "apt-get install valgrind"
#: A call may take so many times as long as elsewhere.
SLOWER = 20
#: What a command does is told by its process, and by those that it forks.
_WORDS = ("-q", "--xml=yes", "--child-silent-after-fork=no", "--num-callers=40")
_ERROR = re.compile(rb"<error>.*?</error>", re.DOTALL)
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def memcheck(environment: Mapping[str, str]) -> ToolWatch:
    """What starts hosts of this machine under memcheck; `environment` is set for them. Raises NoToolError."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise NoToolError(f"{PROGRAM} is not there: {ADVICE}")
    return ToolWatch(
        lambda log: Command((program, *_WORDS, f"--xml-file={log}.%p", str(host())), environment), Log(_ERROR, _read)
    )


def _read(text: str, command: str) -> Misuse | None:
    """An error as memcheck writes it: titles, each in front of the stack that it is about."""
    error = ET.fromstring(_UNREADABLE.sub(" ", text))
    # What is left at the end of a process is looked for wherever a file is written, and may be there by right.
    if (error.findtext("kind") or "").startswith("Leak_"):
        return None
    stacks: list[tuple[str, tuple[Frame, ...]]] = []
    title = ""
    for part in error:
        if part.tag in ("what", "auxwhat"):
            title = without_addresses(part.text or "")
        elif part.tag in ("xwhat", "xauxwhat"):
            title = without_addresses(part.findtext("text") or "")
        elif part.tag == "stack":
            stacks.append((title, tuple(map(_frame, part))))
    stacks = stacks or [(title, ())]
    return Misuse(command, stacks[0][0], tuple(stacks))


def _frame(frame: ET.Element) -> Frame:
    file, line = frame.findtext("file"), frame.findtext("line")
    return Frame(
        frame.findtext("obj") or "", frame.findtext("fn") or "", f"{file}:{line}" if file and line else file or ""
    )
