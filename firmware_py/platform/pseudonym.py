"""Pseudonyms: what a journal calls a listener, in place of the operator's own identifier."""


def pseudonym(secret: bytes, identifier: str) -> str:
    """Return the pseudonym of an identifier, the same for the same key, as 16 hex digits.

    Nobody can tell the identifier from it without the key; whoever has the key can try identifiers
    until one fits.
    """
    import hmac  # 4 MB that a device without a key does not need

    return hmac.digest(secret, b"gp-pta pseudonym\n" + identifier.encode(), "sha256").hex()[:16]
