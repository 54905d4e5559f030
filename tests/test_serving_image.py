"""The serving image: it is built, and a program in the place of the server reads a model through its plugin.

That program exports the C functions of TensorFlow, as the server has to; it is no server. Store and proxy are stubs on
this machine, whose network the container has.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.container_image import debian
from tests.container_image import docker as type_docker
from tests.dragonfly_client import configuration
from tests.pages import PROJECT
from tests.proxy_stub import ProxyStub
from tests.s3_server import S3Server

DOCKERFILE = PROJECT / "reference_plugins/dragonfly/serving/Dockerfile"
SERVER, SILENT, SHOWN, IMAGE = (
    f"tffs-conformance-test-{name}:{os.getpid()}" for name in ("server", "silent", "shown", "serving")
)
MODEL = b"a saved model" * 1000


def program(folder: Path, *, exports: bool) -> None:
    """A server, and its entry point, which is called as in the image of TensorFlow Serving."""
    sources = [PROJECT / "tests/tensorflow/server.cc", *(PROJECT / "harness/runtime").glob("*.cc")]
    command: list[str | Path] = ["g++", "-std=c++17", "-static-libstdc++", "-static-libgcc"]
    command += [*(["-rdynamic"] if exports else []), f"-I{PROJECT / 'harness/include'}", *sources, "-pthread", "-ldl"]
    (folder / "usr/bin").mkdir(parents=True)
    subprocess.run([*command, "-o", folder / "usr/bin/tensorflow_model_server"], check=True)
    entry = folder / "usr/bin/tf_serving_entrypoint.sh"
    entry.write_text('#!/bin/sh\nexec tensorflow_model_server "$MODEL_BASE_PATH/$MODEL_NAME/1/saved_model.pb" "$@"\n')
    entry.chmod(0o755)


@pytest.fixture(scope="module")
def image(docker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What the build says of a server that shows nothing; the image of one that shows what it has to is there."""
    folder = tmp_path_factory.mktemp("serving")
    subprocess.run(["git", "clone", "-q", str(PROJECT), str(folder / "clone")], check=True)
    for name in (SERVER, SILENT):
        program(folder / name, exports=name == SERVER)
        subprocess.run(["tar", "-C", str(folder / name), "-cf", str(folder / "server.tar"), "."], check=True)
        type_docker("import", str(folder / "server.tar"), name)
    given = ["build", "--force-rm", "--network=host", f"--build-arg=DEBIAN={debian(folder)}"]
    given += [f"--build-arg=SERVING={SERVER}"]
    given += ["-f", str(folder / "clone" / DOCKERFILE.relative_to(PROJECT))]
    context = str(folder / "clone")
    # Stages with names stay, and are not built again while what they are made of is the same.
    kept = {stage: f"tffs-conformance/serving-{stage}:latest" for stage in ("tools", "native")}
    before = found(kept["native"])
    for stage, name in kept.items():
        type_docker(*given, f"--target={stage}", "-t", name, context)
    if before not in ("", found(kept["native"])):
        # What it was built upon goes with it, unless that stays. Another run may have been quicker.
        subprocess.run(["docker", "rmi", before], capture_output=True, check=False)
    refused = type_docker(*given, f"--build-arg=SERVING={SILENT}", context, code=1)
    type_docker("rmi", re.findall(r"^ ---> ([0-9a-f]+)$", refused, re.MULTILINE)[-1])
    type_docker(*given, "--target=shown", "-t", SHOWN, context)
    type_docker(*given, "-t", IMAGE, context)
    yield refused
    type_docker("rmi", IMAGE, SHOWN, SERVER, SILENT)


def found(image: str) -> str:
    """The id of an image; nothing where docker has none."""
    asked = ["docker", "image", "inspect", "--format={{.Id}}", image]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


@pytest.mark.timeout(1500)
@pytest.mark.xdist_group("serving")
def test_a_model_is_read_through_the_plugin(image: str, tmp_path: Path) -> None:
    with S3Server() as store, ProxyStub() as proxy:
        store.put("models/net/1/saved_model.pb", MODEL)
        (tmp_path / "dragonfly.json").write_text(json.dumps(configuration(store.url, proxy.url)))
        given = ["--network=host", "-v", f"{tmp_path}/dragonfly.json:/etc/dragonfly/dragonfly.json:ro"]
        given += ["-e", "MODEL_BASE_PATH=dragonfly://bucket/models", "-e", "MODEL_NAME=net"]
        printed = type_docker("run", "--rm", *given, IMAGE)
        assert any(asked.method == "GET" for asked in proxy.asked)
    uri = "dragonfly://bucket/models/net/1/saved_model.pb"
    assert set(printed.splitlines()) == {
        "[TF_Log INFO] dragonfly: objects come through Dragonfly",
        "scheme dragonfly",
        f"{uri}: code 0, {len(MODEL)} bytes, {len(MODEL)} read",
    }


@pytest.mark.timeout(1500)
@pytest.mark.xdist_group("serving")
def test_without_a_configuration_one_line_says_so(image: str) -> None:
    printed = type_docker("run", "--rm", IMAGE).splitlines()
    assert [line.partition(": not registered: ")[0] for line in printed] == [
        "tffs_loader: /usr/local/lib/libdragonfly.so"
    ]


@pytest.mark.timeout(1500)
@pytest.mark.xdist_group("serving")
def test_a_server_that_shows_nothing_is_refused(image: str) -> None:
    assert "this tensorflow_model_server does not export TF_RegisterFilesystemPlugin" in image
