"""`python3 executable_stack.py FILE`: a shared object asks for an executable stack. Not every linker can be told to."""

import struct
import sys
from pathlib import Path

#: The type of the program header that says it, and its flag (ELF's gABI, and elf.h).
PT_GNU_STACK, PF_X = 0x6474E551, 1


def main(path: Path) -> None:
    """Set the flag in the file. Raises SystemExit where there is no such header."""
    content = bytearray(path.read_bytes())
    (first,) = struct.unpack_from("<Q", content, 32)  # e_phoff of ELF64
    size, count = struct.unpack_from("<HH", content, 54)  # e_phentsize, e_phnum
    for header in range(first, first + size * count, size):
        kind, flags = struct.unpack_from("<II", content, header)  # p_type, p_flags
        if kind == PT_GNU_STACK:
            struct.pack_into("<I", content, header + 4, flags | PF_X)
            path.write_bytes(content)
            return
    sys.exit(f"{path} says nothing of its stack")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
