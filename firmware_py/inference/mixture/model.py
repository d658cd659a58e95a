"""The model of people: a learned mixture prior, listeners who lapse, expectation propagation."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

import numpy as np

from firmware_py.inference.answers import HEARD, RATE_MIN
from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Array,
)
from firmware_py.inference.mixture.arrays import (
    FALSE_ALARM_RATE,
    LISTENER_ENTRIES,
    NOISE_DB,
    Hypotheses,
    Likelihood,
    Listeners,
    Mixture,
    Places,
    Prior,
    Scratch,
    Tones,
    View,
    Wandering,
)
from firmware_py.inference.mixture.population_prior import PopulationPrior, PriorError
from firmware_py.inference.mixture.posterior import infer, invert_prior, sum_out_listeners, weigh
from firmware_py.inference.mixture.prediction import predict, probability_of, quantile
from firmware_py.inference.mixture.selection import bump, look_at, mixture_bald, select_from_mixture
from firmware_py.inference.mixture.sites import SITE_ROWS
from firmware_py.inference.mixture.wandering import AWAY_AT_THE_START
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
        def zeros(*shapes: tuple[int, ...]) -> Iterator[Array]:
            return (np.zeros(shape) for shape in shapes)

        hypotheses, square = components * listeners, (knots, knots)
        of_answer, of_component, of_hypothesis = (trials,), (components,), (hypotheses,)
        self.tones = Tones(*np.zeros((2, trials), np.int64), *np.zeros((4, trials)))
        self.likelihood = Likelihood(*np.zeros((4, trials)))
        self.prior = Prior(*zeros(
            of_component, (components, knots), (components, *square), (components, *square),
            of_component,
        ))  # fmt: skip
        self.listeners = Listeners(*zeros((listeners, LISTENER_ENTRIES), (listeners,)))
        self.hypotheses = Hypotheses(
            np.zeros(hypotheses, np.int64),
            *zeros(*[(hypotheses, trials)] * 3, (hypotheses, knots), (hypotheses, *square)),
            *zeros(of_hypothesis, of_hypothesis),
        )
        self.wandering = Wandering(*zeros((trials + 1,), of_answer, of_answer))
        self.scratch = Scratch(*zeros(square, square, (knots,), (knots,), (SITE_ROWS, trials)))
        self.total = np.zeros(1)
        self.mixture = Mixture(*zeros(of_component, (components, knots), (components, *square)))
        self.expected_listener = np.zeros(LISTENER_ENTRIES)
        self.candidates = Places(np.zeros(points, np.int64), *np.zeros((2, points)))
        self.noise_factor, self.mean_db_hl, self.sd_db = np.zeros((3, points))
        self.view = View(*np.zeros((4, components)))
        self.choice = np.zeros(3)
        self.claim()


class MixtureModel:
    """Expectation propagation for a mixture of Gaussians over knots (see `model.Model`).

    Parameters
    ----------
    prior : PopulationPrior
        Of this listener.
    listeners : list of Listener
        Kinds of listeners that have a prior probability.
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
        A component has a covariance that is not positive definite.
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
        self.workspace = w
        for k, c in enumerate(prior.components):
            w.prior.log_weight[k] = log(c.weight)
            w.prior.mean_db_hl[k] = c.mean_db_hl
            w.prior.covariance[k] = c.covariance_db2
        if invert_prior(w.prior, w.scratch) != CONVERGED:
            raise PriorError("the prior has a covariance that is not positive definite")
        self._log_share = np.array([log(listener.share) for listener in listeners])
        for g, listener in enumerate(listeners):
            w.listeners.table[g] = (
                listener.response_noise_db,
                max(listener.lapse_rate, RATE_MIN),
                max(listener.false_alarm_rate, RATE_MIN),
            )
        for i, frequency_hz in enumerate(candidates_hz):
            for column, value in zip(w.candidates, self._place(frequency_hz), strict=True):
                column[i] = value
            w.noise_factor[i] = self._noise_factor(frequency_hz)
        self.reset()

    @property
    def log_evidence(self) -> float:
        """Return the log evidence of the answers, summed over hypotheses, nats."""
        return float(self.workspace.total[0])

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Return the posterior means of the listener's noise and rates."""
        noise_db, lapse_rate, false_alarm_rate = self.workspace.expected_listener.tolist()
        return Hyperparameters(None, None, noise_db, lapse_rate, false_alarm_rate)

    @property
    def nbytes(self) -> int:
        """Return the size of the workspace in bytes."""
        return self.workspace.nbytes

    def attended(self, n: int) -> Array:
        """Return the probability that each of the first n answers was given with attention."""
        return 1.0 - self.workspace.wandering.away[:n]

    def reset(self) -> None:
        """Forget all answers."""
        w, of = self.workspace, self.workspace.hypotheses
        w.listeners.log_share[:] = self._log_share
        for h in range(len(of.covariance)):
            of.covariance[h] = w.prior.covariance[h % len(w.prior.covariance)]
        for array in (of.mean, of.log_evidence, of.tau, of.nu, w.wandering.away):
            array[:] = 0.0
        w.wandering.away[0] = AWAY_AT_THE_START if self._wanders else 0.0
        self.converged = True
        self.weigh()

    def observe(self, n: int, frequency_hz: float, level_db_hl: float, answer: int) -> int:
        """Take in answer number n, counted from 0; return a status."""
        w = self.workspace
        left, fraction, between_db2 = self._place(frequency_hz)
        factor = self._noise_factor(frequency_hz)
        tone = (left, answer, fraction, between_db2, factor, level_db_hl)
        for column, value in zip(w.tones, tone, strict=True):
            column[n] = value
        status = infer(
            n + 1, int(self._wanders), self._unsure_half_width_db, w.tones, w.likelihood,
            w.listeners, w.prior, w.hypotheses, w.wandering, w.scratch, w.total,
        )  # fmt: skip
        if status == NOT_POSITIVE_DEFINITE:
            return status
        self.converged = status != NOT_CONVERGED
        self._summarise()
        return CONVERGED

    def observe_silence(self, answered: bool) -> None:
        """Take in a catch trial: nothing was played, and it was answered all the same or not."""
        listeners = self.workspace.listeners
        presses = 2.0 if self._unsure_half_width_db > 0.0 else 1.0
        for g in range(len(listeners.log_share)):
            rate = presses * listeners.table[g, FALSE_ALARM_RATE]
            listeners.log_share[g] += log(rate if answered else 1.0 - rate)
        self.weigh()

    def predict(self, frequencies_hz: Array) -> tuple[Array, Array]:
        """Return mean (dB HL) and SD (dB) of the threshold."""
        return self._predict(self._places(frequencies_hz))

    def band(self, frequencies_hz: Array, probability: float) -> tuple[Array, Array]:
        """Return the central band of the threshold with this probability, dB HL."""
        places = self._places(frequencies_hz)
        mean_db_hl, sd_db = self._predict(places)
        ends = np.zeros(len(mean_db_hl)), np.zeros(len(mean_db_hl))
        for end, share in zip(ends, (-0.5 * probability, 0.5 * probability), strict=True):
            quantile(0.5 + share, places, self.workspace.mixture, mean_db_hl, sd_db, end)
        return ends

    def joint(self, frequencies_hz: Array) -> tuple[Array, Array, Array]:
        """Return weights, means (dB HL) and covariances (dB^2) of a mixture of Gaussians.

        Between two knots the threshold is the straight line and a deviation of its own.
        """
        left, fraction, between_db2 = self._places(frequencies_hz)
        mixture = self.workspace.mixture
        at = np.arange(len(left))
        line = np.zeros((len(left), mixture.mean_db_hl.shape[1]))
        line[at, left] += 1.0 - fraction
        line[at, np.minimum(left + 1, line.shape[1] - 1)] += fraction
        same = np.equal.outer(frequencies_hz, frequencies_hz)
        deviation = np.where(same, np.sqrt(np.outer(between_db2, between_db2)), 0.0)
        covariance_db2 = line @ mixture.covariance @ line.T + deviation
        return mixture.weight.copy(), mixture.mean_db_hl @ line.T, covariance_db2

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the probability that this tone would be heard."""
        w = self.workspace
        noise_db = w.expected_listener[NOISE_DB] * self._noise_factor(frequency_hz)
        return probability_of(
            HEARD, level_db_hl, *self._place(frequency_hz), noise_db, w.expected_listener,
            self._unsure_half_width_db, w.mixture,
        )  # fmt: skip

    def information(self, levels_db_hl: Array) -> Array:
        """Return (candidates, levels) the information expected from each answer, bits."""
        w = self.workspace
        noise_db, lapse_rate, false_alarm_rate = w.expected_listener.tolist()
        height, width = bump(lapse_rate, false_alarm_rate)
        bits = np.empty((len(self.candidates_hz), len(levels_db_hl)))
        columns = (column.tolist() for column in (*w.candidates, w.noise_factor))
        for row, left, fraction, between_db2, factor in zip(bits, *columns, strict=True):
            look_at(left, fraction, between_db2, noise_db * factor, width, w.mixture, w.view)
            row[:] = [
                mixture_bald(
                    level_db_hl, lapse_rate, false_alarm_rate, height, w.mixture.weight, w.view
                )
                for level_db_hl in levels_db_hl.tolist()
            ]
        return bits

    def choose(self, weight: Array, level_min_db_hl: float, level_max_db_hl: Array) -> Choice:
        """Return the best tone; each candidate has a weight on its objective, and a ceiling."""
        w = self.workspace
        select_from_mixture(
            w.candidates, w.noise_factor, w.mean_db_hl, w.sd_db, weight, level_min_db_hl,
            level_max_db_hl, w.expected_listener, w.mixture, w.view, w.choice,
        )  # fmt: skip
        return Choice(int(w.choice[0]), float(w.choice[1]), float(w.choice[2]))

    def weigh(self) -> None:
        """Weigh the hypotheses by their evidence, and marginalise over the listeners."""
        w, of = self.workspace, self.workspace.hypotheses
        w.total[0] = weigh(w.prior.log_weight, w.listeners.log_share, of.log_evidence, of.weight)
        self._summarise()

    def _summarise(self) -> None:
        w, of = self.workspace, self.workspace.hypotheses
        sum_out_listeners(
            w.listeners.table, of.weight, w.prior.mean_db_hl, of.mean, of.covariance, w.mixture,
            w.expected_listener,
        )  # fmt: skip
        predict(w.candidates, w.mixture, w.mean_db_hl, w.sd_db)

    def _predict(self, places: Places) -> tuple[Array, Array]:
        mean_db_hl, sd_db = np.zeros(len(places.left)), np.zeros(len(places.left))
        predict(places, self.workspace.mixture, mean_db_hl, sd_db)
        return mean_db_hl, sd_db

    def _places(self, frequencies_hz: Array) -> Places:
        places = [self._place(frequency_hz) for frequency_hz in frequencies_hz.tolist()]
        left, fraction, between_db2 = np.array(places).reshape(-1, 3).T.copy()
        return Places(left.astype(np.int64), fraction, between_db2)

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
