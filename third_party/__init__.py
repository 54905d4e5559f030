"""Plugins that others released, judged with their own storage: `python -m third_party.judge --help`."""
