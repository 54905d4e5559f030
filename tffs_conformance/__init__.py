"""The conformance suite for TensorFlow filesystem plugins.

It asserts nothing, and may be imported before pytest begins, of which pytest would warn: PYTEST_DONT_REWRITE.
"""

__version__ = "1.0.0"
