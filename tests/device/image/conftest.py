"""An image has its own kernels, whatever these tests run on."""

import pytest

from firmware_py.inference.library import VARIABLE


@pytest.fixture(autouse=True)
def kernels_of_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
