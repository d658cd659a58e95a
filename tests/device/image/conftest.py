"""An image of a few kernels, and one's own kernels, whatever these tests run on."""

import os
import sys

import pytest

from firmware_py.inference.library import VARIABLE
from tests.device.image.image import FEW_KERNELS, Image, make_image


@pytest.fixture(autouse=True)
def kernels_of_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture(scope="session")
def small_image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Return an image of a few kernels, made once for all workers: it is whole, but cannot run."""
    place = tmp_path_factory.getbasetemp()
    of_all_workers = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    made = make_image(of_all_workers / "small-image", of_all_workers, FEW_KERNELS)
    if made is None:
        pytest.skip(f"there is no image for {sys.platform}")
    return made
