"""A trial: one presentation of a stimulus, what came of its starts, its times and its answer."""

from dataclasses import dataclass

from firmware_py.inference.estimator import RESPONSE_TIME_LIMITS_S
from firmware_py.presenting.masking_noise import MaskingNoise
from firmware_py.terms import tells
from firmware_py.terms.events import Play
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings


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

    def failure(self) -> Reason:
        """Say that the test fails at this presentation."""
        if self.void_why is None:
            return reason(Code.NOT_PLAYED, number=self.number)
        return reason(Code.NOT_PLAYED_BUT, number=self.number, why=self.void_why)

    def tell(self, tone: Presentation, noise: MaskingNoise) -> tells.ToneTold:
        due = noise.due
        return tells.ToneTold(
            self.number, self.route, tone.purpose, tone.frequency_hz, tone.level_db_hl, tone.why,
            tone.information_bits,
            noise_db_hl=due.level_db_hl if due else None,
            unmasked=noise.cover.why if due is None else None,
        )  # fmt: skip

    def command(self, tone: Presentation, s: Settings, pulses: int) -> Play:
        return Play(
            self.number, self.route, tone.frequency_hz, tone.level_db_hl,
            s.pulse_on_ms, s.pulse_off_ms, pulses, s.rise_ms, s.response_ms_min, s.press_buttons,
            tone.why,
        )  # fmt: skip


@dataclass
class TrialTimes:
    """Its times: when it began, on the board's clock; and what is waited for, on the host's."""

    onset_us: int | None = None  # of the tone or silence, on the board's clock; None: not known yet
    pause_since_us: int = 0  # on the board's clock
    pause_began_us: int = 0
    deadline_us: int = 0
    asked: bool = False  # the board was asked for its time in this wait
