"""A prescription as JSON, as somebody asks for it."""

import json
from pathlib import Path
from typing import Any

from tests.host.journals import GpPta


def figures(gp_pta: GpPta, *words: str | Path) -> dict[str, Any]:
    code, out, _ = gp_pta("prescribe", *words, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    return found


def bands_of(figures: dict[str, Any], ear: str) -> dict[float, Any]:
    """Return the bands of an ear, by their frequencies."""
    (found,) = [each for each in figures["ears"] if each["ear"] == ear]
    return {band["frequency_hz"]: band for band in found["bands"]}
