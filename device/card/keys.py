"""The keys of updates: whom a card believes, and who signs.

A directory of certificates. All of them are believed; `update.key` signs for `update.crt`. To
change the key put a second certificate there, and make an update signed by the old key: a card that
has taken it takes the next one by either.
"""

import subprocess
from pathlib import Path
from typing import Final

from device.card.errors import CardError

CERTIFICATE: Final = "update.crt"
KEY: Final = "update.key"
DAYS: Final = 20 * 365  # a card may lie for years, and its clock may be wrong


def make_keys(place: Path) -> None:
    """Make a key, and a certificate for it, if there is none."""
    if (place / KEY).exists():
        return
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(DAYS),
            "-subj", "/CN=GP-PTA updates", "-keyout", place / KEY, "-out", place / CERTIFICATE,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    (place / KEY).chmod(0o600)


def keyring(place: Path) -> str:
    """Return the certificates that a card believes.

    Raises
    ------
    CardError
        If there are none.
    """
    found = sorted(place.glob("*.crt"))
    if not found:
        raise CardError(f"{place} has no certificate (*.crt)")
    return "".join(path.read_text(encoding="ascii") for path in found)
