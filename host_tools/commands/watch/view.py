"""What there is to see of a running session, wherever it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass

from firmware_py.inference.model import on_line
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import Route
from firmware_py.terms.verdicts import has_thresholds


@dataclass(frozen=True)
class Answered:
    """A presentation and its answer."""

    number: int
    route: Route
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
    nominal: bool = False  # there is none, and levels are no dB HL
    result: SessionResult | None = None  # so far; None: there is no test
    answers: Sequence[Answered] = ()  # the oldest first
    elapsed_s: float = 0.0  # since the session began
    # by the test's estimate; None: none is under way, or its tone generator is lost
    seconds_to_go: float | None = None
    over: bool = False
    check: str = ""  # why the test is broken off, "" if it is not
    resumed: int = 0  # how many times the session was taken up again after the firmware had ended

    @property
    def ears(self) -> Sequence[EarResult]:
        """Return what was found of each ear so far."""
        return self.result.ears if self.result else ()

    def thresholds(self) -> dict[Route, Sequence[ThresholdResult]]:
        """Return the thresholds of the ears that were begun, as far as they may be told."""
        begun = {answer.route for answer in self.answers if answer.purpose == Purpose.MEASURE}
        return {
            found.route: found.thresholds
            for found in self.ears
            if found.route in begun and has_thresholds(found)
        }


def under_way(state: str, *, lost: bool) -> str:
    """Say what is going on in a test; `lost`: its tone generator does not answer."""
    return f"{state}; the tone generator is lost" if lost else state


def blocks(values: Sequence[float | None], highest: float) -> str:
    """Draw values as a row of blocks of eight heights; None is a gap."""
    steps = [(i * highest / 7.0, float(i)) for i in range(8)]
    heights = " ▁▂▃▄▅▆▇█"
    return "".join(
        heights[0] if value is None else heights[1 + round(on_line(steps, value))]
        for value in values
    )
