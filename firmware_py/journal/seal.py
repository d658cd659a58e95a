"""Seals: without the key nobody can change a sealed journal or make one up.

The seal of a line is the HMAC-SHA256 of the seal before it and of the line, so that it holds for
all that stands before it too. The CRC beside it is against accidents, and needs no key.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

SECRET_BYTES: Final = 32  # as many as the hash has: more would add nothing

_SEALED: Final = re.compile(rb', "seal": "([0-9a-f]{64})", "crc": "[0-9a-f]{8}"\}\n\Z')
_SEALED_BYTES: Final = len(', "seal": "", "crc": "00000000"}\n') + 64


@dataclass(frozen=True)
class SealKey:
    """What seals are made and checked with."""

    secret: bytes = field(repr=False)  # `SECRET_BYTES` that nobody can guess

    @property
    def name(self) -> str:
        """Return 16 hex digits by which keys are told apart; they tell nothing of the secret."""
        import hmac  # 4 MB that a device without a key does not need

        return hmac.digest(self.secret, b"gp-pta name of a key", "sha256").hex()[:16]

    def seal(self, previous: str, body: bytes) -> str:
        """Return the seal of a line; that of the line before, `previous`, is "" for the header."""
        import hmac

        sealed = b"gp-pta seal\n" + previous.encode("ascii") + b"\n" + body
        return hmac.digest(self.secret, sealed, "sha256").hex()


def seal_of(line: bytes) -> str:
    sealed = _SEALED.search(line, max(0, len(line) - _SEALED_BYTES))
    return sealed[1].decode("ascii") if sealed else ""


def first_broken(key: SealKey, lines: Iterable[bytes]) -> int | None:
    """Return the number of the first record whose seal is not of this key, None if all are."""
    import hmac

    previous = ""
    for number, line in enumerate(lines):
        seal = seal_of(line)
        if not hmac.compare_digest(seal, key.seal(previous, line[:-_SEALED_BYTES])):
            return number
        previous = seal
    return None
