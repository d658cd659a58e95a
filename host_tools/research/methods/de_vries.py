"""A Gaussian mixture over the audiogram, learned from people and sharpened answer by answer.

Source: A. de Vries, S. S. J. Stadler, A. Leijon, T. M. H. Dijkstra, A. Ypma, "Efficient evaluation
of hearing ability", US 2010/0257128 (application 12/429,783, granted as US 9,560,991). The
thresholds at the audiogram frequencies are one vector, whose distribution among people is a mixture
of Gaussians; a tone is heard with a probit chance; after every answer each component is again made
a Gaussian and the components are weighed anew; the next tone is the one expected to tell most.

With one component N(m, S), a tone at a frequency where the threshold is w^T g, and mu = w^T m,
v = w^T S w, the chance of the answer is Z(mu, v) = a + (1 - a - b) Phi((h - mu)/sqrt(sigma^2 + v)),
or 1 less that, and the Gaussian with the moments of the posterior is

    m + S w dlogZ/dmu,    S - S w ((dlogZ/dmu)^2 - 2 dlogZ/dv) w^T S

(Opper 1998; Minka 2001, assumed-density filtering); the component's weight is multiplied by Z.

What the source leaves open here: how many components (6, by held-out likelihood), the floor under
their covariances, and false alarms a and lapses b, which are 0 in its probit and are those of the
task here. Between the frequencies of the population the threshold is interpolated, and beyond them
constant.
"""

import math
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

import numpy as np

from firmware_py.inference.elementary import LOG_2, exp, log, normal_cdf
from firmware_py.inference.kernel import CONVERGED, Indices, Matrix, Vector, entry, kernel
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from host_tools.research.methods.cast import clusters
from host_tools.research.methods.expectation_propagation import answer_moments, probability_heard
from host_tools.research.methods.interface import (
    Array,
    Stimulus,
    Task,
    binary_entropy_bits,
    interpolation_weights,
    tones_of,
)
from host_tools.research.methods.population import Population, balance

COMPONENTS_USUAL: Final = 6
LEVEL_STEP_DB: Final = 1.0
SWEEPS_MAX: Final = 200
GAIN_TOLERANCE_NATS: Final = 1e-5  # of the mean log density of an ear, a sweep
SD_MIN_DB: Final = 2.5  # of a component in any direction: the retest SD of a threshold
WEIGHT_MIN: Final = 1e-200  # a component is never ruled out for good
U_MAX: Final = 10.0  # the entropy of an answer is flat beyond
U_POINTS: Final = 2001

