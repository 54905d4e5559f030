"""The steps of CI: what each needs, how long it may take, and what came of it.

A step is what an environment of tox.ini does, or a few commands of its own. Steps start as soon as what they need is
there and cores are free. The output of each goes to a file; that of a step that failed is shown. A step that fails
stops only those that need it. At the end there is a table of durations, and pytest's closing line.

Reports and logs are kept in `ci-artifacts/`, or in the folder that TFFS_CI_ARTIFACTS names. Needs only Python's own
library.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
ARTIFACTS = Path(os.environ.get("TFFS_CI_ARTIFACTS") or PROJECT / "ci-artifacts").resolve()
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tffs-conformance"
ZIG_LIB = CACHE / "zig-lib"
VENV, TENSORFLOW = PROJECT / ".venv", PROJECT / ".venv-tensorflow"
WHEELS = ARTIFACTS / "wheel"
CORES = 2
#: The machine of CI ends everything after 90 minutes, and shows nothing of what was seen until then.
MINUTES = 85
#: Lines of the log of a step that failed: when it ends, and once more at the end of all.
SHOWN, REPEATED = 80, 12

#: What the packages and images are built with, and what the tests run.
DEBIAN = """
    ccache chromium cmake debootstrap docker.io docker-compose g++ libclang-dev libcurl4-openssl-dev libprotobuf-dev
    libpugixml-dev libssl-dev make nlohmann-json3-dev openssh-server pkg-config protobuf-compiler valgrind
