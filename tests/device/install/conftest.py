"""A directory to install into."""

from pathlib import Path

import pytest

from tests.device.install.staging import Staging


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    return Staging(tmp_path / "root")
