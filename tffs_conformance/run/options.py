"""What a user types in a run of ours, beyond the options that begin one."""

import argparse
import secrets

import pytest

from ..harness.native import STAND_IN
from ..reports.forms import FORMS
from ..suite.engine.marks import TIERS
from ..suite.engine.target import EXAMPLES

#: The verdicts that --fail-on takes, as a user spells them.
FAILABLE = ("warning", "not-run", "absent")
#: What else it takes beside --gate: a violation that the baseline has, and that got something else then.
CHANGED = "changed"
#: Seconds that one call may take.
CALL_TIMEOUT = 10.0
DEFAULT_REPORTS = "tffs-report"
#: The exit codes of a run, as `--help` tells them; docs/verdicts.md says more.
EXIT_CODES = (
    "0 conformant, or nothing wrong in what was selected, or with --gate nothing new; 1 not conformant, or nothing"
    " executed, or incomplete though nobody asked for a selection; 2 interrupted; 3 pytest failed; 4 the command line"
    " makes no sense, or no case was selected"
)
#: How long one process of the plugin lives, unless it is told otherwise.
HOST_SCOPE = "case"
#: The folder beside the report in which properties leave what they found.
TRACES = "traces"


def add(group: pytest.OptionGroup) -> None:
    """Add the options of a run of ours to those that begin one."""
    option = group.addoption
    option(
        "--scheme",
        action="append",
        dest="tffs_scheme",
        default=[],
        metavar="SCHEME",
        help="the scheme to judge, '*' for each that the plugin has, nothing for the one without a name;"
        " one for each --plugin",
    )
    option(
        "--root",
        action="append",
        dest="tffs_root",
        default=[],
        metavar="URI",
        help="where cases may work: a fresh directory is made below it and removed at the end;"
        " one for each --plugin (default: SCHEME:///tmp)",
    )
    option(
        "--backing",
        action="append",
        dest="tffs_backing",
        default=[],
        metavar="URL",
        help="another way to the same storage, for a second witness: any URL of fsspec for the directory at the root,"
        " where {path} stands for the root's path, e.g. 'file://{path}', or 'none' where there is none;"
        " one for each --plugin",
    )
    option(
        "--services",
        dest="tffs_services",
        action="store_true",
        help="start what the plugin needs (those of a plugin that ships with the suite, or [services] of the profile)"
        " in docker, under free ports, and remove it at the end",
    )
    option(
        "--env",
        action="append",
        dest="tffs_env",
        default=[],
        metavar="NAME[=VALUE]",
        help="set for the plugin's process; without a value, the one that NAME has here",
    )
    option(
        "--measure",
        dest="tffs_measure",
        action="store_true",
        help="after the cases, find out what the plugin costs (times, how they grow, memory) beside the reference"
        " plugin of that kind of storage: about a minute, some seconds with --tier=smoke; it never fails a run",
    )
    option(
        "--tier",
        dest="tffs_tier",
        choices=TIERS,
        default="full",
        help="how much to run (default: full); large adds files of gigabytes, for published reports and nightly runs",
    )
    option(
        "--undefined",
        dest="tffs_undefined",
        action="store_true",
        help="run what the interface leaves undefined, too, such as append after close: a plugin may crash there",
    )
    option(
        "--clause",
        action="append",
        dest="tffs_clause",
        default=[],
        metavar="PATTERN",
        help="only cases that check such a clause, e.g. 'read.*'; repeatable",
    )
    option(
        "--case",
        action="append",
        dest="tffs_case",
        default=[],
        metavar="ID|PATTERN",
        help="only this case, e.g. 'read/across-the-end[last-byte]', or those that fit, e.g. 'read/*'; repeatable",
    )
    option(
        "--shard",
        dest="tffs_shard",
        default="1/1",
        metavar="I/N",
        help="only the I-th of N parts of the cases, the same parts on every machine;"
        " 'tffs-conformance report merge' makes one report of the parts'",
    )
    option(
        "--examples",
        dest="tffs_examples",
        type=int,
        default=EXAMPLES,
        metavar="N",
        help=f"histories that each property tries (default: {EXAMPLES})",
    )
    option(
        "--seed",
        dest="tffs_seed",
        type=_seed,
        default=0,
        metavar="N|random",
        help="what the histories follow from (default: 0, the same histories in every run; 'random' explores)",
    )
    option(
        "--replay",
        dest="tffs_replay",
        metavar="TRACE.JSON",
        help="try only the history that this trace of an earlier run holds",
    )
    option("--keep", dest="tffs_keep", action="store_true", help="keep the files that cases make")
    option(
        "--host-command",
        dest="tffs_host_command",
        default="",
        metavar="COMMAND",
        help="run the plugin's process with this command, which speaks over its standard input and output, e.g."
        " 'docker exec -i serving /tffs-host' or 'valgrind -q {host}', where {host} is the host of this package;"
        " the plugin's path is one there",
    )
    option(
        "--runtime",
        dest="tffs_runtime",
        default=STAND_IN,
        metavar="RUNTIME",
        help="what gives the plugin its TF_* symbols: 'stand-in' (default); 'tensorflow' for the one that is installed"
        " here; the folder of another; or a release that pip fetches once, e.g. 'tensorflow-cpu==2.16.*'",
    )
    option(
        "--host-scope",
        dest="tffs_host_scope",
        choices=("case", "module", "session"),
        default=HOST_SCOPE,
        help="how long one process of the plugin lives (default: case; wider for plugins that are slow to start)",
    )
    option(
        "--call-timeout",
        dest="tffs_call_timeout",
        type=float,
        default=CALL_TIMEOUT,
        metavar="SECONDS",
        help=f"after so long an op counts as hung (default: {CALL_TIMEOUT:g})",
    )
    option(
        "--report-dir",
        dest="tffs_report_dir",
        default=DEFAULT_REPORTS,
        metavar="DIR",
        help=f"where report.json and its journal go (default: {DEFAULT_REPORTS})",
    )
    for form in FORMS:
        option(
            f"--report-{form.name}",
            dest=f"tffs_report_{form.name}",
            action="store_true",
            help=f"beside report.json, {form.file}: {form.says}",
        )
    option(
        "--waivers",
        action="append",
        dest="tffs_waivers",
        default=[],
        metavar="FILE",
        help="known violations that are accepted (TOML); one file for all plugins, or one for each",
    )
    option(
        "--fail-on",
        dest="tffs_fail_on",
        default="",
        metavar="KINDS",
        help="fail the run on these, too, separated by commas: "
        + ", ".join(FAILABLE)
        + f", and with --gate {CHANGED}. Exit codes: "
        + EXIT_CODES,
    )
    option(
        "--gate",
        dest="tffs_gate",
        choices=("no-new",),
        help="fail only on what is new against --baseline: a violation, or what --fail-on names, of a clause in a case"
        " that had none; a clause that is no longer executed; errors; a run that is not whole",
    )
    option(
        "--baseline",
        action="append",
        dest="tffs_baseline",
        default=[],
        metavar="REPORT.JSON",
        help="the report of a whole earlier run of the same target, of this tier or a larger one; one for each target",
    )


def _seed(text: str) -> int:
    if text == "random":
        return secrets.randbelow(1 << 32)
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number from 0 on nor 'random'")
    return int(text)
