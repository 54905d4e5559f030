"""What an op is: its name, its answer, core's default for it, and the guard that keeps it in its directory."""
