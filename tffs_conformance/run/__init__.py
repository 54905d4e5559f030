"""A run of pytest: its options, its targets, what it leaves out, and how it ends."""
