#!/usr/bin/env python3
"""Builds the images of compose.yaml from released sources, where they cannot be pulled.

Scheduler and object store come from their Go modules, the client from its crate, the system below them from Debian's
packages. Binaries are cached below ~/.cache/tffs-conformance/services by all that they depend on: version, command,
settings, compilers, locked modules. Nothing is built that the cache or docker holds. The first time takes some 20
minutes on two cores, nearly all of it the client; longer without librocksdb-dev, for then RocksDB is compiled, too.

Needs only Python's library, docker, and for what is missing: go, cargo, debootstrap.
"""

import argparse
import contextlib
import fcntl
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tffs-conformance" / "services"
SUITE = "bookworm"
#: Names the key of what an image was built from. One that was pulled has no such label.
LABEL = "tffs-conformance.key"
#: Besides the smallest Debian: what the health checks call, and the library that the client is linked to.
BASE_PACKAGES = "ca-certificates,curl,wget,libstdc++6"
#: What a machine has on which the project is tried from nothing. With ccache it is not compiled again each time.
MACHINE_PACKAGES = "python3 python3-venv git g++ ccache"
#: How registries and mirrors are reached from this machine.
BORROWED = ("etc/ssl/certs/ca-certificates.crt", "etc/resolv.conf", "etc/hosts", "etc/pip.conf")
#: What compilers are told by the environment.
SETTINGS = {
    "cargo": re.compile(r"CARGO_(PROFILE|BUILD|ENCODED)_.*|RUSTFLAGS|(ROCKSDB|SNAPPY)_.*"),
    "go": re.compile(r"GOFLAGS|GOAMD64|GOEXPERIMENT"),
    "c++": re.compile(r"(C|CXX|LD)FLAGS|CC|CXX"),
}
#: How a tool tells its version.
VERSIONS = {"cargo": ("rustc", "-Vv"), "go": ("go", "version"), "c++": ("c++", "-dumpfullversion")}
#: The cfg is set by the repository of the client, and `cargo install` does not carry it.
RUST_FLAGS = ("--cfg", "tokio_unstable")
#: With this version of librocksdb-dev the client has Debian's RocksDB, which is a third of what would be compiled else.
#: It is older: it lacks one function, which would be called for a setting that the client does not make.
ROCKSDB = "7.8.3"
#: Where Debian has libraries of this architecture.
LIBRARIES = Path("/usr/lib", sysconfig.get_config_var("MULTIARCH") or "")
ROCKSDB_FLAGS = ("-Clink-arg=-lstdc++", "-Clink-arg=-Wl,--defsym=rocksdb_write_buffer_manager_destroy=0")
#: Nobody reads them in a container, and they are half of the system.
BASE_LITTER = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "var/cache/apt", "var/lib/apt")
#: What to install on Debian for a tool that a build calls.
PACKAGES = {
    "cmake": "cmake",
    "protoc": "protobuf-compiler libprotobuf-dev",
    "pkg-config": "pkg-config",
    "c++": "g++",
    "make": "make",
}


class UnableError(Exception):
    """Something is missing or failed; the text is one sentence for a person."""


@dataclass(frozen=True)
class BuiltProgram:
    """A program, and the command that makes it: {out} is the path of the binary, {root} its folder in the cache."""

    name: str
    version: str
    command: tuple[str, ...]
    tools: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = HERE

    @functools.cached_property
    def key(self) -> str:
        """Tells apart what is built from other sources, with another compiler or with other settings."""
        told = [SETTINGS[tool] for tool in self.tools if tool in SETTINGS]
        given = sorted(item for item in os.environ.items() if any(one.fullmatch(item[0]) for one in told))
        locked = [path.read_text() for path in sorted(self.folder.glob("go.*"))]
        compilers = [_output(VERSIONS[tool]) for tool in self.tools if tool in VERSIONS]
        parts = [self.version, self.command, sorted(self.environment.items()), given, locked, compilers]
        return _digest([*parts, platform.machine()])

    @property
    def root(self) -> Path:
        """Its folder in the cache."""
        return CACHE / f"{self.name}-{self.version}-{self.key}"

    @property
    def binary(self) -> Path:
        """The binary in the cache."""
        return self.root / "bin" / self.name


