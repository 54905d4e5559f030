#!/usr/bin/env python3
"""Builds the images of compose.yaml from released sources, where they cannot be pulled.

Scheduler and object store come from their Go modules, the client from its crate, the system below them from Debian's
packages. Binaries are cached by version below ~/.cache/tffs-conformance/services, and nothing is built that the cache
or docker holds. The first time takes some 20 minutes on two cores, nearly all of it the client.

Needs only Python's library, docker, and for what is missing: go, cargo, debootstrap.
"""

import argparse
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tffs-conformance" / "services"
SUITE = "bookworm"
BASE = f"tffs-conformance/base:{SUITE}"
#: Besides the smallest Debian: what the health checks call, and the library that the client is linked to.
BASE_PACKAGES = "ca-certificates,curl,wget,libstdc++6"
#: Nobody reads them in a container, and they are half of the system.
BASE_LITTER = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "var/cache/apt", "var/lib/apt")
#: What to install on Debian for a tool that a build calls.
PACKAGES = {
    "cmake": "cmake",
    "protoc": "protobuf-compiler libprotobuf-dev",
    "pkg-config": "pkg-config",
    "c++": "g++",
    "make": "make",
    "debootstrap": "debootstrap",
}


class Unable(Exception):
    """Something is missing or failed; the text is one sentence for a person."""


@dataclass(frozen=True)
class Program:
    """A program, and the command that makes it: {out} is the path of the binary, {root} its folder in the cache."""

    name: str
    version: str
    command: tuple[str, ...]
    tools: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = HERE

    @property
    def root(self) -> Path:
        """Its folder in the cache."""
        return CACHE / f"{self.name}-{self.version}"

    @property
    def binary(self) -> Path:
        """The binary in the cache."""
        return self.root / "bin" / self.name


@dataclass(frozen=True)
class Image:
    """An image: one program at the place where the official image has it."""

    name: str
    program: Program
    path: str


def _go(name: str, version: str, package: str) -> Program:
    """The versions of the module and of all that it needs are in the go.mod and go.sum of the folder of this name."""
    command = ("go", "build", "-trimpath", "-ldflags=-s -w", "-o", "{out}", package)
    return Program(name, version, command, ("go",), {"CGO_ENABLED": "0"}, HERE / name)


def _crate(name: str, version: str, crate: str) -> Program:
    command = (
        "cargo",
        "install",
        "--locked",
        "--force",
        crate,
        "--version",
        version,
        "--bin",
        name,
        "--root",
        "{root}",
    )
    # The cfg is set by the crate's repository, and `cargo install` does not carry it.
    environment = {"RUSTFLAGS": "--cfg tokio_unstable", "CARGO_TARGET_DIR": "{root}/target"}
    return Program(name, version, command, ("cargo", "cmake", "protoc", "pkg-config", "c++", "make"), environment)


IMAGES = (
    Image(
        "dragonflyoss/scheduler:v2.5.1",
        _go("scheduler", "2.5.1", "d7y.io/dragonfly/v2/cmd/scheduler"),
        "/opt/dragonfly/bin/scheduler",
    ),
    Image(
        "versity/versitygw:v1.8.0",
        _go("versitygw", "1.8.0", "github.com/versity/versitygw/cmd/versitygw"),
        "/usr/local/bin/versitygw",
    ),
    Image(
        "dragonflyoss/client:v1.5.10",
        _crate("dfdaemon", "1.5.10", "dragonfly-client"),
        "/usr/local/bin/dfdaemon",
    ),
)


