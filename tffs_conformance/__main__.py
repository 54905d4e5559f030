"""`python -m tffs_conformance` is `tffs-conformance`."""

from .cli import main

main()
