"""Properties: histories are made with a model of the contract, tried on a plugin, shrunk, and written down.

model and matcher say what is right; machines and strategies make histories; walk tries one; search finds one that
shows a difference, with shrink; traces, program and reproducers write it down.
"""
