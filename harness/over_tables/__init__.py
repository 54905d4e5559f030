"""The ops over a plugin's tables: each as a command to the host, and its answer as an outcome."""
