"""Parameters of a test of which `make test` tries a few, and `make test-all` all."""

from collections.abc import Iterable
from typing import Any

import pytest


def quick(values: Iterable[Any], *kept: Any) -> list[Any]:
    """Return values to try, of which `make test` tries those that are kept alone."""
    thorough = pytest.mark.thorough
    return [each if each in kept else pytest.param(each, marks=thorough) for each in values]
