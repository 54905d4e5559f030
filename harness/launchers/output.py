"""What a host prints, within bounds."""

#: How much of a host's standard error is kept: this many bytes from the start and as many from the end.
OUTPUT_KEPT = 32 << 10


class Output:
    """A bounded record of what a process printed: the first and the last `OUTPUT_KEPT` bytes."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take what was read."""
        room = OUTPUT_KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        excess = len(self._tail) - OUTPUT_KEPT
        if excess > 0:
            self._dropped += excess
            del self._tail[:excess]

    @property
    def text(self) -> str:
        """What was printed, undecodable bytes escaped, with a line that says how much is missing."""
        gap = f"\n[… {self._dropped} bytes left out …]\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "backslashreplace")
