"""What a user may ask for in a run, and asked for: each option is declared here, read once and checked."""

import argparse
import os
import secrets
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import pytest

from ..harness.native import STAND_IN, NativePartsMissingError, native_directory
from ..reports.forms import FORMS, Form
from ..reports.model.counts import number
from ..reports.model.header import FORMER_TIERS, Tier
from ..suite.engine.case_facts import TIERS
from ..suite.engine.target import EXAMPLES
from ..suite.properties.traces import NotATraceError, Trace
from .options import RunOption, names_in, option

#: The verdicts that --fail-on takes, as a user spells them.
FAILABLE = ("warning", "not-run", "absent")
#: The tools that --sanitizer takes.
SANITIZERS = ("memcheck", "address", "thread")
#: What --conditions takes.
CONDITIONS = ("syscalls", "kill", "power", "network", "processes", "memory")
#: Why it does not go with what else starts hosts.
_ITS_OWN = "it is for hosts of this machine, and starts them itself"
#: The most seconds for a call. Some wait hundreds of times as long, and poll(2) takes 2**31 milliseconds.
LONGEST_CALL = 3_000
#: What else it takes beside --gate: a violation that the baseline has, and that got something else then.
CHANGED = "changed"
#: The exit codes of a run, as `--help` tells them; docs/report.md says more.
EXIT_CODES = (
    "0 conformant, or nothing wrong in what was selected, or with --gate nothing new; 1 not conformant, or nothing"
    " executed, or incomplete without a selection; 2 interrupted; 3 pytest failed; 4 the command line"
    " makes no sense, or no case was selected; 6 the report cannot be written"
)


class UnwritableError(Exception):
    """A report cannot be written, for want of room perhaps; the text is one sentence that says why."""

    def __init__(self, error: OSError, more: str = "") -> None:
        super().__init__(f"the report cannot be written: {error.strerror or error}{more}")


class BadUsageError(Exception):
    """What a user gave is wrong; the text is one sentence that says how."""


def not_one_for_each(option: str, given: int, targets: int) -> BadUsageError:
    """The error that an option of which each target has one was given another number of times."""
    times = number(given, "time")
    return BadUsageError(
        f"{option} was given {times} for {number(targets, 'target')}: give it once for each, in their order"
    )


# What is made of what pytest parsed ----------------------------------------------------------------------------------


def _seed(text: str) -> int:
    if text == "random":
        return secrets.randbelow(1 << 32)
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number from 0 on nor 'random'")
    return int(text)


def patience(seconds: float) -> float:
    """What was asked for with --call-timeout. Raises BadUsageError where nobody can wait so long."""
    if not 0 < seconds <= LONGEST_CALL:
        raise BadUsageError(f"--call-timeout must be a number of seconds, more than 0 and at most {LONGEST_CALL:,}")
    return seconds


def _examples(number: int) -> int:
    if number <= 0:
        raise BadUsageError("--examples must be more than 0")
    return number


def _host_command(given: str) -> tuple[str, ...]:
    """The words of a command, as a shell has them; `{host}` is the host that was built with this package."""
    try:
        return tuple(word.replace("{host}", str(native_directory() / "tffs-host")) for word in shlex.split(given))
    except ValueError as error:
        raise BadUsageError(f"--host-command={given}: {error}") from error
    except NativePartsMissingError as error:
        raise BadUsageError(str(error)) from error


def _environment(entries: Sequence[str]) -> dict[str, str]:
    environment = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not name:
            raise BadUsageError(f"--env={entry}: NAME=VALUE is expected")
        if not equals and name not in os.environ:
            raise BadUsageError(f"--env={name}: it is not set here, so it has to be --env={name}=VALUE")
        environment[name] = value if equals else os.environ[name]
    return environment


def _case_of(replay: str) -> str:
    try:
        return Trace.read(Path(replay)).case
    except NotATraceError as error:
        raise BadUsageError(f"--replay: {error}") from error


