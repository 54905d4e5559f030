"""Traces: histories as JSON files, which can be tried again on this plugin or another one."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ..contract.model import Step

SCHEMA = "tffs-conformance/trace/1"


class NotATraceError(Exception):
    """A file cannot be read or holds no trace. The text is one sentence."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A history, the id of the case that found it, and how plugin and model differed on it."""

    case: str
    plugin: str
    clause: str
    expected: str
    got: str
    steps: tuple[Step, ...]
    calls: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        """Write the trace to a file, which is replaced."""
        document = {
            "schema": SCHEMA,
            "case": self.case,
            "plugin": self.plugin,
            "clause": self.clause,
            "expected": self.expected,
            "got": self.got,
            "steps": [_step(step) for step in self.steps],
            "calls": list(self.calls),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=1, ensure_ascii=True) + "\n", encoding="ascii")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a trace. Raise NotATraceError."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["schema"] != SCHEMA:
                raise NotATraceError(
                    f"{path}: its schema is {document['schema']!r}, and {SCHEMA!r} is what can be read"
                )
            texts = {key: str(document[key]) for key in ("case", "plugin", "clause", "expected", "got")}
            return cls(**texts, steps=tuple(map(_taken, document["steps"])), calls=tuple(document["calls"]))
        except OSError as error:
            raise NotATraceError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotATraceError(f"{path} is no trace: {type(error).__name__} {error}") from error


def _step(step: Step) -> dict[str, Any]:
    """A step as JSON, without values that are defaults. Bytes that are not plain text become base64."""
    plain: dict[str, Any] = {"op": step.op}
    if step.paths:
        plain["paths"] = list(step.paths)
    if step.file >= 0:
        plain["file"] = step.file
    if step.op == "append":
        if step.data.isascii() and step.data.decode("ascii").isprintable():
            plain["text"] = step.data.decode("ascii")
        else:
            plain["base64"] = base64.b64encode(step.data).decode("ascii")
    if step.op == "read":
        plain |= {"offset": step.offset, "n": step.n}
    return plain


def _taken(plain: dict[str, Any]) -> Step:
    data = base64.b64decode(plain["base64"]) if "base64" in plain else str(plain.get("text", "")).encode("ascii")
    return Step(
        op=str(plain["op"]),
        paths=tuple(map(str, plain.get("paths", ()))),
        file=int(plain.get("file", -1)),
        data=data,
        offset=int(plain.get("offset", 0)),
        n=int(plain.get("n", 0)),
    )