"""

ENVIRONMENT = {
    "PATH": f"{VENV / 'bin'}:{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin",
    "TFFS_CI_ARTIFACTS": str(ARTIFACTS),
    # What is skipped elsewhere for want of a tool fails here.
    "TFFS_ALL_REQUIRED": "1",
    "TFFS_TENSORFLOW_PYTHON": str(TENSORFLOW / "bin/python"),
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    # What pytest makes of the cases is kept, whatever the machine says: it is started a thousand times.
    "PYTHONDONTWRITEBYTECODE": "",
    "MYPY_CACHE_DIR": str(CACHE / "mypy"),
    "CCACHE_DIR": str(CACHE / "ccache"),
    "ZIG_GLOBAL_CACHE_DIR": str(CACHE / "zig"),
    # zig knows what it compiled again only by the same path of its sources, and each clone has its own environment.
    "ZIG_LIB_DIR": str(ZIG_LIB),
    "CCACHE_BASEDIR": str(PROJECT),
    "CCACHE_NOHASHDIR": "1",
    "CMAKE_C_COMPILER_LAUNCHER": "ccache",
    "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
}


@dataclass(frozen=True)
class Step:
    """`script` is for bash. `cores` is what it uses, on average; one that yields gets what the others leave.

    `minutes` is its limit, `after` names what it needs. It also waits for the end of those in `behind`, whatever it is:
    tests of what hangs do not run beside a compiler that has both cores.
    """

    name: str
    script: str
    minutes: float
    after: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    cores: float = CORES
    yields: bool = False


def lines(*commands: str) -> str:
    """One after the other, until one fails."""
    return "\n".join(commands)


def tox(name: str, arguments: str = "") -> str:
    """The commands of an environment of tox.ini, with these arguments where it takes some."""
    # One stands behind the key, several below it.
    config = f"tox config -e {name} -k commands{' -- ' * bool(arguments)}{arguments}"
    return lines("set -o pipefail", f"commands=$({config} | sed -En 's/^(  |commands = )//p')", 'eval "${commands:?}"')


def requirements() -> Iterator[str]:
    """What the package and all environments of tox need, but TensorFlow; and tox, which knows their commands."""
    yield "tox>=4.60,<5"
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    yield from project["project"]["dependencies"]
    for group in ("test", "lint"):
        yield from project["dependency-groups"][group]


IMAGES = "python3 reference_plugins/dragonfly/services/build_images.py"

STEPS = (
    Step(
        "packages",
        lines(
            f"missing=$(for p in {' '.join(DEBIAN.split())}; do dpkg-query -W -f='${{Status}}' $p 2>/dev/null"
            " | grep -q 'ok installed' || echo $p; done)",
            '[ -n "$missing" ] || exit 0',
            "apt-get update -qq",
            "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing",
        ),
        minutes=10,
        cores=1,
    ),
    Step(
        "environment",
        lines(
            f"python3 -m venv {VENV}",
            f"pip install -q {shlex.join(requirements())}",
            "unset ZIG_LIB_DIR",
            f'[ "$(cat {ZIG_LIB}/version)" = "$(python -m ziglang version)" ] && exit',
            f"rm -rf {ZIG_LIB}",
            f"cp -a $(python -c 'import ziglang; print(*ziglang.__path__)')/lib {ZIG_LIB}",
            f"python -m ziglang version >{ZIG_LIB}/version",
        ),
        minutes=10,
        cores=1,
    ),
    Step("binaries", f"{IMAGES} --binaries", minutes=75, after=("packages",), cores=0),
    Step(
        "tensorflow-install",
        lines(
            f"python3 -m venv {TENSORFLOW}",
            f"{TENSORFLOW}/bin/pip install -q --no-compile 'tensorflow-cpu==2.21.*' tensorboard",
            f"{TENSORFLOW}/bin/python -c 'import tensorflow'",
        ),
        minutes=30,
        yields=True,
    ),
    Step("debian", f"{IMAGES} --systems", minutes=40, after=("packages", "environment"), yields=True),
    Step(
        "wheel",
        lines(
            f"rm -rf {WHEELS}",
            f"pip wheel -q --no-deps --no-build-isolation -w {WHEELS} .",
            f"pip install -q --no-deps --force-reinstall {WHEELS}/*.whl",
            "python -m tests.fakes",
        ),
        minutes=25,
        after=("packages", "environment"),
        cores=1,
    ),
    Step("lint", tox("lint"), minutes=10, after=("environment",), cores=1),
    # The host for other machines is tried in a container. Its two workers wait at times: another step has a core then.
    Step("tests", tox("tests"), minutes=50, after=("wheel", "docker"), behind=("binaries",), cores=1),
    Step(
        "docker",
        lines(
            "docker version && exit",
            f"setsid dockerd >{ARTIFACTS}/dockerd.log 2>&1 &",
            f"echo $! >{ARTIFACTS}/dockerd.pid",
            "for _ in {1..300}; do docker version && exit; kill -0 $!; sleep 0.2; done",
            "exit 1",
        ),
        minutes=3,
        after=("packages",),
        # The containers are as nice as this step.
        cores=0,
    ),
    Step("images", IMAGES, minutes=15, after=("docker", "binaries", "debian"), cores=0.5),
    Step("fresh", tox("fresh"), minutes=30, after=("debian",), cores=0.7),
    # These wait for containers most of the time.
    Step("dragonfly", tox("dragonfly"), minutes=15, after=("images", "wheel"), cores=0.3),
    Step("services", tox("services"), minutes=15, after=("images", "wheel"), cores=0.3),
    Step("tensorflow", tox("tensorflow"), minutes=25, after=("images", "wheel", "tensorflow-install"), cores=0.3),
    Step("repeat", tox("repeat", "--runs=2 --examples=10"), minutes=10, after=("wheel",), cores=0.4),
    Step(
        "site",
        lines(f"rm -rf {ARTIFACTS}/site", f"tffs-conformance site {ARTIFACTS}/site"),
        minutes=3,
        after=("wheel",),
        cores=0.3,
    ),
    Step("fidelity", tox("fidelity"), minutes=15, after=("wheel", "tensorflow-install"), cores=0.4),
    # The last, for no step waits for it. Plugins that hang are waited for.
    Step("faults", tox("faults"), minutes=25, after=("wheel",), behind=("binaries",), cores=0.7),
)


@dataclass
class Running:
    """A step at work, or what came of it; `wall` and `cpu` in seconds."""

    step: Step
    log: Path
    process: "subprocess.Popen[bytes] | None" = None
    started: float = field(default_factory=time.monotonic)
    result: str = ""
    wall: float = 0
    cpu: float = 0

    def start(self) -> None:
        """Start it, in a session of its own, so that it can be ended with all that it started."""
        polite = "renice -n 5 $$ >/dev/null; echo 5 >/proc/$$/autogroup || true\n" if self.step.yields else ""
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-euc", polite + self.step.script], cwd=PROJECT, env={**os.environ, **ENVIRONMENT},
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def ended(self) -> bool:
        """Whether it has ended, by itself or because its time is up."""
        assert self.process is not None
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        self.wall = time.monotonic() - self.started
        late = self.wall > self.step.minutes * 60
        if pid == 0 and late:
            self.end()
            pid, status, used = os.wait4(self.process.pid, 0)
        if pid == 0:
            return False
        self.cpu = used.ru_utime + used.ru_stime
        self.process.returncode = os.waitstatus_to_exitcode(status)
        code = self.process.returncode
        self.result = f"over {self.step.minutes * 60:g} s" if late and code else f"exit {code}" if code else "passed"
        return True

    def end(self) -> None:
        """End it and what it started."""
        assert self.process is not None
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
            except ProcessLookupError:
                return
            time.sleep(3)

    def closing_line(self) -> str:
        """The last line of this kind that pytest wrote; nothing, where it wrote none."""
        found = re.findall(r"^=+ .*(?:passed|failed|error).* in [\d.]+s.* =+$", self.text(), re.MULTILINE)
        return found[-1] if found else ""

    def text(self) -> str:
        """What it wrote."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""


