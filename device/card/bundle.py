"""An update: the slot of a card as a bundle of RAUC, and the keys that sign it.

The keys are in a directory of certificates: whom a card believes. All of them are believed;
`update.key` signs for `update.crt`. To change the key put a second certificate there, and make an
update signed by the old key: a card that has taken it takes the next one by either.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from device.card.errors import CardError

CERTIFICATE: Final = "update.crt"
KEY: Final = "update.key"
DAYS: Final = 20 * 365  # a card may lie for years, and its clock may be wrong
# An update has no U-Boot script: another one is for slots of another kind.
COMPATIBLE: Final = "gp-pta-aarch64-2"
MANIFEST: Final = """\
[update]
compatible={compatible}
version={version}

[bundle]
format=verity

[image.system]
filename=system.img
"""


def make_keys(place: Path) -> None:
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
    """Return the certificates that a card believes."""
    found = sorted(place.glob("*.crt"))
    if not found:
        raise CardError(f"{place} has no certificate (*.crt)")
    return "".join(path.read_text(encoding="ascii") for path in found)


def make_bundle(
    slot: Path, version: str, keys: Path, bundle: Path, compatible: str = COMPATIBLE
) -> None:
    """Make the bundle of a slot, signed by `keys`, for a kind of board; one there is replaced."""
    place = bundle.with_name(f"{bundle.name}.content")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "system.img").hardlink_to(slot)
    manifest = MANIFEST.format(compatible=compatible, version=version)
    (place / "manifest.raucm").write_text(manifest)
    bundle.unlink(missing_ok=True)
    certificate = keys / CERTIFICATE
    done = subprocess.run(
        [
            "rauc", "bundle", f"--cert={certificate}", f"--key={keys / KEY}",
            f"--keyring={certificate}", "--mksquashfs-args=-comp zstd -Xcompression-level 3",
            place, bundle,
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    shutil.rmtree(place)
    if done.returncode:
        raise CardError(f"rauc: {done.stderr}")
