"""What TensorFlow's interface hides of the contract: `through.toml`."""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path


@functools.cache
def hidden() -> Mapping[str, str]:
    """The clauses that nobody can look at through TensorFlow, each with the reason."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["hidden"]
    return {name: entry["why"] for entry in entries for name in entry["clauses"]}