def wanted(names: Sequence[str]) -> list[Step]:
    """The steps of these names and those that they need, or all."""
    by_name = {step.name: step for step in STEPS}
    if unknown := {*names} - {*by_name}:
        sys.exit(f"no such step: {', '.join(sorted(unknown))}; there are {', '.join(by_name)}")
    needed = {*names} if names else {*by_name}
    while more := {after for name in needed for after in by_name[name].after} - needed:
        needed |= more
    return [step for step in STEPS if step.name in needed]


def run(steps: Sequence[Step]) -> list[Running]:
    """Run the steps and say so."""
    begun = time.monotonic()
    done: dict[str, Running] = {}
    going: dict[str, Running] = {}
    waiting = list(steps)
    try:
        while waiting or going:
            if time.monotonic() - begun > MINUTES * 60:
                print(f"{MINUTES} min are over", flush=True)
                break
            for name, one in list(going.items()):
                if one.ended():
                    done[name] = going.pop(name)
                    say(begun, f"{name}: {one.result}, {one.wall:.0f} s, {one.cpu:.0f} s of CPU")
                    if one.result != "passed":
                        print(*one.text().splitlines()[-SHOWN:], sep="\n", flush=True)
            for step in list(waiting):
                if any(done[name].result != "passed" for name in step.after if name in done):
                    waiting.remove(step)
                    done[step.name] = Running(step, ARTIFACTS / f"{step.name}.log", result="not run")
                    continue
                free = round(CORES - sum(one.step.cores for one in going.values() if not one.step.yields), 3)
                awaited = {*step.after, *step.behind} & {one.name for one in steps}
                if awaited <= {*done} and (step.yields or step.cores <= free):
                    waiting.remove(step)
                    going[step.name] = Running(step, ARTIFACTS / f"{step.name}.log")
                    going[step.name].start()
                    say(begun, step.name)
            time.sleep(0.2)
    finally:
        for one in going.values():
            one.end()
            one.wall, one.result = time.monotonic() - one.started, "not finished"
    rest = [Running(step, ARTIFACTS / f"{step.name}.log", result="not run") for step in waiting]
    return [*done.values(), *going.values(), *rest]


def say(begun: float, text: str) -> None:
    """One line, with the minutes since the beginning."""
    print(f"{(time.monotonic() - begun) / 60:5.1f} min  {text}", flush=True)


def table(ended: Sequence[Running], seconds: float) -> str:
    """What came of each step."""
    rows = [f"{'step':<20}{'result':<14}{'wall, s':>8}{'CPU, s':>8}{'limit, s':>10}"]
    rows += [
        f"{one.step.name:<20}{one.result:<14}{one.wall:>8.0f}{one.cpu:>8.0f}{one.step.minutes * 60:>10.0f}"
        for one in ended
    ]
    rows.append(f"{'all':<34}{seconds:>8.0f}{sum(one.cpu for one in ended):>8.0f}{MINUTES * 60:>10}")
    return "\n".join(rows)


def main() -> int:
    """Run the steps that the command line names, or all."""
    if "TFFS_CI_ARTIFACTS" not in os.environ:
        shutil.rmtree(ARTIFACTS, ignore_errors=True)
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begun = time.monotonic()
    try:
        ended = run(wanted(sys.argv[1:]))
    finally:
        pid = ARTIFACTS / "dockerd.pid"
        if pid.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid.read_text()), signal.SIGTERM)
            pid.unlink()
    print(table(ended, time.monotonic() - begun), flush=True)
    figures = [
        {"step": o.step.name, "result": o.result, "wall": round(o.wall, 1), "cpu": round(o.cpu, 1)} for o in ended
    ]
    (ARTIFACTS / "durations.json").write_text(json.dumps(figures, indent=1) + "\n")
    bad = [one for one in ended if one.result != "passed"]
    for one in bad:
        print(f"{one.step.name}: {one.result}", *one.text().splitlines()[-REPEATED:], sep="\n  ", flush=True)
    # The last line is pytest's own: of a step that failed, or of the project's tests.
    closing = [
        line
        for one in sorted(ended, key=lambda one: (one not in bad, one.step.name != "tests"))
        if (line := one.closing_line())
    ]
    print(*(closing[:1] or [f"{len(bad)} of {len(ended)} steps did not pass"]), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
