"""Ops through TensorFlow: what its users meet above a filesystem."""
