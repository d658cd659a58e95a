"""What was presented and answered in a test, in order: its noise, and the times of its answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from firmware_py.ear.marks import is_at
from firmware_py.presenting.presenter import Answer, Presenter
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import Route


@dataclass(frozen=True, slots=True)
class Answered:
    """A presentation that was answered."""

    route: Route
    presentation: Presentation
    noise_db_hl: float | None  # effective masking level in the other ear; None: it had no noise
    number: int  # of the presentation, from 1 in a session
    heard: bool | None  # None: unsure
    known_us: int  # session time at which the answer was known
    response_us: int | None  # from the onset of a tone to the press; None: no tone, or no press
    of_ear_check: bool  # which ear is which, or if noise arrives: it tells of nothing else

    @property
    def response_ms(self) -> float | None:
        return None if self.response_us is None else self.response_us / 1000.0


@dataclass(frozen=True)
class ResponseTimes:
    """From onset to press: how many, their median, and the middle half of them."""

    count: int
    median_ms: float | None
    first_quartile_ms: float | None
    third_quartile_ms: float | None

    @classmethod
    def of(cls, times_ms: Iterable[float | None]) -> Self:
        told = [each for each in times_ms if each is not None]
        if not told:
            return cls(0, None, None, None)
        first, middle, third = quartiles(told)
        return cls(len(told), middle, first, third) if len(told) > 1 else cls(1, middle, None, None)


def quartiles(numbers: Iterable[float]) -> tuple[float, float, float]:
    """Return the quartiles of one number or more, the ends among them.

    Those of `statistics.quantiles(method="inclusive")`, which takes a device 0.5 MB.
    """
    rising = sorted(numbers)

    def quantile(quarters: int) -> float:
        left, over = divmod(quarters * (len(rising) - 1), 4)
        right = min(left + 1, len(rising) - 1)
        return (rising[left] * (4 - over) + rising[right] * over) / 4

    return quantile(1), quantile(2), quantile(3)


class AnswersGiven:
    """The answers of a test."""

    def __init__(self) -> None:
        self.all: list[Answered] = []  # each one that was told, in order

    def add(
        self, now_us: int, number: int, presenter: Presenter, answer: Answer, *,
        of_ear_check: bool = False,
    ) -> None:  # fmt: skip
        """Take the answer to the presentation of this number, which is over."""
        trial, due = presenter.trial, presenter.noise.due
        assert trial.presentation is not None, "it is over"
        self.all.append(Answered(
            trial.route, trial.presentation, due.level_db_hl if due else None, number, answer.heard,
            now_us, answer.response_us, of_ear_check,
        ))  # fmt: skip

    def _of(self, route: Route) -> list[Answered]:
        return [each for each in self.all if each.route == route and not each.of_ear_check]

    @property
    def mean_response_ms(self) -> float | None:
        times_us = [
            each.response_us
            for each in self.all
            if each.response_us is not None and not each.of_ear_check
        ]
        return sum(times_us) / len(times_us) / 1000.0 if times_us else None

    def response_times(self, route: Route) -> ResponseTimes:
        return ResponseTimes.of(each.response_ms for each in self._of(route))

    def trial_s(self, route: Route) -> float | None:
        """Return the median time from answer to answer of an ear, None without two in a row."""
        seconds = [
            (after.known_us - before.known_us) / 1e6
            for before, after in pairwise(self._of(route))
            if after.number == before.number + 1
        ]
        return quartiles(seconds)[1] if seconds else None

    @property
    def masked(self) -> bool:
        return any(each.noise_db_hl is not None for each in self.all)

    def noise_at(self, route: Route, purposes: Sequence[Purpose]) -> dict[int, tuple[float, float]]:
        """Return the least and the most noise with tones for these purposes, by frequency."""
        found: dict[int, tuple[float, float]] = {}
        for each in self.all:
            tone, noise_db = each.presentation, each.noise_db_hl
            if each.route != route or noise_db is None or tone.purpose not in purposes:
                continue
            for at_hz in route.kind.any_hz:
                if is_at(at_hz, tone.frequency_hz):
                    low, high = found.get(at_hz, (noise_db, noise_db))
                    found[at_hz] = min(low, noise_db), max(high, noise_db)
        return found
