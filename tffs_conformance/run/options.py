"""What a user types."""

import secrets

import pytest

from ..suite.engine.marks import TIERS
from ..suite.engine.target import EXAMPLES

#: The verdicts that --fail-on takes, as a user spells them.
FAILABLE = ("warning", "not-run", "absent")
DEFAULT_REPORTS = "tffs-report"
#: How long one process of the plugin lives, and how many seconds a call may take, unless they are told otherwise.
HOST_SCOPE = "case"
CALL_TIMEOUT = 10.0
#: The folder beside the report in which properties leave what they found.
TRACES = "traces"


def add(parser: pytest.Parser) -> None:
    """Register the options of the suite."""
    group = parser.getgroup("tffs", "conformance of TensorFlow filesystem plugins")
    option = group.addoption
    option(
        "--plugin",
        action="append",
        dest="tffs_plugin",
        metavar="NAME|PATH",
        help="judge this plugin: the name of one that ships with the suite (posix) or the path of a shared object;"
        " repeatable. Without paths on the command line the suite itself is run.",
    )
    option(
        "--plugin-profile",
        action="append",
        dest="tffs_profile",
        default=[],
        metavar="FILE|NAME",
        help="what the plugin claims, and how to reach it (TOML), or a kind of storage: posix-like, object-store;"
        " one for each --plugin, or without --plugin where it names one",
    )
    option(
        "--scheme",
        action="append",
        dest="tffs_scheme",
        default=[],
        help="the scheme to judge, '*' for each that the plugin has; one for each --plugin",
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
        " where {path} stands for the root's path, e.g. 'file://{path}'; one for each --plugin",
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
        help="set for the plugin's process; without a value, the one that it has in this environment",
    )
    option("--tier", dest="tffs_tier", choices=TIERS, default="full", help="how much to run (default: full)")
    option(
        "--undefined",
        dest="tffs_undefined",
        action="store_true",
        help="run what the interface leaves undefined, too, such as append after close: a plugin may crash there",
    )
    option("--clause", dest="tffs_clause", metavar="PATTERN", help="only cases that check such a clause, e.g. 'read.*'")
    option("--case", dest="tffs_case", metavar="ID", help="only this case, e.g. 'read/across-the-end'")
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
        help="after so long an op counts as hung (default: 10)",
    )
    option(
        "--report-dir",
        dest="tffs_report_dir",
        default=DEFAULT_REPORTS,
        metavar="DIR",
        help=f"where report.json and its journal go (default: {DEFAULT_REPORTS})",
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
        help="fail the run on these, too, separated by commas: " + ", ".join(FAILABLE),
    )


def _seed(text: str) -> int:
    return secrets.randbelow(1 << 32) if text == "random" else int(text)
