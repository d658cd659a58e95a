"""The names a shared library asks of others, read from its dynamic symbol table."""

import struct
from pathlib import Path
from typing import Final

SECTION_DYNSYM: Final = 11
UNDEFINED: Final = 0

# By class of the file: place of e_shoff, section header, place of link in it, symbol, and where in
# a symbol its section is.
LAYOUTS: Final = {1: (0x20, "<IIIIIIIIII", "<IIIBBH", 5), 2: (0x28, "<IIQQQQIIQQ", "<IBBHQQ", 3)}


def undefined_symbols(path: Path) -> set[str]:
    content = path.read_bytes()
    at, section_format, symbol_format, section_field = LAYOUTS[content[4]]
    offset_format = "<I" if content[4] == 1 else "<Q"
    (offset,) = struct.unpack_from(offset_format, content, at)
    size, count = struct.unpack_from("<HH", content, 0x2E if content[4] == 1 else 0x3A)
    sections = [
        struct.unpack_from(section_format, content, offset + i * size) for i in range(count)
    ]
    symbols = next(section for section in sections if section[1] == SECTION_DYNSYM)
    names_at = sections[symbols[6]][4]
    found = set()
    for place in range(symbols[4], symbols[4] + symbols[5], struct.calcsize(symbol_format)):
        symbol = struct.unpack_from(symbol_format, content, place)
        name = content[names_at + symbol[0] :].split(b"\0", 1)[0].decode("ascii")
        if symbol[section_field] == UNDEFINED and name:
            found.add(name)
    return found
