"""Files where a host runs, for a client that is somewhere else."""

import os
from pathlib import PurePath

from .client import Host, HostFaultError

#: Bytes that are asked for at a time.
PIECE = 1 << 20


def read(host: Host, path: PurePath) -> bytes:
    """What is in a file. Raises FileNotFoundError where it cannot be read."""
    pieces: list[bytes] = []
    while True:
        reply = host.call("file", os.fsencode(path), len(pieces) * PIECE, PIECE)
        if reply is None:
            raise HostFaultError("the host does not read files")
        if not reply.take_number():
            raise FileNotFoundError(path)
        piece = reply.take_bytes()
        pieces.append(piece)
        if len(piece) < PIECE:
            return b"".join(pieces)
