"""`tffs-conformance new`: a repository for a plugin, which is conformant as it comes."""

import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..reports.escape import command_line, printable

TEMPLATES = Path(__file__).parent / "repository"
#: The files of a repository, and the template of each. In names and texts, @NAME@ and its like stand for what is given.
FILES = {
    "@NAME@.cc": "plugin.cc",
    "CMakeLists.txt": "CMakeLists.txt",
    "exports.map": "exports.map",
    "@NAME@.toml": "profile.toml",
    "waivers.toml": "waivers.toml",
    "requirements.txt": "requirements.txt",
    "pyproject.toml": "project.toml",
    "@MODULE@.py": "module.in",
    "README.md": "README.md",
    ".github/workflows/conformance.yml": "github.yml",
    ".gitlab-ci.yml": "gitlab.yml",
    ".gitignore": "gitignore",
}
#: The shared object and its source are called so.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
#: What TensorFlow takes for a scheme, in a length that leaves room for paths.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,63}")
#: TensorFlow has filesystems of its own for these, and refuses a second one (registration.scheme-is-free).
TAKEN = ("file", "gs", "ram")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option("--name", help="What the plugin is called: its source is NAME.cc (default: as the folder).")
@click.option("--scheme", help="The scheme that it serves, without '://' (default: the name).")
@click.option(
    "--suite",
    metavar="REQUIREMENT",
    help="Where CI has the suite from: a line of requirements.txt, such as the one that a release brings"
    " ('tffs-conformance @ https://….whl#sha256=…') or the path of a wheel in the repository (default: where this suite"
    " was installed from, or else its version).",
)
def new(folder: Path, name: str | None, scheme: str | None, suite: str | None) -> None:
    """Write a repository for a new plugin into FOLDER: a plugin that works, its build, its profile, and its CI.

    The plugin serves the files of this machine and is conformant. So a violation that you see later comes from a
    change. README.md in FOLDER says what to change first. FOLDER is made where it is missing; otherwise it may hold
    nothing but .git.

    \b
        tffs-conformance new mine
        tffs-conformance new . --name=acme-store --scheme=acme
    """
    given = {"NAME": _name(folder, name)}
    given["MODULE"] = f"{given['NAME'].replace('-', '_')}_plugin"
    given["SCHEME"] = _scheme(given["NAME"], scheme)
    origin = _origin()
    given["SUITE"] = _suite(suite, origin)
    try:
        if folder.exists() and any(entry.name != ".git" for entry in folder.iterdir()):
            raise click.ClickException(f"{printable(str(folder))} is not empty: name a folder that is, or a new one")
        for path, template in FILES.items():
            file = folder / _filled(path, given)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_filled((TEMPLATES / template).read_text(encoding="utf-8"), given), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(
            f"{printable(str(error.filename or folder))} cannot be written: {error.strerror}"
        ) from None
    click.echo(f"written: {printable(str(folder))}, {len(FILES)} files; README.md says what to change first")
    if suite is None and origin and _elsewhere(origin) is None:
        click.echo(
            f"requirements.txt names {given['SUITE']}, and this suite came from {printable(origin['url'])}, which CI"
            " does not reach: say with --suite, or in its second line, where CI has it from",
            err=True,
        )
    click.echo("next:")
    for command in (
        ("cd", str(folder)),
        ("pip", "install", "-r", "requirements.txt"),
        ("cmake", "-G", "Ninja", "-B", "build"),
        ("cmake", "--build", "build"),
        ("pytest", f"--plugin-profile={given['NAME']}.toml", "--waivers=waivers.toml", "--tier=smoke"),
    ):
        click.echo(f"  {command_line(command)}")


def _name(folder: Path, given: str | None) -> str:
    name = folder.absolute().resolve().name if given is None else given
    if not NAME.fullmatch(name):
        raise click.UsageError(
            f"the name '{printable(name)}' will not do: it takes a letter, then letters, digits, '-' and '_', at most"
            " 64 characters" + ("; give one with --name" if given is None else "")
        )
    if name == "waivers":
        raise click.UsageError("the name 'waivers' will not do: waivers.toml is the file of waivers")
    return name


def _scheme(name: str, given: str | None) -> str:
    scheme = name if given is None else given
    if not SCHEME.fullmatch(scheme):
        raise click.UsageError(
            f"the scheme '{printable(scheme)}' will not do: it takes a letter, then letters, digits and '.', at most 64"
            " characters" + ("; give one with --scheme" if given is None else "")
        )
    if scheme in TAKEN:
        raise click.UsageError(f"the scheme '{scheme}' will not do: TensorFlow has a filesystem of its own for it")
    return scheme


def _suite(given: str | None, origin: dict[str, Any] | None) -> str:
    """The line of requirements.txt that names the suite."""
    if given is None:
        return (origin and _elsewhere(origin)) or f"tffs-conformance=={__version__}"
    if not given.strip() or printable(given) != given:
        raise click.UsageError("--suite: one line of text is expected, as in a file of requirements")
    return given


def _origin() -> dict[str, Any] | None:
    """From where pip took this package (PEP 610); None where that was an index, or nobody knows."""
    try:
        record = importlib.metadata.distribution("tffs-conformance").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return None
    facts: dict[str, Any] | None = json.loads(record) if record else None
    return facts


def _elsewhere(origin: dict[str, Any]) -> str | None:
    """A requirement that another machine gets the same from; None for a folder or a file of this one."""
    url, commit, archive = origin["url"], origin.get("vcs_info"), origin.get("archive_info")
    if url.startswith("file:"):
        return None
    if commit:
        return f"tffs-conformance @ {commit['vcs']}+{url}@{commit['commit_id']}"
    digest = ((archive or {}).get("hashes") or {}).get("sha256")
    return f"tffs-conformance @ {url}#sha256={digest}" if digest else None


def _filled(text: str, given: dict[str, str]) -> str:
    for key, value in given.items():
        text = text.replace(f"@{key}@", value)
    return text
