"""`python -m tffs_conformance` is `tffs-conformance`."""

from .cli import main

# Workers of a campaign import this module, too.
if __name__ == "__main__":
    main()
