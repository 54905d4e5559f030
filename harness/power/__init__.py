"""A filesystem of our own that loses its power: what was not made durable is forgotten."""
