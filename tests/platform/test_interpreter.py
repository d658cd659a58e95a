"""No program of ours runs without its assertions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (["-O"], {}),
        pytest.param(["-OO"], {}, marks=pytest.mark.thorough),
        pytest.param([], {"PYTHONOPTIMIZE": "1"}, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize(
    ("module", "name"), [("firmware_py.main", "gp-pta-device"), ("host_tools.main", "gp-pta")]
)
def test_python_without_assertions_is_refused(
    module: str, name: str, options: list[str], environment: dict[str, str]
) -> None:
    ended = subprocess.run(
        [sys.executable, *options, "-m", module, "--version"], cwd=REPO,
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"{name}: Python was started with -O or PYTHONOPTIMIZE, which leaves checks out; start it "
        "without\n"
    )
