"""The image that packaging/docker/Dockerfile describes: it is built, and in it a plugin is built and judged.

Where docker cannot pull Debian, the one from the cache of `build_images.py` takes its name for the time of the test.
It reaches registries as this machine does.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from reference_plugins.dragonfly.services import build_images
from tests.pages import PROJECT
from tffs_conformance.cli import main
from tffs_conformance.reports.document import load

DOCKERFILE = PROJECT / "packaging/docker/Dockerfile"
#: What Dockerfiles begin with.
DEBIAN = f"debian:{build_images.SUITE}-slim"
#: The image, and the stages below it: without names of their own they would stay behind.
IMAGES = {
    "tools": "tffs-conformance-test:tools",
    "suite": "tffs-conformance-test:suite",
    "": "tffs-conformance-test:latest",
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def docker(*arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        ["docker", *arguments], env={**os.environ, "DOCKER_BUILDKIT": "0"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout[-9000:]
    return done.stdout


@contextmanager
def has_debian(folder: Path) -> Iterator[None]:
    """Docker has the image that Dockerfiles begin with."""
    if has(DEBIAN):
        yield
        return
    import_debian(folder, DEBIAN)
    yield
    docker("rmi", DEBIAN)


def debian(folder: Path) -> str:
    """An image of Debian that stays: what is built upon it is not built again, unless it changes."""
    if has(DEBIAN):
        return DEBIAN
    borrowed = [Path("/", name) for name in build_images.BORROWED]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in borrowed if path.exists())).hexdigest()[:12]
    name = f"tffs-conformance/debian:{build_images.BASE.key}-{digest}"
    if not has(name):
        import_debian(folder, name)
    return name


def has(image: str) -> bool:
    return subprocess.run(["docker", "image", "inspect", image], capture_output=True, check=False).returncode == 0


def import_debian(folder: Path, name: str) -> None:
    """The Debian from the cache of `build_images.py`, as an image with this name."""
    if os.geteuid() != 0:
        pytest.skip(f"not run: docker has no {DEBIAN}, and to make one needs root")
    root = folder / "debian"
    build_images.unpack(build_images.system(build_images.BASE), root)
    tar = root.with_suffix(".tar")
    subprocess.run(["tar", "-C", str(root), "-cf", str(tar), "."], check=True)
    docker("import", str(tar), name)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with has_debian(tmp_path_factory.mktemp("base")):
        yield from built(tmp_path_factory.mktemp("context") / "clone")


def built(clone: Path) -> Iterator[str]:
    # A clone: what lies around in the folder, or changes meanwhile, is not in the image.
    subprocess.run(["git", "clone", "-q", str(PROJECT), str(clone)], check=True)
    given = ["--network=host", f"--build-arg=COMMIT={COMMIT}", "-f", str(clone / DOCKERFILE.relative_to(PROJECT))]
    for stage, name in IMAGES.items():
        target = [f"--target={stage}"] if stage else []
        docker("build", *given, *target, "-t", name, str(clone))
    yield IMAGES[""]
    docker("rmi", *IMAGES.values())


@pytest.mark.timeout(1500)
def test_a_plugin_is_built_and_judged(image: str, tmp_path: Path) -> None:
    CliRunner().invoke(main, ["new", str(tmp_path / "mine")], catch_exceptions=False)
    build = "cmake -G Ninja -B build && cmake --build build"
    judge = "pytest -p no:cacheprovider --plugin-profile=mine.toml --waivers=waivers.toml --tier=smoke"
    printed = docker("run", "--rm", "-v", f"{tmp_path}/mine:/work", image, "sh", "-ec", f"{build} && {judge}")
    assert "conformant: " in printed
    assert load(tmp_path / "mine/tffs-report/report.json").suite.commit == COMMIT


@pytest.mark.timeout(1500)
def test_image_has_all_that_modes_need(image: str) -> None:
    printed = docker("run", "--rm", "--device=/dev/fuse", image, "tffs-conformance", "doctor")
    missing = [line for line in printed.splitlines() if line.startswith(("missing", "without"))]
    assert missing == [], printed


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("condition", ["power", "kill"])
def test_a_condition_is_tried(image: str, condition: str) -> None:
    given = ["--device=/dev/fuse", "--cap-add=SYS_ADMIN", "--cap-add=SYS_PTRACE", "--security-opt=apparmor=unconfined"]
    case = {"power": "power/fails[sync]", "kill": "survival/between-ops[sync]"}[condition]
    printed = docker(
        "run", "--rm", *given, image, "pytest", "--plugin=posix", f"--conditions={condition}", f"--case={case}"
    )
    assert "1 passed" in printed
