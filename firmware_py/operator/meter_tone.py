"""The tone for the sound level meter: steady, limited, and over by itself.

It is far louder than a listener is played without warning. So it is played only after the operator
has said that nobody wears the earphones. That word holds until a test, a tone by hand, a press of
the button, another board or another operator. A loud tone is climbed to, in soft ones of a second:
who wears the earphones in spite of it has the time to take them off.
"""

from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import Final

from firmware_py.board.sounds import Climb, TooLoudError, play_for_the_meter
from firmware_py.link.client import Client, Tone
from firmware_py.link.messages import ROOM_BANDS_HZ
from firmware_py.link.notices import (
    ButtonPressed,
    Greeted,
    Lost,
    Notice,
    Refused,
    TimeTold,
    ToneEnded,
    ToneStarted,
)
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import STEP_UP_MAX_DB, Settings
from firmware_py.terms.words import say

# Up to full scale: a test never plays above the highest level that was measured, so what this
# lacks the device lacks. What the board is not to play, its own limit says.
DBFS_LIMITS: Final = (-120.0, 0.0)  # down to where the steps of a level are still checked
FIRST_DBFS: Final = -80.0  # as soft as the first may always be
ON_MS: Final = 5000  # the longest pulse of the wire; a slow meter settles in 3 s
PULSES_MAX: Final = 20  # of the wire
STEP_MS: Final = 1000  # of a tone on the way to a louder one
RISE_MS: Final = 25
NUMBERS: Final = 10_000  # an id has at most 8 characters: "cal-9999"
ID_PREFIX: Final = "cal-"

SILENT: Final = "silent"  # none yet, or the last was stopped
ASKED: Final = "asked"  # or climbed to
SOUNDING: Final = "sounding"
OVER: Final = "over"
REFUSED: Final = "refused"
LOST: Final = "lost"  # the tone generator does not answer

NO_MICROPHONE: Final = "none"
NOT_TOLD: Final = "-"

NOT_SAID: Final = (
    "nobody has said that the earphones are on no ears: CAL:NOB says it, until a test, a tone by "
    "hand or a press of the button"
)


class ToneError(ValueError):
    """A tone for the meter that may not be played."""


class MeterTone:
    """Plays tones for the meter, one at a time."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._number = 0
        self._climb = Climb()
        self._steps: deque[Tone] = deque()  # after the one that sounds
        self._sounding: Tone | None = None
        self.nobody_listens = False  # as the operator said
        self.state = SILENT
        self._room_db_spl: tuple[float, ...] = ()  # as the board's microphone has told last

    @property
    def sounds(self) -> bool:
        return self.state in (ASKED, SOUNDING)

    def play(
        self,
        route: Route,
        frequency_hz: float,
        level_dbfs: float,
        first_dbfs: float,
        pulses: Settings | None = None,
        loud_dbfs: float = DBFS_LIMITS[1],
    ) -> None:
        """Play a tone, after those on the way to it; one that sounds is ended.

        It is steady, or has the pulses of a test with these settings. The first tone in an ear is
        at most as loud as `first_dbfs`; above `loud_dbfs` the board has its light on. If it would
        be too loud or far too soft, or somebody may hear it, that is a `ToneError`, and nothing was
        done.
        """
        low_dbfs, high_dbfs = DBFS_LIMITS
        if not low_dbfs <= level_dbfs <= high_dbfs:
            raise ToneError(f"{level_dbfs:g} dBFS: allowed is {low_dbfs:g} to {high_dbfs:g} dBFS")
        if not self._client.reaches(route):
            raise ToneError(say(reason(Code.NO_TRANSDUCER, ear=str(route))))
        if not self.nobody_listens:
            raise ToneError(NOT_SAID)
        self.stop()
        next_dbfs = min(self._climb.limit("tone", route, max(first_dbfs, FIRST_DBFS)).values())
        while next_dbfs < level_dbfs:
            self._steps.append(self._tone(route, frequency_hz, next_dbfs, STEP_MS))
            next_dbfs += STEP_UP_MAX_DB
        tone = self._tone(route, frequency_hz, level_dbfs, ON_MS)
        self._steps.append(_pulsed(tone, pulses) if pulses else tone)
        for number, each in enumerate(self._steps):
            self._steps[number] = replace(each, loud=each.level_dbfs > loud_dbfs)
        self.state = ASKED
        self._go_on(first_dbfs)

    def _tone(self, route: Route, frequency_hz: float, level_dbfs: float, on_ms: int) -> Tone:
        self._number = (self._number + 1) % NUMBERS
        return Tone(
            f"{ID_PREFIX}{self._number}", route, frequency_hz, level_dbfs, on_ms, 0, 1, RISE_MS
        )

    def _go_on(self, first_dbfs: float = FIRST_DBFS) -> None:
        tone = self._sounding = self._steps.popleft()
        first_dbfs = max(first_dbfs, FIRST_DBFS)
        limits = self._climb.limit("tone", tone.route, first_dbfs)
        try:
            play_for_the_meter(self._client, tone, {"the loudest": DBFS_LIMITS[1], **limits})
        except TooLoudError as error:
            self.stop()
            raise ToneError(str(error)) from None

    def stop(self) -> None:
        self._steps.clear()
        if self.sounds:
            self._client.silence()
            self.state = SILENT

    def heard(self) -> str:
        """Return what the board's microphone has told since this was asked before, by frequency."""
        if not self._client.hears_room:
            return NO_MICROPHONE
        told, self._room_db_spl = self._room_db_spl, ()
        self._client.ask_time()
        levels = zip(ROOM_BANDS_HZ, told, strict=False)
        return ";".join(f"{hz},{level:.1f}" for hz, level in levels) or NOT_TOLD

    def forget(self) -> None:
        """Stop, and forget what became of the last one, and that nobody listens."""
        self.stop()
        self._climb.forget()
        self.nobody_listens = False
        self.state = SILENT

    def notice(self, notice: Notice) -> None:
        tone_id = self._sounding.tone_id if self._sounding else ""
        match notice:
            case ToneStarted(_, started) if started == tone_id and self.sounds:
                self._note_start()
            case ToneEnded(_, ended) if ended == tone_id and self.sounds:
                if self._steps:
                    with suppress(ToneError):  # its start was not told: it is over then
                        self._go_on()
                else:
                    self.state = OVER
            case Refused("tone", code, name) if self.state == ASKED:
                self._steps.clear()
                self.state = f"{REFUSED} {code} {name}".strip()
            case TimeTold(_, room_db_spl):
                self._room_db_spl = room_db_spl
            case ButtonPressed():  # by somebody
                self.forget()
            case Lost() | Greeted():
                state = LOST if self.sounds and isinstance(notice, Lost) else self.state
                self.forget()
                self.state = state

    def _note_start(self) -> None:
        assert self._sounding is not None
        self._climb.note_sound(self._sounding.route, self._sounding.level_dbfs)
        if not self._steps:
            self.state = SOUNDING


def _pulsed(tone: Tone, s: Settings) -> Tone:
    """Return it in the pulses of a test, as many as take about as long."""
    pulses = min(ON_MS // (s.pulse_on_ms + s.pulse_off_ms), PULSES_MAX)
    return replace(
        tone, on_ms=s.pulse_on_ms, off_ms=s.pulse_off_ms, pulses=pulses, rise_ms=s.rise_ms
    )
