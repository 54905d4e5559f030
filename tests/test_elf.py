"""What a shared object says of itself."""

import re

import pytest

from tests.test_header import HEADER
from tffs_conformance.harness.shared_object.elf import NotElfError, SharedObject, read
from tffs_conformance.harness.shared_object.releases import functions_of_c
from tffs_conformance.harness.targets.shipped import plugin_path

RIGHT = plugin_path("posix").read_bytes()


def linked(name: str) -> SharedObject:
    return read(plugin_path(f"fakes/{name}").read_bytes())


def wrong(plugin: SharedObject) -> list[str]:
    """In which ways a shared object is not linked as a plugin should be."""
    found = [name for name in ("executable_stack", "text_relocations", "static_tls") if getattr(plugin, name)]
    found += ["run_path"] if plugin.run_path else []
    found += ["exported"] if plugin.exported != {"TF_InitPlugin"} else []
    found += ["open"] if plugin.open else []
    return found


def test_a_right_one() -> None:
    plugin = read(RIGHT)
    assert wrong(plugin) == []
    # It looks TensorFlow's functions up in the process.
    assert not any(name.startswith("TF_") for name in plugin.needed)
    assert "TF_VLog" in linked("verbose").needed - linked("verbose").standard
    assert {"memcpy", "_Znwm"} <= plugin.standard
    assert "__cxa_finalize" in plugin.weak
    assert re.fullmatch(r"2\.\d+(\.\d+)?", plugin.glibc)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("executable_stack", "executable_stack"),
        ("text_relocations", "text_relocations"),
        ("static_tls", "static_tls"),
        ("absolute_run_path", "run_path"),
        ("exports", "exported"),
    ],
)
def test_each_fake_is_wrong_in_one_way(name: str, what: str) -> None:
    assert wrong(linked(name)) == [what]


def test_a_run_path() -> None:
    assert linked("absolute_run_path").run_path == ("/opt/vendor/lib",)


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", RIGHT[:4], RIGHT[:64], RIGHT[:2000], b"\x7fELF" + bytes(200)])
def test_what_is_no_shared_object(content: bytes) -> None:
    with pytest.raises(NotElfError):
        read(content)


def test_the_header_declares_what_a_release_exports() -> None:
    declared = set(re.findall(r"\b(TF_(?!FS_)\w+)\(", HEADER.read_text())) - {"TF_InitPlugin"}
    assert declared <= functions_of_c().keys()
