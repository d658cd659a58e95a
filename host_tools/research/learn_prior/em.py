"""Expectation maximisation: a mixture of Gaussians from ears with gaps, limits and rounding.

The latent x of an ear are its true thresholds and its age; of component k they are N(mu_k, C_k).
What was read is y = x + e with e ~ N(0, R), R the known variance of rounding (Sheppard): C_k is
thus the covariance of the true thresholds. What was not measured is missing (Little & Rubin, at
random given the rest). What was not heard at the limit says that x is above it: one such frequency
is treated exactly, several by expectation propagation (see `truncated`). Sex is a Bernoulli
variable of the component.

The M-step maximises the weighted log likelihood of as many people as the weights are worth, plus
-1/2 nu (log|C_k| + tr(C_k^-1 S)) a component, nu pseudo-counts of a covariance S, and one
pseudo-count for every weight, every woman's share and every man's. So each step raises this
objective (Dempster, Laird & Rubin 1977), exactly where no ear has two frequencies censored.

Ears with the same gaps are computed together: their log densities and the sums of the M-step are
matrix products with the columns 1, y, and y y'.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array
from host_tools.research.learn_prior.sample import Sample, patterns
from host_tools.research.learn_prior.truncated import above
from host_tools.research.methods.de_vries import log_sum_exp
from host_tools.research.methods.population import Integers, uniform

LOG_2_PI: Final = float(np.log(2.0 * np.pi))

# What a component is drawn towards, chosen by cross-validation on NHANES. Held-out log density an
# ear, 6 components: -26.51 with 1 to 8 people, -26.53 with 20, -26.59 with 60; 12 components gain
# 0.04 at 60 people if thresholds are drawn towards a smooth curve, not each by itself.
PSEUDO_PEOPLE: Final = 8.0
PSEUDO_SD_DB: Final = 11.0
PSEUDO_SD_YEARS: Final = 10.0
PSEUDO_OCTAVES: Final = 1.0  # over which the correlation falls to 1/e

STARTS: Final = 4
STEPS_OF_A_START: Final = 15
STEPS_MAX: Final = 500
CONVERGED: Final = 1e-5  # of the objective per ear, in nats
LLOYD_STEPS: Final = 10
AGE_UNTOLD_YEARS: Final = 50.0  # where a table has no ages at all
_START_STREAM: Final = 201  # of the Philox key, beside the seed


@dataclass(frozen=True, eq=False)
class Mixture:
    """K Gaussians over thresholds in dB HL and, last, age in years."""

    weight: Array  # (K,)
    mean: Array  # (K, D)
    covariance: Array  # (K, D, D)
    share_female: Array  # (K,)

    def __len__(self) -> int:
        return len(self.weight)


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """What a component is drawn towards: `people` people of covariance `scale` (D, D)."""

    people: float
    scale: Array


@dataclass(frozen=True, eq=False)
class Fit:
    """A mixture, and the objective after every step of EM, per ear."""

    mixture: Mixture
    objective: tuple[float, ...]


@dataclass(eq=False)
class _Group:
    # Ears with the same gaps; `features` are 1, y, and the products y_i y_j, j <= i.
    ears: Integers
    observed: Integers
    censored: Integers
    features: Array
    values: Array
    limits: Array


def usual_shrinkage(frequencies_hz: Array) -> Shrinkage:
    """Return what components are drawn towards: one SD, correlated over `PSEUDO_OCTAVES`."""
    x = np.log2(frequencies_hz)
    scale = np.zeros((len(x) + 1, len(x) + 1))
    scale[:-1, :-1] = PSEUDO_SD_DB**2 * np.exp(-np.abs(x[:, None] - x) / PSEUDO_OCTAVES)
    scale[-1, -1] = PSEUDO_SD_YEARS**2
    return Shrinkage(PSEUDO_PEOPLE, scale)


class Learner:
    """EM on one sample."""

    def __init__(self, sample: Sample, shrinkage: Shrinkage) -> None:
        self._sample = sample
        self._shrinkage = shrinkage
        self._people = sample.effective_people
        self._groups = _groups(sample)

    def fit(
        self, components: int, seed: int, *, starts: int = STARTS, steps_max: int = STEPS_MAX
    ) -> Fit:
        """Return the best of several starts, seeded, taken to convergence."""
        begun = [
            self.climb(self.start(components, seed, number), steps_max=STEPS_OF_A_START)
            for number in range(starts if components > 1 else 1)
        ]
        best = max(begun, key=lambda fit: fit.objective[-1])
        return self.climb(best.mixture, steps_max=steps_max)

    def climb(self, mixture: Mixture, *, steps_max: int = STEPS_MAX) -> Fit:
        """Return the mixture after EM steps until the objective stands still."""
        objective: list[float] = []
        for _ in range(steps_max):
            better, value = self._step(mixture)
            objective.append(value)
            if len(objective) > 1 and value - objective[-2] < CONVERGED:
                break
            mixture = better
        return Fit(mixture, tuple(objective))

    def log_density(self, mixture: Mixture) -> Array:
        """Return (n,) the log density, or the log probability of what was censored, of each ear."""
        return log_sum_exp(self._log_joint(mixture)[0])

    def start(self, components: int, seed: int, number: int) -> Mixture:
        """Return a beginning: clusters around ears drawn by weight (Lloyd's algorithm)."""
        sample = self._sample
        filled = _fill(sample)
        draws = uniform(seed, _START_STREAM + number, components)
        cumulated = np.cumsum(sample.weight)
        centres = filled[np.searchsorted(cumulated, draws * cumulated[-1])]
        for _ in range(LLOYD_STEPS):
            nearest = np.argmin(((filled[:, None] - centres) ** 2).sum(axis=2), axis=1)
            share = np.eye(components)[nearest] * sample.weight[:, None]
            total = share.sum(axis=0)[:, None]
            centres = np.where(total > 0.0, share.T @ filled / np.maximum(total, 1e-300), centres)
        member = 0.9 * np.eye(components)[nearest] + 0.1 / components
        member *= sample.weight[:, None]
        s0 = member.sum(axis=0)
        mean = member.T @ filled / s0[:, None]
        off = filled - mean[:, None]
        s2 = np.swapaxes(off * member.T[:, :, None], 1, 2) @ off
        return Mixture(s0 / s0.sum(), mean, self._shrunk(s0, s2), np.full(components, 0.5))

    def _shrunk(self, s0: Array, s2: Array) -> Array:
        nu = self._shrinkage.people
        total = s2 * self._people + nu * self._shrinkage.scale
        covariance: Array = total / (s0 * self._people + nu)[:, None, None]
        return 0.5 * (covariance + np.swapaxes(covariance, 1, 2))

    def _step(self, mixture: Mixture) -> tuple[Mixture, float]:
        # One E-step and one M-step; the objective is that of the mixture given.
        sample, k = self._sample, len(mixture)
        log_joint, truncated = self._log_joint(mixture)
        log_density = log_sum_exp(log_joint)
        member = np.exp(log_joint - log_density[:, None]) * sample.weight[:, None]
        d = mixture.mean.shape[1]
        s0, s1, s2 = member.sum(axis=0), np.zeros((k, d)), np.zeros((k, d, d))
        for group, moments in zip(self._groups, truncated, strict=True):
            _add_moments(group, mixture, sample.noise, member[group.ears].T, moments, s1, s2)
        # s1 and s2 are about the old means.
        step = s1 / s0[:, None]
        about_mean = s2 - s0[:, None, None] * step[:, :, None] * step[:, None, :]
        known = ~np.isnan(sample.female)
        women = member[known].T @ sample.female[known] * self._people
        told = member[known].sum(axis=0) * self._people
        better = Mixture(
            weight=(s0 * self._people + 1.0) / (s0.sum() * self._people + k),
            mean=mixture.mean + step,
            covariance=self._shrunk(s0, about_mean),
            share_female=(women + 1.0) / (told + 2.0),
        )
        return better, float(sample.weight @ log_density) + self._log_prior(mixture)

    def _log_prior(self, mixture: Mixture) -> float:
        _, log_determinant = np.linalg.slogdet(mixture.covariance)
        trace = np.trace(
            np.linalg.solve(mixture.covariance, self._shrinkage.scale[None]), axis1=1, axis2=2
        )
        shapes = -0.5 * self._shrinkage.people * np.sum(log_determinant + trace)
        sexes = np.sum(np.log(mixture.share_female) + np.log1p(-mixture.share_female))
        return float(np.sum(np.log(mixture.weight)) + shapes + sexes) / self._people

    def _log_joint(self, mixture: Mixture) -> tuple[Array, list["_Moments | None"]]:
        # (n, K) log of weight times density, and what censoring does to each group.
        sample = self._sample
        log_joint = np.empty((len(sample), len(mixture)))
        conditionals = []
        for group in self._groups:
            density, conditional = _observe(group, mixture, sample.noise)
            log_joint[group.ears] = density
            conditionals.append(conditional)
        moments = _truncate(self._groups, conditionals)
        for group, found in zip(self._groups, moments, strict=True):
            if found is not None:
                log_joint[group.ears] += found.log_probability.T
        log_joint += np.log(mixture.weight)
        known = ~np.isnan(sample.female)
        q, f = mixture.share_female, sample.female[known, None]
        log_joint[known] += np.where(f > 0.5, np.log(q), np.log1p(-q))
        return log_joint, moments


def log_density(sample: Sample, mixture: Mixture) -> Array:
    """Return (n,) the log density of what was read of each ear, rounding and limits allowed for."""
    return Learner(sample, Shrinkage(0.0, np.eye(mixture.mean.shape[1]))).log_density(mixture)


@dataclass(frozen=True, eq=False)
class _Moments:
    # Of the censored frequencies of a group, given what was observed: (K, n, c) and so on.
    log_probability: Array
    mean: Array
    covariance: Array
    before: Array
    spread: Array


def _groups(sample: Sample) -> list[_Group]:
    found = []
    for ears in patterns(np.column_stack([sample.observed, sample.censored])):
        observed = np.flatnonzero(sample.observed[ears[0]]).astype(np.int64)
        censored = np.flatnonzero(sample.censored[ears[0]]).astype(np.int64)
        values = sample.values[np.ix_(ears, observed)]
        row, column = np.tril_indices(len(observed))
        products = values[:, row] * values[:, column]
        features = np.column_stack([np.ones(len(ears)), values, products])
        limits = sample.values[np.ix_(ears, censored)]
        found.append(_Group(ears, observed, censored, features, values, limits))
    return found


def _observe(group: _Group, mixture: Mixture, noise: Array) -> tuple[Array, tuple[Array, Array]]:
    # (n, K) log density of what was observed; mean (K, n, c) and covariance (K, c, c) of the
    # censored frequencies given that.
    o, c = group.observed, group.censored
    k, size = len(mixture), len(o)
    mean = mixture.mean[:, o]
    marginal = mixture.covariance[:, o[:, None], o] + np.diag(noise[o])
    precision = np.linalg.inv(marginal)
    _, log_determinant = np.linalg.slogdet(marginal)
    pull = np.einsum("kij,kj->ki", precision, mean)
    row, column = np.tril_indices(size)
    twice = np.where(row == column, 1.0, 2.0)
    coefficients = np.empty((1 + size + len(row), k))
    coefficients[0] = -0.5 * (size * LOG_2_PI + log_determinant + np.einsum("ki,ki->k", mean, pull))
    coefficients[1 : 1 + size] = pull.T
    coefficients[1 + size :] = -0.5 * (precision[:, row, column] * twice).T
    density = group.features @ coefficients
    gain = mixture.covariance[:, c[:, None], o] @ precision
    given = mixture.mean[:, None, c] + (group.values - mean[:, None]) @ np.swapaxes(gain, 1, 2)
    left = mixture.covariance[:, c[:, None], c] - gain @ mixture.covariance[:, o[:, None], c]
    return density, (given, left)


def _truncate(
    groups: Sequence[_Group], conditionals: Sequence[tuple[Array, Array]]
) -> list[_Moments | None]:
    # All ears with the same number of censored frequencies at once.
    found: list[_Moments | None] = [None] * len(groups)
    for count in sorted({len(group.censored) for group in groups} - {0}):
        which = [g for g, group in enumerate(groups) if len(group.censored) == count]
        means, spreads, limits = [], [], []
        for g in which:
            given, left = conditionals[g]
            k, n, _ = given.shape
            means.append(given.reshape(k * n, count))
            spreads.append(np.repeat(left, n, axis=0))
            limits.append(np.tile(groups[g].limits, (k, 1)))
        log_p, mean, covariance = above(
            np.concatenate(means), np.concatenate(spreads), np.concatenate(limits)
        )
        first = 0
        for g, before, spread in zip(which, means, spreads, strict=True):
            part = slice(first, first + len(before))
            first = part.stop
            n = len(groups[g].ears)
            shape = (len(before) // n, n)
            found[g] = _Moments(
                log_p[part].reshape(shape),
                mean[part].reshape(*shape, count),
                covariance[part].reshape(*shape, count, count),
                before.reshape(*shape, count),
                spread[::n],
            )
    return found


def _add_moments(
    group: _Group,
    mixture: Mixture,
    noise: Array,
    member: Array,
    moments: _Moments | None,
    s1: Array,
    s2: Array,
) -> None:
    # Add the sums over a group of member times (x - mu), and times (x - mu)(x - mu)', in place.
    o, c = group.observed, group.censored
    size = len(o)
    mean, covariance = mixture.mean[:, o], mixture.covariance
    precision = np.linalg.inv(covariance[:, o[:, None], o] + np.diag(noise[o]))
    gain = covariance[:, :, o] @ precision
    left = covariance - gain @ covariance[:, o, :]
    sums = member @ group.features
    t0, t1 = sums[:, 0], sums[:, 1 : 1 + size]
    row, column = np.tril_indices(size)
    t2 = np.empty((len(mixture), size, size))
    t2[:, row, column] = t2[:, column, row] = sums[:, 1 + size :]
    cross = mean[:, :, None] * t1[:, None, :]
    t2 += t0[:, None, None] * mean[:, :, None] * mean[:, None] - cross - np.swapaxes(cross, 1, 2)
    t1 = t1 - t0[:, None] * mean
    back = np.swapaxes(gain, 1, 2)
    if moments is None:
        s1 += np.einsum("kdo,ko->kd", gain, t1)
        s2 += gain @ t2 @ back + t0[:, None, None] * left
        return
    # What censoring moves, and what it takes from the spread.
    onto = left[:, :, c] @ np.linalg.inv(moments.spread)
    off = (group.values - mean[:, None]) @ back
    off += (moments.mean - moments.before) @ np.swapaxes(onto, 1, 2)
    weighted = off * member[:, :, None]
    s1 += weighted.sum(axis=1)
    kept = np.einsum("kn,knij->kij", member, moments.covariance)
    kept -= t0[:, None, None] * moments.spread
    s2 += np.swapaxes(weighted, 1, 2) @ off
    s2 += t0[:, None, None] * left + onto @ kept @ np.swapaxes(onto, 1, 2)


def _fill(sample: Sample) -> Array:
    # For a beginning only: gaps along the line between neighbours, limits exceeded by a little.
    there = sample.observed | sample.censored
    filled = sample.values + 5.0 * sample.censored
    x = np.log2(sample.frequencies_hz)
    for ears in patterns(there[:, :-1]):
        known = np.flatnonzero(there[ears[0], :-1])
        for column in np.flatnonzero(~there[ears[0], :-1]):
            filled[ears, column] = [np.interp(x[column], x[known], filled[e, known]) for e in ears]
    told = sample.observed[:, -1]
    filled[~told, -1] = filled[told, -1].mean() if told.any() else AGE_UNTOLD_YEARS
    return filled