@dataclass(frozen=True)
class System:
    """A Debian in the cache, as a tar file: the smallest with `packages`, or `above` another one with more of them.

    `modules` are what pip installs there.
    """

    name: str
    packages: str
    above: "System | None" = None
    suite: str = SUITE
    modules: str = ""

    @property
    def key(self) -> str:
        """Tells apart what it is made of."""
        parts = [self.suite, self.packages, self.above.key if self.above else "", platform.machine()]
        return _digest(parts + [self.modules] * bool(self.modules))

    @property
    def tar(self) -> Path:
        """The file in the cache."""
        return CACHE.parent / "debian" / f"{self.name}-{self.suite}-{self.key}.tar"

    @property
    def image(self) -> str:
        """What docker calls it."""
        return f"tffs-conformance/{self.name}:{self.suite}"


#: What is below all images.
BASE = System("base", BASE_PACKAGES)


@dataclass(frozen=True)
class Image:
    """An image: a system, one program at the place where the official image has it, and what is started there."""

    name: str
    program: BuiltProgram | None
    path: str
    system: System = BASE

    @property
    def key(self) -> str:
        """Tells apart what it is made of."""
        return _digest([self.program.key if self.program else "", self.path, self.system.key])

    @property
    def is_there(self) -> bool:
        """Whether docker has it: as it would be built now, or pulled."""
        return _label(self.name) in (self.key, "")


def _go(name: str, version: str, package: str) -> BuiltProgram:
    """The versions of the module and of all that it needs are in the go.mod and go.sum of the folder of this name."""
    command = ("go", "build", "-trimpath", "-ldflags=-s -w", "-o", "{out}", package)
    return BuiltProgram(name, version, command, ("go",), {"CGO_ENABLED": "0"}, HERE / name)


def _crate(name: str, version: str, crate: str) -> BuiltProgram:
    install = ("cargo", "install", "--locked", "--force", crate, "--version", version)
    command = (*install, "--bin", name, "--root", "{root}")
    environment = {
        "RUSTFLAGS": " ".join(RUST_FLAGS),
        "CARGO_TARGET_DIR": "{root}/target",
        # It serves tests: what the compiler would do for its speed takes longer than they do.
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
    }
    if _rocksdb() == ROCKSDB:
        environment["RUSTFLAGS"] = " ".join([*RUST_FLAGS, *ROCKSDB_FLAGS])
        for library in ("ROCKSDB", "SNAPPY"):
            environment |= {f"{library}_LIB_DIR": str(LIBRARIES), f"{library}_STATIC": "1"}
    return BuiltProgram(name, version, command, ("cargo", "cmake", "protoc", "pkg-config", "c++", "make"), environment)


def _rocksdb() -> str:
    """The version of librocksdb-dev; nothing, where it is missing."""
    header = Path("/usr/include/rocksdb/version.h")
    if not header.is_file() or not (LIBRARIES / "librocksdb.a").is_file():
        return ""
    found = dict(re.findall(r"^#define ROCKSDB_(MAJOR|MINOR|PATCH) (\d+)", header.read_text(), re.MULTILINE))
    return ".".join(found.get(part, "") for part in ("MAJOR", "MINOR", "PATCH"))


_SCHEDULER = _go("scheduler", "2.5.1", "d7y.io/dragonfly/v2/cmd/scheduler")
_STORE = _go("versitygw", "1.8.0", "github.com/versity/versitygw/cmd/versitygw")
IMAGES = (
    Image("dragonflyoss/scheduler:v2.5.1", _SCHEDULER, "/opt/dragonfly/bin/scheduler"),
    Image("versity/versitygw:v1.8.0", _STORE, "/usr/local/bin/versitygw"),
    Image("dragonflyoss/client:v1.5.10", _crate("dfdaemon", "1.5.10", "dragonfly-client"), "/usr/local/bin/dfdaemon"),
)


