"""A wheel where nothing else is, and after 0.1.0: what `make release` tries."""

from pathlib import Path

import pytest

from device.image.kernels import export
from device.image.targets import target_of_this_machine
from device.image.wheels import make_wheels
from device.release.tried import try_package, try_upgrade

pytestmark = pytest.mark.thorough


def test_a_wheel_works_in_an_empty_environment_and_after_an_upgrade(tmp_path: Path) -> None:
    target = target_of_this_machine()
    assert target is not None
    (wheel,) = make_wheels(export(), [target], tmp_path / "libraries", tmp_path / "dist")
    try_package(wheel, tmp_path / "empty")
    try_upgrade(wheel, tmp_path / "upgrade")
