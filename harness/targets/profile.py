"""Profiles: TOML that says how to reach a target and what it claims to support.

docs/profiles.md has the format. Here claims are only names with values; `suite/contract/claims.py` knows what they
mean.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: The folder of the profiles that ship with the package. Each has the claims of one kind of storage, and no plugin.
SHIPPED = Path(__file__).parent / "profiles"

LIMITS = ("max_path", "max_name", "max_file_size", "mtime_granularity_ns")

_KEYS: Mapping[str, tuple[str, ...]] = {
    "plugin": ("path", "scheme", "root"),
    "limits": LIMITS,
    "backing": ("url",),
    "services": ("compose",),
}
_SECTIONS = ("semantics", "plugin", "env", "claims", "limits", "backing", "services")


class ProfileError(Exception):
    """A profile cannot be read, or has an unknown key or a value of the wrong type. The text is one sentence."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profile says. A field that it leaves out is None or empty.

    `limits` are in bytes, `mtime_granularity_ns` in nanoseconds. `backing` is an fsspec URL, `services` the path of a
    compose file. `secrets` holds the names of the variables in `environment` whose values must not appear in a report.
    """

    name: str
    plugin: str | None = None
    scheme: str | None = None
    root: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()
    claims: Mapping[str, str | bool] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    backing: str | None = None
    services: Path | None = None


def shipped() -> list[str]:
    """The names of the profiles that ship with the package: `object-store`, `posix-like`."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def read(given: str, environment: Mapping[str, str] = os.environ) -> Profile:
    """Read the profile of this name, or in the file at this path.

    A value `{from = "VAR"}` is taken from `environment`. Raise ProfileError.
    """
    if given in shipped():
        return Profile(name=given, claims=_tables(SHIPPED / f"{given}.toml")["claims"])
    path = Path(given)
    if not path.is_file():
        raise ProfileError(f"{given}: there is no such file, nor a profile of that name ({', '.join(shipped())})")
    tables = _tables(path)
    claims = {}
    if "semantics" in tables:
        base = tables["semantics"]
        if base not in shipped():
            raise ProfileError(f"{path}: semantics is {base!r}; known are {', '.join(shipped())}")
        claims = dict(read(base).claims)
    plugin = tables.get("plugin", {})
    compose = tables.get("services", {}).get("compose")
    values, secrets = _environment(path, tables.get("env", {}), environment)
    return Profile(
        name=given,
        plugin=_beside(path, plugin["path"]) if "path" in plugin else None,
        scheme=plugin.get("scheme"),
        root=plugin.get("root"),
        environment=values,
        secrets=secrets,
        claims=claims | tables.get("claims", {}),
        limits=tables.get("limits", {}),
        backing=tables.get("backing", {}).get("url"),
        services=(path.parent / compose).absolute() if compose else None,
    )


def _tables(path: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ProfileError(f"{path} is no TOML: {error}") from None
    for section, table in tables.items():
        if section not in _SECTIONS:
            raise ProfileError(f"{path}: the unknown key {section!r}; known are {', '.join(_SECTIONS)}")
        if section == "semantics":
            continue
        if not isinstance(table, dict):
            raise ProfileError(f"{path}: {section} is a table, [{section}]")
        for key, value in table.items():
            if section in _KEYS and key not in _KEYS[section]:
                raise ProfileError(
                    f"{path}: [{section}] has the unknown key {key!r}; known are {', '.join(_KEYS[section])}"
                )
            _held_to_type(path, section, key, value)
    return tables


def _held_to_type(path: Path, section: str, key: str, value: object) -> None:
    if section == "limits":
        least = 0 if key == "mtime_granularity_ns" else 1
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ProfileError(f"{path}: [limits] {key} is a number, at least {least}")
    elif section == "claims":
        if not isinstance(value, str | bool):
            raise ProfileError(f"{path}: [claims] {key} is a text, true or false")
    elif section == "env":
        if not isinstance(value, str) and not (isinstance(value, dict) and list(value) == ["from"]):
            raise ProfileError(f'{path}: [env] {key} is a text or {{from = "VARIABLE"}}')
    elif not isinstance(value, str):
        raise ProfileError(f"{path}: [{section}] {key} is a text")


def _environment(
    path: Path, table: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[dict[str, str], frozenset[str]]:
    values = {}
    for name, value in table.items():
        if isinstance(value, str):
            values[name] = value
        elif value["from"] in environment:
            values[name] = environment[value["from"]]
        else:
            raise ProfileError(f"{path}: [env] {name} comes from the variable {value['from']}, which is not set")
    return values, frozenset(name for name, value in table.items() if not isinstance(value, str))


def _beside(path: Path, plugin: str) -> str:
    """Resolve a path against the profile's folder.

    A bare word such as `posix` is kept: it is the name of a shipped plugin.
    """
    is_word = not Path(plugin).suffix and not plugin.startswith((".", "/"))
    return plugin if is_word else str((path.parent / plugin).absolute())
