"""A card that says it has more than the file it is kept in, for an emulated machine.

usage: python -m tests.card.lying_card SOCKET FILE SAYS_BYTES wraps|forgets
It serves one machine by the NBD protocol, and keeps nothing back: what is written is in the file.
"""

import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

WRAPS: Final = "wraps"  # beyond its end it begins anew
FORGETS: Final = "forgets"  # beyond its end it keeps nothing
# The NBD protocol: what a server and a client say, by its page
HELLO: Final = b"NBDMAGICIHAVEOPT" + struct.pack(">H", 0b11)
OPTION_REPLY: Final = 0x3E889045565A9
GO, ACK, INFO, UNSUPPORTED = 7, 1, 3, 1 << 31 | 1
FLAGS: Final = 0b101  # it can flush
READ, WRITE, DISCONNECT = 0, 1, 2
REPLY: Final = 0x67446698


class LyingCard:
    """The card; `says` how many bytes it has."""

    def __init__(self, file: BinaryIO, says: int, kind: str) -> None:
        self.says = says
        self._file, self._kind = file, kind
        self._keeps = file.seek(0, 2)

    def read(self, at: int, size: int) -> bytes:
        parts = []
        for place, _, length in self._places(at, size):
            self._file.seek(place)
            parts.append(self._file.read(length) if place < self._keeps else bytes(length))
        return b"".join(parts)

    def write(self, at: int, content: bytes) -> None:
        for place, begin, length in self._places(at, len(content)):
            if place < self._keeps:
                self._file.seek(place)
                self._file.write(content[begin : begin + length])

    def _places(self, at: int, size: int) -> Iterator[tuple[int, int, int]]:
        """Yield where the parts are kept, where in what is asked for they begin, and their size."""
        begin = 0
        while begin < size:
            times, place = divmod(at + begin, self._keeps)
            length = min(size - begin, self._keeps - place)
            yield place if self._kind == WRAPS else place + times * self._keeps, begin, length
            begin += length


def serve(line: socket.socket, card: LyingCard) -> None:
    stream = line.makefile("rb")
    line.sendall(HELLO)
    stream.read(4)
    option = None
    while option != GO:
        _, option, size = struct.unpack(">8sII", stream.read(16))
        stream.read(size)
        if option == GO:
            told = struct.pack(">HQH", 0, card.says, FLAGS)
            line.sendall(struct.pack(">QIII", OPTION_REPLY, option, INFO, len(told)) + told)
        reply = ACK if option == GO else UNSUPPORTED
        line.sendall(struct.pack(">QIII", OPTION_REPLY, option, reply, 0))
    while asked := stream.read(28):
        _, _, kind, cookie, at, size = struct.unpack(">IHH8sQI", asked)
        if kind == DISCONNECT:
            return
        if kind == WRITE:
            card.write(at, stream.read(size))
        answer = card.read(at, size) if kind == READ else b""
        line.sendall(struct.pack(">II", REPLY, 0) + cookie + answer)


if __name__ == "__main__":
    path, name, says_bytes, what = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as waiting, Path(name).open("r+b", buffering=0) as kept:
        waiting.bind(path)
        waiting.listen()
        serve(waiting.accept()[0], LyingCard(kept, int(says_bytes), what))