# Where no population is given: how ears lie about a standard audiogram.
STANDARD_SHIFT_SD_DB: Final = 10.0
STANDARD_ROUGHNESS_SD_DB: Final = 5.0
STANDARD_LENGTH_OCTAVES: Final = 1.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian mixture over the thresholds at some frequencies."""

    frequencies_hz: Array  # (m,) rising
    weight: Array  # (k,) above 0, together 1
    mean_db_hl: Array  # (k, m)
    covariance_db2: Array  # (k, m, m) positive definite


def standard_mixture() -> Mixture:
    """Return one component about each of the ten standard audiograms.

    Its ears are shifted as a whole, and rough with a squared exponential over log2 frequency.
    """
    octaves = np.log2(np.array(FREQUENCIES_HZ, dtype=float))
    distance = (octaves[:, None] - octaves) / STANDARD_LENGTH_OCTAVES
    covariance = (
        STANDARD_SHIFT_SD_DB**2
        + STANDARD_ROUGHNESS_SD_DB**2 * np.exp(-0.5 * distance**2)
        + SD_MIN_DB**2 * np.eye(len(octaves))
    )
    means = np.array(list(STANDARD_AUDIOGRAMS_DB_HL.values()))
    return Mixture(
        frequencies_hz=np.array(FREQUENCIES_HZ, dtype=float),
        weight=np.full(len(means), 1.0 / len(means)),
        mean_db_hl=means,
        covariance_db2=np.repeat(covariance[None], len(means), axis=0),
    )


def learn_mixture(population: Population, components: int = COMPONENTS_USUAL) -> Mixture:
    """Learn a mixture from a population by expectation maximisation.

    Only ears measured at all frequencies are used; a limit counts as a threshold. Every stratum of
    the PTA4 has the same weight, so that severe losses are not rare. A `ValueError`: there are
    fewer such ears than components, or `components` is below 1.
    """
    ears = population.complete()
    if not 1 <= components <= len(ears):
        raise ValueError(
            f"{components} components from {len(ears)} ears with all frequencies; allowed are 1 "
            "or more components, and no more than ears"
        )
    weight, points = balance(ears.stratum), ears.thresholds_db_hl
    nearest = clusters(points, weight, components)
    member = (nearest[:, None] == np.unique(nearest)).astype(float)
    mixture = _maximise(ears.frequencies_hz, points, weight, member)
    before = -math.inf
    for _ in range(SWEEPS_MAX):
        log_joint = _log_joint(mixture, points)
        log_density = log_sum_exp(log_joint)
        reached = float(weight @ log_density)
        if reached - before < GAIN_TOLERANCE_NATS:
            break
        before = reached
        mixture = _maximise(
            ears.frequencies_hz, points, weight, np.exp(log_joint - log_density[:, None])
        )
    return mixture


class DeVries:
    """The method of de Vries et al. on one ear (see the module).

    `mixture` is the prior, without one that of `standard_mixture`, and then what is known now. The
    noise and the rates of the task are taken as true, and tones have the frequencies of the
    mixture. A `ValueError`: none of them, or no level, lies within the task.
    """

    def __init__(self, task: Task, mixture: Mixture | None = None) -> None:
        self._task = task
        self.mixture = deepcopy(mixture if mixture is not None else standard_mixture())
        self._tones = tones_of(task, self.mixture.frequencies_hz, LEVEL_STEP_DB)
        self._tone_frequencies_hz, column = np.unique(self._tones[:, 0], return_inverse=True)
        self._tone_column = column.astype(np.int64)
        self._response = np.array([task.response_noise_db, task.false_alarm_rate, task.lapse_rate])
        self._bump = entropy_bump(task)

    @property
    def information_bits(self) -> Array:
        """Return, for every tone that may be asked, what its answer is expected to tell."""
        mean_db_hl, variance_db2 = self._at(self._tone_frequencies_hz)
        bits = np.empty(len(self._tones))
        _information(
            self.mixture.weight, mean_db_hl, variance_db2,
            self._tone_column, np.ascontiguousarray(self._tones[:, 1]),
            self._response, self._bump, bits,
        )  # fmt: skip
        return bits

    def next_stimulus(self) -> Stimulus:
        frequency_hz, level_db_hl = self._tones[int(np.argmax(self.information_bits))]
        return Stimulus(float(frequency_hz), float(level_db_hl))

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Update every component, and weigh them, by the answer to a tone, which may be any."""
        frequency_hz, level_db_hl, heard = self._task.check(frequency_hz, level_db_hl, heard)
        known = self.mixture
        w = interpolation_weights(known.frequencies_hz, np.array([frequency_hz]))[0]
        with_tone = known.covariance_db2 @ w
        moments = np.empty(3)
        log_weight = np.log(known.weight)
        for k, column in enumerate(with_tone):
            _answer(
                level_db_hl, 1.0 if heard else -1.0, float(w @ known.mean_db_hl[k]),
                float(w @ column), self._response, moments,
            )  # fmt: skip
            log_evidence, gradient, curvature = moments
            log_weight[k] += log_evidence
            known.mean_db_hl[k] -= gradient * column
            known.covariance_db2[k] -= curvature * np.outer(column, column)
        weight = np.maximum(np.exp(log_weight - log_weight.max()), WEIGHT_MIN)
        known.weight[:] = weight / weight.sum()

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        mean_db_hl, variance_db2 = self._at(self._task.checked_frequencies(frequencies_hz))
        mean: Array = self.mixture.weight @ mean_db_hl
        variance = self.mixture.weight @ (variance_db2 + (mean_db_hl - mean) ** 2)
        return mean, np.sqrt(variance)

    def _at(self, frequencies_hz: Array) -> tuple[Array, Array]:
        # (k, j) mean and variance of each component.
        w = interpolation_weights(self.mixture.frequencies_hz, frequencies_hz)
        variance_db2 = np.einsum("ji,kil,jl->kj", w, self.mixture.covariance_db2, w)
        return self.mixture.mean_db_hl @ w.T, variance_db2


def entropy_bump(task: Task) -> Array:
    """Describe how uncertain an answer is to one who knows the threshold.

    As a function of u, the tone's level above threshold in units of the noise, the entropy of the
    answer is H2(a) (1 - Phi(u)) + H2(b) Phi(u) + c exp(-(u - u0)^2 / (2 t^2)) within 0.05 bit, and
    its mean over thresholds within 0.02; the height c, the centre u0 and the area are those of the
    remainder. Without lapses that is c = 1, u0 = 0, and nearly the t^2 = pi ln 2 / 2 of Houlsby et
    al. 2011 (arXiv 1112.5745).

    Returns
    -------
    (5,)
        H2(a), H2(b), c, u0, t.
    """
    u = np.linspace(-U_MAX, U_MAX, U_POINTS)
    heard = probability_heard(u, task)
    low, high = binary_entropy_bits(np.array([task.false_alarm_rate, task.lapse_rate]))
    honest = (heard - task.false_alarm_rate) / (1.0 - task.false_alarm_rate - task.lapse_rate)
    rest = binary_entropy_bits(heard) - low * (1.0 - honest) - high * honest
    height, area = float(rest.max()), float(rest.sum() * (u[1] - u[0]))
    centre = float((u * rest).sum() / rest.sum())
    return np.array([low, high, height, centre, area / (height * math.sqrt(2.0 * math.pi))])


