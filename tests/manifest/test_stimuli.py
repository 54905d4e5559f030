"""`gone.toml` has the reason why the suite may no longer give a stimulus. What it gives, tests/test_suite.py sees."""

import tomllib
from pathlib import Path

from tests.manifest.stimuli import committed

GONE: dict[str, str] = tomllib.loads(Path(__file__).with_name("gone.toml").read_text(encoding="utf-8"))["gone"]


def test_reasons_are_of_committed_stimuli() -> None:
    assert GONE.keys() <= committed(), f"delete these from gone.toml: {GONE.keys() - committed()}"
    assert all(GONE.values())
