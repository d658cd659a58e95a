"""The memory of the mixture's inference."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.arrays import (
    LISTENER_ENTRIES,
    SHIFT_ROWS,
    Believed,
    Expected,
    Hypotheses,
    Likelihood,
    Listeners,
    Mixture,
    Otherwise,
    Places,
    Prior,
    Scratch,
    Tones,
    View,
    Wandering,
)
from firmware_py.inference.mixture.asked import Asked
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.mixture.sites import SITE_ROWS
from firmware_py.inference.mixture.wandering import AWAY_AT_THE_START
from firmware_py.inference.model import Memory
from firmware_py.inference.profiles import Listener
from firmware_py.inference.psychometric import RATE_MIN
from firmware_py.inference.rate import CHOICE_ENTRIES


@dataclass
class Workspace(Memory):
    """All arrays of the inference, allocated once."""

    tones: Tones
    likelihood: Likelihood
    prior: Prior
    asked: Asked
    listeners: Listeners
    hypotheses: Hypotheses
    wandering: Wandering
    steady: Wandering  # that may be anywhere alike
    otherwise: Otherwise
    scratch: Scratch
    total: Array  # (1,) log evidence of the answers
    mixture: Mixture
    expected_listener: Array
    candidates: Places
    believed: Believed
    view: View
    choice: Array
    moved: Expected  # of the one level that a stride led to

    @classmethod
    def with_room_for(
        cls, trials: int, unknowns: int, components: int, listeners: int, points: int, wanders: bool
    ) -> Self:
        """Return a workspace for so many answers, and a model of these sizes.

        Of `points` frequencies the threshold is predicted at once; attention has room to wander or
        not.
        """

        def zeros(*shapes: tuple[int, ...]) -> Iterator[Array]:
            return (np.zeros(shape) for shape in shapes)

        hypotheses, square = components * listeners, (unknowns, unknowns)
        of_component, of_hypothesis = (components,), (hypotheses,)
        # The answers of one hypothesis, or one answer of each: the same kernels go over both. With
        # the sum, not the larger, the size of a workspace is a straight line in the answers.
        at_once = trials + hypotheses
        made = cls(
            tones=Tones(*np.zeros((3, trials), np.int64), *np.zeros((4, trials))),
            likelihood=Likelihood(*np.zeros((8, at_once))),
            prior=Prior(*zeros(of_component, (components, unknowns), (components, *square))),
            asked=Asked(
                *np.zeros((2, trials), np.int64),
                *np.zeros((2, unknowns), np.int64),
                *np.zeros((1, components), np.int64),
                *zeros(*[(components, *square)] * 3, of_component),
            ),
            listeners=Listeners(*zeros((listeners, LISTENER_ENTRIES), (listeners,))),
            hypotheses=Hypotheses(
                np.zeros(hypotheses, np.int64),
                *zeros(*[(hypotheses, trials)] * 3, (hypotheses, unknowns), (hypotheses, *square)),
                *zeros(of_hypothesis, of_hypothesis),
            ),
            wandering=Wandering(*zeros(*[(trials + 1,)] * 2, *[(trials if wanders else 0,)] * 3)),
            steady=Wandering(*np.zeros((2, trials)), *np.zeros((3, 0))),
            otherwise=Otherwise(*zeros(*[(trials,)] * 5, (unknowns,), *[(SHIFT_ROWS, trials)] * 3)),
            scratch=Scratch(
                *zeros((unknowns,), square, square, (unknowns,), (unknowns,), (SITE_ROWS, at_once))
            ),
            total=np.zeros(1),
            mixture=Mixture(*zeros(of_component, (components, unknowns), (components, *square))),
            expected_listener=np.zeros(LISTENER_ENTRIES),
            candidates=Places(*np.zeros((2, points), np.int64), *np.zeros((2, points))),
            believed=Believed(*np.zeros((3, points))),
            view=View(*np.zeros((len(View._fields), components))),
            choice=np.zeros(CHOICE_ENTRIES),
            moved=Expected(*np.zeros((len(Expected._fields), 1))),
        )
        made.claim()
        for share in made.steady[:2]:
            share[:] = 0.5 * AWAY_AT_THE_START if wanders else 0.0
        return made


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
        out.table[g] = (
            listener.response_noise_db,
            max(listener.lapse_rate, RATE_MIN),
            max(listener.false_alarm_rate, RATE_MIN),
            listener.unsure_half_width_db,
        )
