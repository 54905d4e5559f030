"""The types of a report, and what is counted in it."""
