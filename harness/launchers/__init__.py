"""The ways to start a host: one file each, and the Protocol that they keep."""
