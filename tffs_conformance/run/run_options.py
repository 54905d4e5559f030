"""What a user asked for in a run, read off pytest's options once and checked."""

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ..harness.native import NativePartsMissing, native_directory
from ..reports.forms import FORMS, Form
from ..reports.model.header import Tier
from ..suite.properties.traces import NotATrace, Trace
from .options import CHANGED, FAILABLE


class BadUsage(Exception):
    """What a user gave is wrong; the text is one sentence that says how."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a user asked for, read off pytest's options once. Lists pair up by position with `plugins`.

    `plugins` is empty where profiles name them. `timeout` is in seconds. `cases` and `clauses` are patterns; `cases` is
    the one case that --replay is about, where that was given. `fail_on` are verdicts as reports spell them.
    """

    plugins: tuple[str, ...]
    profiles: tuple[str, ...]
    schemes: tuple[str, ...]
    roots: tuple[str, ...]
    backings: tuple[str, ...]
    waivers: tuple[str, ...]
    environment: Mapping[str, str]
    services: bool
    measure: bool
    tier: Tier
    undefined: bool
    clauses: tuple[str, ...]
    cases: tuple[str, ...]
    shard: tuple[int, int]
    examples: int
    seed: int
    replay: str | None
    keep: bool
    host_command: tuple[str, ...]
    runtime: str
    through: str
    host_scope: str
    timeout: float
    reports: Path
    forms: tuple[Form, ...]
    fail_on: tuple[str, ...]
    fails_on_changed: bool
    gate: bool
    baselines: tuple[str, ...]

    @classmethod
    def of(cls, option: Any) -> Self:
        """Read and check what pytest parsed. Raises BadUsage."""
        _no_empty_values(option)
        if not 0 < option.tffs_call_timeout < math.inf:
            raise BadUsage("--call-timeout must be a number of seconds, more than 0")
        if option.tffs_examples <= 0:
            raise BadUsage("--examples must be more than 0")
        kinds = _fail_on(option.tffs_fail_on)
        _hold_gate(option, kinds)
        replay = option.tffs_replay and os.path.abspath(option.tffs_replay)
        return cls(
            plugins=tuple(option.tffs_plugin or ()),
            profiles=tuple(option.tffs_profile),
            schemes=tuple(option.tffs_scheme),
            roots=tuple(option.tffs_root),
            backings=tuple(option.tffs_backing),
            waivers=tuple(option.tffs_waivers),
            environment=_environment(option.tffs_env),
            services=option.tffs_services,
            measure=option.tffs_measure,
            tier=option.tffs_tier,
            undefined=option.tffs_undefined,
            clauses=tuple(option.tffs_clause),
            # Only the case that found a history can try it.
            cases=(_case_of(option.tffs_replay),) if replay else tuple(option.tffs_case),
            shard=_shard(option.tffs_shard),
            examples=option.tffs_examples,
            seed=option.tffs_seed,
            replay=replay,
            keep=option.tffs_keep,
            host_command=_host_command(option.tffs_host_command),
            runtime=option.tffs_runtime,
            through=option.tffs_through,
            host_scope=option.tffs_host_scope,
            timeout=option.tffs_call_timeout,
            reports=Path(os.path.abspath(option.tffs_report_dir)),
            forms=tuple(form for form in FORMS if getattr(option, f"tffs_report_{form.name}")),
            fail_on=tuple(kind.replace("-", " ") for kind in kinds if kind != CHANGED),
            fails_on_changed=CHANGED in kinds,
            gate=option.tffs_gate is not None,
            baselines=tuple(option.tffs_baseline),
        )

    @property
    def shaping(self) -> Mapping[str, float | int | str]:
        """The options beside tier and seed that shape a result, by name."""
        return {"call-timeout": self.timeout, "examples": self.examples, "host-scope": self.host_scope}

    def report_directory(self, target: str, several: bool) -> Path:
        """Where the report of the target of this name goes: a folder of its own where there are several."""
        return self.reports / target if several else self.reports


#: The options that say nothing when they are empty. An empty --scheme is one: that of TensorFlow's local files.
_SPEAKING = (
    "plugin",
    "plugin-profile",
    "root",
    "backing",
    "clause",
    "case",
    "replay",
    "report-dir",
    "waivers",
    "baseline",
)


def _no_empty_values(option: Any) -> None:
    for name in _SPEAKING:
        dest = "tffs_profile" if name == "plugin-profile" else f"tffs_{name.replace('-', '_')}"
        value = getattr(option, dest)
        if value == "" or (isinstance(value, list) and "" in value):
            raise BadUsage(f"--{name}= has no value")


def _host_command(given: str) -> tuple[str, ...]:
    """The words of a command, as a shell has them; `{host}` is the host that was built with this package."""
    try:
        return tuple(word.replace("{host}", str(native_directory() / "tffs-host")) for word in shlex.split(given))
    except ValueError as error:
        raise BadUsage(f"--host-command={given}: {error}") from error
    except NativePartsMissing as error:
        raise BadUsage(str(error)) from error


def _environment(entries: Sequence[str]) -> dict[str, str]:
    environment = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not name:
            raise BadUsage(f"--env={entry}: NAME=VALUE is expected")
        if not equals and name not in os.environ:
            raise BadUsage(f"--env={name}: it is not set here, so it has to be --env={name}=VALUE")
        environment[name] = value if equals else os.environ[name]
    return environment


def _case_of(replay: str) -> str:
    try:
        return Trace.read(Path(replay)).case
    except NotATrace as error:
        raise BadUsage(f"--replay: {error}") from error


def _shard(text: str) -> tuple[int, int]:
    number, slash, shards = text.partition("/")
    if not (slash and number.isdecimal() and shards.isdecimal() and 1 <= int(number) <= int(shards)):
        raise BadUsage(f"--shard={text}: I/N is expected, such as 1/3, with I from 1 to N")
    return int(number), int(shards)


def _fail_on(text: str) -> list[str]:
    kinds = [kind for kind in text.split(",") if kind]
    for kind in kinds:
        if kind not in (*FAILABLE, CHANGED):
            raise BadUsage(f"--fail-on={kind}: choose from {', '.join((*FAILABLE, CHANGED))}")
    return kinds


def _hold_gate(option: Any, kinds: Sequence[str]) -> None:
    """Hold the options about an earlier report to each other."""
    if option.tffs_gate and not option.tffs_baseline:
        raise BadUsage(f"--gate={option.tffs_gate} needs --baseline=REPORT.JSON, the report of an earlier run")
    if option.tffs_baseline and not option.tffs_gate:
        raise BadUsage("--baseline is for --gate=no-new, which was not given")
    if CHANGED in kinds and not option.tffs_gate:
        raise BadUsage(f"--fail-on={CHANGED} is for --gate=no-new, which was not given")
