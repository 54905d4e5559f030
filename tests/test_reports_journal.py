"""A journal gives its report back, whole or marked incomplete, however it ended."""
