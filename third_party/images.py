#!/usr/bin/env python3
"""The images that the targets' services run: docker has them, or pulls them, or they are built from released packages.

`python -m third_party.images third_party/*/compose.yaml` does it for these compose files.
"""

import hashlib
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from reference_plugins.dragonfly.services import build_images
from reference_plugins.dragonfly.services.build_images import BASE, BuiltProgram, Image, System, UnableError
from tffs_conformance.harness import services

#: A program of many modules becomes one file. It never asks for the module that is left out.
AZURITE = (
    "npm install --silent --no-audit --no-fund --prefix {root}/npm azurite@3.35.0 esbuild@0.28.2"
    " && cd {root}/npm/node_modules && .bin/esbuild azurite/dist/src/blob/main.js --bundle --platform=node"
    " --target=node18 --external:pg-hstore --outfile={out} && rm -r {root}/npm"
)

_HDFS = Path(__file__).resolve().parent / "hdfs"
#: Hadoop in one jar, and libhdfs beside it.
HADOOP = BuiltProgram(
    "hadoop",
    "3.4.2",
    ("sh", "build.sh", "{root}", "{out}"),
    ("mvn", "javac", "cc"),
    # Another pom.xml makes another jar.
    {"MADE_OF": hashlib.sha256((_HDFS / "pom.xml").read_bytes() + (_HDFS / "build.sh").read_bytes()).hexdigest()},
    _HDFS,
)

#: How an image is made where it cannot be pulled.
IMAGES = (
    *build_images.IMAGES,
    Image(
        "motoserver/moto:5.2.5",
        None,
        "/usr/local/bin/moto_server",
        System("moto", "python3 python3-pip", BASE, modules="moto[server]==5.2.5"),
    ),
    Image("nginx:1.22.1", None, "/usr/sbin/nginx", System("nginx", "nginx-light", BASE)),
    Image(
        "fsouza/fake-gcs-server:1.56.1",
        BuiltProgram(
            "fake-gcs-server",
            "1.56.1",
            ("go", "install", "-trimpath", "-ldflags=-s -w", "github.com/fsouza/fake-gcs-server@v1.56.1"),
            ("go",),
            {"CGO_ENABLED": "0", "GOBIN": "{root}/bin"},
        ),
        "/bin/fake-gcs-server",
    ),
    Image(
        "mcr.microsoft.com/azure-storage/azurite:3.35.0",
        BuiltProgram("azurite-blob", "3.35.0", ("sh", "-c", AZURITE), ("npm",)),
        "/usr/local/bin/azurite-blob",
        System("node", "nodejs", BASE),
    ),
    Image("localhost/hadoop:3.4.2", HADOOP, "/opt/hadoop.jar", System("java", "openjdk-17-jre-headless", BASE)),
)


def provide(compose: Iterable[Path]) -> None:
    """See to it that docker has the images of these compose files. Raises Unable."""
    known = {image.name: image for image in IMAGES}
    names = dict.fromkeys(service.image for path in compose for service in services.read(path).services)
    missing = [name for name in names if not _docker("image", "inspect", name) and not _docker("pull", name)]
    if unknown := [name for name in missing if name not in known]:
        raise UnableError(
            f"{', '.join(unknown)} cannot be pulled, and third_party/images.py does not say how to build it"
        )
    if missing:
        build_images.build([known[name] for name in missing])


def folder(name: str) -> Path:
    """Where a program of this name is, which is built if it is not there yet. Raises Unable."""
    (program,) = (image.program for image in IMAGES if image.program and image.program.name == name)
    build_images.make_programs([program])
    return program.root


def _docker(*arguments: str) -> bool:
    try:
        return subprocess.run(["docker", *arguments], capture_output=True, check=False).returncode == 0
    except FileNotFoundError as error:
        raise UnableError("docker is not installed (on Debian: apt-get install docker.io)") from error


if __name__ == "__main__":
    try:
        provide(Path(given) for given in sys.argv[1:])
    except UnableError as error:
        sys.exit(f"third_party.images: {error}")
