"""The estimator against the exact posterior, which importance sampling finds.

The tones are at the knots of the prior, where the model is a mixture of Gaussians for the
thresholds and a probit with known noise, lapses and false alarms for the answers: the estimator
itself says what its mixture is before the first answer (`joint_threshold`), and is told the rest.
So this needs nothing of how the estimator computes.
"""

import math
from typing import Final

import numpy as np

from firmware_py import ThresholdEstimator
from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import Array, Task
from host_tools.research.study.listener import Answering, Listener, uniforms
from host_tools.research.study.robustness import EXACT_TONES, Found

# Particles are drawn from the estimator's posterior, so many times as wide, and from its prior.
WIDTHS: Final = (1.3, 3.0, 9.0)
PRIOR_SHARE: Final = 0.25
PARTICLES: Final = 20_000
PARTICLES_MAX: Final = 320_000
SAMPLES_MIN: Final = 1000  # independent ones that a posterior must be worth, or more are drawn
BAND: Final = 0.95
_PARTICLE_STREAM: Final = 6

Mixture = tuple[Array, Array, Array]  # weight (c,), mean (c, d), covariance (c, d, d)
Answers = list[tuple[int, float, bool]]  # which knot, level in dB HL, heard


def run_exact(name: str, seed: int, listener: Listener, told: Answering) -> Found:
    """Compare after `EXACT_TONES` answers; `name` and `seed` belong to the session's particles."""
    task = Task(
        told.response_noise_db, told.lapse_rate, told.false_alarm_rate, tones_max=EXACT_TONES
    )
    estimator = GpPta(task, told=True).estimator
    knots_hz = estimator.candidate_frequencies_hz
    prior = estimator.joint_threshold(knots_hz)
    answers: Answers = []
    for tone in range(EXACT_TONES):
        stimulus = estimator.next_stimulus()
        heard = listener.hears(tone, stimulus.frequency_hz, stimulus.level_db_hl)
        estimator.observe(stimulus.frequency_hz, stimulus.level_db_hl, heard)
        answers.append((knots_hz.index(stimulus.frequency_hz), stimulus.level_db_hl, heard))
    (chance,) = uniforms(name, seed, _PARTICLE_STREAM, 1).tolist()
    rng = np.random.default_rng(int(chance * 2.0**53))
    curves, share = exact_posterior(prior, estimator.joint_threshold(knots_hz), answers, told, rng)
    return _compared(estimator, curves, share)


def _compared(estimator: ThresholdEstimator, curves: Array, share: Array) -> Found:
    knots_hz = estimator.candidate_frequencies_hz
    _, sd_db = estimator.threshold(knots_hz)
    low_db_hl, high_db_hl = estimator.threshold_band(knots_hz, BAND)
    exact_sd_db = np.sqrt(share @ (curves - share @ curves) ** 2)
    mass = share @ ((low_db_hl <= curves) & (curves <= high_db_hl))
    return Found(
        {},
        {},
        sd_ratio=float(np.mean(sd_db / exact_sd_db)),
        mass=float(mass.min()),
        samples=float(1.0 / np.sum(share**2)),
        # Of an estimator that does not know the word, none is.
        ambiguous=bool(getattr(estimator, "ambiguous", False)),
    )


def exact_posterior(
    prior: Mixture, about: Mixture, answers: Answers, told: Answering, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return curves (n, d) and their shares (n,), drawn about a guess that need not be right.

    More are drawn until they are worth `SAMPLES_MIN` independent ones, or are `PARTICLES_MAX`.
    """
    weight = np.concatenate(
        [
            *[(1.0 - PRIOR_SHARE) / len(WIDTHS) * about[0] for _ in WIDTHS],
            PRIOR_SHARE * prior[0],
        ]
    )
    mean = np.concatenate([*[about[1] for _ in WIDTHS], prior[1]])
    covariance = np.concatenate([*[width * about[2] for width in WIDTHS], prior[2]])
    kept = weight > 1e-6
    drawn_from = (weight[kept] / weight[kept].sum(), mean[kept], covariance[kept])
    particles = PARTICLES
    while True:
        curves = _draw(drawn_from, particles, rng)
        log_share = _log_density(prior, curves) - _log_density(drawn_from, curves)
        log_share += _log_likelihood(curves, answers, told)
        share = np.exp(log_share - log_share.max())
        share /= share.sum()
        if 1.0 / np.sum(share**2) >= SAMPLES_MIN or particles >= PARTICLES_MAX:
            return curves, share
        particles *= 4


def _log_likelihood(curves: Array, answers: Answers, told: Answering) -> Array:
    attentive = 1.0 - told.lapse_rate - told.false_alarm_rate
    total = np.zeros(len(curves))
    for knot, level_db_hl, heard in answers:
        z = (level_db_hl - curves[:, knot]) / told.response_noise_db
        phi = np.array([0.5 * math.erfc(-each) for each in (z * math.sqrt(0.5)).tolist()])
        p = told.false_alarm_rate + attentive * phi
        total += np.log(p if heard else 1.0 - p)
    return total


def _log_density(mixture: Mixture, curves: Array) -> Array:
    logs = []
    for weight, mean, covariance in zip(*mixture, strict=True):
        factor = np.linalg.cholesky(_firm(covariance))
        z = np.linalg.solve(factor, (curves - mean).T)
        logs.append(math.log(weight) - 0.5 * np.sum(z**2, axis=0) - np.log(np.diag(factor)).sum())
    density: Array = np.logaddexp.reduce(logs, axis=0)
    return density


def _draw(mixture: Mixture, count: int, rng: np.random.Generator) -> Array:
    weight, mean, covariance = mixture
    factor = np.linalg.cholesky(_firm(covariance))
    of = rng.choice(len(weight), count, p=weight)
    normal = rng.standard_normal((count, mean.shape[1]))
    return np.array(mean[of] + np.einsum("nij,nj->ni", factor[of], normal))


def _firm(covariance: Array) -> Array:
    """Return a covariance whose rounding cannot make it indefinite."""
    return np.array(covariance + 1e-9 * np.eye(covariance.shape[-1]))
