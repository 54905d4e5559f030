"""The network between a plugin and its services."""
