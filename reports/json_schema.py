"""The JSON schema of a report, and the tables of its keys in docs/: all are derived from the types.

`python -m tffs_conformance.reports.json_schema` prints the schema, with `--keys` the tables of docs/report-keys.md.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from .model.report import SCHEMA, Report

#: In the folder `schema/` there is one file: that of the version which is written.
FILE_NAME = f"report-{SCHEMA.rpartition('/')[2].partition('.')[0]}.schema.json"

_TITLE = "The report of one run of the conformance suite on one target"


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of what this version writes: the types in their own words."""
    definitions: dict[str, Any] = msgspec.json.schema(Report)["$defs"]
    for definition in definitions.values():
        definition.pop("title")
        definition["description"] = " ".join(definition["description"].split())
        for key, said in definition.get("properties", {}).items():
            definition["properties"][key] = _plainly(said)
    _stand_together(definitions["ClauseAccount"])
    report = definitions.pop(Report.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": _TITLE,
        **report,
        "$defs": dict(sorted(definitions.items())),
    }


def _plainly(said: dict[str, Any]) -> dict[str, Any]:
    """What is said of one key.

    A key with a default is left out where it has that, so that null is never written, though it is read. A choice of
    one is a constant. Only some releases of msgspec name the kind of an object's keys.
    """
    said.pop("propertyNames", None)
    if "default" in said:
        kinds = [kind for kind in said.get("anyOf", ()) if kind != {"type": "null"}] or [{}]
        said = {key: value for key, value in said.items() if key not in ("anyOf", "default")} | kinds[0]
    if len(said.get("enum", ())) == 1:
        said = {key: value for key, value in said.items() if key != "enum"} | {"const": said["enum"][0]}
    return said


def _stand_together(clause: dict[str, Any]) -> None:
    """What the types say in `__post_init__`."""
    clause["dependentRequired"] = {
        "disputed": ["readings", "readings_seen"],
        "readings": ["disputed"],
        "readings_seen": ["disputed"],
    }


def text() -> str:
    """The text of the schema's file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def keys() -> Iterator[str]:
    """The keys of a report and of the objects in it, as lines of Markdown tables."""
    whole = schema()
    yield from _table("The report", whole)
    for name, definition in whole["$defs"].items():
        if "properties" in definition:
            yield from _table(name, definition)
    for name, definition in whole["$defs"].items():
        if "enum" in definition:
            yield from ("", f"## {name}", "", definition["description"], "")
            yield ", ".join(f"`{value}`" for value in definition["enum"])


def _table(name: str, definition: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"## {name}", "", definition["description"], "")
    yield from ("| key | value | what it says |", "|---|---|---|")
    for key, said in definition["properties"].items():
        optional = "" if key in definition["required"] else "Left out where there is nothing to say. "
        described = optional + said.get("description", "")
        yield f"| `{key}` | {_kind(said)} | {described.replace('|', chr(92) + '|')} |".replace("  |", " |")


def _kind(said: dict[str, Any]) -> str:
    """The form of a value, in a few words."""
    match said:
        case {"const": value}:
            return f"`{value}`"
        case {"enum": values}:
            return ", ".join(f"`{value}`" for value in values)
        case {"$ref": ref}:
            name = ref.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": kinds}:
            return " or ".join(_kind(kind) for kind in kinds)
        case {"type": "array", "items": items}:
            return f"list of {_kind(items)}"
        case {"type": "object", "additionalProperties": items}:
            return f"object of {_kind(items)}"
        case {"type": "string", "format": "date"}:
            return "date"
        case {"type": kind}:
            return str(kind)
    raise ValueError(f"no words for {said}")


if __name__ == "__main__":
    print("\n".join(keys()) if sys.argv[1:] == ["--keys"] else text().rstrip())
