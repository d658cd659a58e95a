"""The memory of the mixture's inference."""

from collections.abc import Iterator

import numpy as np

from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.arrays import (
    LISTENER_ENTRIES,
    TIMED_LISTENER_ENTRIES,
    Expected,
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
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.mixture.response_times import TIME_ROWS
from firmware_py.inference.mixture.sites import SITE_ROWS
from firmware_py.inference.model import Memory
from firmware_py.inference.profiles import Listener
from firmware_py.inference.psychometric import RATE_MIN
from firmware_py.inference.rate import CHOICE_ENTRIES


class Workspace(Memory):
    """All arrays of the inference, allocated once.

    Parameters
    ----------
    trials, unknowns, components, listeners, points : int
        Answers there is room for, and the sizes of the model; points that are predicted at once.
    timed : bool
        Response times are evidence: there is room for them.
    """

    def __init__(
        self,
        trials: int,
        unknowns: int,
        components: int,
        listeners: int,
        points: int,
        timed: bool,
    ) -> None:
        def zeros(*shapes: tuple[int, ...]) -> Iterator[Array]:
            return (np.zeros(shape) for shape in shapes)

        hypotheses, square = components * listeners, (unknowns, unknowns)
        of_answer, of_component, of_hypothesis = (trials,), (components,), (hypotheses,)
        times = trials if timed else 0
        integers, numbers = np.zeros((3, trials), np.int64), np.zeros((4, trials))
        self.tones = Tones(*integers, *numbers, *np.zeros((1, times)))
        self.likelihood = Likelihood(*np.zeros((4, trials)), *np.zeros((3, times)))
        self.prior = Prior(*zeros(
            of_component, (components, unknowns), (components, *square), (components, *square),
            of_component,
        ))  # fmt: skip
        entries = TIMED_LISTENER_ENTRIES if timed else LISTENER_ENTRIES
        self.listeners = Listeners(*zeros((listeners, entries), (listeners,)))
        self.hypotheses = Hypotheses(
            np.zeros(hypotheses, np.int64),
            *zeros(*[(hypotheses, trials)] * 3, (hypotheses, unknowns), (hypotheses, *square)),
            *zeros(of_hypothesis, of_hypothesis, (hypotheses, TIME_ROWS, times)),
        )
        self.wandering = Wandering(*zeros((trials + 1,), (trials + 1,), *[of_answer] * 3))
        self.scratch = Scratch(
            *zeros(square, square, (unknowns,), (unknowns,), (SITE_ROWS, trials))
        )
        self.total = np.zeros(1)
        self.shift, self.doubt = np.zeros((2, trials))
        self.mixture = Mixture(*zeros(of_component, (components, unknowns), (components, *square)))
        self.expected_listener = np.zeros(LISTENER_ENTRIES)
        self.candidates = Places(*np.zeros((2, points), np.int64), *np.zeros((2, points)))
        self.noise_factor, self.mean_db_hl, self.sd_db = np.zeros((3, points))
        self.view = View(*np.zeros((len(View._fields), components)))
        self.choice = np.zeros(CHOICE_ENTRIES)
        self.moved = Expected(*np.zeros((len(Expected._fields), 1)))
        self.claim()


def write_prior(prior: PopulationPrior, out: Prior) -> None:
    """Write the components of a prior; what is no knot has mean 0 and variance 1."""
    knots, unknowns = len(prior.knots_hz), out.mean_db_hl.shape[1]
    for k, c in enumerate(prior.components):
        out.log_weight[k] = log(c.weight)
        out.mean_db_hl[k, :knots] = c.mean_db_hl
        out.covariance[k] = np.eye(unknowns)
        out.covariance[k, :knots, :knots] = c.covariance_db2


def write_listeners(listeners: list[Listener], out: Listeners) -> None:
    """Write the kinds of listeners, whose rates are at least `RATE_MIN`."""
    for g, listener in enumerate(listeners):
        out.table[g, :LISTENER_ENTRIES] = (
            listener.response_noise_db,
            max(listener.lapse_rate, RATE_MIN),
            max(listener.false_alarm_rate, RATE_MIN),
            listener.unsure_half_width_db,
        )
        time = listener.response_time
        if time is not None:
            out.table[g, LISTENER_ENTRIES:] = time.slope, time.log_sd