def _shard(text: str) -> tuple[int, int]:
    number, slash, shards = text.partition("/")
    if not (slash and number.isdecimal() and shards.isdecimal() and 1 <= int(number) <= int(shards)):
        raise BadUsageError(f"--shard={text}: I/N is expected, such as 1/3, with I from 1 to N")
    return int(number), int(shards)


# The options ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a user asked for. Lists pair up by position with `plugins`, which is empty where profiles name them.

    `timeout` is in seconds. `cases` and `clauses` are patterns; `cases` is the one case that --replay is about, where
    that was given.
    """

    # fmt: off
    # ruff: noqa: RUF009 - `option` makes a field, as `dataclasses.field` does.
    plugins: tuple[str, ...] = option("plugin", default=(), speaks=True)
    profiles: tuple[str, ...] = option("plugin-profile", default=(), speaks=True)
    through: str = option("through", default="", again=True)
    loads: tuple[str, ...] = option(
        "load",
        "in place of --plugin, with --through: a library whose filesystem is a C++ class, as TensorFlow had them before"
        " plugins; TensorFlow loads it with tf.load_library; repeatable",
        default=(), metavar="PATH",
    )
    schemes: tuple[str, ...] = option(
        "scheme",
        "the scheme to judge, '*' for each that the plugin has, nothing for the one without a name;"
        " one for each --plugin",
        default=(), metavar="SCHEME",
    )
    roots: tuple[str, ...] = option(
        "root",
        "where cases may work: a fresh directory is made below it and removed at the end;"
        " one for each --plugin (default: SCHEME:///tmp, or SCHEME:// and TMPDIR)",
        default=(), metavar="URI", speaks=True,
    )
    backings: tuple[str, ...] = option(
        "backing",
        "another way to the same storage, for a second witness: any URL of fsspec for the directory at the root,"
        " where {path} stands for the root's path, e.g. 'file://{path}', or 'none' where there is none;"
        " one for each --plugin",
        default=(), metavar="URL", speaks=True,
    )
    services: bool = option(
        "services",
        "start what the plugin needs (those of a plugin that ships with the suite, or [services] of the profile)"
        " in docker, under free ports, and remove it at the end",
        default=False, again=True,
    )
    environment: Mapping[str, str] = option(
        "env", "set for the plugin's process; without a value, the one that NAME has here",
        default=(), metavar="NAME[=VALUE]", read=_environment,
    )
    measure: bool = option(
        "measure",
        "after the cases, measure what each op takes, by size, beside the reference plugin of that kind of storage:"
        " some ten seconds for a quick plugin; it never fails a run",
        default=False,
    )
    tier: Tier = option(
        "tier",
        "how much to run (default: full); large adds files of gigabytes, for published reports and nightly runs,"
        " deep all small histories; must is the old name of quick",
        default="full", choices=(*TIERS, *FORMER_TIERS), read=lambda tier: FORMER_TIERS.get(tier, tier), again=True,
        usual=TIERS[: TIERS.index("large")],
    )
    undefined: bool = option(
        "undefined",
        "run what the interface leaves undefined, too, such as append after close: a plugin may crash there",
        default=False, again=True,
    )
    clauses: tuple[str, ...] = option(
        "clause", "only cases that check this clause, e.g. 'read.*'; repeatable",
        default=(), metavar="PATTERN", speaks=True,
    )
    cases: tuple[str, ...] = option(
        "case", "only this case, e.g. 'read/across-the-end[last-byte]', or those that fit, e.g. 'read/*'; repeatable",
        default=(), metavar="ID|PATTERN", speaks=True,
    )
    shard: tuple[int, int] = option(
        "shard",
        "only the I-th of N parts of the cases, the same parts on every machine;"
        " 'tffs-conformance report merge' makes one report of the parts'",
        default="1/1", metavar="I/N", read=_shard,
    )
    examples: int = option(
        "examples", f"histories that each property tries (default: {EXAMPLES})",
        default=EXAMPLES, type=int, metavar="N", read=_examples, shapes=True, of_target=True, again=True,
    )
    seed: int = option(
        "seed", "what the histories follow from (default: 0, the same histories in every run; 'random' explores)",
        default=0, type=_seed, metavar="N|random", of_target=True, again=True,
    )
    replay: str | None = option(
        "replay", "try only the history that this trace of an earlier run holds",
        metavar="TRACE.JSON", read=lambda path: path and os.path.abspath(path), speaks=True, of_target=True,
    )
    keep: bool = option("keep", "keep the files that cases make", default=False, of_target=True)
    host_command: tuple[str, ...] = option(
        "host-command",
        "run the plugin's process with this command, which speaks over its standard input and output, e.g."
        " 'docker exec -i serving /tffs-host' or 'valgrind -q {host}', where {host} is the host of this package;"
        " the plugin's path is one there",
        default="", metavar="COMMAND", read=_host_command, of_target=True,
    )
    sandbox: str = option(
        "sandbox",
        "run the plugin where it can change nothing but its root and a temporary folder, without network (with"
        " --services, or 'network', it has this machine's) and without what looks secret in the environment: 'on';"
        " 'try' where bubblewrap can, and say so where it cannot (docs/architecture.md)",
        default="off", choices=("off", "on", "network", "try"), again=True,
    )
    sanitizer: str = option(
        "sanitizer",
        "repeat each case with the plugin under a tool that finds what it does to memory, or where its threads race:"
        " 'memcheck' is valgrind's, for any plugin; 'address' and 'thread' are for one that was compiled with"
        " -fsanitize=address or -fsanitize=thread; they take minutes with --tier=quick (docs/conditions.md)",
        default="", choices=SANITIZERS, of_target=True, again=True,
    )
    conditions: tuple[str, ...] = option(
        "conditions",
        "add cases in which something fails under the plugin, separated by commas: 'syscalls' fails each system call"
        " that an op makes on files, with strace; 'kill' kills its process between and within ops; 'power' forgets"
        " what was not made durable, with FUSE; 'network' disturbs its connections to services;"
        " 'processes' has signals, forks, exits and several processes at once; 'memory' fails each allocation of an op;"
        " they take minutes (docs/conditions.md)",
        default="", metavar="NAMES", choices=CONDITIONS, read=names_in, again=True, usual=((),),
    )
    runtime: str = option(
        "runtime",
        "what gives the plugin its TF_* symbols: 'stand-in' (default); 'tensorflow' for the one that is installed"
        " here; the folder of another; or a release that pip fetches once, e.g. 'tensorflow-cpu==2.16.*'",
        default=STAND_IN, metavar="RUNTIME", again=True,
    )
    host_scope: str = option(
        "host-scope",
        "how long one process of the plugin lives (default: case); wider is faster, and what a case leaves in the"
        " process meets the next",
        default="case", choices=("case", "module", "session"), shapes=True, of_target=True, again=True,
    )
    timeout: float = option(
        "call-timeout", "after so long an op counts as hung (default: 10)",
        default=10.0, type=float, metavar="SECONDS", read=patience, shapes=True, of_target=True, again=True,
    )
    reports: Path = option(
        "report-dir",
        "where report.json and its journal go (default: tffs-report, and tffs-report/selection for a selection where"
        " the report of a whole run is in tffs-report)",
        metavar="DIR", read=lambda path: Path(os.path.abspath(path or "tffs-report")), speaks=True,
    )
    #: Whether a user named that folder.
    reports_named: bool
    forms: tuple[Form, ...] = option(
        "report",
        "beside report.json, the report in these forms, separated by commas: "
        + "; ".join(f"{form.name} ({form.file}, {form.says})" for form in FORMS),
        default=(), metavar="FORMS", choices=[form.name for form in FORMS], speaks=True,
        read=lambda given: tuple(form for form in FORMS if form.name in names_in(",".join(given))),
    )
    waivers: tuple[str, ...] = option(
        "waivers", "known violations that are accepted (TOML); one file for all plugins, or one for each",
        default=(), metavar="FILE", speaks=True,
    )
    failing: tuple[str, ...] = option(
        "fail-on",
        "fail the run on these, too, separated by commas: "
        f"{', '.join(FAILABLE)}, and with --gate {CHANGED}. Exit codes: {EXIT_CODES}",
        default="", metavar="KINDS", choices=(*FAILABLE, CHANGED), read=names_in,
    )
    gate: bool = option(
        "gate",
        "fail only on what is new against --baseline: a violation, or what --fail-on names, of a clause in a case"
        " that had none; a clause that is no longer executed; errors; a run that is not whole",
        choices=("no-new",), read=bool,
    )
    baselines: tuple[str, ...] = option(
        "baseline",
        "the report of a whole earlier run of the same target, of this tier or a larger one; one for each target",
        default=(), metavar="REPORT.JSON", speaks=True,
    )
    # fmt: on

    @classmethod
    def of(cls, parsed: Any) -> Self:
        """Read and check what pytest parsed. Raises BadUsageError."""
        given = {name: one.parsed(parsed) for name, one in declared()}
        for name, one in declared():
            if one.speaks and (given[name] == "" or (isinstance(given[name], tuple) and "" in given[name])):
                raise BadUsageError(f"--{one.name}= has no value")
            if wrong := one.wrong(given[name]):
                raise BadUsageError(wrong)
        values = {name: one.read(given[name]) if one.read else given[name] for name, one in declared()}
        _hold_gate(values["gate"], values["baselines"], values["failing"])
        usual = {"through": "", "host_command": (), "sandbox": "off", "runtime": STAND_IN}
        for name, value in usual.items():
            for tool in ("sanitizer", "conditions"):
                # Only who is compiled for a sanitizer has that in all its hosts, and TensorFlow does not.
                if name == "runtime" and values[tool] not in ("address", "thread"):
                    continue
                if values[tool] and values[name] != value:
                    raise BadUsageError(f"--{tool} and --{name.replace('_', '-')} exclude each other: {_ITS_OWN}")
        if values["replay"]:
            # Only the case that found a history can try it.
            values["cases"] = (_case_of(given["replay"]),)
        return cls(**values, reports_named=given["reports"] is not None)

    @property
    def fail_on(self) -> tuple[str, ...]:
        """The verdicts that fail the run, too, as reports spell them."""
        return tuple(kind.replace("-", " ") for kind in self.failing if kind != CHANGED)

    @property
    def under(self) -> tuple[str, ...]:
        """The conditions of the run."""
        return (*((self.sanitizer,) if self.sanitizer else ()), *self.conditions)

    @property
    def shaping(self) -> Mapping[str, float | int | str]:
        """The options beside tier and seed that shape a result, by name."""
        return dict(sorted((one.name, getattr(self, name)) for name, one in declared() if one.shapes))

    @property
    def of_target(self) -> Mapping[str, Any]:
        """The fields that a target has, too."""
        return {name: getattr(self, name) for name, one in declared() if one.of_target}

    @property
    def again(self) -> list[str]:
        """The options of the line that runs a case again, without those that differ between targets."""
        return [word for name, one in declared() if one.again for word in one.line(getattr(self, name))]

    def report_directory(self, target: str, several: bool) -> Path:
        """Where the report of the target of this name goes: a folder of its own where there are several."""
        return self.reports / target if several else self.reports


def declared() -> Iterator[tuple[str, RunOption]]:
    """Each option, and the field that is read off it."""
    return ((each.name, each.metadata["option"]) for each in fields(RunOptions) if each.metadata)


def add(group: pytest.OptionGroup) -> None:
    """Add the options of a run of ours to those that begin one."""
    for _, one in declared():
        one.add(group)


def _hold_gate(gate: bool, baselines: Sequence[str], failing: Sequence[str]) -> None:
    """Hold the options about an earlier report to each other."""
    if gate and not baselines:
        raise BadUsageError("--gate=no-new needs --baseline=REPORT.JSON, the report of an earlier run")
    if baselines and not gate:
        raise BadUsageError("--baseline is for --gate=no-new, which was not given")
    if CHANGED in failing and not gate:
        raise BadUsageError(f"--fail-on={CHANGED} is for --gate=no-new, which was not given")
