"""Judges a plugin that others released, and publishes the report."""

import importlib.util
import os
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from reference_plugins.dragonfly.services import build_images
from reference_plugins.dragonfly.services.build_images import UnableError
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.services import ComposeError
from tffs_conformance.harness.shared_object import runtimes, wheels
from tffs_conformance.harness.shared_object.wheels import NoWheelError
from tffs_conformance.harness.targets import profile
from tffs_conformance.reports import publish as reports
from tffs_conformance.reports.document import load
from tffs_conformance.reports.publish import NotPublishableError

from . import images

HERE = Path(__file__).resolve().parent
CLONE = HERE.parent
#: Where the libraries of wheels are kept. Reports name it, so it is below the folder in which pytest runs.
LIBRARIES = Path("build", "third_party")
REPORTS = Path("tffs-report", "third_party")
PUBLISHED = Path("reports", "published")


class BadTargetError(Exception):
    """A target's file is wrong; the text is one sentence."""


@dataclass(frozen=True)
class Target:
    """What a folder's target.toml says.

    `wheel` and `runtime` are requirements of pip, `library` is a path in the wheel. `needs` are the packages without
    which the backing cannot be used, `settings` are variables for them. `programs` are variables for the plugin, each
    the folder of a program of `images.py`. `options` are pytest's.
    """

    name: str
    wheel: str
    library: str
    runtime: str
    needs: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The release that is judged."""
        return self.wheel.partition("==")[2]

    @property
    def shared_object(self) -> Path:
        """The library, once it was fetched, seen from the clone."""
        return LIBRARIES / self.wheel.replace("==", "-") / Path(self.library).name

    @property
    def published(self) -> Path:
        """The folder of its report, seen from the clone."""
        return PUBLISHED / self.name / self.version


def names() -> list[str]:
    """The targets that there are."""
    return sorted(path.parent.name for path in HERE.glob("*/target.toml"))


def read(name: str) -> Target:
    """A target. Raises BadTarget."""
    path = HERE / name / "target.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        needs, options = (tuple(table.pop(key, ())) for key in ("needs", "options"))
        return Target(name, needs=needs, options=options, **table)
    except FileNotFoundError:
        raise BadTargetError(f"there is no target {name}; there are {', '.join(names())}") from None
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise BadTargetError(f"{path}: {error}") from error


def services_of(name: str) -> Path:
    """The compose file of a target, which its profile names. Raises BadTarget."""
    found = profile.read(str(HERE / name / "profile.toml")).services
    if found is None:
        raise BadTargetError(f"the profile of {name} names no services")
    return Path(found)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", metavar="TARGET")
@click.argument("more", metavar="[OPTIONS OF PYTEST]", nargs=-1, type=click.UNPROCESSED)
def main(name: str, more: tuple[str, ...]) -> None:
    """Judge one target: a folder of third_party/ that has a target.toml.

    \b
      python -m third_party.judge s3-versitygw
      python -m third_party.judge s3-versitygw --case='read/*'

    The plugin's wheel and a TensorFlow that loads it are fetched once, with pip. The services are started in docker and
    removed at the end; an image that cannot be pulled is built, if it can be. Then the suite judges the plugin, in
    minutes. The report of a whole run goes to reports/published/TARGET/VERSION/; that of a selection stays in
    tffs-report/third_party/TARGET/. Options that this command does not know are pytest's.

    The exit code is that of pytest: 1 for a plugin that is not conformant.
    """
    started = time.monotonic()
    try:
        target = read(name)
        lacking = [package for package in target.needs if importlib.util.find_spec(package) is None]
        if lacking:
            raise BadTargetError(f"the backing of {name} needs what is not installed: pip install {' '.join(lacking)}")
        fetch(target)
        images.provide([services_of(name)])
        places = {variable: str(images.folder(program)) for variable, program in target.programs.items()}
    except (BadTargetError, NoWheelError, UnableError, ComposeError) as error:
        raise click.ClickException(str(error)) from error
    code = judge(target, places, more)
    publish(target, code, time.monotonic() - started)
    sys.exit(code)


def fetch(target: Target) -> None:
    """Put the library of the target's wheel in its place, if it is not there. Raises NoWheelError."""
    place = CLONE / target.shared_object
    if place.is_file():
        return
    click.echo(f"fetching {target.wheel}")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        wheel = wheels.download(target.wheel, Path(folder))
        wheels.unpack(wheel, [target.library], Path(folder))
        unpacked = Path(folder, target.library)
        if not unpacked.is_file():
            raise NoWheelError(f"{wheel.name} has no {target.library}")
        unpacked.replace(place)


def judge(target: Target, places: Mapping[str, str], more: tuple[str, ...]) -> int:
    """Run the suite with these variables; the exit code of pytest."""
    command = [
        "pytest",
        f"--plugin={target.shared_object}",
        f"--plugin-profile={Path('third_party', target.name, 'profile.toml')}",
        f"--runtime={target.runtime}",
        "--services",
        *target.options,
        *more,
        f"--report-dir={REPORTS / target.name}",
    ]
    click.echo(shlex.join(command))
    environment = {**os.environ, **target.settings, **places}
    return subprocess.run([sys.executable, "-m", *command], cwd=CLONE, env=environment, check=False).returncode


def publish(target: Target, code: int, seconds: float) -> None:
    """Put the report of a whole run into its place, and say what came of it."""
    made = CLONE / REPORTS / target.name / "report.json"
    if code not in (0, 1) or not made.is_file():
        click.echo(f"{target.name}: nothing was judged")
        return
    found = load(made)
    click.echo(f"{target.name}: {found.verdict} ({found.reason}), in {seconds / 60:.0f} minutes")
    try:
        written = reports.publish(
            found,
            CLONE / PUBLISHED,
            target.name,
            target.version,
            folders=(CLONE, native_directory().parent, runtimes.cache(), build_images.CACHE),
            command=("python", "-m", "third_party.judge", target.name),
        )
    except NotPublishableError as error:
        click.echo(f"not published: {error}")
        return
    for path in written:
        click.echo(f"published: {path.relative_to(CLONE)}")


if __name__ == "__main__":
    main(prog_name="python -m third_party.judge")
