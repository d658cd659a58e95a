"""The model of people: a learned mixture prior, listeners who lapse, expectation propagation."""

from collections.abc import Sequence

import numpy as np

from firmware_py.inference.curves import Curves
from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import CONVERGED, NOT_CONVERGED, NOT_POSITIVE_DEFINITE, Array
from firmware_py.inference.mixture.arrays import (
    FALSE_ALARM_RATE,
    NOISE_DB,
    UNSURE_HALF_WIDTH_DB,
    Expected,
)
from firmware_py.inference.mixture.bone_prior import prior_of
from firmware_py.inference.mixture.otherwise import gain_by_shifts, infer_otherwise
from firmware_py.inference.mixture.placing import Placing
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.mixture.posterior import (
    ASLEEP_BELOW,
    check_prior,
    infer,
    sum_out_listeners,
    weigh,
)
from firmware_py.inference.mixture.prediction import predict, probability_of, quantile
from firmware_py.inference.mixture.prior_reading import PriorError
from firmware_py.inference.mixture.selection import expect_from_mixture, select_from_mixture
from firmware_py.inference.mixture.stride import answers_at, strode
from firmware_py.inference.mixture.wandering import (
    AWAY_AT_THE_START,
    buttons,
    while_missing,
    while_pressing,
)
from firmware_py.inference.mixture.workspace import Workspace, write_listeners, write_prior
from firmware_py.inference.model import Choice, Hyperparameters, Points
from firmware_py.inference.profiles import Listener
from firmware_py.inference.psychometric import HEARD
from firmware_py.inference.rate import Seconds


