"""`python -m tffs_conformance` is `tffs-conformance`."""

from tffs_conformance.cli import main

main()
