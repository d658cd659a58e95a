"""An instrument that does nothing but remember what it was asked to do."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from firmware_py.console.commands import Console
from firmware_py.console.grammar import ConsoleError
from firmware_py.console.pin import PinLock

Call = tuple[str | None, ...]

PICTURE = ["first line of a picture", "second line"]


@dataclass
class FakeInstrument:
    """Answers every query with the name of its method, and refuses what it is told to."""

    calls: list[Call] = field(default_factory=list)
    refusal: ConsoleError | None = None

    def _called(self, name: str, *arguments: str | None) -> str:
        self.calls.append((name, *arguments))
        if self.refusal is not None:
            raise self.refusal
        return name

    def identify(self) -> str:
        return self._called("identify")

    def self_test(self) -> str:
        return self._called("self_test")

    def reset(self) -> None:
        self._called("reset")

    def shut_down(self) -> None:
        self._called("shut_down")

    def version(self) -> str:
        return self._called("version")

    def time(self) -> str:
        return self._called("time")

    def set_events(self, text: str) -> None:
        self._called("set_events", text)

    def events(self) -> str:
        return self._called("events")

    def start(
        self,
        ears: str | None,
        age_years: str | None,
        sex: str | None,
        identifier: str | None,
        seed: str | None,
    ) -> None:
        self._called("start", ears, age_years, sex, identifier, seed)

    def pause(self) -> None:
        self._called("pause")

    def go_on(self) -> None:
        self._called("go_on")

    def abort(self) -> None:
        self._called("abort")

    def state(self) -> str:
        return self._called("state")

    def sessions(self, count: str | None) -> str:
        return self._called("sessions", count)

    def result(self, number: str | None) -> str:
        return self._called("result", number)

    def threshold(self, ear: str | None, number: str | None) -> str:
        return self._called("threshold", ear, number)

    def audiogram(self, number: str | None) -> Sequence[str]:
        self._called("audiogram", number)
        return PICTURE

    def play_tone(
        self, ear: str, frequency_hz: str, level_db_hl: str, noise_db_hl: str | None
    ) -> None:
        self._called("play_tone", ear, frequency_hz, level_db_hl, noise_db_hl)

    def stop_tone(self) -> None:
        self._called("stop_tone")

    def calibration(self) -> str:
        return self._called("calibration")

    def calibration_limits(self, ear: str | None) -> str:
        return self._called("calibration_limits", ear)

    def play_calibration_tone(self, ear: str, frequency_hz: str, level_dbfs: str) -> None:
        self._called("play_calibration_tone", ear, frequency_hz, level_dbfs)

    def calibration_tone(self) -> str:
        return self._called("calibration_tone")

    def stop_calibration_tone(self) -> None:
        self._called("stop_calibration_tone")

    def set_setting(self, name: str, value: str) -> None:
        self._called("set_setting", name, value)

    def setting(self, name: str | None) -> str:
        return self._called("setting", name)


def connected(lock: PinLock | None = None) -> tuple[FakeInstrument, Console]:
    """Return an instrument and the console in front of it."""
    instrument = FakeInstrument()
    return instrument, Console(instrument, lock)
