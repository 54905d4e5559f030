"""The targets of third_party/: their files are well-formed. tests/test_published.py has what was published of them."""

from pathlib import Path

import pytest

from tffs_conformance.harness import native, services
from tffs_conformance.harness.targets import profile
from tffs_conformance.suite.contract.claims import stated
from tffs_conformance.typed_toml import TomlError
from third_party import images, judge, releases

CLONE = Path(__file__).parent.parent


@pytest.mark.parametrize("name", judge.names())
def test_a_target(name: str) -> None:
    target = judge.read(name)
    assert target.version, "a report is of one release"
    if not target.file.library:
        assert target.file.package == "tensorflow-cpu"
        return
    assert set(target.file.programs.values()) <= {image.program.name for image in images.IMAGES if image.program}
    claimed = profile.read(str(judge.HERE / name / "profile.toml"))
    stated(claimed.claims)
    assert claimed.scheme
    assert claimed.services is not None
    composed = services.read(claimed.services)
    # Where nothing can be pulled, each is built.
    assert {service.image for service in composed.services} <= {image.name for image in images.IMAGES}
    assert composed.supply.root
    assert composed.supply.root.startswith(f"{claimed.scheme}://")
    assert composed.supply.backing


def test_all_releases_of_a_target_can_be_read() -> None:
    for name in judge.names():
        for version in judge.read(name).package.releases:
            target = judge.read(name, version)
            if target.file.library:
                assert f"--runtime={target.package.runtime_of(version)}" in target.judged
                assert target.package.runtime_of(version).startswith(("stand-in", "tensorflow-cpu=="))
            else:
                assert f"--through=build/third_party/tensorflow-cpu-{version}/bin/python" in target.judged
            assert ("--release=" in " ".join(target.command)) == (version != target.package.newest)


def test_wrong_table_and_release_missing_from_it_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(judge.BadTargetError, match=r"0\.1 is none of 0\.37\.1, "):
        judge.read("gs", "0.1")
    monkeypatch.setattr(releases, "TABLE", tmp_path / "releases.toml")
    for text, why in (
        ("", "has no releases of x"),
        ("[x]\nruntime = 'a'", "releases.toml: x has no releases"),
        ("[x]\nreleases = ['1', 2]", "releases.toml: x: releases 2 is wrong: expected text, got int"),
        ("[x]\nreleases = ['1']\nother = 1", "x has the unknown key 'other'; known are releases, runtime, runtimes"),
        ("[x]\nreleases = ['1']\nruntimes = {'2' = 'a'}", "x: runtimes has 2, which is not judged"),
        ("[x", "releases.toml is no TOML"),
    ):
        releases.TABLE.write_text(text)
        with pytest.raises(TomlError, match=why):
            releases.package("x")


def test_a_clone_has_the_native_parts_of_the_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = tmp_path / "site-packages" / "tffs_conformance" / "_native" / "tffs-host"
    host.parent.mkdir(parents=True)
    host.touch()
    monkeypatch.delenv(native.NATIVE_DIRECTORY_VARIABLE, raising=False)
    monkeypatch.setattr(native, "package", [str(tmp_path / "clone")])
    monkeypatch.setattr("sys.path", [str(tmp_path / "site-packages")])
    assert native.native_directory() == host.parent
    host.unlink()
    with pytest.raises(native.NativePartsMissingError, match="pip install"):
        native.native_directory()
