"""Make what belongs to a tag: `python packaging/release.py [DIRECTORY] [--url=URL] [--once]`.

`DIRECTORY`, by default `dist/VERSION` of the clone, gets the sdist, the wheel and its debug information
(packaging/wheel.py), the host as one file, and the checksums.

It ends with 1 and one sentence where the tree is not the commit's, the commit has not the tag of its version, or the
changelog begins with another version; nothing is made then.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
NAME = "tffs-conformance"
CHECKSUMS = "SHA256SUMS"
#: Where the wheel has the host, and the commit that it was built from.
HOST = "tffs_conformance/_native/portable/tffs-host"
COMMIT = "tffs_conformance/commit.txt"


class RefusedError(Exception):
    """What is here is no release; the text is one sentence that says why."""


def git(*arguments: str) -> str:
    """What git says of the clone."""
    return subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True, check=True).stdout.strip()


def version() -> str:
    """The version of the package."""
    text = (PROJECT / "tffs_conformance" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise RefusedError("tffs_conformance/__init__.py says no version")
    return found[1]


def hold(release: str) -> None:
    """Hold tree, tag and changelog to the version. Raises `RefusedError`."""
    if changed := git("status", "--porcelain"):
        raise RefusedError(f"the tree is not that of a commit: {changed.splitlines()[0].split(maxsplit=1)[1]} differs")
    tag, tags = f"v{release}", git("tag", "--points-at", "HEAD").split()
    if tag not in tags:
        has = f"has the tag {', '.join(tags)}" if tags else "has no tag"
        raise RefusedError(f"the version is {release}, and its commit {has}: {tag} is missing")
    heading = re.search(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    begins = heading[1] if heading else "nothing"
    if begins != release:
        raise RefusedError(f"the version is {release}, and CHANGELOG.md begins with {begins}")


def packages(out: Path, once: bool) -> Path:
    """Put the sdist and the wheel into `out`, and give the wheel; beside them is the debug information, as one file."""
    script = PROJECT / "packaging" / "wheel.py"
    subprocess.run([sys.executable, str(script), str(out), *(["--once"] if once else [])], check=True)
    (wheel,) = out.glob("*.whl")
    debug = out / "debug"
    if debug.exists():
        archive = out / f"{NAME}-{version()}-debug.tar.gz"
        alike = ["--sort=name", f"--mtime=@{os.environ['SOURCE_DATE_EPOCH']}", "--owner=0", "--group=0"]
        subprocess.run(["tar", *alike, "--numeric-owner", "-C", str(out), "-czf", str(archive), "debug"], check=True)
        shutil.rmtree(debug)
    return wheel


def host(wheel: Path, out: Path, commit: str) -> Path:
    """The host for other machines, as the wheel has it. Raises `RefusedError` for a wheel of another commit."""
    with zipfile.ZipFile(wheel) as contents:
        built_from = contents.read(COMMIT).decode().strip()
        if built_from != commit:
            raise RefusedError(f"the wheel was built from {built_from}, and not from {commit}")
        if HOST not in contents.namelist():
            raise RefusedError("the wheel lacks the host for other machines: it was built without zig")
        program = out / f"tffs-host-{version()}-linux-x86_64"
        program.write_bytes(contents.read(HOST))
    program.chmod(0o755)
    return program


def requirement(wheel: Path, url: str, out: Path) -> Path:
    """A line for pip that names the wheel where it will lie, and its digest, to which pip holds what it gets."""
    written = out / f"{NAME}-{version()}-requirement.txt"
    line = f"{NAME} @ {url.rstrip('/')}/{wheel.name}#sha256={digest(wheel)}\n"
    written.write_text(line, encoding="utf-8")
    return written


def digest(path: Path) -> str:
    """SHA-256, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_checksums(out: Path) -> None:
    """Write the digests of all files in `out`, for `sha256sum --check`."""
    lines = [f"{digest(path)}  {path.name}\n" for path in sorted(out.iterdir())]
    (out / CHECKSUMS).write_text("".join(lines), encoding="utf-8")


def make(out: Path, once: bool, url: str | None) -> None:
    """Make all of it. Raises `RefusedError`."""
    release, commit = version(), git("rev-parse", "HEAD")
    # The archives say when the commit was, and the wheel which it is.
    os.environ |= {"SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct"), "TFFS_COMMIT": commit}
    out.parent.mkdir(parents=True, exist_ok=True)
    # What ends early leaves nothing that looks like a release.
    with tempfile.TemporaryDirectory(prefix=".making-", dir=out.parent) as scratch:
        making = Path(scratch) / out.name
        wheel = packages(making, once)
        host(wheel, making, commit)
        if url:
            requirement(wheel, url, making)
        write_checksums(making)
        making.rename(out)
    print((out / CHECKSUMS).read_text(), end="")
    print(f"{NAME} {release} is in {out}")
    if not url:
        print("without the requirement: --url says where the wheel will lie")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path, nargs="?", help="it must not be there yet (default: dist/VERSION)")
    parser.add_argument("--check", action="store_true", help="say only whether this is a release")
    parser.add_argument("--once", action="store_true", help="do not build the wheel a second time to compare")
    parser.add_argument("--url", help="the folder from which others will get the wheel, for the requirement")
    given = parser.parse_args()
    try:
        release = version()
        hold(release)
        out = (given.directory or PROJECT / "dist" / release).resolve()
        if out.exists():
            raise RefusedError(f"{out} is there already: remove it, or name another folder")
        if not given.check:
            make(out, given.once, given.url)
    except RefusedError as refused:
        sys.exit(str(refused))
    except subprocess.CalledProcessError as failed:
        sys.exit(f"failed with {failed.returncode}: {' '.join(map(str, failed.cmd[:4]))} …")


if __name__ == "__main__":
    main()
