"""The pages' JavaScript without a browser: what comes with Playwright runs it, in a moment."""

import json
import subprocess
from typing import Any, Final

from playwright._impl._driver import compute_driver_executable

WAIT_S_MAX: Final = 120.0  # on a very busy machine


def compute(program: str, **given: object) -> Any:
    """Run the body of a function, which finds its values in `given`; return what it returns."""
    node, _ = compute_driver_executable()
    body = f"const given = {json.dumps(given)};\n{program}"
    ran = subprocess.run(
        [node, "-"], input=f"process.stdout.write(JSON.stringify((() => {{\n{body}\n}})()));",
        capture_output=True, text=True, timeout=WAIT_S_MAX, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