class MixtureModel:
    """Expectation propagation for a mixture of Gaussians over knots (see `model.Model`).

    The threshold between two knots is the straight line and a bend: an unknown of unit variance for
    each interval, and one beyond each end, times a bow that is fixed by the frequency. While tones
    have the frequencies of knots only, no answer tells of the bends, and they are left out of the
    unknowns. The first answer at another frequency takes them in: this once memory is allocated.

    The prior is that of this listener; `listeners` are the kinds that have a prior probability. If
    it `wanders`, attention may do so for a while, beside the lapses of the listeners. `noise_curve`
    has (frequency_hz, factor) points of the response noise; None: it is the same everywhere. A
    `PriorError`: a component has a covariance that is not positive definite.
    """

    def __init__(
        self,
        prior: PopulationPrior,
        listeners: list[Listener],
        wanders: bool,
        noise_curve: Points | None,
        max_trials: int,
        candidates_hz: list[float],
    ) -> None:
        self._placing = Placing(prior, noise_curve)
        self._prior, self._listeners, self._max_trials = prior, listeners, max_trials
        self._wanders = wanders
        self._log_share = np.array([log(listener.share) for listener in listeners])
        self.candidates_hz: Array = np.array(candidates_hz)
        self.converged = True
        places = map(self._placing.place, candidates_hz)
        self._placing.bends = any(bow_db > 0.0 for *_, bow_db in places)
        self.workspace = self._make_room()
        self.reset()

    def _make_room(self) -> Workspace:
        w = Workspace.with_room_for(
            self._max_trials, self._placing.unknowns, len(self._prior.components),
            len(self._listeners), len(self.candidates_hz), self._wanders,
        )  # fmt: skip
        self._write_prior(w)
        write_listeners(self._listeners, w.listeners)
        for i, frequency_hz in enumerate(self.candidates_hz.tolist()):
            place = self._placing.place(frequency_hz)
            for column, value in zip(w.candidates, place, strict=True):
                column[i] = value
            w.believed.noise_factor[i] = self._placing.noise_factor(frequency_hz)
        return w

    def _write_prior(self, w: Workspace) -> None:
        write_prior(self._prior, w.prior)
        if check_prior(w.prior, w.scratch) != CONVERGED:
            raise PriorError("the prior has a covariance that is not positive definite")

    @property
    def log_evidence(self) -> float:
        return float(self.workspace.total[0])

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Return the posterior means of the listener's noise, rates and half width."""
        return Hyperparameters(None, None, *self.workspace.expected_listener.tolist())

    @property
    def nbytes(self) -> int:
        return self.workspace.nbytes

    def attention(self, n: int) -> Array:
        """Return P(attended_i | all answers): by what the others say of it, and by its own."""
        w, of = self.workspace, self.workspace.wandering
        presses = buttons(w.listeners.table[0, UNSURE_HALF_WIDTH_DB].item())
        found = np.ones(n)
        for i in range(n if self._wanders else 0):
            answer, missing, pressing = w.tones.answer[i], of.missing[i], of.pressing[i]
            there = (1.0 - missing - pressing) * of.attending[i]
            away = missing * while_missing(answer, presses)
            away += pressing * while_pressing(answer, presses)
            found[i] = there / (there + away)
        return found

    def answer_probabilities(self, n: int) -> Array:
        of = self.workspace.hypotheses
        share = of.weight * (of.swept == 1) * (of.weight >= ASLEEP_BELOW)
        if n == 0:
            return np.ones(0)
        # Not by a matrix product: the library for those takes 32 MB where there are many.
        found: Array = (share[:, np.newaxis] * of.probability[:, :n]).sum(axis=0) / share.sum()
        return found

    def listener_shares(self) -> Array:
        w = self.workspace
        shares: Array = w.hypotheses.weight.reshape(len(w.listeners.table), -1).sum(axis=1)
        return shares

    def expect_listener(self, shares: Array) -> None:
        self._log_share = np.array([log(share) for share in shares.tolist()])
        self.reset()

    @property
    def knots_hz(self) -> tuple[float, ...]:
        return self._prior.knots_hz

    def expect_threshold(self, curves: Curves) -> None:
        self._prior = prior_of(curves, self._prior)
        self._write_prior(self.workspace)
        self.workspace.asked.made[:] = 0
        self.reset()

    def reset(self) -> None:
        w, of = self.workspace, self.workspace.hypotheses
        self._answers = 0
        w.listeners.log_share[:] = self._log_share
        for h in range(len(of.covariance)):
            of.covariance[h] = w.prior.covariance[h % len(w.prior.covariance)]
        for array in (of.mean, of.log_evidence, of.tau, of.nu, *w.wandering):
            array[:] = 0.0
        if self._wanders:
            w.wandering.missing[0] = w.wandering.pressing[0] = 0.5 * AWAY_AT_THE_START
        self.converged = True
        self.weigh()
        self.summarise()

    def observe(self, n: int, frequency_hz: float, level_db_hl: float, answer: int) -> int:
        place = self._placing.place(frequency_hz)
        first_off_the_knots = place[-1] > 0.0 and not self._placing.bends
        if first_off_the_knots:
            self._take_in_bends(n)
            place = self._placing.place(frequency_hz)
        left, bend, fraction, bow_db = place
        factor = self._placing.noise_factor(frequency_hz)
        tone = (left, bend, answer, fraction, bow_db, factor, level_db_hl)
        for column, value in zip(self.workspace.tones, tone, strict=True):
            column[n] = value
        for i in range(0 if first_off_the_knots else n, n + 1):
            status = self._infer(i + 1)
            if status != CONVERGED:
                return status
        self.summarise()
        return CONVERGED

    def _take_in_bends(self, n: int) -> None:
        """Make room for the bends between knots, and copy the n answers to be taken in again."""
        before, self._placing.bends = self.workspace, True
        self.workspace = self._make_room()
        self.reset()
        self.workspace.listeners.log_share[:] = before.listeners.log_share
        for column, found in zip(self.workspace.tones, before.tones, strict=True):
            column[:n] = found[:n]

    def _infer(self, n: int) -> int:
        w = self.workspace
        self._answers = n
        status = infer(
            n, w.tones, w.likelihood, w.listeners, w.prior, w.asked,
            w.hypotheses, w.wandering, w.scratch, w.total,
        )  # fmt: skip
        if status == NOT_POSITIVE_DEFINITE:
            return status
        self.converged = status != NOT_CONVERGED
        return CONVERGED

    def observe_silence(self, answered: bool) -> None:
        listeners = self.workspace.listeners
        for g in range(len(listeners.log_share)):
            presses = buttons(listeners.table[g, UNSURE_HALF_WIDTH_DB])
            rate = presses * listeners.table[g, FALSE_ALARM_RATE]
            listeners.log_share[g] += log(rate if answered else 1.0 - rate)
        self.weigh()
        self.summarise()

    def predict(self, frequencies_hz: Array) -> tuple[Array, Array]:
        mean_db_hl, sd_db = np.zeros((2, len(frequencies_hz)))
        predict(self._placing.places(frequencies_hz), self.workspace.mixture, mean_db_hl, sd_db)
        return mean_db_hl, sd_db

    def band(self, frequencies_hz: Array, probability: float) -> tuple[Array, Array]:
        places = self._placing.places(frequencies_hz)
        mean_db_hl, sd_db, low_db_hl, high_db_hl = np.zeros((4, len(frequencies_hz)))
        mixture, half = self.workspace.mixture, 0.5 * probability
        predict(places, mixture, mean_db_hl, sd_db)
        quantile(0.5 - half, places, mixture, mean_db_hl, sd_db, low_db_hl)
        quantile(0.5 + half, places, mixture, mean_db_hl, sd_db, high_db_hl)
        return low_db_hl, high_db_hl

    def joint(self, frequencies_hz: Array) -> Curves:
        mixture = self.workspace.mixture
        row, own_db2 = self._placing.rows(frequencies_hz, mixture.mean_db_hl.shape[1])
        # Not by `@`, which is BLAS: a device has no memory for it.
        mean_db_hl = np.einsum("ck,mk->cm", mixture.mean_db_hl, row)
        half_db2 = np.einsum("mk,ckl->cml", row, mixture.covariance)
        covariance_db2 = np.einsum("cml,nl->cmn", half_db2, row) + own_db2
        return Curves(mixture.weight.copy(), mean_db_hl, covariance_db2)

    def log_ratio_otherwise(self, n: int, softer_db: Array, pressed_unheard: Array) -> float:
        w = self.workspace
        w.otherwise.softer_db[:n], w.otherwise.pressed_unheard[:n] = softer_db, pressed_unheard
        return infer_otherwise(
            n, w.otherwise, w.steady, w.tones, w.likelihood, w.listeners, w.prior, w.asked,
            w.hypotheses, w.scratch,
        )  # fmt: skip

    def threshold_otherwise(
        self, n: int, softer_db: Array, pressed_unheard: Array, frequencies_hz: Array
    ) -> Array:
        self.log_ratio_otherwise(n, softer_db, pressed_unheard)
        left, bend, u, bow_db = self._placing.places(frequencies_hz)
        mean = self.workspace.otherwise.mean_db_hl
        bent_db = np.where(bend < 0, 0.0, bow_db * mean[bend])
        return (1.0 - u) * mean[left] + u * mean[np.where(u > 0.0, left + 1, left)] + bent_db

    def gain_by_shifts(self, among: Array, sd_db: float) -> tuple[Array, Array]:
        w, (rows, n) = self.workspace, among.shape
        w.otherwise.among[:rows, :n] = among
        gain_by_shifts(n, rows, sd_db, w.tones, w.hypotheses, w.scratch.column, w.otherwise)
        return w.otherwise.gain[:rows, :n].copy(), w.otherwise.shift_db[:rows, :n].copy()

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        w = self.workspace
        noise_db = w.expected_listener[NOISE_DB] * self._placing.noise_factor(frequency_hz)
        return probability_of(
            HEARD, level_db_hl, *self._placing.place(frequency_hz), noise_db, w.expected_listener,
            w.mixture,
        )  # fmt: skip

    def rate(self, levels_db_hl: Array, seconds: Seconds) -> Array:
        expected = Expected(levels_db_hl, *np.zeros((2, len(levels_db_hl))))
        rate: Array = np.zeros((len(self.candidates_hz), len(levels_db_hl)))
        for j in range(len(rate)):
            self._expect(j, seconds, expected)
            rate[j] = expected.bits / expected.seconds
        return rate

    def choose(
        self, weight: Array, level_min_db_hl: Array, level_max_db_hl: Array, seconds: Seconds,
        strides_db: Sequence[float],
    ) -> Choice:  # fmt: skip
        """Return the best tone; each candidate has a weight, a floor and a ceiling.

        Where answers disagree with belief its level is moved by these strides; see `stride`.
        """
        w = self.workspace
        select_from_mixture(
            w.candidates, w.believed, weight, level_min_db_hl, level_max_db_hl, seconds,
            w.expected_listener, w.mixture, w.view, w.choice,
        )  # fmt: skip
        j = int(w.choice[0])
        level_db_hl, bits, taken = w.choice[1:].tolist()
        answered = answers_at(w, self._answers, j) if strides_db else ()
        moved_db_hl = strode(level_db_hl, answered, float(level_min_db_hl[j]), strides_db)
        moved_db_hl = min(moved_db_hl, max(float(level_max_db_hl[j]), level_db_hl))
        if moved_db_hl != level_db_hl:
            w.moved.level_db_hl[0] = moved_db_hl
            self._expect(j, seconds, w.moved)
            bits, taken = w.moved.bits.item(), w.moved.seconds.item()
        return Choice(j, moved_db_hl, bits, taken)

    def _expect(self, candidate: int, seconds: Seconds, out: Expected) -> None:
        w = self.workspace
        expect_from_mixture(
            w.candidates, w.believed, candidate, seconds, w.expected_listener, w.mixture, w.view,
            out,
        )  # fmt: skip

    def weigh(self) -> None:
        w, of = self.workspace, self.workspace.hypotheses
        w.total[0] = weigh(w.prior.log_weight, w.listeners.log_share, of.log_evidence, of.weight)

    def summarise(self) -> None:
        """Sum out the listeners, and predict the threshold at the candidates."""
        w, of = self.workspace, self.workspace.hypotheses
        sum_out_listeners(
            w.listeners.table, of.weight, w.prior.mean_db_hl, of.mean, of.covariance, w.mixture,
            w.expected_listener,
        )  # fmt: skip
        predict(w.candidates, w.mixture, w.believed.mean_db_hl, w.believed.sd_db)
