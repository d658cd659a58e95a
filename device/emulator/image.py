"""Where the MicroPython image for the emulator is found."""

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "MICROPYTHON_UF2"
_REPOSITORY: Final = Path(__file__).parents[2]
# Beside the repository, where several working copies share it.
_PLACES: Final = (_REPOSITORY / "device" / "emulator", _REPOSITORY.parent / "shared" / "firmware")


class ImageError(Exception):
    """There is no image; the text says where one is looked for."""


def find_image() -> Path:
    """Return the path of the MicroPython image (UF2) for the Pico, or `ImageError`."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        if not Path(named).is_file():
            raise ImageError(f"{VARIABLE} is {named!r}, and there is no such file")
        return Path(named)
    for place in _PLACES:
        images = sorted(place.glob("micropython*.uf2"))
        if images:
            return images[-1]
    raise ImageError(
        f"no MicroPython image for the Raspberry Pi Pico: name one in {VARIABLE} (the RPI_PICO "
        "image of https://micropython.org/download/RPI_PICO), or put micropython*.uf2 into "
        "device/emulator"
    )
