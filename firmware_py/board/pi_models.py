"""Which machine this is, and whether GP-PTA was tried on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

BYTES_MAX: Final = 500
# Of Linux: what a device tree calls the machine, or else the makers of a PC
COMPATIBLE: Final = "proc/device-tree/compatible"
NAMES: Final = ("proc/device-tree/model", "sys/class/dmi/id/product_name")
PI: Final = "raspberrypi,"

NO_PORT: Final = "has no USB port that can be the operator's"
ONE_PORT: Final = "has one USB port, which is the tone generator's"
NOT_TRIED: Final = "not tried yet"
# Models that a card has the device tree of, as Linux calls them, and why the USB port of one cannot
# be the operator's
MODELS: Final = {
    "raspberrypi,3-model-b": NO_PORT,
    "raspberrypi,3-model-b-plus": NO_PORT,
    "raspberrypi,3-model-a-plus": ONE_PORT,
    "raspberrypi,model-zero-2-w": ONE_PORT,
    "raspberrypi,4-model-b": "",
    "raspberrypi,400": "",
}
TRIED: Final = {"raspberrypi,3-model-b": "tried in emulation only"}


@dataclass(frozen=True)
class Machine:
    """What Linux says of this machine."""

    compatible: str  # by its device tree; "" without one
    name: str

    @property
    def words(self) -> str:
        """Return its name, and whether it was tried; a semicolon or comma is nowhere in it."""
        if self.compatible in MODELS:
            known = TRIED.get(self.compatible, NOT_TRIED)
        elif self.compatible.startswith(PI):
            known = "no card is made for this model"
        else:
            known = "no Raspberry Pi"
        name = self.name or self.compatible or "a machine that does not say which"
        return f"{name} ({known})".replace(",", " ").replace(";", ":")

    @property
    def why_not_usb(self) -> str:
        """Return why its USB port cannot be the operator's; "": it can, or nobody knows."""
        why = MODELS.get(self.compatible, "")
        return why and f"a {self.name} {why}"


def machine(root: Path = Path("/")) -> Machine:
    """Return what this machine is; `root`: of Linux's files."""
    names = (name for path in NAMES for name in _strings(root / path))
    return Machine(next(iter(_strings(root / COMPATIBLE)), ""), next(names, ""))


def _strings(path: Path) -> list[str]:
    """Return what a device tree keeps as strings, each with a NUL; none: there is no such file."""
    try:
        with path.open("rb") as file:
            content = file.read(BYTES_MAX)
    except OSError:
        return []
    told = content.decode("ascii", "replace").split("\0")
    return [text for each in told if (text := " ".join(each.split()))]
