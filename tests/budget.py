"""How much is tried: a few examples and parameters in `make test`, all in `make test-all`."""

from collections.abc import Iterable
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

QUICK: Final = "quick"
ALL: Final = "all"
EXAMPLES: Final = {QUICK: 25, ALL: 100}  # of a test that does not say how many


def load(profile: str) -> None:
    """Have Hypothesis try as many examples as this profile says, without chance."""
    settings.register_profile(
        profile,
        max_examples=EXAMPLES[profile],
        derandomize=True,
        print_blob=True,
        # No clock decides: on a busy machine, or an emulated one, everything is slow and nothing is
        # wrong.
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile(profile)


def examples(many: int) -> int:
    """Return how many to try of a test that takes `many`: all of them in `make test-all` only."""
    everything = settings.get_current_profile_name() == ALL
    return many if everything else min(many, EXAMPLES[QUICK])


def either(quickly: int, thoroughly: int) -> int:
    """Return the number for `make test`, or the one for `make test-all`."""
    return thoroughly if settings.get_current_profile_name() == ALL else quickly


def quick(values: Iterable[Any], *kept: Any) -> list[Any]:
    """Return parameters of a test, of which `make test` tries those that are kept alone."""
    thorough = pytest.mark.thorough
    return [each if each in kept else pytest.param(each, marks=thorough) for each in values]


def quick_rows(rows: Iterable[tuple[Any, ...]], *kept: tuple[Any, ...]) -> list[Any]:
    """Return rows of several parameters, of which `make test` tries those that are kept alone."""
    thorough = pytest.mark.thorough
    return [row if row in kept else pytest.param(*row, marks=thorough) for row in rows]
