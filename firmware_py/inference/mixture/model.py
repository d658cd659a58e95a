"""The model of people: a learned mixture prior, listeners who lapse, expectation propagation."""

from bisect import bisect_right
from typing import Final

import numpy as np

from firmware_py.inference.answers import HEARD, RATE_MIN
from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Array,
    Indices,
)
from firmware_py.inference.mixture.expectation_propagation import SCRATCH_ROWS, SITE_ROWS
from firmware_py.inference.mixture.population_prior import PopulationPrior, PriorError
from firmware_py.inference.mixture.posterior import (
    ANSWER_ROWS,
    BETWEEN_DB2,
    FALSE_ALARM_RATE,
    FRACTION,
    LEVEL_DB_HL,
    LISTENER_ENTRIES,
    NOISE_DB,
    NOISE_FACTOR,
    SEEN_ROWS,
    infer,
    invert_prior,
    predict,
    probability_of,
    quantile,
    sum_out_listeners,
    weigh,
)
from firmware_py.inference.mixture.selection import (
    VIEW_ROWS,
    bump,
    look_at,
    mixture_bald,
    select_from_mixture,
)
from firmware_py.inference.mixture.wandering import AWAY_AT_THE_START, WANDERING_ROWS
from firmware_py.inference.model import Choice, Hyperparameters, Memory, Points, on_line
from firmware_py.inference.profiles import Listener
from firmware_py.inference.scales import SCALES

# Beyond the outermost knots the curve goes on flat, and its variance grows by this for an octave.
OUTSIDE_DB2_PER_OCTAVE: Final = 150.0

_octaves = SCALES["log2"].warp


class Workspace(Memory):
    """All arrays of the inference, allocated once.

    Parameters
    ----------
    trials, knots, components, listeners, points : int
        Answers there is room for, and the sizes of the model; points that are predicted at once.
    """

    def __init__(
        self, trials: int, knots: int, components: int, listeners: int, points: int
    ) -> None:
        hypotheses = components * listeners
        self.left: Indices = np.zeros(trials, np.int64)
        self.answer: Indices = np.zeros(trials, np.int64)
        self.answers: Array = np.zeros((ANSWER_ROWS, trials))
        self.listener: Array = np.zeros((listeners, LISTENER_ENTRIES))
        self.log_listener: Array = np.zeros(listeners)
        self.log_component: Array = np.zeros(components)
        self.prior_mean_db_hl: Array = np.zeros((components, knots))
        self.prior_covariance: Array = np.zeros((components, knots, knots))
        self.prior_precision: Array = np.zeros((components, knots, knots))
        self.prior_log_partition: Array = np.zeros(components)
        self.factor: Array = np.zeros((knots, knots))
        self.inverse_factor: Array = np.zeros((knots, knots))
        self.rows: Array = np.zeros((SCRATCH_ROWS, knots))
        self.sites: Array = np.zeros((SITE_ROWS, trials))
        self.seen: Array = np.zeros((SEEN_ROWS, trials))
        self.tau: Array = np.zeros((hypotheses, trials))
        self.nu: Array = np.zeros((hypotheses, trials))
        self.mean: Array = np.zeros((hypotheses, knots))
        self.covariance: Array = np.zeros((hypotheses, knots, knots))
        self.log_evidence: Array = np.zeros(hypotheses)
        self.weight: Array = np.zeros(hypotheses)
        self.swept: Indices = np.zeros(hypotheses, np.int64)
        self.probability: Array = np.zeros((hypotheses, trials))
        self.attention: Array = np.zeros((WANDERING_ROWS, trials))
        self.wandering: Array = np.zeros(trials + 1)
        self.total: Array = np.zeros(1)
        self.component_weight: Array = np.zeros(components)
        self.component_mean_db_hl: Array = np.zeros((components, knots))
        self.component_covariance: Array = np.zeros((components, knots, knots))
        self.expected_listener: Array = np.zeros(LISTENER_ENTRIES)
        self.point_left: Indices = np.zeros(points, np.int64)
        self.point_fraction: Array = np.zeros(points)
        self.point_between_db2: Array = np.zeros(points)
        self.point_noise_factor: Array = np.zeros(points)
        self.point_mean_db_hl: Array = np.zeros(points)
        self.point_sd_db: Array = np.zeros(points)
        self.view: Array = np.zeros((VIEW_ROWS, components))
        self.choice: Array = np.zeros(3)
        self.claim()


