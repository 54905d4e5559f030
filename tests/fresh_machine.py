"""A fresh Debian with python3, venv, git, a C++ compiler and ccache: what a person does there first, as printed.

These are the README's command that judges, and the page for authors of plugins; at night also its command for the
project's own tests, the action for GitHub, and the hook for pre-commit. The Debian is a
chroot from the cache of `build_images.py`; it needs root. Registries are reached as on this machine. What pip has
downloaded is shared, and what ccache keeps, unless CCACHE_DISABLE is set, as at night. Of the suite the smoke tier is
run: here it is seen that it starts. The project's tests are all run, but those that lack something, which are counted;
of what a container forbids nothing is seen. What is tested here is so in this order: what takes the most, the
compilation, is done once.
"""

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from reference_plugins.dragonfly.services import build_images
from tests import transcript, workflows
from tests.pages import NOT_RUN, PROJECT, blocks
from tffs_conformance.cli import main

#: What a command is given besides, by the tool at its end.
GIVEN = {"posix": "--tier=smoke", "lint,tests": ""}
#: The folder of an author.
HOME = Path("/author")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "COLUMNS": "100",
    "CCACHE_DIR": "/ccache", "CCACHE_BASEDIR": str(HOME), "CCACHE_NOHASHDIR": "1",
    **{name: value for name, value in os.environ.items() if name == "CCACHE_DISABLE"},
}  # fmt: skip
#: The clone that the page for authors makes.
CLONE = HOME / "tffs-conformance"


def commands() -> list[str]:
    """The one-line commands of the README that set something up."""
    return re.findall(r"^python3 -m venv .*$", (PROJECT / "README.md").read_text(), re.MULTILINE)


def test_the_readme_has_two_commands() -> None:
    assert [next(end for end in GIVEN if command.endswith(end)) for command in commands()] == list(GIVEN)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("not run: needs root")
    root = tmp_path_factory.mktemp("fresh") / "debian"
    build_images.unpack(build_images.system(build_images.machine()), root)
    subprocess.run(["git", "clone", "-q", str(PROJECT), str(root / "clone")], check=True)
    mounts = {"/proc": root / "proc", "/dev": root / "dev"}
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    caches = {str(home / "pip"): root / "root/.cache/pip"}
    caches[os.environ.get("CCACHE_DIR") or str(home / "ccache")] = root / ENVIRONMENT["CCACHE_DIR"].lstrip("/")
    mounts |= {source: target for source, target in caches.items() if Path(source).exists()}
    for source, target in mounts.items():
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", source, str(target)], check=True)
    yield root
    for target in mounts.values():
        subprocess.run(["umount", "-l", str(target)], check=True)
    shutil.rmtree(root)


def typed(machine: Path, text: str) -> subprocess.CompletedProcess[str]:
    """What bash there makes of a script."""
    return subprocess.run(
        [str(shutil.which("chroot")), str(machine), "bash", "-c", text], env=ENVIRONMENT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip


@pytest.mark.timeout(1500)
def test_from_nothing_to_a_green_gate(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = blocks(PROJECT / "docs/start.md")
    text, commands = transcript.script(page, machine, lambda block: block.not_run in (None, NOT_RUN["installs"]))
    assert "pip install" in text
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = f"mkdir {HOME} && cd {HOME} && git clone -q /clone {CLONE.name}; echo $EPOCHREALTIME\n"
    first, _, printed = typed(machine, begin + text).stdout.partition("\n")
    ran = transcript.read(printed, commands)
    assert transcript.difference(ran) == ""
    with capsys.disabled():
        print()
        begun = float(first)
        for one in ran:
            print(f"{one.ended - begun:6.1f} s  $ {one.command.text}")
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        wall = ran[-1].ended - begun
        print(f"from nothing to a green gate: {wall / 60:.1f} min, {cpu / 60:.1f} min of CPU on {os.cpu_count()} cores")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "number", [pytest.param(0, id="suite"), pytest.param(1, id="tests", marks=pytest.mark.nightly)]
)
def test_command(machine: Path, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """In the clone that the page made, where there is one: what it compiled is not compiled again."""
    command = commands()[number]
    given = next(given for end, given in GIVEN.items() if command.endswith(end))
    cloned = f"[ -d {CLONE} ] || git clone -q /clone {CLONE}; cd {CLONE}"
    done = typed(machine, f"{cloned}; {command} {given}")
    assert done.returncode == 0, done.stdout[-60000:]
    assert re.search(r"\d+ passed", done.stdout)
    with capsys.disabled():
        print(*re.findall(r"^\d+ skipped: .*|^.*\d+ passed.*", done.stdout, re.MULTILINE), sep="\n")


@pytest.mark.nightly
@pytest.mark.timeout(1500)
def test_the_action_on_a_fresh_machine(machine: Path) -> None:
    """In a repository that another machine has made."""
    folder = Path("/checkout")
    CliRunner().invoke(main, ["new", f"{machine}{folder}", "--name=mine"], catch_exceptions=False)
    inputs = {"profile": "mine.toml", "waivers": "waivers.toml", "tier": "quick"}
    inputs["build"] = "cmake -G Ninja -B build && cmake --build build"
    given = {"RUNNER_TEMP": "/tmp", "GITHUB_ACTION_PATH": "/clone"}
    for step in workflows.github_action(PROJECT / "action.yml", inputs):
        if step.script:
            done = workflows.run(step, folder, ENVIRONMENT | given, machine)
            assert done.returncode == 0, f"{step.name}: {done.stdout[-9000:]}"
    assert "conformant: " in done.stdout
    assert (machine / "checkout/tffs-report/report.json").is_file()


@pytest.mark.nightly
@pytest.mark.timeout(1500)
def test_the_hook_on_a_fresh_machine(machine: Path) -> None:
    """pre-commit installs the suite from its repository, for the hook alone."""
    hook = {"id": "tffs-conformance", "args": ["--plugin=posix"], "verbose": True}
    suite = {"repo": "/clone", "rev": "HEAD", "hooks": [hook]}
    folder = machine / "hooked"
    folder.mkdir()
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [suite]}))
    (folder / "mine.cc").touch()
    install = "python3 -m venv /hook && /hook/bin/pip install -q pre-commit"
    run = "git init -q && git add . && /hook/bin/pre-commit run --all-files"
    done = typed(machine, f"set -e; cd /hooked; {install}; {run}")
    assert done.returncode == 0, done.stdout[-9000:]
    assert "conformant: " in done.stdout
