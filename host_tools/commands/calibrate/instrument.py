"""The console of a firmware, as whoever measures uses it: tones, as loud as the board lets."""

import json
import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from device.calibration.before_wearing import LIMIT_STEP_DB
from host_tools.commands.calibrate.asking import Ask, Say
from host_tools.commands.console.command import Talk
from host_tools.errors import HostError

# From the command to the tone. The firmware gives up a board that does not answer by itself, and
# then the state is another one; on a busy machine that takes its time.
BEGIN_TIMEOUT_S: Final = 60.0
POLL_S: Final = 0.02
LOOK_S: Final = 1.0
BOARD_SERIAL: Final = re.compile(r",serial number ([^,]+)")


class Instrument:
    """The console of a firmware; `ask_secret` asks for the operator's PIN, if it wants one."""

    def __init__(self, talk: Talk, ask_secret: Ask) -> None:
        self._talk = talk
        self._ask_secret = ask_secret
        self._pin = ""

    def unlock(self) -> None:
        """Enter the PIN, if the firmware wants it: the first time, or after a long pause."""
        self._pin = self._talk.unlock(self._ask_secret, self._pin)

    def board_serial(self) -> str:
        told = BOARD_SERIAL.search(self._talk.insist("SYST:VERS?"))
        if told is None or told[1] == "-":
            raise HostError("the tone generator does not answer: nothing can be measured")
        return told[1]

    def warms_up_s(self) -> int:
        """Return for how long the tone generator still warms up; one of before does not tell."""
        parts = {part["name"]: part["why"] for part in json.loads(self._talk.insist("SYST:TEST?"))}
        return int(parts["board"].get("seconds", 0))

    def nobody_listens(self) -> None:
        """Say that the earphones are on no ears: tones for the meter may be played."""
        self.unlock()
        self._talk.insist("CAL:NOB")

    def play(self, ear: str, frequency_hz: int, level_dbfs: float, *, pulsed: bool = False) -> bool:
        """Play a tone, and return when it sounds; False if the board's output limit is lower."""
        self.unlock()
        shape = ",PULSED" if pulsed else ""
        self._talk.insist(f"CAL:TONE {ear.upper()},{frequency_hz},{level_dbfs:g}{shape}")
        until_s = time.monotonic() + BEGIN_TIMEOUT_S
        while (state := self._talk.insist("CAL:TONE?")) == "asked" and time.monotonic() < until_s:
            time.sleep(POLL_S)
        if state == "refused limit":
            return False
        if state not in ("sounding", "over"):
            raise HostError(
                f"the tone of {frequency_hz} Hz at {level_dbfs:g} dBFS did not sound to its end: "
                f"{state}. A press of the button ends it, for then somebody wears the earphones; "
                "a simulated listener that presses none is gp-pta simulate --listener nobody"
            )
        return True

    def wait_until_warm(self, say: Say) -> None:
        """Return when what is read now is what a test will play."""
        if seconds := self.warms_up_s():
            say(f"the tone generator warms up: {seconds} s more")
        while self.warms_up_s():
            time.sleep(LOOK_S)

    def stop(self) -> None:
        self._talk.insist("CAL:STOP")

    def has_microphone(self) -> bool:
        with suppress(HostError):  # a firmware of before does not know the question
            return self._talk.insist("CAL:MIC?") != "none"
        return False

    def heard_db_spl(self, frequency_hz: int) -> float:
        """Return the last that the board's microphone tells of the tone that sounds; nan: never."""
        level_db_spl = math.nan
        while self._talk.insist("CAL:TONE?") == "sounding":
            for each in self._talk.insist("CAL:MIC?").split(";"):
                hz, _, level = each.partition(",")
                if hz == str(frequency_hz):
                    level_db_spl = float(level)
            time.sleep(POLL_S)
        return level_db_spl


@contextmanager
def instrument_at(url: str, ask_secret: Ask) -> Iterator[Instrument]:
    """Find a firmware at a port, or any URL that pyserial knows; end its tone afterwards."""
    talk = Talk(url, lambda _: None)
    try:
        talk.wake()
        instrument = Instrument(talk, ask_secret)
        try:
            yield instrument
        finally:
            with suppress(HostError):  # it is gone already
                instrument.stop()
    finally:
        talk.leave()


@dataclass
class Sounds:
    """Plays tones, as loud as asked for or as the tone generator's own limit lets."""

    instrument: Instrument
    say: Say
    limits_dbfs: dict[str, float] = field(default_factory=dict)  # by route, where it is known

    def play(
        self,
        route: str,
        frequency_hz: int,
        asked_dbfs: float,
        lowest_dbfs: float,
        *,
        pulsed: bool = False,
    ) -> float:
        """Play a tone, and return its level; a `HostError` if the limit is below the lowest."""
        known_dbfs = level_dbfs = min(asked_dbfs, self.limits_dbfs.get(route, asked_dbfs))
        while (too_soft := level_dbfs < lowest_dbfs) or not self.instrument.play(
            route, frequency_hz, level_dbfs, pulsed=pulsed
        ):
            if too_soft:
                raise HostError(
                    f"the tone generator's output limit in the {route} ear is below "
                    f"{lowest_dbfs:g} dBFS; allowed is 10 dB above the soft tone (--soft) and more"
                )
            level_dbfs -= LIMIT_STEP_DB
        if level_dbfs < known_dbfs:
            self.limits_dbfs[route] = level_dbfs
            self.say(f"{level_dbfs:g} dBFS is the tone generator's own limit in the {route} ear")
        return level_dbfs
