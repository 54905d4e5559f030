"""What a plugin costs: work of growing size, how its time grows, and what of that a person can act on."""
