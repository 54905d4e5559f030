"""Imports and reads what each run of pytest needs first; the process that `tests.copies` copies begins with it."""
# ruff: noqa: E402 # The package is the installed one, which comes after the clone in the path.

import gc
import sys
from pathlib import Path

#: Where a new Python looks for modules: the clone is in front for the import of this file alone.
PATH = sys.path[sys.path.index(str(Path(__file__).parents[1])) + 1 :]
sys.path[:] = PATH

import execnet  # noqa: F401
import fsspec.implementations.local  # noqa: F401
from _pytest.config import get_config

from tffs_conformance.harness.shared_object import releases
from tffs_conformance.run import controller, session  # noqa: F401
from tffs_conformance.suite.contract.catalogue import for_report
from tffs_conformance.suite.engine import collect, index

# Imports pytest's own plugins.
get_config()
for_report()
releases.functions_of_c()
collect.cases()
index.cases()
# A copy's collector of garbage need not look at what was there before.
gc.freeze()
