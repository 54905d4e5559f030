"""A machine where libraries of the dragonfly plugin are missing or too old: what to install is named."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, native_directory

CLONE = Path(__file__).parents[1]
PACKAGES = "libcurl4-openssl-dev libssl-dev nlohmann-json3-dev libpugixml-dev"
needs_cmake = pytest.mark.skipif(
    not (shutil.which("cmake") and shutil.which("ninja")), reason="cmake or ninja is not there: pip install cmake ninja"
)


@pytest.fixture
def without_dragonfly(tmp_path: Path) -> dict[str, str]:
    """The environment of a command that finds everything native but this plugin."""
    native = tmp_path / "native"
    (native / "plugins").mkdir(parents=True)
    there = native_directory()
    for path in [*there.iterdir(), *(there / "plugins").iterdir()]:
        if path.name not in ("plugins", "libdragonfly.so"):
            (native / path.relative_to(there)).symlink_to(path)
    return {**os.environ, NATIVE_DIRECTORY_VARIABLE: str(native)}


def done(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], env=environment, capture_output=True, text=True, check=False
    )


def test_doctor_names_the_packages(without_dragonfly: dict[str, str]) -> None:
    doctor = done(without_dragonfly, "tffs_conformance", "doctor", "dragonfly")
    assert (doctor.returncode, "missing dragonfly: " in doctor.stdout, PACKAGES in doctor.stdout) == (1, True, True)


def test_doctor_of_others_does_not_name_them(without_dragonfly: dict[str, str]) -> None:
    doctor = done({**without_dragonfly, "PATH": ""}, "tffs_conformance", "doctor")
    assert doctor.returncode == 0
    assert "without gdb: it looks into a plugin by hand; on Debian: apt-get install gdb\n" in doctor.stdout
    assert [word for word in ("missing", "dragonfly", "docker.io") if word in doctor.stdout] == []


def test_run_names_the_packages(without_dragonfly: dict[str, str]) -> None:
    run = done(without_dragonfly, "pytest", "--plugin=dragonfly")
    assert (run.returncode, PACKAGES in run.stderr) == (4, True)


#: What the headers of the four libraries say of themselves, new enough.
HEADERS = {
    "curl/curl.h": "#define LIBCURL_VERSION_NUM 0x075500",
    "openssl/evp.h": "#define OPENSSL_VERSION_NUMBER 0x30000000L",
    "nlohmann/json.hpp": "#define NLOHMANN_JSON_VERSION_MAJOR 3\n#define NLOHMANN_JSON_VERSION_MINOR 6",
    "pugixml.hpp": "namespace pugi { struct xml_document { bool load_string(const char*) { return true; } }; }",
}
VARIABLES = ("CURL_HEADERS", "OPENSSL_HEADERS", "JSON_HEADERS", "PUGIXML_HEADERS")


def configured(directory: Path, headers: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A build is configured on a machine with these headers."""
    for name, text in headers.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(f"{text}\n")
    command = ["cmake", "-G", "Ninja", "-S", str(CLONE), "-B", str(directory / "build"), "-DPUGIXML_LIBRARY:STRING=m"]
    command += [f"-D{variable}={directory}" for variable in VARIABLES]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@needs_cmake
@pytest.mark.parametrize(
    ("header", "text", "reason"),
    [
        ("curl/curl.h", "#define LIBCURL_VERSION_NUM 0x073300", "it needs libcurl 7.52 or newer"),
        ("openssl/evp.h", "#define OPENSSL_VERSION_NUMBER 0x1010117fL", "it needs OpenSSL 3.0 or newer"),
        ("pugixml.hpp", "#error not for this compiler", "needs.cc beside its sources does not compile and link"),
        ("curl/curl.h", HEADERS["curl/curl.h"], None),
    ],
)
def test_a_build_without_new_enough_libraries(tmp_path: Path, header: str, text: str, reason: str | None) -> None:
    build = configured(tmp_path, HEADERS | {header: text})
    assert build.returncode == 0, build.stderr
    lines = [line for line in build.stdout.splitlines() if "dragonfly" in line]
    left_out = [f"-- dragonfly is not built, {reason}: on Debian, apt-get install {PACKAGES}"]
    assert lines == ([] if reason is None else left_out)
