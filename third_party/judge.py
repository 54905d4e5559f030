"""Judges a plugin that others released, and publishes the report."""

import importlib.util
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from msgspec import Struct

from reference_plugins.dragonfly.services import build_images
from reference_plugins.dragonfly.services.build_images import UnableError
from tffs_conformance import typed_toml
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.services import ComposeError
from tffs_conformance.harness.targets import profile, runtimes
from tffs_conformance.harness.targets.runtimes import NoWheelError
from tffs_conformance.reports import publish as reports
from tffs_conformance.reports.anonymous import anonymous
from tffs_conformance.reports.document import load
from tffs_conformance.reports.publish import NotPublishableError
from tffs_conformance.suite.judge.findings import conclude
from tffs_conformance.typed_toml import TomlError

from . import images, releases, tensorflows
from .releases import Package

HERE = Path(__file__).resolve().parent
CLONE = HERE.parent
#: Where the libraries of wheels are kept. Reports name it, so it is below the folder in which pytest runs.
LIBRARIES = Path("build", "third_party")
REPORTS = Path("tffs-report", "third_party")
PUBLISHED = Path("reports", "published")
#: Where the findings of a release are explained that is not the newest.
EXPLAINED = (
    "[The notes of the newest release](../{}/reproduce.md) have the confirmed causes, and [history](../../history.md)"
    " what differs."
)


class BadTargetError(Exception):
    """There is no such target, or it cannot be used; the text is one sentence."""


class TargetFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A folder's target.toml.

    `library` is a path in the wheel of `package`; TensorFlow's own filesystems have none. `needs` are the packages
    without which the backing cannot be used, `settings` are variables for them. `programs` are variables for the
    plugin, each the folder of a program of `images.py`. `options` are pytest's.
    """

    package: str
    library: str = ""
    needs: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    programs: dict[str, str] = {}
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class PublishedTarget:
    """A target: its file, and which release of its package is judged."""

    name: str
    file: TargetFile
    package: Package
    version: str

    @property
    def is_newest(self) -> bool:
        """Whether it is the newest of its package."""
        return self.version == self.package.newest

    @property
    def folder(self) -> Path:
        """Where what was fetched of the release is kept, seen from the clone."""
        return LIBRARIES / f"{self.file.package}-{self.version}"

    @property
    def shared_object(self) -> Path:
        """The library, once it was fetched, seen from the clone."""
        return self.folder / Path(self.file.library).name

    @property
    def published(self) -> Path:
        """The folder of its report, seen from the clone."""
        return PUBLISHED / self.name / self.version

    @property
    def reports(self) -> Path:
        """Where pytest writes the report, seen from the clone."""
        return REPORTS / self.name / self.version

    @property
    def judged(self) -> tuple[str, ...]:
        """What pytest has to be told of it."""
        if not self.file.library:
            return (f"--through={self.folder / 'bin' / 'python'}", *self.file.options)
        return (
            f"--plugin={self.shared_object}",
            f"--plugin-profile={Path('third_party', self.name, 'profile.toml')}",
            f"--runtime={self.package.runtime_of(self.version)}",
            "--services",
            *self.file.options,
        )

    @property
    def command(self) -> tuple[str, ...]:
        """What a person types to judge it again."""
        release = () if self.is_newest else (f"--release={self.version}",)
        return ("python", "-m", "third_party.judge", self.name, *release)


def names() -> list[str]:
    """The targets that there are."""
    return sorted(path.parent.name for path in HERE.glob("*/target.toml"))


def read(name: str, version: str | None = None) -> PublishedTarget:
    """A target, with its newest release or the one that is meant. Raises BadTargetError or TomlError."""
    if name not in names():
        raise BadTargetError(f"there is no target {name}; there are {', '.join(names())}")
    file = typed_toml.read(HERE / name / "target.toml", TargetFile)
    package = releases.package(file.package)
    found = PublishedTarget(name, file, package, version or package.newest)
    if found.version not in package.releases:
        raise BadTargetError(f"{found.version} is none of {', '.join(package.releases)}, which {releases.TABLE} has")
    return found


def services_of(name: str) -> Path:
    """The compose file of a target, which its profile names. Raises BadTarget."""
    found = profile.read(str(HERE / name / "profile.toml")).services
    if found is None:
        raise BadTargetError(f"the profile of {name} names no services")
    return Path(found)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", metavar="TARGET")
@click.argument("more", metavar="[OPTIONS OF PYTEST]", nargs=-1, type=click.UNPROCESSED)
@click.option("--release", metavar="VERSION", help="One of those in third_party/releases.toml (default: the newest).")
def main(name: str, more: tuple[str, ...], release: str | None) -> None:
    """Judge one target: a folder of third_party/ that has a target.toml.

    \b
      python -m third_party.judge s3-versitygw
      python -m third_party.judge s3-versitygw --release=0.27.0
      python -m third_party.judge s3-versitygw --case='read/*'

    The plugin's wheel and a TensorFlow that loads it are fetched once, with pip. The services are started in docker and
    removed at the end; an image that cannot be pulled is built, if it can be. Then the suite judges the plugin, in
    minutes. The report of a whole run goes to reports/published/TARGET/VERSION/; that of a selection stays in
    tffs-report/third_party/TARGET/VERSION/. Options that this command does not know are pytest's.

    The exit code is that of pytest: 1 for a plugin that is not conformant.
    """
    started = time.monotonic()
    try:
        target = read(name, release)
        lacking = [package for package in target.file.needs if importlib.util.find_spec(package) is None]
        if lacking:
            raise BadTargetError(f"the backing of {name} needs what is not installed: pip install {' '.join(lacking)}")
        fetch(target)
        if target.file.library:
            images.provide([services_of(name)])
        places = {variable: str(images.folder(program)) for variable, program in target.file.programs.items()}
    except (BadTargetError, TomlError, NoWheelError, UnableError, ComposeError) as error:
        raise click.ClickException(str(error)) from error
    code = judge(target, places, more)
    publish(target, code, time.monotonic() - started)
    sys.exit(code)


def fetch(target: PublishedTarget) -> None:
    """Put the library of the target's wheel in its place, if it is not there; or install a TensorFlow.

    Raises NoWheelError or BadTargetError.
    """
    wanted = f"{target.file.package}=={target.version}"
    place = CLONE / (target.shared_object if target.file.library else target.folder / "pyvenv.cfg")
    if place.is_file():
        return
    click.echo(f"fetching {wanted}")
    place.parent.mkdir(parents=True, exist_ok=True)
    if not target.file.library:
        try:
            tensorflows.install(target.version, place.parent)
        except subprocess.CalledProcessError as error:
            place.unlink(missing_ok=True)
            raise BadTargetError(f"{wanted} cannot be installed: {error}") from error
        return
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        runtimes.unpack_wheel(wanted, Path(folder))
        unpacked = Path(folder, target.file.library)
        if not unpacked.is_file():
            raise NoWheelError(f"the wheel of {wanted} has no {target.file.library}")
        unpacked.replace(place)


def judge(target: PublishedTarget, places: Mapping[str, str], more: tuple[str, ...]) -> int:
    """Run the suite with these variables; the exit code of pytest."""
    command = ["pytest", *target.judged, *more, f"--report-dir={target.reports}"]
    click.echo(shlex.join(command))
    environment = {**os.environ, **target.file.settings, **places}
    return subprocess.run([sys.executable, "-m", *command], cwd=CLONE, env=environment, check=False).returncode


def publish(target: PublishedTarget, code: int, seconds: float) -> None:
    """Put the report of a whole run into its place, and say what came of it."""
    made = CLONE / target.reports / "report.json"
    if code not in (0, 1) or not made.is_file():
        click.echo(f"{target.name}: nothing was judged")
        return
    found = load(made)
    click.echo(f"{target.name}: {found.verdict} ({found.reason}), in {seconds / 60:.0f} minutes")
    try:
        written = reports.publish(
            conclude(anonymous(found, (CLONE, native_directory().parent, runtimes.cache(), build_images.CACHE))),
            CLONE / PUBLISHED,
            target.name,
            target.version,
            command=target.command,
            explained="" if target.is_newest else EXPLAINED.format(target.package.newest),
        )
    except NotPublishableError as error:
        click.echo(f"not published: {error}")
        return
    for path in written:
        click.echo(f"published: {path.relative_to(CLONE)}")


if __name__ == "__main__":
    main(prog_name="python -m third_party.judge")
