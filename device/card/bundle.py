"""An update: the slot of a card as a signed bundle of RAUC."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from device.card.errors import CardError
from device.card.keys import CERTIFICATE, KEY

COMPATIBLE: Final = "gp-pta-aarch64"
MANIFEST: Final = """\
[update]
compatible={compatible}
version={version}

[bundle]
format=verity

[image.system]
filename=system.img
"""


def make_bundle(
    slot: Path, version: str, keys: Path, bundle: Path, compatible: str = COMPATIBLE
) -> None:
    """Make the bundle; what was there is replaced.

    Parameters
    ----------
    slot : Path
        Its bytes.
    version : str
    keys : Path
        A directory with the key and the certificate that sign.
    bundle : Path
        The file to write.
    compatible : str, optional
        The board that it is for.

    Raises
    ------
    CardError
        If RAUC refuses.
    """
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
