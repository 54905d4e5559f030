"""Properties: random histories of ops, tried on plugin and model, shrunk where they differ, and written down.

`machines` and `strategies` make histories with the model of `contract`, and `small` makes all small ones. `walk`
performs one and compares; `crowd` does so with many in one host. `search` finds one that fails, with `shrink`, and
`block` one of a block of small ones. `traces`, `cc_reproducer` and `reproducers` write it down.
"""
