"""Inferred gaps are those of Gaussians conditioned at once, with the classes weighed by Bayes."""

from math import inf

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from firmware_py.findings.inferred_gap import infer_sum
from firmware_py.inference.mixture.gap_prior import GapClass, GapPrior, shipped_gap_prior
from firmware_py.terms.level import Level

MEASURED = {1000: Level.at(24.0, 5.0), 4000: Level.at(31.0, 4.0)}
WANTED = {500: inf, 2000: inf}


def one_class(
    mean_db: float, sd_db: float = 10.0, shared: float = 0.5, weight: float = 1.0
) -> GapClass:
    return GapClass(
        f"{mean_db:g}", weight, (mean_db, mean_db),
        ((sd_db**2, shared * sd_db**2), (shared * sd_db**2, sd_db**2)),
    )  # fmt: skip


def prior(*classes: GapClass) -> GapPrior:
    return GapPrior((500.0, 1000.0), classes, {})


def test_it_is_the_conditional_mixture() -> None:
    gaps = shipped_gap_prior()
    at = [gaps.frequencies_hz.index(f) for f in (*MEASURED, *WANTED)]
    errors = np.diag([each.sd_db**2 for each in MEASURED.values()])
    found_db = np.array([each.low_db for each in MEASURED.values()])
    weights, means, variances = [], [], []
    for each in gaps.classes:
        mean, covariance = np.array(each.mean_db)[at], np.array(each.covariance_db2)[np.ix_(at, at)]
        told = covariance[:2, :2] + errors
        weights.append(each.weight * multivariate_normal(mean[:2], told).pdf(found_db))
        gain = covariance[2:, :2] @ np.linalg.inv(told)
        means.append((mean[2:] + gain @ (found_db - mean[:2])).sum())
        variances.append((covariance[2:, 2:] - gain @ covariance[:2, 2:]).sum())
    shares = np.array(weights) / sum(weights)

    spread = infer_sum(MEASURED, WANTED, gaps)

    assert [part[0] for part in spread.parts] == pytest.approx(shares)
    assert [part[1] for part in spread.parts] == pytest.approx(means)
    assert [part[2] for part in spread.parts] == pytest.approx(np.sqrt(variances))
    assert max(shares) < 0.99, "more than one class tells"


def test_a_gap_that_is_at_least_something_leaves_larger_classes_as_they_are() -> None:
    small, large = one_class(5.0, weight=0.9), one_class(40.0, weight=0.1)
    least = Level.at(30.0, open_above=True)

    (share, mean, _), (others, other_mean, other_sd) = infer_sum(
        {1000: least}, {500: inf}, prior(small, large)
    ).parts

    weights = 0.9 * norm.sf(30.0, 5.0, 10.0), 0.1 * norm.sf(30.0, 40.0, 10.0)
    assert (share, others) == pytest.approx(np.array(weights) / sum(weights))
    assert mean == pytest.approx(5.0 + 0.5 * 25.0), "as if it were that large there"
    assert (other_mean, other_sd) == pytest.approx((40.0, 10.0))


def test_what_it_is_at_most_bounds_it_and_weighs_the_classes() -> None:
    small, large = one_class(5.0, shared=0.0), one_class(40.0, shared=0.0)
    measured = {1000: Level.at(22.5, 3.0)}  # as likely of both

    (share, mean, _), (others, other_mean, _) = infer_sum(
        measured, {500: 12.0}, prior(small, large)
    ).parts

    weights = norm.cdf(12.0, 5.0, 10.0), norm.cdf(12.0, 40.0, 10.0)
    assert (share, others) == pytest.approx(np.array(weights) / sum(weights))
    assert (mean, other_mean) == pytest.approx((5.0, 12.0))


def test_gaps_that_no_class_has_make_no_error() -> None:
    far = {1000: Level.at(500.0, 1.0), 4000: Level.at(-500.0, 1.0)}
    spread = infer_sum(far, {500: -300.0, 2000: -300.0}, shipped_gap_prior())

    assert sum(part[0] for part in spread.parts) == pytest.approx(1.0)
    assert np.isfinite([part[1] for part in spread.parts]).all()
