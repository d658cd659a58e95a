"""Who sits there in a whole test: the one place where listeners of whole tests are made."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from device.simulator.audiogram import Audiogram
from device.simulator.head import USUAL, Head
from device.simulator.hearing import SimulatedTest
from device.simulator.listener import Ear, Listener, Press, SimulatedListener, Tone, number_of
from device.simulator.operator import NOBODY, Operator
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.settings import Settings
from host_tools.research.study.listener import Answering

Truths = Mapping[Ear, Audiogram]
RESPONSE_TIME_S = 0.4  # their median


@dataclass(frozen=True)
class TakingTurns(Listener):
    """Answers as the first of two listeners, and from a tone of this number on as the second."""

    first: Listener
    second: Listener
    since: int

    def answer(self, tone: Tone) -> Press | None:
        return self._at(tone.number).answer(tone)

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        return self._at(number_of(after_id) + 1).spontaneous_press(after_id, slot)

    def _at(self, number: int) -> Listener:
        return self.second if number >= self.since else self.first


@dataclass(frozen=True)
class Change:
    """Another listener from a tone on: the same ears of somebody else."""

    at_tone: int
    truths: Truths

    def differ_db(self, truths: Truths, ear: Ear, asked_hz: Iterable[float]) -> float:
        """Return by how much an ear of both differs, where it was asked and differs most."""
        first, second = truths[ear], self.truths[ear]
        return max(abs(first.threshold_db_hl(f) - second.threshold_db_hl(f)) for f in asked_hz)


@dataclass(frozen=True)
class Sitting:
    """Who sits there, and how the test is conducted."""

    truths: Truths
    answering: Answering
    seed: int
    told: Mapping[str, Any] = field(default_factory=dict)  # of the settings, beside the seed
    response_time_s: float = RESPONSE_TIME_S
    unsure_half_width_db: float = 0.0
    head: Head = USUAL
    operator: Operator = NOBODY
    change: Change | None = None
    prior: PopulationPrior | None = None  # None: the one that ships
    worn: Callable[[Listener], Listener] = lambda listener: listener  # what is put on the listener

    @property
    def settings(self) -> Settings:
        return Settings(seed=self.seed, **self.told)

    @property
    def listener(self) -> Listener:
        first = self._listener(self.truths, self.seed)
        if self.change is None:
            return self.worn(first)
        second = self._listener(self.change.truths, self.seed ^ 1)
        return TakingTurns(first, second, self.change.at_tone)

    def test(self, test: HearingTest | None = None) -> SimulatedTest:
        if test is None:
            test = HearingTest(self.settings, prior=self.prior)
        return SimulatedTest(self.settings, self.listener, test=test, operator=self.operator)

    def _listener(self, truths: Truths, seed: int) -> SimulatedListener:
        return SimulatedListener(
            truths,
            response_noise_db=self.answering.response_noise_db,
            lapse_rate=self.answering.lapse_rate,
            false_alarm_rate=self.answering.false_alarm_rate,
            response_time_s=self.response_time_s,
            seed=seed,
            unsure_half_width_db=self.unsure_half_width_db,
            kind=self.answering.kind,
            head=self.head,
        )
