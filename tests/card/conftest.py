"""What the tests of a card share: the card that was made, and what makes others like it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.card.build import PLACES_OF_TOOLS
from tests.card.boards import BOARDS
from tests.card.machine import Kind
from tests.card.qemu import qemu
from tests.card.variants import BUILT, Workshop

# What an emulated machine takes: the program, and Debian's package that has it.
TOOLS = {
    "debugfs": "e2fsprogs",
    "fdtput": "device-tree-compiler",
    "mcopy": "mtools",
    "mkenvimage": "u-boot-tools",
    "nbdkit": "nbdkit",
    "qemu-system-aarch64": "qemu-system-arm",
    "rauc": "rauc",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--machine", choices=[*BOARDS], default="raspi3b", help="which is emulated")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to the generic machine, which is faster, what says nothing of a Raspberry Pi."""
    if config.getoption("--machine") != "raspi3b":
        return
    left = [item for item in items if item.get_closest_marker("on_a_pi") is None]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def card() -> Path:
    os.environ["PATH"] = os.pathsep.join((os.environ["PATH"], *PLACES_OF_TOOLS))
    missing = {package for tool, package in TOOLS.items() if not shutil.which(tool)}
    if not Path("/usr/lib/u-boot/qemu_arm64/u-boot.bin").exists():
        missing.add("u-boot-qemu")
    if missing:
        pytest.fail(f"these are needed: sudo apt install {' '.join(sorted(missing))}")
    card = BUILT / "gp-pta-card.img"
    if not card.exists():
        pytest.fail("there is no card: make card")
    return card


@pytest.fixture(scope="session")
def kind(request: pytest.FixtureRequest, card: Path) -> Kind:
    board = BOARDS[request.config.getoption("--machine")]
    return Kind(board, qemu(board.qemu_version_min, card.parent))


@pytest.fixture(scope="session")
def workshop(card: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    place = tmp_path_factory.mktemp("variants")
    yield Workshop(place)
    shutil.rmtree(place)