def main() -> int:
    """Build what is missing."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    only = arguments.add_mutually_exclusive_group()
    only.add_argument("--binaries", action="store_true", help="fill the cache with programs, without docker")
    only.add_argument("--systems", action="store_true", help="fill the cache with Debians, without docker")
    given = arguments.parse_args()
    try:
        if given.binaries:
            make_programs([image.program for image in IMAGES if image.program])
        elif given.systems:
            system(machine())
        else:
            build(IMAGES)
    except UnableError as error:
        print(f"build_images: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("build_images: interrupted; what was built so far is kept", file=sys.stderr)
        return 130
    return 0


def build(images: Sequence[Image]) -> None:
    """Build those that docker lacks. Raises Unable."""
    _docker("version", sentence="docker does not answer: is it installed, and is its daemon running?")
    missing = [image for image in images if not image.is_there]
    for image in images:
        if image not in missing:
            print(f"{image.name}: docker has it", flush=True)
    lacking = [one for one in dict.fromkeys(image.system for image in missing) if _label(one.image) != one.key]
    # The quick ones first: what is wrong shows soon.
    tars = [(one, system(one)) for one in lacking]
    make_programs([image.program for image in missing if image.program])
    with _alone(CACHE / "images"):
        for one, tar in tars:
            with _timed(one.image):
                _docker("import", "--change", f"LABEL {LABEL}={one.key}", str(tar), one.image)
        for image in missing:
            _assemble(image)


def make_programs(programs: Sequence[BuiltProgram]) -> None:
    """Put what is missing into the cache, all at once: each build has times in which it uses one core, or none."""
    missing = [program for program in programs if not program.binary.is_file()]
    _tools_are_there(missing)
    with ThreadPoolExecutor(max(1, len(missing))) as pool:
        for made in [pool.submit(_made, program) for program in missing]:
            made.result()


def _made(program: BuiltProgram) -> None:
    """Put one into the cache, unless another build does meanwhile."""
    with _alone(program.root):
        if not program.binary.is_file():
            _make(program)


def _tools_are_there(programs: Sequence[BuiltProgram]) -> None:
    tools = [tool for program in programs for tool in program.tools]
    absent = [tool for tool in dict.fromkeys(tools) if shutil.which(tool, path=_path()) is None]
    if not absent:
        return
    packages = " ".join(PACKAGES[tool] for tool in absent if tool in PACKAGES)
    toolchains = [tool for tool in absent if tool not in PACKAGES]
    advice = [f"on Debian: apt-get install {packages} libclang-dev librocksdb-dev"] if packages else []
    advice += [f"install the toolchain that has {tool}" for tool in toolchains]
    what = ", ".join(program.name for program in programs)
    raise UnableError(f"{', '.join(absent)} missing to build {what} ({'; '.join(advice)})")


def _path() -> str:
    """PATH, with the place where Debian keeps what only root calls."""
    return os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"


def _make(program: BuiltProgram) -> None:
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
        raise UnableError(f"{command[0]} made no {program.binary}")
    # Gigabytes that would serve only another build of the same version.
    shutil.rmtree(program.root / "target", ignore_errors=True)


def machine() -> System:
    """A machine on which the project is tried from nothing."""
    return System("machine", MACHINE_PACKAGES, BASE)


def system(wanted: System) -> Path:
    """The tar file of a system, which is made where the cache has none. Raises Unable."""
    if wanted.tar.is_file():
        return wanted.tar
    if os.geteuid() != 0:
        raise UnableError("a Debian has to be made by root: call this script once with sudo, or pull the images")
    if shutil.which("debootstrap", path=_path()) is None:
        raise UnableError("debootstrap missing to make a Debian (on Debian: apt-get install debootstrap)")
    below = system(wanted.above) if wanted.above else None
    wanted.tar.parent.mkdir(parents=True, exist_ok=True)
    log = wanted.tar.with_suffix(".log")
    with _alone(wanted.tar), tempfile.TemporaryDirectory(dir=wanted.tar.parent) as scratch:
        if wanted.tar.is_file():
            return wanted.tar
        root = Path(scratch) / "root"
        with _timed(f"Debian {wanted.suite}, {wanted.name}"):
            if below is None:
                included = f"--include={wanted.packages}"
                _run(["debootstrap", "--variant=minbase", included, wanted.suite, str(root), *_mirror()], {}, HERE, log)
            else:
                unpack(below, root)
                # Packages of Java look into /proc while they are set up, and link to their manual.
                (root / "usr/share/man/man1").mkdir(parents=True)
                chroot = ["unshare", f"--mount-proc={root}/proc", "chroot", str(root)]
                inside = [*chroot, "apt-get", "-o", "APT::Sandbox::User=root"]
                quiet = {"DEBIAN_FRONTEND": "noninteractive"}
                _run([*inside, "update"], quiet, HERE, log)
                packages = wanted.packages.split()
                _run([*inside, "install", "-y", "--no-install-recommends", *packages], quiet, HERE, log)
            if wanted.modules:
                pip = ["python3", "-m", "pip", "install", "--no-cache-dir", "--break-system-packages"]
                _run(["chroot", str(root), *pip, *wanted.modules.split()], {}, HERE, log)
            for litter in BASE_LITTER:
                shutil.rmtree(root / litter, ignore_errors=True)
            # What calls apt looks for them.
            (root / "var/lib/apt/lists/partial").mkdir(parents=True)
            (root / "var/cache/apt/archives/partial").mkdir(parents=True)
            partial = wanted.tar.with_suffix(".partial")
            _run(["tar", "-C", str(root), "-cf", str(partial), "."], {}, HERE, log)
            partial.replace(wanted.tar)
    return wanted.tar


def unpack(tar: Path, root: Path) -> None:
    """A system in a folder, which reaches registries and mirrors as this machine does."""
    root.mkdir(parents=True)
    subprocess.run(["tar", "-C", str(root), "-xf", str(tar)], check=True)
    for name in BORROWED:
        if Path("/", name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path("/", name), root / name)


def _mirror() -> list[str]:
    """Where this machine has its packages from; nothing, where debootstrap's own choice must do."""
    sources = Path("/etc/apt/sources.list.d/debian.sources")
    found = re.search(r"^URIs:\s*(\S+)", sources.read_text(), re.MULTILINE) if sources.exists() else None
    return [found[1]] if found else []