@kernel
def _binary_entropy(p: float) -> float:
    q = 1.0 - p
    if p <= 0.0 or q <= 0.0:
        return 0.0
    return -(p * log(p) + q * log(q)) / LOG_2


@entry
def _information(
    weight: Vector,
    mean_db_hl: Matrix,
    variance_db2: Matrix,
    frequency: Indices,
    level_db_hl: Vector,
    response: Vector,
    bump: Vector,
    bits: Vector,
) -> int:
    """Write the mutual information between the answer to each tone and the audiogram.

    Parameters
    ----------
    weight, mean_db_hl, variance_db2 : (k,), (k, f), (k, f) of the mixture at the frequencies.
    frequency, level_db_hl : (tones,) index of the frequency, and level.
    response : (3,) noise in dB, false alarm rate a, lapse rate b.
    bump : (5,) of `entropy_bump`.
    bits : (tones,) out.
    """
    noise_db, false_alarm_rate, lapse_rate = response[0], response[1], response[2]
    honest = 1.0 - false_alarm_rate - lapse_rate
    for i in range(len(bits)):
        j = frequency[i]
        heard = 0.0
        known = 0.0
        for k in range(len(weight)):
            variance = variance_db2[k, j] / (noise_db * noise_db)
            u = (level_db_hl[i] - mean_db_hl[k, j]) / noise_db
            phi = normal_cdf(u / math.sqrt(1.0 + variance))
            width2 = bump[4] * bump[4] + variance
            d = u - bump[3]
            rest = bump[2] * bump[4] / math.sqrt(width2) * exp(-0.5 * d * d / width2)
            heard += weight[k] * (false_alarm_rate + honest * phi)
            known += weight[k] * (bump[0] * (1.0 - phi) + bump[1] * phi + rest)
        bits[i] = max(_binary_entropy(heard) - known, 0.0)
    return CONVERGED


@entry
def _answer(
    level_db_hl: float, sign: float, mean_db_hl: float, variance_db2: float, response: Vector,
    moments: Vector,
) -> int:  # fmt: skip
    """Write `answer_moments` of one answer; `sign` is 1 for heard and -1 for not."""
    guess = response[1] if sign > 0.0 else response[2]
    honest = 1.0 - response[1] - response[2]
    variance = response[0] * response[0] + variance_db2
    return answer_moments(sign, level_db_hl - mean_db_hl, variance, guess, honest, moments)


def _maximise(frequencies_hz: Array, points: Array, weight: Array, member: Array) -> Mixture:
    # The mixture that best fits points (n, m) of a weight (n,) with their membership (n, k).
    share = weight[:, None] * member
    total = np.maximum(share.sum(axis=0), WEIGHT_MIN)
    means = (share.T @ points) / total[:, None]
    covariances = []
    for k, mean in enumerate(means):
        deviation = points - mean
        scatter = (share[:, k, None] * deviation).T @ deviation / total[k]
        # The most likely covariance without an eigenvalue below the floor: those below are lifted.
        variance, axes = np.linalg.eigh(scatter)
        covariances.append((axes * np.maximum(variance, SD_MIN_DB**2)) @ axes.T)
    return Mixture(frequencies_hz, total / total.sum(), means, np.array(covariances))


def _log_joint(mixture: Mixture, points: Array) -> Array:
    # (n, k) log weight + log density of every component at points (n, m).
    columns = []
    for weight, mean, covariance in zip(
        mixture.weight, mixture.mean_db_hl, mixture.covariance_db2, strict=True
    ):
        factor = np.linalg.cholesky(covariance)
        standard = np.linalg.solve(factor, (points - mean).T)
        log_scale = np.log(np.diag(factor)).sum() + 0.5 * len(mean) * math.log(2.0 * math.pi)
        columns.append(math.log(weight) - log_scale - 0.5 * (standard**2).sum(axis=0))
    return np.array(columns).T


def log_sum_exp(x: Array) -> Array:
    """Return (n,) log of the sum of exp(x) over the columns of (n, k)."""
    largest = x.max(axis=1)
    total: Array = largest + np.log(np.exp(x - largest[:, None]).sum(axis=1))
    return total
