"""A trial: one presentation of a stimulus, what came of its starts, its times and its answer."""

from dataclasses import dataclass

from firmware_py.inference.estimator import RESPONSE_TIME_LIMITS_S
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.reasons import Reason
from firmware_py.terms.route import Route


@dataclass(frozen=True)
class Answer:
    """The answer to a presentation, at `at_us` of the board's time.

    `response_us`: from the onset to the press; None for a catch trial, or without a press.
    """

    heard: bool | None
    at_us: int
    response_us: int | None = None

    @property
    def response_s(self) -> float | None:
        """Return the same in seconds; None of a time that is no evidence, of a press or without."""
        low_s, high_s = RESPONSE_TIME_LIMITS_S
        response_s = (self.response_us or 0) / 1e6
        return response_s if low_s <= response_s <= high_s else None


@dataclass
class Trial:
    """What is presented, under which number, and what came of it so far."""

    number: int
    route: Route
    presentation: Presentation | None = None  # None: before the first
    starts: int = 0
    early_presses: int = 0
    void_why: Reason | None = None  # of the last start that came to nothing

    @property
    def is_catch(self) -> bool:
        return self.presentation is not None and self.presentation.purpose == Purpose.CATCH


@dataclass
class TrialTimes:
    """Its times: when it began, on the board's clock; and what is waited for, on the host's."""

    onset_us: int | None = None  # of the tone or silence, on the board's clock; None: not known yet
    pause_since_us: int = 0  # on the board's clock
    pause_began_us: int = 0
    deadline_us: int = 0
    asked: bool = False  # the board was asked for its time in this wait
