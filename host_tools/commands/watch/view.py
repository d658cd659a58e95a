"""What there is to see of a running session, wherever it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firmware_py.inference.model import on_line
from firmware_py.procedure.outcomes import Purpose
from firmware_py.procedure.results import EarResult, SessionResult, ThresholdResult
from firmware_py.procedure.settings import Settings

RETEST_TONES: Final = 3  # one ascent from 10 dB below in 5 dB steps: heard at the third, as a rule
WIDTHS_LOOKED_AT: Final = 12  # answers from which it is told how the band narrows
WIDTHS_MIN: Final = 4


@dataclass(frozen=True)
class Answered:
    """A presentation and its answer."""

    number: int
    ear: str
    purpose: str
    # `frequency_hz`, `level_db_hl`: None: a catch trial
    frequency_hz: float | None
    level_db_hl: float | None
    heard: bool | None  # None: unsure
    # expected from the answer when the tone was chosen; None: not known
    information_bits: float | None = None
    half_width_db: float | None = None  # half the widest 95 % band after it; None: not told


@dataclass(frozen=True)
class View:
    """A session at one moment."""

    name: str  # which session, or where it is; empty where `state` tells it
    state: str  # what is going on, in words
    calibration: str = ""  # in one line
    result: SessionResult | None = None  # so far; None: there is no test
    answers: Sequence[Answered] = ()  # the oldest first
    settings: Settings | None = None  # of the test: what ends an ear
    elapsed_s: float = 0.0  # since the session began
    over: bool = False
    resumed: int = 0  # how many times the session was taken up again after the firmware had ended

    @property
    def ears(self) -> Sequence[EarResult]:
        """Return what was found of each ear so far."""
        return self.result.ears if self.result else ()

    def thresholds(self) -> dict[str, Sequence[ThresholdResult]]:
        """Return the thresholds of the ears that were begun."""
        begun = {answer.ear for answer in self.answers if answer.purpose == Purpose.MEASURE}
        return {found.ear: found.thresholds for found in self.ears if found.ear in begun}

    def remaining_s(self) -> float | None:
        """Estimate the time to go, None where there is nothing yet to estimate it from."""
        if self.settings is None or self.over or not self.answers:
            return None
        to_go = presentations_to_go(self.answers, self._ears_to_come(), self.settings)
        return None if to_go is None else to_go * self.elapsed_s / len(self.answers)

    def _ears_to_come(self) -> int:
        """Return how many ears have not been begun."""
        return len(self.ears) - len(self.thresholds())


def presentations_to_go(
    answers: Sequence[Answered], ears_to_come: int, settings: Settings
) -> float | None:
    """Estimate how many presentations are still to come.

    The band narrows about exponentially with the tones, and is extrapolated to where the ear ends;
    an ear to come takes as many as the one before it. None: it is too early to tell.
    """
    ear = answers[-1].ear
    own = [answer for answer in answers if answer.ear == ear and answer.purpose != Purpose.CATCH]
    left = _tones_to_go(own, settings)
    if left is None:
        return None
    tones = sum(answer.purpose != Purpose.CATCH for answer in answers)
    return (left + ears_to_come * (len(own) + left)) * len(answers) / max(tones, 1)


def _tones_to_go(own: Sequence[Answered], settings: Settings) -> float | None:
    if own[-1:] and own[-1].purpose == Purpose.RETEST:
        done = sum(answer.purpose == Purpose.RETEST for answer in own)
        return float(max(RETEST_TONES - done, 0))
    widths_db = [answer.half_width_db for answer in own if answer.half_width_db is not None]
    if len(widths_db) < WIDTHS_MIN:
        return None
    recent = widths_db[-WIDTHS_LOOKED_AT:]
    retest = RETEST_TONES if settings.retest else 0
    cap = max(settings.tones_max - len(own), 0)
    per_tone = (recent[-1] / recent[0]) ** (1.0 / (len(recent) - 1))
    needed = 0
    width_db = recent[-1]
    while width_db > settings.stop_half_width_db and needed < cap:
        width_db *= min(per_tone, 1.0)
        needed += 1
    return float(min(needed + retest, cap))


def blocks(values: Sequence[float | None], highest: float) -> str:
    """Draw values as a row of blocks of eight heights; None is a gap."""
    steps = [(i * highest / 7.0, float(i)) for i in range(8)]
    heights = " ▁▂▃▄▅▆▇█"
    return "".join(
        heights[0] if value is None else heights[1 + round(on_line(steps, value))]
        for value in values
    )
