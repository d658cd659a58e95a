"""Tables of what is refused: how a command begins, how it may go on, and what is said of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.host.journals import BOTH, GOLDEN, LEFT_S2

SHIPPED_PRIOR: Final = Path(__file__).parents[2] / "firmware_py/inference/mixture/nhanes_prior.json"
STANDS_FOR: Final = {
    "LEFT": LEFT_S2, "BOTH": BOTH, "GOLDEN": GOLDEN, "PRIOR": SHIPPED_PRIOR, "LONG": "long" * 100,
    "TUNING": Path(__file__).parents[1] / "tuning" / "golden-tuning.journal",
}  # fmt: skip
Named = Callable[[str, str], None]


def refusals(table: str) -> list[Any]:
    """Return the commands of a table, each with the words that it is refused with."""
    found, beginning = [], ""
    for line in table.splitlines():
        options, arrow, words = line.partition("=> ")
        if arrow:
            command = f"{beginning} {options.strip()}".strip()
            found.append(pytest.param(command, words, id=command))
        else:
            beginning = line
    return found
