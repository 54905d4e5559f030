"""The reports: record what a run gave, and render it."""
