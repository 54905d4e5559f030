"""Profiles: TOML that says how to reach a target and what it claims to support.

docs/profiles.md has the format. Here claims are only names with values; `suite/contract/claims.py` knows what they
mean.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as defaulting
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

from ... import typed_toml
from ...typed_toml import TomlError

#: The folder of the profiles that ship with the package. Each has the claims of one kind of storage, and no plugin.
SHIPPED = Path(__file__).parent / "profiles"

_Positive = Annotated[int, Meta(ge=1)]


class _PluginSection(Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[
        Annotated[str, Meta(pattern=r"\S")] | None,
        Meta(description="A shared object, or the name of a plugin that ships."),
    ] = None
    scheme: str | None = None
    root: Annotated[str | None, Meta(description="The URI of the directory that is judged.")] = None


class _Variable(Struct, forbid_unknown_fields=True):
    variable: Annotated[str, Meta(description="The variable of the run's environment that has the value.")] = field(
        name="from"
    )


class Limits(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a target limits, in the units that the names have; sizes in bytes."""

    max_path: _Positive | None = None
    max_name: _Positive | None = None
    max_file_size: _Positive | None = None
    max_open_files: _Positive | None = None
    mtime_granularity_ns: Annotated[int, Meta(ge=0)] | None = None
    listing_delay_ms: _Positive | None = None


class _Backing(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[str | None, Meta(description="An fsspec URL; {path} is the path of the root.")] = None


class _Services(Struct, frozen=True, forbid_unknown_fields=True):
    compose: Annotated[str | None, Meta(description="The path of a compose file, seen from the profile.")] = None


class ProfileFile(Struct, forbid_unknown_fields=True):
    """A profile as it is written."""

    semantics: Annotated[str | None, Meta(description="A profile that ships, whose claims are taken.")] = None
    plugin: _PluginSection = _PluginSection()
    env: dict[str, str | _Variable] = {}
    claims: dict[str, str | bool] = {}
    limits: Limits = Limits()
    backing: _Backing = _Backing()
    services: _Services = _Services()


class ProfileError(Exception):
    """A profile cannot be read, or has an unknown key or a value of the wrong type. The text is one sentence."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profile says. A field that it leaves out is None or empty.

    `limits` are as in `Limits`. `backing` is an fsspec URL, `services` the path of a
    compose file. `secrets` holds the names of the variables in `environment` whose values must not appear in a report.
    """

    name: str
    plugin: str | None = None
    scheme: str | None = None
    root: str | None = None
    environment: Mapping[str, str] = defaulting(default_factory=dict)
    secrets: frozenset[str] = frozenset()
    claims: Mapping[str, str | bool] = defaulting(default_factory=dict)
    limits: Mapping[str, int] = defaulting(default_factory=dict)
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
        return Profile(name=given, claims=typed_toml.read(SHIPPED / f"{given}.toml", ProfileFile).claims)
    path = Path(given)
    if not path.is_file():
        raise ProfileError(f"{given}: there is no such file, nor a profile of that name ({', '.join(shipped())})")
    try:
        file = typed_toml.read(path, ProfileFile)
    except TomlError as error:
        raise ProfileError(str(error)) from None
    if file.semantics is not None and file.semantics not in shipped():
        raise ProfileError(f"{path}: semantics is {file.semantics!r}; known are {', '.join(shipped())}")
    base = read(file.semantics).claims if file.semantics else {}
    return Profile(
        name=given,
        plugin=_beside(path, file.plugin.path) if file.plugin.path is not None else None,
        scheme=file.plugin.scheme,
        root=file.plugin.root,
        environment={name: _value(path, name, value, environment) for name, value in file.env.items()},
        secrets=frozenset(name for name, value in file.env.items() if not isinstance(value, str)),
        claims={**base, **file.claims},
        limits=msgspec.to_builtins(file.limits),
        backing=file.backing.url,
        services=(path.parent / file.services.compose).absolute() if file.services.compose else None,
    )


def _value(path: Path, name: str, value: "str | _Variable", environment: Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value
    if value.variable not in environment:
        raise ProfileError(f"{path}: [env] {name} comes from the variable {value.variable}, which is not set")
    return environment[value.variable]


def _beside(path: Path, plugin: str) -> str:
    """Resolve a path against the profile's folder.

    A bare word such as `posix` is kept: it is the name of a shipped plugin.
    """
    is_word = not Path(plugin).suffix and not plugin.startswith((".", "/"))
    return plugin if is_word else str((path.parent / plugin).absolute())
