"""The estimator against the exact posterior, which importance sampling finds.

The tones are at the knots of the prior, where the model is a mixture of Gaussians for the
thresholds, and for the answers a probit with noise, lapses and false alarms: the estimator itself
says what its mixture is before the first answer (`joint_threshold`). It is told how the listener
answers, or is told nothing: then any of the kinds of its profile may be listening, and attention
may wander, which is a Markov chain that is summed over for every curve and kind. So this needs
nothing of how the estimator computes.
"""

import math
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.mixture.wandering import (
    AWAY_AT_THE_START,
    OTHERWISE,
    RETURNS,
    WANDERS_OFF,
)
from firmware_py.inference.profiles import MixtureProfile, profile_named
from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import Array, Task
from host_tools.research.study.listener import Answering, Listener, uniforms
from host_tools.research.study.robustness import BAND, EXACT_TONES, SessionFound

# Particles are drawn from the estimator's posterior, so many times as wide, and from its prior.
WIDTHS: Final = (1.3, 3.0, 9.0)
PRIOR_SHARE: Final = 0.25
PARTICLES: Final = 20_000
PARTICLES_MAX: Final = 320_000
SAMPLES_MIN: Final = 1000  # independent ones that a posterior must be worth, or more are drawn
_PARTICLE_STREAM: Final = 6
# Of the table of Phi, whose lines are off by 2e-9 at most.
PHI_STEP: Final = 1.0 / 4096.0
PHI_MAX: Final = 9.0

Mixture = tuple[Array, Array, Array]  # weight (c,), mean (c, d), covariance (c, d, d)
Answers = list[tuple[int, float, bool]]  # which knot, level in dB HL, heard


class Suspects(NamedTuple):
    """Who may be listening."""

    kinds: Array  # (4, k) share, noise (dB), lapse rate and false-alarm rate of each
    wander: bool  # attention may wander


def told_suspects(told: Answering) -> Suspects:
    kind = (1.0, told.response_noise_db, told.lapse_rate, told.false_alarm_rate)
    return Suspects(np.array(kind).reshape(4, 1), wander=False)


def untold_suspects() -> Suspects:
    profile = profile_named("default")
    assert isinstance(profile, MixtureProfile)
    kinds = [
        (kind.share, kind.response_noise_db, kind.lapse_rate, kind.false_alarm_rate)
        for kind in profile.kinds
    ]
    return Suspects(np.array(kinds).T, wander=True)


def run_exact(
    name: str,
    seed: int,
    listener: Listener,
    told: Answering | None,
    prior: PopulationPrior | None = None,
) -> SessionFound:
    """Compare after `EXACT_TONES` answers; `name` and `seed` belong to the session's particles.

    `told` is None for an estimator that is told nothing.
    """
    if told is None:
        task, suspects = Task(tones_max=EXACT_TONES, prior=prior), untold_suspects()
    else:
        rates = told.lapse_rate, told.false_alarm_rate
        task = Task(told.response_noise_db, *rates, tones_max=EXACT_TONES, prior=prior)
        suspects = told_suspects(told)
    estimator = GpPta(task, told=told is not None).estimator
    knots_hz = estimator.candidate_frequencies_hz
    before = estimator.joint_threshold(knots_hz)
    answers: Answers = []
    for tone in range(EXACT_TONES):
        stimulus = BITS.choose(estimator)
        heard = listener.hears(tone, stimulus.frequency_hz, stimulus.level_db_hl)
        estimator.observe(stimulus.frequency_hz, stimulus.level_db_hl, heard)
        answers.append((knots_hz.index(stimulus.frequency_hz), stimulus.level_db_hl, heard))
    (chance,) = uniforms(name, seed, _PARTICLE_STREAM, 1).tolist()
    rng = np.random.default_rng(int(chance * 2.0**53))
    about = estimator.joint_threshold(knots_hz)
    curves, share = exact_posterior(before, about, answers, suspects, rng)
    return _compare(estimator, curves, share)


def _compare(estimator: ThresholdEstimator, curves: Array, share: Array) -> SessionFound:
    knots_hz = estimator.candidate_frequencies_hz
    _, sd_db = estimator.threshold(knots_hz)
    low_db_hl, high_db_hl = estimator.threshold_band(knots_hz, BAND)
    exact_sd_db = np.sqrt(share @ (curves - share @ curves) ** 2)
    mass = share @ ((low_db_hl <= curves) & (curves <= high_db_hl))
    return SessionFound(
        {},
        {},
        sd_ratio=float(np.mean(sd_db / exact_sd_db)),
        mass=tuple(mass.tolist()),
        samples=float(1.0 / np.sum(share**2)),
    )


def exact_posterior(
    prior: Mixture, about: Mixture, answers: Answers, suspects: Suspects, rng: np.random.Generator
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
        log_share += log_likelihood(curves, answers, suspects)
        share = np.exp(log_share - log_share.max())
        share /= share.sum()
        if 1.0 / np.sum(share**2) >= SAMPLES_MIN or particles >= PARTICLES_MAX:
            return curves, share
        particles *= 4


def log_likelihood(curves: Array, answers: Answers, suspects: Suspects) -> Array:
    """Return log P(answers | curve) of each curve (n,): summed over who listens, and how.

    By the forward recursion of the chain: the shares of who attends, misses or presses whatever is
    played, given the answers so far.
    """
    (share, noise_db, lapse_rate, false_alarm_rate), wander = suspects
    log_each = np.zeros((len(curves), 1)) + np.log(share / share.sum())
    misses = presses = np.zeros(log_each.shape)
    if wander:
        misses = presses = np.full(log_each.shape, 0.5 * AWAY_AT_THE_START)
    attends = 1.0 - misses - presses
    for knot, level_db_hl, heard in answers:
        z = (level_db_hl - curves[:, knot, np.newaxis]) / noise_db
        p = false_alarm_rate + (1.0 - lapse_rate - false_alarm_rate) * _phi(z)
        attends = attends * (p if heard else 1.0 - p)
        misses = misses * (OTHERWISE if heard else 1.0 - OTHERWISE)
        presses = presses * (1.0 - OTHERWISE if heard else OTHERWISE)
        total = attends + misses + presses
        log_each += np.log(total)
        attends, misses, presses = attends / total, misses / total, presses / total
        if wander:
            off, back = WANDERS_OFF * attends, RETURNS * (misses + presses)
            attends = attends - off + back
            misses = (1.0 - RETURNS) * misses + 0.5 * off
            presses = (1.0 - RETURNS) * presses + 0.5 * off
    found: Array = np.logaddexp.reduce(log_each, axis=1)
    return found


def _phi(z: Array) -> Array:
    at, values = _phi_table()
    found: Array = np.interp(z, at, values)
    return found


@cache
def _phi_table() -> tuple[Array, Array]:
    at = np.arange(-PHI_MAX, PHI_MAX + PHI_STEP, PHI_STEP)
    return at, np.array([0.5 * math.erfc(-each * math.sqrt(0.5)) for each in at.tolist()])


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
