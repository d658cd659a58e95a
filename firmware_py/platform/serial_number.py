"""The serial number of this fitting device: which box a session was recorded on."""

import re
from pathlib import Path
from typing import Final

DIGITS: Final = 16
# A board's own number, which stays with the box when its card goes to another one.
OF_BOARD: Final = "proc/device-tree/serial-number"
# The number of an installed system; not to be told as it is (machine-id(5)).
OF_SYSTEM: Final = "etc/machine-id"
BYTES_MAX: Final = 200

WORD: Final = 0xFFFFFFFF
BLOCK_BYTES: Final = 64
LENGTH_BYTES: Final = 8
ROUNDS: Final = 64


def serial_number(root: Path = Path("/")) -> str:
    """Return it: that of the board, else one made from that of the system; "" if there is none."""
    if own := re.sub("[^0-9A-Za-z-]", "", _read(root / OF_BOARD)):
        return own
    if system := _read(root / OF_SYSTEM).strip():
        return sha256(f"gp-pta device {system}".encode()).hex()[:DIGITS]
    return ""


def sha256(data: bytes) -> bytes:
    """Return the digest (FIPS 180-4) of a few bytes, without the 4 MB of OpenSSL in hashlib."""
    primes = [n for n in range(2, 312) if all(n % k for k in range(2, n))]
    constants = [int(prime ** (1.0 / 3.0) * 2**32) & WORD for prime in primes]
    assert len(constants) == ROUNDS
    state = [int(prime**0.5 * 2**32) & WORD for prime in primes[:8]]
    zeros = -(len(data) + 1 + LENGTH_BYTES) % BLOCK_BYTES
    length = (8 * len(data)).to_bytes(LENGTH_BYTES, "big")
    padded = data + b"\x80" + bytes(zeros) + length
    for start in range(0, len(padded), BLOCK_BYTES):
        state = _compress(state, padded[start : start + BLOCK_BYTES], constants)
    return b"".join(word.to_bytes(4, "big") for word in state)


def _read(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(BYTES_MAX).decode("ascii", "replace")
    except OSError:
        return ""


def _compress(state: list[int], block: bytes, constants: list[int]) -> list[int]:
    """Return the state after one more block."""
    words = [int.from_bytes(block[k : k + 4], "big") for k in range(0, BLOCK_BYTES, 4)]
    for k in range(16, ROUNDS):
        before, last = words[k - 15], words[k - 2]
        low = _turn(before, 7) ^ _turn(before, 18) ^ (before >> 3)
        high = _turn(last, 17) ^ _turn(last, 19) ^ (last >> 10)
        words.append((words[k - 16] + low + words[k - 7] + high) & WORD)
    a, b, c, d, e, f, g, h = state
    for constant, word in zip(constants, words, strict=True):
        chosen = (e & f) ^ (~e & g)
        mixed = _turn(e, 6) ^ _turn(e, 11) ^ _turn(e, 25)
        first = h + mixed + chosen + constant + word
        majority = (a & b) ^ (a & c) ^ (b & c)
        second = (_turn(a, 2) ^ _turn(a, 13) ^ _turn(a, 22)) + majority
        a, b, c, d, e, f, g, h = (first + second) & WORD, a, b, c, (d + first) & WORD, e, f, g
    return [(x + y) & WORD for x, y in zip(state, (a, b, c, d, e, f, g, h), strict=True)]


def _turn(word: int, places: int) -> int:
    return (word >> places | word << (32 - places)) & WORD
