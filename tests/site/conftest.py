"""The published reports that the tests of the site begin with."""

from pathlib import Path

import pytest

from tests.records import CLAUSES, GOOD
from tffs_conformance.reports.model.services import Figure, Figures

from .pages import broken, put


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Two plugins, one of them with two releases, of which the older one has a clause less."""
    folder = tmp_path / "published"
    measured = Figures(images=("an/image:1",), size=4096, figures=(Figure("from peers", 1234567),), failure=None)
    old = {name: facts for name, facts in CLAUSES.items() if name != "read.hint"}
    put(folder, "mine", "1.9", *GOOD, broken(), clauses=old)
    put(folder, "mine", "1.10", *GOOD, started="2026-02-01T00:00:00+00:00", services=measured)
    put(folder, "other", "2", *GOOD, broken(), notes=None, clauses=old)
    return folder
