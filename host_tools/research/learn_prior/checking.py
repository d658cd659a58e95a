"""How well a prior and its bands fit people that it was not learned from."""

from typing import Any

import numpy as np

from firmware_py.inference.elementary import SQRT_HALF
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.population_prior import PopulationPrior
from host_tools.research.learn_prior.em import Mixture
from host_tools.research.learn_prior.sample import Sample, degree, sample_of
from host_tools.research.learn_prior.selecting import scores
from host_tools.research.learn_prior.truncated import erfcx_of
from host_tools.research.methods.population import STRATA, Population


def at_frequencies(prior: PopulationPrior, frequencies_hz: Array) -> Mixture:
    """Return the prior at some of its knots, and age."""
    at = np.searchsorted(prior.knots_hz, frequencies_hz)
    m = len(at)
    parts = prior.components
    covariance = np.empty((len(parts), m + 1, m + 1))
    for k, c in enumerate(parts):
        covariance[k, :m, :m] = np.array(c.covariance_db2)[np.ix_(at, at)]
        covariance[k, m, :m] = covariance[k, :m, m] = np.array(c.age_covariance)[at]
        covariance[k, m, m] = c.age_sd_years**2
    mean = [[*np.array(c.mean_db_hl)[at], c.age_mean_years] for c in parts]
    return Mixture(
        np.array([c.weight for c in parts]),
        np.array(mean),
        covariance,
        np.array([c.share_female for c in parts]),
    )


def mean_scores(sample: Sample, mixture: Mixture) -> dict[str, float]:
    """Return the mean log densities an ear, strata balanced, rounded for a provenance."""
    alone, given = scores(sample, mixture)
    return {
        "thresholds_alone": round(float(sample.weight @ alone), 4),
        "given_age_and_sex": round(float(sample.weight @ given), 4),
    }


def bands(ears: Population, mixture: Mixture) -> list[dict[str, Any]]:
    """Predict every threshold of complete ears from the ear's others.

    For each degree of loss: the share of the thresholds that lie in the 95 % and in the 50 % band.
    """
    complete = ears.complete(censored=False)
    if not len(complete):
        return []
    sample, stratum = sample_of(complete), degree(complete)
    m = len(sample.frequencies_hz)
    levels = sample.values[:, :m]
    place = np.column_stack([_place(levels, j, mixture, sample.noise) for j in range(m)])
    found = []
    for index, name in enumerate(STRATA):
        there = place[stratum == index]
        if len(there):
            off = np.abs(there - 0.5)
            found.append(
                {
                    "stratum": name,
                    "ears": len(there),
                    "within_95": round(float(np.mean(off <= 0.475)), 4),
                    "within_50": round(float(np.mean(off <= 0.25)), 4),
                }
            )
    return found


def _place(levels: Array, j: int, mixture: Mixture, noise: Array) -> Array:
    # (n,) the probability, given the others, of a reading below that at frequency j.
    m = levels.shape[1]
    others = np.array([i for i in range(m) if i != j])
    log_share, z = [], []
    for k, weight in enumerate(mixture.weight):
        c = mixture.covariance[k]
        marginal = c[np.ix_(others, others)] + np.diag(noise[others])
        off = levels[:, others] - mixture.mean[k, others]
        pull = np.linalg.solve(marginal, off.T)
        _, log_determinant = np.linalg.slogdet(marginal)
        log_share.append(np.log(weight) - 0.5 * (np.sum(off.T * pull, axis=0) + log_determinant))
        mean = mixture.mean[k, j] + c[j, others] @ pull
        left = c[j, j] - c[j, others] @ np.linalg.solve(marginal, c[others, j]) + noise[j]
        z.append((levels[:, j] - mean) / np.sqrt(left))
    share = np.exp(np.array(log_share) - np.max(log_share, axis=0))
    place: Array = np.sum(share * normal_cdf(np.array(z)), axis=0) / share.sum(axis=0)
    return place


def normal_cdf(z: Array) -> Array:
    half = 0.5 * erfcx_of(np.abs(z) * SQRT_HALF) * np.exp(-0.5 * z * z)
    return np.where(z < 0.0, half, 1.0 - half)
