"""The conformance suite for TensorFlow filesystem plugins."""

__version__ = "0.1.0"
