"""Where the MicroPython image is looked for."""

from pathlib import Path

import pytest

from device.emulator import image
from device.emulator.image import VARIABLE, ImageError, find_image


def test_the_variable_names_it_or_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "any.uf2"
    file.touch()
    monkeypatch.setenv(VARIABLE, str(file))
    assert find_image() == file
    monkeypatch.setenv(VARIABLE, "/none.uf2")
    with pytest.raises(ImageError, match=r"MICROPYTHON_UF2 is '/none\.uf2'"):
        find_image()


def test_the_newest_of_a_place_is_taken_or_it_says_where_to_put_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(image, "_PLACES", (tmp_path / "none", tmp_path))
    with pytest.raises(ImageError, match=r"name one in MICROPYTHON_UF2 .* device/emulator"):
        find_image()
    for name in ("micropython-1.24.uf2", "micropython-1.25.uf2", "other.uf2"):
        (tmp_path / name).touch()
    assert find_image().name == "micropython-1.25.uf2"