def _assemble(image: Image) -> None:
    lines = [f"FROM {image.system.image}", f'ENTRYPOINT ["{image.path}"]', f"LABEL {LABEL}={image.key}"]
    with tempfile.TemporaryDirectory() as scratch, _timed(image.name):
        context = Path(scratch)
        if image.program:
            shutil.copy2(image.program.binary, context / image.program.name)
            lines.insert(1, f"COPY {image.program.name} {image.path}")
        (context / "Dockerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")
        _docker("build", "--tag", image.name, str(context))


def _label(image: str) -> str | None:
    """The key of what an image was built from: empty for one that was pulled, None for one that is not there."""
    template = f'{{{{index .Config.Labels "{LABEL}"}}}}'
    command = ["docker", "image", "inspect", "--format", template, image]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def _output(command: Sequence[str]) -> str:
    """What a tool says of itself; nothing, where it is missing."""
    if shutil.which(command[0], path=_path()) is None:
        return ""
    environment = {**os.environ, "PATH": _path()}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/", check=True).stdout


def _docker(*arguments: str, sentence: str = "") -> None:
    # The builder that every docker brings along.
    environment = os.environ | {"DOCKER_BUILDKIT": "0"}
    try:
        done = subprocess.run(["docker", *arguments], capture_output=True, text=True, env=environment, check=False)
    except FileNotFoundError as error:
        raise UnableError("docker is not installed (on Debian: apt-get install docker.io)") from error
    if done.returncode != 0:
        raise UnableError(sentence or f"docker {arguments[0]} failed: {done.stderr.strip()[-400:]}")


def _run(command: list[str], environment: Mapping[str, str], folder: Path, log: Path) -> None:
    """Run a command that takes long; `log` gets what it prints."""
    environ = {**os.environ, "PATH": _path(), **environment}
    print(f"  {command[0]}: {log} shows how far it is", flush=True)
    with open(log, "wb") as output:
        done = subprocess.run(
            command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            check=False,
        )  # fmt: skip
    if done.returncode != 0:
        raise UnableError(f"{command[0]} failed, {log} says why; its last line: {_last_line(log)}")


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
def _alone(what: Path) -> Iterator[None]:
    """Two builds of the same at once would do the work twice."""
    what.parent.mkdir(parents=True, exist_ok=True)
    with open(what.with_name(f"{what.name}.lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{what.name}: another build is under way, waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
