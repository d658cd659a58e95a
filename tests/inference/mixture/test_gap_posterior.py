"""The gap by both routes: against a joint Gaussian of air and bone, and independent ones."""

import math

import numpy as np
import pytest

from firmware_py.inference.curves import Curves, mean_over
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.gap_posterior import gap_of
from firmware_py.inference.mixture.gap_prior import GapClass, GapPrior

HZ = (500.0, 1000.0, 2000.0)
SHAPE = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.6], [0.3, 0.6, 1.0]])


def gaussian(mean_db_hl: tuple[float, ...], sd_db: float) -> Curves:
    return Curves(np.ones(1), np.array([mean_db_hl]), np.array([sd_db**2 * SHAPE]))


def gap_class(weight: float, mean_db: float, sd_db: float) -> GapClass:
    covariance = tuple(map(tuple, (sd_db**2 * SHAPE.T @ SHAPE / 2.0).tolist()))
    return GapClass(f"{mean_db:g} dB", weight, (mean_db, mean_db + 1.0, mean_db + 2.0), covariance)


AIR = gaussian((50.0, 55.0, 65.0), 4.0)
BONE = gaussian((33.0, 41.0, 44.0), 3.0)


def by_conditioning(air: Curves, bone: Curves, of: GapClass) -> tuple[Array, Array, float]:
    """Mean and covariance of air less bone, and the density of what bone told, of one class.

    Bone is what was told of it; air follows by the joint Gaussian of both.
    """
    a, a_db2, b, b_db2 = (each[0] for each in (*air[1:], *bone[1:]))
    class_db2 = np.array(of.covariance_db2)
    joint = np.block([[a_db2, a_db2], [a_db2, a_db2 + class_db2]])
    expected = np.concatenate([a, a - np.array(of.mean_db)])
    slope = joint[:3, 3:] @ np.linalg.inv(joint[3:, 3:])
    mean = expected[:3] + slope @ (b - expected[3:]) - b
    rest = joint[:3, :3] - slope @ joint[3:, :3]
    covariance = rest + (slope - np.eye(3)) @ b_db2 @ (slope - np.eye(3)).T
    spread = joint[3:, 3:] + b_db2
    off = b - expected[3:]
    log_density = -0.5 * off @ np.linalg.solve(spread, off) - 0.5 * np.linalg.slogdet(spread)[1]
    return mean, covariance, float(log_density)


def test_it_is_air_less_bone_given_what_each_tells_of_the_other() -> None:
    classes = gap_class(0.7, 3.0, 4.0), gap_class(0.3, 20.0, 8.0)
    weight, mean_db, covariance_db2 = gap_of(AIR, BONE, HZ, GapPrior(HZ, classes, {}))
    expected = [by_conditioning(AIR, BONE, each) for each in classes]

    odds = [each.weight * math.exp(found[2]) for each, found in zip(classes, expected, strict=True)]
    assert weight.tolist() == pytest.approx([each / sum(odds) for each in odds])
    for place, (mean, covariance, _) in enumerate(expected):
        np.testing.assert_allclose(mean_db[place], mean)
        np.testing.assert_allclose(covariance_db2[place], covariance)


def test_the_mean_over_frequencies_is_surer_than_its_parts_taken_as_independent() -> None:
    """An error of air is one of bone, and frequencies are not all off by the same."""
    curves = gap_of(AIR, BONE, HZ, GapPrior(HZ, (gap_class(1.0, 10.0, 6.0),), {}))
    mean_db, sd_db = mean_over(*curves.moments())

    assert mean_db == pytest.approx(curves.mean_db_hl[0].mean())
    assert sd_db == pytest.approx(math.sqrt(curves.covariance_db2[0].sum()) / 3.0)
    assert sd_db < 0.8 * math.hypot(4.0, 3.0)


def test_where_any_gap_may_be_air_tells_nothing_of_bone() -> None:
    any_gap = GapPrior(HZ, (gap_class(1.0, 15.0, 400.0),), {})
    mean_db, sd_db = mean_over(*gap_of(AIR, BONE, HZ, any_gap).moments())

    assert mean_db == pytest.approx(56.6667 - 39.3333, abs=0.05)
    independent_db = math.hypot(4.0, 3.0) * math.sqrt(SHAPE.sum()) / 3.0
    assert sd_db == pytest.approx(independent_db, rel=1e-3)
