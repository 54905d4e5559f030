"""The score of the suite on faults that nobody wrote: mutants of the sources of right plugins, drawn by a tool.

`python -m tests.score` judges a sample of them, the same every time; docs/score.md says what came of it.
"""
