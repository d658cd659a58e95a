"""What an estimator says of the answers and of the listener, beside the threshold."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, Protocol, TypeVar

import numpy as np

from firmware_py.inference.checks import numbers
from firmware_py.inference.curves import Curves
from firmware_py.inference.kernel import Array
from firmware_py.inference.model import Hyperparameters, Model
from firmware_py.inference.one_at_a_time import OneAtATime
from firmware_py.inference.record import Record
from firmware_py.inference.stories import Stories, Suspicion

KEPT_MAX: Final = 64  # a test asks for some 30 between two answers; beyond this all is forgotten
KEPT_OF_THE_USUAL: Final = 0.2  # of the kinds of listeners, when the other ear told of them


Figure = TypeVar("Figure")


class FigureCache:
    """Computes each figure once between two answers.

    While `changes` is the same, so are the posterior and all figures.
    """

    def __init__(self) -> None:
        self.changes = 0
        self._figures: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self._figures)

    def forget(self) -> None:
        self.changes += 1
        self._figures.clear()

    def once(self, name: Hashable, compute: Callable[[], Figure]) -> Figure:
        """Return the figure of this name, computed when it is asked for the first time."""
        if name not in self._figures:
            if len(self._figures) == KEPT_MAX:
                self._figures.clear()
            self._figures[name] = compute()
        figure: Figure = self._figures[name]
        return figure


class KnowsListener(Protocol):
    """An estimator, or whatever else has its shares."""

    @property
    def listener_shares(self) -> Array:
        """Return the probability of each kind of listener of a profile."""


class Diagnostics(OneAtATime):
    """The part of `ThresholdEstimator` that looks at the answers so far."""

    trial_count: int
    _model: Model
    _known: FigureCache
    _record: Record
    _stories: Stories

    @property
    def changes(self) -> int:
        """Return a number that is another one whenever the posterior is."""
        return self._known.changes

    @property
    def log_evidence(self) -> float:
        """Return the log evidence (nats) of the answers at the present hyperparameters."""
        return self._model.log_evidence

    @property
    def hyperparameters(self) -> Hyperparameters:
        return self._model.hyperparameters

    @property
    def attended(self) -> Array:
        """Return (trial_count,) the probability that each answer was given with attention."""
        return self._model.attention(self.trial_count)

    @property
    def answer_probabilities(self) -> Array:
        """Return (trial_count,) the probability of each answer, given all the others.

        A small one is a surprise, whatever the curve; NaN with the profiles that use Laplace.
        """
        return self._model.answer_probabilities(self.trial_count)

    @property
    def listener_shares(self) -> Array:
        """Return the posterior probability of each kind of listener of the profile."""
        return self._model.listener_shares()

    @property
    def stories(self) -> list[Suspicion]:
        """Return what the listener may have done in place of listening, and how probably."""
        told: list[Suspicion] = self._known.once("stories", self._told_stories)
        return told

    def _told_stories(self) -> list[Suspicion]:
        return self._stories.tell(self.log_evidence)

    def log_ratio_otherwise(self, softer_db: Array, pressed_unheard: Array) -> float:
        """Return by how much the log evidence (nats) would be greater, had things been otherwise.

        Parameters
        ----------
        softer_db : (trial_count,)
            By how much each tone reached the ear softer than it was played.
        pressed_unheard : (trial_count,)
            Which share of tones that are not heard is answered at each all the same.

        Notes
        -----
        Of profiles that use Laplace it is 0: they know no such listener.
        """
        return self._model.log_ratio_otherwise(self.trial_count, softer_db, pressed_unheard)

    def threshold_otherwise(
        self, softer_db: Sequence[float] | Array, pressed_unheard: Sequence[float] | Array,
        frequencies_hz: Sequence[float],
    ) -> Array:  # fmt: skip
        """Return about what the mean of the threshold would be, dB HL, had things been otherwise.

        A tone that was not heard tells nothing, had it been much softer; and one that was heard,
        had it been much louder: that is the mean without an answer.

        Parameters
        ----------
        softer_db, pressed_unheard : (trial_count,)
            As in `log_ratio_otherwise`.
        frequencies_hz : (points,)
        """
        at_hz = np.array(frequencies_hz, dtype=float)
        supposed = np.array(softer_db), np.array(pressed_unheard)
        return self._model.threshold_otherwise(self.trial_count, *supposed, at_hz)

    def gain_by_shifts(self, among: Array, sd_db: float) -> tuple[Array, Array]:
        """Return (rows, trial_count) twice: by how much about the log evidence rises, and by what.

        Had the tones of a row that come from an answer on been softer; see `otherwise`.

        Parameters
        ----------
        among : (rows, trial_count)
            1 for the tones of a row, `SHIFT_ROWS` at most.
        sd_db : float
            SD of what is softer, dB, before the answers; its mean is 0.
        """
        return self._model.gain_by_shifts(among, sd_db)

    @property
    def converged(self) -> bool:
        """Return whether the last inference converged; if not, the bands are less exact."""
        return self._model.converged

    @property
    def memory_bytes(self) -> int:
        """Return the size of the workspace in bytes."""
        return self._model.nbytes + self._stories.nbytes + self._record.nbytes

    def expect_listener(self, other: KnowsListener) -> None:
        """Begin with what an estimator of the same listener's other ear found of the listener.

        A part of the profile's own kinds is kept, for attention can change between two ears.

        Raises
        ------
        ValueError
            If there are answers already, or the other knows other kinds of listeners.
        """
        usual, found = self.listener_shares, other.listener_shares
        if self.trial_count or len(usual) != len(found):
            raise ValueError(
                f"expect_listener of {len(found)} kinds after {self.trial_count} answers; allowed "
                f"is an estimator of {len(usual)} kinds, before the first answer"
            )
        self._begin_with(KEPT_OF_THE_USUAL * usual + (1.0 - KEPT_OF_THE_USUAL) * found)

    def expect_shares(self, shares: Sequence[float] | Array) -> None:
        """Begin with these probabilities of the kinds of listeners, as `listener_shares` has them.

        Raises
        ------
        ValueError
            If there are answers already, or they are not as many probabilities as there are kinds.
        """
        kinds = len(self.listener_shares)
        given = numbers("shares", shares, Sequence, 0.0, 1.0)
        if self.trial_count or len(given) != kinds:
            raise ValueError(
                f"expect_shares of {len(given)} kinds after {self.trial_count} answers; allowed "
                f"are {kinds}, before the first answer"
            )
        self._begin_with(np.array(given))

    def _begin_with(self, shares: Array) -> None:
        self._known.forget()
        self._record.expected_shares = shares
        self._model.expect_listener(shares)

    @property
    def knots_hz(self) -> tuple[float, ...]:
        """Return where `expect_threshold` takes a curve; nowhere by a profile without a prior."""
        return self._model.knots_hz

    def curves_at_knots(self) -> Curves:
        """Return the joint posterior at `knots_hz`, of which the ends may lie beyond what is asked.

        Another estimator of the same ear takes it by `expect_threshold`.
        """
        return self._model.joint(np.array(self.knots_hz))

    def expect_threshold(self, curves: Curves) -> None:
        """Begin with a prior of this very ear: a mixture of Gaussians over the thresholds.

        Parameters
        ----------
        curves : Curves
            At `knots_hz`; of more Gaussians than the profile's prior has the weakest become one.

        Raises
        ------
        ValueError
            If there are answers already, the profile has no prior over knots, or the curves are of
            another number of frequencies.
        """
        knots = curves.mean_db_hl.shape[1]
        if self.trial_count or knots != len(self.knots_hz):
            raise ValueError(
                f"expect_threshold of {knots} frequencies after {self.trial_count} answers; "
                f"allowed are {len(self.knots_hz)}, before the first answer"
            )
        self._known.forget()
        self._record.expected_curves = Curves(*(np.array(part) for part in curves))
        self._model.expect_threshold(curves)
