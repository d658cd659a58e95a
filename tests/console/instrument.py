"""An instrument that does nothing but remember what it was asked to do."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from firmware_py.console.commands import Console
from firmware_py.console.grammar import ConsoleError

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

    def set_events(self, text: str) -> None:
        self._called("set_events", text)

    def events(self) -> str:
        return self._called("events")

    def start(
        self, ears: str | None, seed: str | None, age_years: str | None, sex: str | None
    ) -> None:
        self._called("start", ears, seed, age_years, sex)

    def pause(self) -> None:
        self._called("pause")

    def go_on(self) -> None:
        self._called("go_on")

    def abort(self) -> None:
        self._called("abort")

    def state(self) -> str:
        return self._called("state")

    def result(self) -> str:
        return self._called("result")

    def threshold(self, ear: str | None) -> str:
        return self._called("threshold", ear)

    def audiogram(self) -> Sequence[str]:
        self._called("audiogram")
        return PICTURE

    def set_setting(self, name: str, value: str) -> None:
        self._called("set_setting", name, value)

    def setting(self, name: str | None) -> str:
        return self._called("setting", name)


def connected() -> tuple[FakeInstrument, Console]:
    """Return an instrument and the console in front of it."""
    instrument = FakeInstrument()
    return instrument, Console(instrument)
