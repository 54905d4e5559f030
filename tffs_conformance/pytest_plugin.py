"""The door for pytest. With `--plugin` a run begins, which is in run/controller.py. Without, nothing happens."""

import gc
import os
import shlex
import zlib
from collections.abc import Generator
from typing import Any

import pytest

# Every run of pytest on the machine imports this module, and most are not ours: only a run of ours imports the rest.
# ruff: noqa: PLC0415

#: The name under which the installed package registers this module.
ENTRY_POINT = "tffs"

#: The options that make a run one of ours.
_OURS = ("--plugin", "--plugin-profile", "--through")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Teach pytest the options that begin a run of ours, and in such a run all the others."""
    group = parser.getgroup(
        "tffs",
        "conformance of TensorFlow filesystem plugins (`pytest --plugin=posix --help` shows all options of this)",
    )
    group.addoption(
        "--plugin",
        action="append",
        dest="tffs_plugin",
        metavar="NAME|PATH",
        help="judge this plugin: the name of one that ships with the suite (posix) or the path of a shared object;"
        " repeatable. Without paths on the command line the suite itself is run.",
    )
    group.addoption(
        "--plugin-profile",
        action="append",
        dest="tffs_plugin_profile",
        default=[],
        metavar="FILE|NAME",
        help="what the plugin claims, and how to reach it (TOML), or a kind of storage: posix-like, object-store;"
        " one for each --plugin, or without --plugin where it names one",
    )
    group.addoption(
        "--through",
        dest="tffs_through",
        default="",
        metavar="tensorflow|PYTHON",
        help="perform the ops as TensorFlow's users do, with tf.io.gfile of the TensorFlow that is installed here, or"
        " of another Python; without --plugin, judge a filesystem of TensorFlow's own, e.g. --scheme=ram",
    )
    config: Any = pluginmanager.get_plugin("pytestconfig")
    if any(argument.partition("=")[0] in _OURS for argument in _arguments(config)):
        from .run import run_options

        run_options.add(group)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    """Keep the user's own conftest files away from our cases, and say what may have been meant by an unknown option."""
    given = early_config.known_args_namespace
    is_ours = _is_asked_for(given)
    if is_ours:
        given.noconftest = True
    if is_ours and early_config.pluginmanager.hasplugin("cacheprovider"):
        # The ids of cases do not name the plugin: --lf would take the failures of another one.
        judged = str((given.tffs_plugin, given.tffs_plugin_profile, given.tffs_through)).encode()
        folder = os.path.join(early_config.getini("cache_dir"), f"tffs-{zlib.crc32(judged):08x}")
        early_config._inicache["cache_dir"] = folder
    result = yield
    if unknown := [arg.partition("=")[0] for arg in parser.parse_known_and_unknown_args(args)[1] if arg[:2] == "--"]:
        from .reports.patterns import nearest
        from .run.run_options import declared

        ours = [f"--{one.name}" for _, one in declared()]
        for name in unknown:
            if name in ours:
                with_it = "--plugin=NAME|PATH, with which it is one of the conformance suite"
                raise pytest.UsageError(f"there is no option {name} without {with_it}")
            if near := nearest(name, ours if is_ours else _OURS):
                raise pytest.UsageError(f"there is no option {name}{near}")
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Begin a run where there is something to judge."""
    config.addinivalue_line("markers", "tffs_calls(count): about how many calls a case of the conformance suite makes")
    config.addinivalue_line("markers", "tffs_clauses(*ids): the clauses a case of the conformance suite checks")
    config.addinivalue_line("markers", "tffs_over_tables: a case of the conformance suite that needs a host process")
    config.addinivalue_line("markers", "tffs_tier(name): the smallest tier a case of the conformance suite belongs to")
    if _is_asked_for(config.option) and not (config.option.help or config.option.markers):
        from .run.controller import Controller
        from .run.run_options import BadUsageError, UnwritableError
        from .run.session import Worker
        from .suite.judge.exit_code import UNWRITABLE

        # What is loaded until cases run stays: the collector would look at it again and again.
        gc.disable()
        config.add_cleanup(gc.enable)
        sent = getattr(config, "workerinput", None)
        try:
            run = Controller.begin(config) if sent is None else Worker(config, sent)
        except (BadUsageError, UnwritableError) as error:
            from .reports.forms.github import inert

            if isinstance(error, UnwritableError):
                pytest.exit(inert(str(error)), UNWRITABLE)
            raise pytest.UsageError(inert(str(error))) from error
        config.pluginmanager.register(run, "tffs-run")


def _arguments(config: pytest.Config) -> list[str]:
    """All that pytest is about to parse: the command line, its variable, and what the configuration adds."""
    return [
        *shlex.split(os.environ.get("PYTEST_ADDOPTS", "")),
        *config.getini("addopts"),
        *map(str, config.invocation_params.args),
    ]


def _is_asked_for(option: Any) -> bool:
    """Whether there is something to judge."""
    return bool(option.tffs_plugin or option.tffs_plugin_profile or option.tffs_through)
