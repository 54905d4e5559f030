"""The harness stands in for TensorFlow core: it loads one plugin in a host process and performs ops on request."""