class MixtureModel:
    """Expectation propagation for a mixture of Gaussians over knots (see `model.Model`).

    Parameters
    ----------
    prior : PopulationPrior
        Of this listener.
    listeners : list of Listener
        Kinds of listeners that are thought possible.
    wanders : bool
        Attention may wander for a while, beside the lapses of the listeners.
    noise_curve : (frequency_hz, factor) points, optional
        Of the response noise over frequency; None: it is the same everywhere.
    unsure_half_width_db : float
        Of the dead zone; 0: there is no unsure answer.
    candidates_hz : list of float
        Frequencies a next tone may have.

    Raises
    ------
    PriorError
        A component is no Gaussian.
    """

    def __init__(
        self,
        prior: PopulationPrior,
        listeners: list[Listener],
        wanders: bool,
        noise_curve: Points | None,
        unsure_half_width_db: float,
        max_trials: int,
        candidates_hz: list[float],
    ) -> None:
        self._octaves = [_octaves(f) for f in prior.knots_hz]
        self._between_sd_db = prior.between_knots_sd_db
        self._noise_curve = [(_octaves(f), factor) for f, factor in noise_curve or []]
        self._wanders = wanders
        self._unsure_half_width_db = unsure_half_width_db
        self.candidates_hz: Array = np.array(candidates_hz)
        self.converged = True
        knots, components = len(prior.knots_hz), len(prior.components)
        w = Workspace(max_trials, knots, components, len(listeners), len(candidates_hz))
        self._workspace = w
        for k, c in enumerate(prior.components):
            w.log_component[k] = log(c.weight)
            w.prior_mean_db_hl[k] = c.mean_db_hl
            w.prior_covariance[k] = c.covariance_db2
        status = invert_prior(
            components, knots, w.prior_covariance, w.factor, w.inverse_factor, w.prior_precision,
            w.prior_log_partition,
        )  # fmt: skip
        if status != CONVERGED:
            raise PriorError("the prior has a covariance that is not positive definite")
        self._log_listener_prior = np.array([log(listener.share) for listener in listeners])
        for g, listener in enumerate(listeners):
            w.listener[g] = (
                listener.response_noise_db,
                max(listener.lapse_rate, RATE_MIN),
                max(listener.false_alarm_rate, RATE_MIN),
            )
        for i, frequency_hz in enumerate(candidates_hz):
            place = self._place(frequency_hz)
            w.point_left[i], w.point_fraction[i], w.point_between_db2[i] = place
            w.point_noise_factor[i] = self._noise_factor(frequency_hz)
        self.reset()

    @property
    def log_evidence(self) -> float:
        """Return the log evidence of the answers, summed over hypotheses, nats."""
        return float(self._workspace.total[0])

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Return the posterior means of what describes the listener."""
        noise_db, lapse_rate, false_alarm_rate = self._workspace.expected_listener.tolist()
        return Hyperparameters(None, None, noise_db, lapse_rate, false_alarm_rate)

    @property
    def nbytes(self) -> int:
        """Return the size of the workspace in bytes."""
        return self._workspace.nbytes

    def attended(self, n: int) -> Array:
        """Return how likely each of the first n answers was given with attention."""
        return 1.0 - self._workspace.wandering[:n]

    def reset(self) -> None:
        """Forget all answers."""
        w = self._workspace
        w.log_listener[:] = self._log_listener_prior
        w.mean[:] = 0.0
        for h in range(len(w.covariance)):
            w.covariance[h] = w.prior_covariance[h % len(w.log_component)]
        w.log_evidence[:] = 0.0
        w.wandering[:] = 0.0
        w.wandering[0] = AWAY_AT_THE_START if self._wanders else 0.0
        w.tau[:] = 0.0
        w.nu[:] = 0.0
        self.converged = True
        self._weigh()

    def observe(self, n: int, frequency_hz: float, level_db_hl: float, answer: int) -> int:
        """Take in answer number n, counted from 0; return a status."""
        w = self._workspace
        left, fraction, between_db2 = self._place(frequency_hz)
        w.left[n] = left
        w.answer[n] = answer
        w.answers[FRACTION, n] = fraction
        w.answers[LEVEL_DB_HL, n] = level_db_hl
        w.answers[NOISE_FACTOR, n] = self._noise_factor(frequency_hz)
        w.answers[BETWEEN_DB2, n] = between_db2
        status = infer(
            n + 1, w.prior_mean_db_hl.shape[1], len(w.log_component), len(w.log_listener),
            int(self._wanders), w.left, w.answers, w.answer, w.listener, w.log_listener,
            self._unsure_half_width_db, w.log_component, w.prior_mean_db_hl, w.prior_precision,
            w.prior_log_partition, w.factor, w.inverse_factor, w.rows, w.sites, w.seen, w.tau, w.nu,
            w.mean, w.covariance, w.log_evidence, w.weight, w.swept, w.probability,
            w.attention, w.wandering, w.total,
        )  # fmt: skip
        if status == NOT_POSITIVE_DEFINITE:
            return status
        self.converged = status != NOT_CONVERGED
        self._summarise()
        return CONVERGED

    def observe_silence(self, answered: bool) -> None:
        """Take in that nothing was played, and whether it was answered all the same."""
        w = self._workspace
        presses = 2.0 if self._unsure_half_width_db > 0.0 else 1.0
        for g in range(len(w.log_listener)):
            rate = presses * w.listener[g, FALSE_ALARM_RATE]
            w.log_listener[g] += log(rate if answered else 1.0 - rate)
        self._weigh()

    def predict(self, frequencies_hz: Array) -> tuple[Array, Array]:
        """Return mean (dB HL) and SD (dB) of the threshold."""
        left, fraction, between_db2 = self._places(frequencies_hz)
        w = self._workspace
        mean_db_hl, sd_db = np.zeros(len(left)), np.zeros(len(left))
        predict(
            len(left), len(w.log_component), left, fraction, between_db2, w.component_weight,
            w.component_mean_db_hl, w.component_covariance, mean_db_hl, sd_db,
        )  # fmt: skip
        return mean_db_hl, sd_db

    def band(self, frequencies_hz: Array, probability: float) -> tuple[Array, Array]:
        """Return the central band of the threshold with this probability, dB HL."""
        left, fraction, between_db2 = self._places(frequencies_hz)
        mean_db_hl, sd_db = self.predict(frequencies_hz)
        w = self._workspace
        ends = []
        for share in (0.5 - 0.5 * probability, 0.5 + 0.5 * probability):
            end_db_hl = np.zeros(len(left))
            quantile(
                len(left), len(w.log_component), share, left, fraction, between_db2,
                w.component_weight, w.component_mean_db_hl, w.component_covariance, mean_db_hl,
                sd_db, end_db_hl,
            )  # fmt: skip
            ends.append(end_db_hl)
        return ends[0], ends[1]

    def joint(self, frequencies_hz: Array) -> tuple[Array, Array, Array]:
        """Return weights, means (dB HL) and covariances (dB^2) of a mixture of Gaussians.

        A threshold lies on the line between two knots but for a deviation of its own.
        """
        left, fraction, between_db2 = self._places(frequencies_hz)
        w = self._workspace
        at = np.arange(len(left))
        line = np.zeros((len(left), w.component_mean_db_hl.shape[1]))
        line[at, left] += 1.0 - fraction
        line[at, np.minimum(left + 1, line.shape[1] - 1)] += fraction
        same = np.equal.outer(frequencies_hz, frequencies_hz)
        deviation = np.where(same, np.sqrt(np.outer(between_db2, between_db2)), 0.0)
        covariance_db2 = line @ w.component_covariance @ line.T + deviation
        return w.component_weight.copy(), w.component_mean_db_hl @ line.T, covariance_db2

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the probability that this tone would be heard."""
        w = self._workspace
        left, fraction, between_db2 = self._place(frequency_hz)
        noise_db = w.expected_listener[NOISE_DB] * self._noise_factor(frequency_hz)
        return probability_of(
            HEARD, len(w.log_component), level_db_hl, left, fraction, between_db2, noise_db,
            w.expected_listener, self._unsure_half_width_db, w.component_weight,
            w.component_mean_db_hl, w.component_covariance,
        )  # fmt: skip

    def information(self, levels_db_hl: Array) -> Array:
        """Return (candidates, levels) what the answer to each tone is expected to tell, in bits."""
        w = self._workspace
        noise_db, lapse_rate, false_alarm_rate = w.expected_listener.tolist()
        height, width = bump(lapse_rate, false_alarm_rate)
        components = len(w.log_component)
        bits = np.empty((len(self.candidates_hz), len(levels_db_hl)))
        for j, row in enumerate(bits):
            look_at(
                components, int(w.point_left[j]), float(w.point_fraction[j]),
                float(w.point_between_db2[j]), noise_db * float(w.point_noise_factor[j]), width,
                w.component_mean_db_hl, w.component_covariance, w.view,
            )  # fmt: skip
            row[:] = [
                mixture_bald(
                    float(level_db_hl), components, lapse_rate, false_alarm_rate, height,
                    w.component_weight, w.view,
                )
                for level_db_hl in levels_db_hl
            ]  # fmt: skip
        return bits

    def choose(self, weight: Array, level_min_db_hl: float, level_max_db_hl: Array) -> Choice:
        """Return the best tone; each candidate has a weight on its objective, and a ceiling."""
        w = self._workspace
        select_from_mixture(
            len(self.candidates_hz), len(w.log_component), w.point_left, w.point_fraction,
            w.point_between_db2, w.point_noise_factor, w.point_mean_db_hl, w.point_sd_db, weight,
            level_min_db_hl, level_max_db_hl, w.expected_listener, w.component_weight,
            w.component_mean_db_hl, w.component_covariance, w.view, w.choice,
        )  # fmt: skip
        return Choice(int(w.choice[0]), float(w.choice[1]), float(w.choice[2]))

    def _weigh(self) -> None:
        w = self._workspace
        w.total[0] = weigh(
            len(w.log_component), len(w.log_listener), w.log_component, w.log_listener,
            w.log_evidence, w.weight,
        )  # fmt: skip
        self._summarise()

    def _summarise(self) -> None:
        w = self._workspace
        sum_out_listeners(
            w.prior_mean_db_hl.shape[1], len(w.log_component), len(w.log_listener), w.listener,
            w.weight, w.prior_mean_db_hl, w.mean, w.covariance, w.component_weight,
            w.component_mean_db_hl, w.component_covariance, w.expected_listener,
        )  # fmt: skip
        predict(
            len(self.candidates_hz), len(w.log_component), w.point_left, w.point_fraction,
            w.point_between_db2, w.component_weight, w.component_mean_db_hl,
            w.component_covariance, w.point_mean_db_hl, w.point_sd_db,
        )  # fmt: skip

    def _places(self, frequencies_hz: Array) -> tuple[Indices, Array, Array]:
        places = [self._place(float(f)) for f in frequencies_hz]
        return (
            np.array([left for left, _, _ in places], np.int64),
            np.array([fraction for _, fraction, _ in places]),
            np.array([between_db2 for _, _, between_db2 in places]),
        )

    def _place(self, frequency_hz: float) -> tuple[int, float, float]:
        """Return the knot below, the fraction of the way to the next, and the variance between."""
        at, knots = _octaves(frequency_hz), self._octaves
        left = bisect_right(knots, at) - 1
        if left < 0:
            return 0, 0.0, OUTSIDE_DB2_PER_OCTAVE * (knots[0] - at)
        if left == len(knots) - 1:
            return left, 0.0, OUTSIDE_DB2_PER_OCTAVE * (at - knots[-1])
        u = (at - knots[left]) / (knots[left + 1] - knots[left])
        sd_db = self._between_sd_db[left]
        return left, u, 4.0 * u * (1.0 - u) * sd_db * sd_db

    def _noise_factor(self, frequency_hz: float) -> float:
        return on_line(self._noise_curve, _octaves(frequency_hz)) if self._noise_curve else 1.0
