"""Compose files as the suite reads them, and the images they name."""

import contextlib
import re
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from docker.errors import APIError

from reference_plugins.dragonfly.services import build_images as builder
from tffs_conformance.harness.services import ComposeError, engine, read
from tffs_conformance.harness.services.compose import Port
from tffs_conformance.harness.services.figures import sample
from tffs_conformance.harness.targets.shipped import compose_files

DRAGONFLY = compose_files()["dragonfly"]


def test_the_services_of_dragonfly() -> None:
    compose = read(DRAGONFLY, {"DRAGONFLY_S3_PORT": "1234", "DRAGONFLY_S3_SECRET_KEY": "other"})
    services = {service.name: service for service in compose.services}
    assert set(services) == {"s3", "scheduler", "seed", "client-a", "client-b"}
    assert services["s3"].ports == (Port(7070, 1234, "127.0.0.1"),)
    assert services["s3"].environment["ROOT_SECRET_KEY"] == "other"
    assert services["client-a"].needs == {"scheduler": True, "s3": True}
    assert services["client-a"].healthcheck is not None
    assert services["client-a"].healthcheck["interval"] == 2_000_000_000
    for service in compose.services:
        assert service.healthcheck, f"{service.name} has no health check"
        assert all(port.address == "127.0.0.1" for port in service.ports), f"{service.name} listens to the world"
        assert all(source.is_file() for source, _, _ in service.mounts)
        # Pinned, and not to what moves.
        assert re.fullmatch(r".+:v\d+\.\d+\.\d+", service.image)
    order = [service.name for service in compose.services]
    assert order.index("scheduler") < order.index("client-a")
    assert compose.supply.files["dragonfly.json"]["object_storage"]["secret_key"] == "other"


@pytest.mark.parametrize(
    ("text", "environment", "expected"),
    [
        ("${A:-b}", {}, "b"),
        ("${A:-b}", {"A": ""}, "b"),
        ("${A:-b}", {"A": "c"}, "c"),
        ("x${A}y", {}, "xy"),
        ("$$A", {"A": "c"}, "$A"),
        ("a$", {}, "a$"),
    ],
)
def test_variables(tmp_path: Path, text: str, environment: dict[str, str], expected: str) -> None:
    (tmp_path / "compose.yaml").write_text(f"services: {{a: {{image: '{text}'}}}}")
    assert read(tmp_path / "compose.yaml", environment).services[0].image == expected


#: What the suite reads besides, and the figures that it reads in the end.
ONE = "services: {a: {image: i}}\nx-tffs: "
MEASURE = f"{ONE}{{measure: {{size: 1, environment: {{}}, figures: "


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("services: {a: {image: i, privileged: true}}", "a: privileged is not supported"),
        ("services: {a: {}}", "a names no image"),
        ("services: {a: {image: i, ports: ['x:y']}}", "the port 'x:y'"),
        (f"{ONE}{{measure: {{size: 1}}}}", "measure is not a size, an environment, and figures"),
        (f"{MEASURE}[{{what: w, sender: b}}]}}}}", "measure: b is no service"),
        (f"{MEASURE}[{{what: w, url: u}}]}}}}", "w: either url and sample, or sender"),
        ("services: {a: {image: i, volumes: ['named:/data']}}", "the volume 'named:/data'"),
        ("services: {a: {image: i, depends_on: [b]}}", "a needs b, which is no service"),
        ("services: {a: {image: i, depends_on: [b]}, b: {image: i, depends_on: [a]}}", "a, b wait for each other"),
        ("services: {a: {image: i, healthcheck: {test: t, interval: soon}}}", "'soon' is no duration"),
        (f"{ONE}{{env: {{}}}}", "x-tffs: env is unknown"),
        ("services: {a: {image: i}}\nsecrets: {}", "secrets is not supported"),
        ("services: [", "cannot be read"),
        ("text", "has no services"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "compose.yaml").write_text(text)
    with pytest.raises(ComposeError, match=re.escape(sentence)):
        read(tmp_path / "compose.yaml", {})


def test_read_without_pyyaml_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ComposeError) as raised:
        read(tmp_path / "compose.yaml", {})
    assert str(raised.value).endswith("is not installed: pip install 'tffs-conformance[services]'")


# The images -------------------------------------------------------------------------------------------------------


def test_every_image_of_the_compose_file_can_be_built() -> None:
    assert {image.name for image in builder.IMAGES} == {service.image for service in read(DRAGONFLY).services}


def test_versions_of_images_programs_and_modules_agree() -> None:
    for image in builder.IMAGES:
        program = image.program
        assert program is not None
        assert image.name.endswith(f":v{program.version}")
        if program.command[0] == "go":
            module = (program.folder / "go.mod").read_text()
            tool = re.search(r"^tool (\S+)$", module, re.MULTILINE)
            assert tool is not None
            assert tool[1] == program.command[-1]
            package = tool[1].partition("/cmd/")[0]
            assert f"{package} v{program.version} " in module


def test_a_missing_toolchain_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(builder, "CACHE", tmp_path)
    monkeypatch.setattr(builder, "_path", lambda: str(tmp_path))
    monkeypatch.setattr("sys.argv", ["build_images.py", "--binaries"])
    assert builder.main() == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    words = ("go", "cargo", "apt-get install", "protobuf-compiler", "dfdaemon")
    assert [word for word in words if word not in error] == []


@pytest.mark.parametrize("half", ["", "; echo half > {out}"])
def test_failed_build_leaves_no_binary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, half: str) -> None:
    monkeypatch.setattr(builder, "CACHE", tmp_path)
    program = builder.BuiltProgram("name", "1", ("sh", "-c", f"echo what went wrong{half}; exit 3"), ())
    with pytest.raises(builder.UnableError, match=r"build\.log.*what went wrong"):
        builder.make_programs([program])
    assert not program.binary.exists()


def test_a_sample_of_metrics() -> None:
    metrics = '# TYPE got counter\ngot{type="A"} 20971520\ngot{type="AB"} 3\ngot_total 1e3\n'
    assert sample(metrics, 'got{type="A"}') == 20971520
    assert sample(metrics, "got_total") == 1000
    # What a service has not counted yet it does not show.
    assert sample(metrics, 'got{type="C"}') == 0


TAKEN = "Error starting userland proxy: listen tcp4 127.0.0.1:36429: bind: address already in use"


@pytest.mark.parametrize(
    ("refusals", "why", "fixed", "starts"),
    [(2, TAKEN, False, 3), (1, TAKEN, True, 1), (1, "no such image", False, 1), (99, TAKEN, False, 5)],
)
def test_container_with_a_taken_port_starts_again(refusals: int, why: str, fixed: bool, starts: int) -> None:
    container = Mock()
    container.start.side_effect = [*[APIError("500 Server Error", explanation=why)] * refusals, None]
    with contextlib.nullcontext() if starts > refusals else pytest.raises(APIError):
        engine.start(container, fixed_ports=fixed)
    assert container.start.call_count == starts
