"""A small prior of people who hear far worse than those of the one that ships."""

from pathlib import Path
from typing import Any

import numpy as np

from firmware_py.inference.mixture.population_prior import Component, PopulationPrior
from firmware_py.platform.own_prior import OwnPrior
from firmware_py.terms.route import BY_AIR


def small_prior(mean_db_hl: float = 60.0, **changes: Any) -> PopulationPrior:
    """Return a prior of one Gaussian, smooth over frequency."""
    knots = np.log2(BY_AIR.calibrated_hz)
    near = 15.0**2 * np.exp(-0.5 * (knots[:, None] - knots) ** 2) + 4.0 * np.eye(len(knots))
    level_db_hl = tuple((mean_db_hl + 5.0 * (knots - knots[0])).tolist())
    one = Component(
        1.0, level_db_hl, tuple(map(tuple, near.tolist())), 70.0, 10.0, (0.0,) * len(knots), 0.5
    )
    told = {
        "knots_hz": tuple(map(float, BY_AIR.calibrated_hz)),
        "between_knots_sd_db": (3.0,) * (len(knots) - 1), "components": (one,), "provenance": {},
    }  # fmt: skip
    return PopulationPrior(**(told | changes))


def write_prior(path: Path, prior: PopulationPrior | None = None) -> OwnPrior:
    """Write a prior, the small one by default, and return it as it is read."""
    path.write_text((prior or small_prior()).to_json(), encoding="utf-8")
    return OwnPrior.read(path)
