"""The published reports that the tests of the site begin with, and the sites that several of them look at."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.records import CLAUSES, GOOD, case
from tffs_conformance.reports.model.services import Figure, Figures
from tffs_conformance.reports.site.about import ABOUT_NAME

from .pages import ABOUT, broken, made, put


def two_plugins(folder: Path) -> Path:
    """Reports of two plugins, one of them with two releases, of which the older one has a clause less."""
    measured = Figures(images=("an/image:1",), size=4096, figures=(Figure("from peers", 1234567),), failure=None)
    old = {name: facts for name, facts in CLAUSES.items() if name != "read.hint"}
    put(folder, "mine", "1.9", *GOOD, broken(), clauses=old)
    put(folder, "mine", "1.10", *GOOD, started="2026-02-01T00:00:00+00:00", services=measured)
    put(folder, "other", "2", *GOOD, broken(), notes=None, clauses=old)
    return folder


@pytest.fixture
def published(tmp_path: Path) -> Path:
    return two_plugins(tmp_path / "published")


@pytest.fixture(scope="session")
def plain_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the two plugins, for tests that leave it as it is."""
    return made(two_plugins(tmp_path_factory.mktemp("plain") / "published"))


@pytest.fixture(scope="session")
def large_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with more of each: releases, clauses, words about a plugin, and an address."""
    published = two_plugins(tmp_path_factory.mktemp("large") / "published")
    put(published, "mine", "1.8", *GOOD, case("read/b", ("read.succeeds", "conform")),
        case("sync/a", ("sync.durable", "violation")))  # fmt: skip
    dropped = CLAUSES | {"old.rule": replace(CLAUSES["read.hint"], rule="It was so.")}
    put(published, "third", "1", clauses=dropped, started="2025-01-01T00:00:00+00:00")
    put(published, "own", "1", plugin="--scheme=ram")
    put(published, "long", "1", says="M" * 2_000_000)
    (published / "other" / ABOUT_NAME).write_text(ABOUT)
    return made(published, "--url=https://example.org/tffs")