def main() -> int:
    """Build what is missing."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binaries", action="store_true", help="fill the cache, without docker")
    only_binaries: bool = arguments.parse_args().binaries
    try:
        with _alone():
            _build(only_binaries)
    except Unable as error:
        print(f"build_images: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("build_images: interrupted; what was built so far is kept", file=sys.stderr)
        return 130
    return 0


def _build(only_binaries: bool) -> None:
    if only_binaries:
        wanted = [image.program for image in IMAGES]
        missing = []
    else:
        _docker("version", sentence="docker does not answer: is it installed, and is its daemon running?")
        missing = [image for image in IMAGES if not _has(image.name)]
        for image in IMAGES:
            if image not in missing:
                print(f"{image.name}: docker has it", flush=True)
        wanted = [image.program for image in missing]
    programs = [program for program in wanted if not program.binary.is_file()]
    needs_base = bool(missing) and not _has(BASE) and not _rootfs().is_file()
    _tools_are_there(programs, needs_base)
    # The quick ones first: what is wrong shows soon.
    if needs_base:
        _bootstrap()
    for program in programs:
        _make(program)
    if missing and not _has(BASE):
        with _timed(BASE):
            _docker("import", "--message", f"Debian {SUITE}", str(_rootfs()), BASE)
    for image in missing:
        _assemble(image)


def _tools_are_there(programs: list[Program], needs_base: bool) -> None:
    tools = [tool for program in programs for tool in program.tools] + ["debootstrap"] * needs_base
    absent = [tool for tool in dict.fromkeys(tools) if shutil.which(tool, path=_path()) is None]
    if not absent:
        return
    packages = " ".join(PACKAGES[tool] for tool in absent if tool in PACKAGES)
    toolchains = [tool for tool in absent if tool not in PACKAGES]
    advice = [f"on Debian: apt-get install {packages} libclang-dev"] if packages else []
    advice += [f"install the toolchain that has {tool}" for tool in toolchains]
    what = ", ".join(program.name for program in programs) or "the base image"
    raise Unable(f"{', '.join(absent)} missing to build {what} ({'; '.join(advice)})")


def _path() -> str:
    """PATH, with the place where Debian keeps what only root calls."""
    return os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"


def _make(program: Program) -> None:
    """Put a binary into the cache."""
    partial = program.binary.with_suffix(".partial")
    program.binary.parent.mkdir(parents=True, exist_ok=True)
    places = {"out": str(partial), "root": str(program.root)}
    command = [part.format(**places) for part in program.command]
    environment = {name: text.format(**places) for name, text in program.environment.items()}
    with _timed(f"{program.name} {program.version}"):
        _run(command, environment, program.folder, program.root / "build.log")
        if partial.is_file():
            partial.replace(program.binary)
    if not program.binary.is_file():
        raise Unable(f"{command[0]} made no {program.binary}")
    # Gigabytes that would serve only another build of the same version.
    shutil.rmtree(program.root / "target", ignore_errors=True)


def _rootfs() -> Path:
    return CACHE / f"base-{SUITE}" / "rootfs.tar"


def _bootstrap() -> None:
    """Put the system below all images into the cache."""
    if os.geteuid() != 0:
        raise Unable("debootstrap has to be run by root: call this script once with sudo, or pull the images")
    rootfs = _rootfs()
    rootfs.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=rootfs.parent) as scratch, _timed(f"Debian {SUITE}"):
        root = Path(scratch) / "root"
        _run(
            ["debootstrap", "--variant=minbase", f"--include={BASE_PACKAGES}", SUITE, str(root)],
            {},
            HERE,
            rootfs.parent / "build.log",
        )
        for litter in BASE_LITTER:
            shutil.rmtree(root / litter, ignore_errors=True)
        partial = rootfs.with_suffix(".partial")
        _run(["tar", "-C", str(root), "-cf", str(partial), "."], {}, HERE, rootfs.parent / "tar.log")
        partial.replace(rootfs)


def _assemble(image: Image) -> None:
    with tempfile.TemporaryDirectory() as scratch, _timed(image.name):
        context = Path(scratch)
        shutil.copy2(image.program.binary, context / image.program.name)
        (context / "Dockerfile").write_text(
            f'FROM {BASE}\nCOPY {image.program.name} {image.path}\nENTRYPOINT ["{image.path}"]\n'
            'LABEL tffs-conformance.built="here, from released sources"\n',
            encoding="utf-8",
        )
        _docker("build", "--tag", image.name, str(context))


def _has(image: str) -> bool:
    found = subprocess.run(["docker", "image", "inspect", image], capture_output=True, check=False)
    return found.returncode == 0


def _docker(*arguments: str, sentence: str = "") -> None:
    # The builder that every docker brings along.
    environment = os.environ | {"DOCKER_BUILDKIT": "0"}
    try:
        done = subprocess.run(["docker", *arguments], capture_output=True, text=True, env=environment, check=False)
    except FileNotFoundError as error:
        raise Unable("docker is not installed (on Debian: apt-get install docker.io)") from error
    if done.returncode != 0:
        raise Unable(sentence or f"docker {arguments[0]} failed: {done.stderr.strip()[-400:]}")


def _run(command: list[str], environment: Mapping[str, str], folder: Path, log: Path) -> None:
    """Run a long command and show from time to time that it goes on."""
    started = time.monotonic()
    environ = {**os.environ, "PATH": _path(), **environment}
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(60)
                if process.returncode is None:
                    minutes = (time.monotonic() - started) / 60
                    print(f"  {command[0]}, {minutes:.0f} min: {_last_line(log)}", flush=True)
        finally:
            process.terminate()
            process.wait()
    if process.returncode != 0:
        raise Unable(f"{command[0]} failed, {log} tells why; its last line: {_last_line(log)}")


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output")[-100:]


@contextlib.contextmanager
def _timed(what: str) -> Iterator[None]:
    print(f"{what}: building", flush=True)
    started = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - started:.0f} s", flush=True)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Two builds at once would do the same work twice."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another build is under way: waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
