"""How good the suite and its tests are, measured on faults: `python -m tests.score`."""
