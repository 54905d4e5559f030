"""Plugins in a process that forks while its threads are in ops."""

import json
import os
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, at, configuration
from tests.faulty_http import Asked, Reply
from tests.pages import PROJECT
from tests.proxy_stub import ProxyStub
from tests.s3_server import BUCKET, S3Server
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.targets.shipped import plugin_path

RUNTIME = str(native_directory() / RUNTIME_NAME)


def built(name: str, folder: Path) -> Path:
    """The program whose source is beside this file."""
    program = folder / name
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-pthread", f"-I{PROJECT / 'harness/include'}", "-o", program,
         Path(__file__).with_name(f"{name}.cc"), RUNTIME, "-ldl"], check=True,
    )  # fmt: skip
    return program


def test_a_child_of_fork_finds_no_lock_taken(tmp_path: Path) -> None:
    environment = {"LD_LIBRARY_PATH": str(Path(RUNTIME).parent)}
    command = [str(built("forking", tmp_path)), RUNTIME, str(plugin_path("memory"))]
    done = subprocess.run(command, env=environment, timeout=600, check=False)
    assert done.returncode == 0


@pytest.mark.skipif(not BUILT, reason=MISSING)
def test_a_child_of_fork_reads_what_a_thread_of_its_parent_fetches(tmp_path: Path) -> None:
    path, program = tmp_path / "dragonfly.json", built("forking_reader", tmp_path)
    with S3Server() as store, ProxyStub() as proxy:
        store.put("tests/file", b"content")
        path.write_text(json.dumps(configuration(store.url, proxy.url)), encoding="utf-8")
        rest = threading.Event()
        proxy.inject(lambda _, right: replace(right, drip=rest), 1)
        given = {"LD_LIBRARY_PATH": str(Path(RUNTIME).parent), "DRAGONFLY_CONFIG_PATH": str(path)}
        with subprocess.Popen(
            [program, RUNTIME, plugin_path("dragonfly"), at("file")],
            env=os.environ | given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            while not proxy.asked:
                time.sleep(0.01)
            process.stdin.write("\n")
            process.stdin.flush()
            said = process.stdout.readline()
            rest.set()
        assert said == "came back\n"
        assert process.returncode == 0


@pytest.mark.skipif(not BUILT, reason=MISSING)
def test_a_child_of_fork_leaves_alone_what_a_thread_of_its_parent_puts(tmp_path: Path) -> None:
    path, program = tmp_path / "dragonfly.json", built("forking_writer", tmp_path)
    with S3Server() as store, ProxyStub() as proxy:
        path.write_text(json.dumps(configuration(store.url, proxy.url)), encoding="utf-8")
        rest = threading.Event()

        def hold(_: Asked, right: Reply) -> Reply:
            rest.wait(60)
            return right

        store.inject(hold, 1, when=lambda asked: "partNumber=" in asked.target)
        given = {"LD_LIBRARY_PATH": str(Path(RUNTIME).parent), "DRAGONFLY_CONFIG_PATH": str(path)}
        with subprocess.Popen(
            [program, RUNTIME, plugin_path("dragonfly"), at("file")],
            env=os.environ | given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            while not any("partNumber=" in asked.target for asked in store.asked):
                time.sleep(0.01)
            process.stdin.write("\n")
            process.stdin.flush()
            said = process.stdout.readline()
            rest.set()
        assert said == "refused\n"
        assert process.returncode == 0
        assert store.buckets[BUCKET]["tests/file"].content == b"w" * (65 << 20)
        assert "DELETE" not in {asked.method for asked in store.asked}
