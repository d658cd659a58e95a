"""Which machine it is, by what Linux says, and what that means for the operator's port."""

from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import pytest

from device.card.build import PI_BOARDS
from firmware_py.board.pi_models import MODELS, machine
from tests.linux_files import write_files

PC: Final = "sys/class/dmi/id/product_name"


def tree(model: str, *compatible: str) -> dict[str, str]:
    return {
        "proc/device-tree/model": f"{model}\0",
        "proc/device-tree/compatible": "".join(f"{name}\0" for name in compatible),
    }


@pytest.mark.parametrize(
    ("files", "words", "why_not_usb"),
    [
        (
            tree("Raspberry Pi 3 Model B", "raspberrypi,3-model-b", "brcm,bcm2837"),
            "Raspberry Pi 3 Model B (tried in emulation only)",
            "a Raspberry Pi 3 Model B has no USB port that can be the operator's",
        ),
        (
            tree("Raspberry Pi 3 Model B Plus Rev 1.3", "raspberrypi,3-model-b-plus"),
            "Raspberry Pi 3 Model B Plus Rev 1.3 (not tried yet)",
            "a Raspberry Pi 3 Model B Plus Rev 1.3 has no USB port that can be the operator's",
        ),
        (
            tree("Raspberry Pi Zero 2 W Rev 1.0", "raspberrypi,model-zero-2-w", "brcm,bcm2837"),
            "Raspberry Pi Zero 2 W Rev 1.0 (not tried yet)",
            "a Raspberry Pi Zero 2 W Rev 1.0 has one USB port, which is the tone generator's",
        ),
        (
            tree("Raspberry Pi 4 Model B Rev 1.4", "raspberrypi,4-model-b", "brcm,bcm2711"),
            "Raspberry Pi 4 Model B Rev 1.4 (not tried yet)", "",
        ),
        (
            tree("Raspberry Pi 5 Model B Rev 1.0", "raspberrypi,5-model-b", "brcm,bcm2712"),
            "Raspberry Pi 5 Model B Rev 1.0 (no card is made for this model)", "",
        ),
        (tree("linux,dummy-virt", "linux,dummy-virt"), "linux dummy-virt (no Raspberry Pi)", ""),
        ({PC: "OptiPlex; old\n"}, "OptiPlex: old (no Raspberry Pi)", ""),
        ({}, "a machine that does not say which (no Raspberry Pi)", ""),
    ],
)  # fmt: skip
def test_a_machine_is_named(
    tmp_path: Path, files: dict[str, str], words: str, why_not_usb: str
) -> None:
    write_files(tmp_path, files)
    here = machine(tmp_path)
    assert (here.words, here.why_not_usb) == (words, why_not_usb)


def test_a_card_has_a_device_tree_of_every_model_and_of_no_other() -> None:
    trees = [
        f"{chip}-rpi-{model.removeprefix('raspberrypi,').replace('model-', '')}"
        for model in MODELS
        for chip in ("bcm2711", "bcm2837")
    ]
    used = [board for tree in trees for board in PI_BOARDS if fnmatch(tree, board)]
    assert len(used) == len(MODELS)
    assert {*used} == {*PI_BOARDS}
