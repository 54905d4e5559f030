"""`python -m tffs_conformance` is `tffs-conformance`."""

from .cli import main

if __name__ == "__main__":
    main()
