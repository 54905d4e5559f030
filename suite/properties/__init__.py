"""Properties: random histories of ops, tried on plugin and model, shrunk where they differ, and written down.

`machines` and `strategies` make histories with the model of `contract`. `walk` performs one and compares. `search`
finds one that fails, with `shrink`. `traces`, `cc_reproducer` and `reproducers` write it down.
"""
