"""An output whose channels lead to the earphones, or to the bone vibrator, as switches have it.

A switch (a relay, or one of semiconductors) is moved in the silence of its channel only, and what
asked for that begins when it has come to rest: a contact that bounces under a sound is a click. It
stays where it is until something else is wanted there, for a relay before each tone would be heard
too. At rest, without power and after a reset, a channel leads to its earphone.
"""

from time import ticks_add, ticks_diff, ticks_us  # type: ignore[attr-defined]  # MicroPython's

import machine

from device.tone_generator.synthesis import LEFT, RIGHT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EARPHONE, VIBRATOR = 0, 1  # `via`
BOTH = (1 << EARPHONE) | (1 << VIBRATOR)
TAIL_US = 100000  # what is cut is silent by then: a fade of 50 ms at most, and what is queued
SETTLE_US = 20000  # a relay moves, and bounces


class SwitchedOutput:
    """An output with a switch in either channel; a pin that is high leads to the vibrator."""

    transducers = BOTH

    def __init__(self, output: "Any", pins: "dict[str, int]") -> None:
        self._output = output
        self._switches = [
            machine.Pin(pins[name], machine.Pin.OUT, value=EARPHONE)
            for name in ("bone_left", "bone_right")
        ]
        self._via = [EARPHONE, EARPHONE]  # a pin that is read may tell something else
        self._wanted = [EARPHONE, EARPHONE]
        self._is_due = False  # one is to be moved, or has not come to rest
        self._silent_ticks = self._rest_ticks = ticks_us()  # not before
        self._tone: tuple[Any, ...] | None = None  # these wait for it
        self._noise: tuple[Any, ...] | None = None

    @property
    def has_noise(self) -> bool:
        has_noise: bool = self._output.has_noise
        return has_noise

    @property
    def due_ms(self) -> int:
        due_ms: int = self._output.due_ms
        return due_ms

    @property
    def began_us(self) -> "int | None":
        began_us: int | None = self._output.began_us if self._tone is None else None
        return began_us

    @property
    def ended_us(self) -> "int | None":
        ended_us: int | None = self._output.ended_us if self._tone is None else None
        return ended_us

    def lead(self, ear: int, via: int) -> None:
        """Have what comes next in an ear come out of this transducer; nothing sounds there now."""
        self._wanted[ear] = via
        if self._via[ear] != via:
            self._is_due = True

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: "tuple[int, ...]"
    ) -> None:
        self._tone = (ear, frequency_hz, level_dbfs, times_ms)
        self._go_on()

    def cut(self) -> None:
        self._tone = None
        self._output.cut()
        self._note_tail()

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        self._noise = (ear, frequency_hz, level_dbfs)
        self._go_on()

    def unmask(self) -> None:
        self._noise = None
        self._output.unmask()
        self._note_tail()

    def attend(self, there: bool) -> None:
        self._output.attend(there)

    def mute(self) -> None:
        """Fall silent for good; the switches stay, for what sounds by the vibrator is too loud."""
        self._tone = self._noise = None
        self._output.mute()

    def advance(self, ticks: int, now_us: int) -> None:
        """Move a switch that is due, and let begin what has waited for it."""
        self._output.advance(ticks, now_us)
        waits = _is_to_come(self._silent_ticks, ticks) or _is_to_come(self._rest_ticks, ticks)
        if self._is_due and not waits:
            self._move(ticks)
            self._go_on()

    def _move(self, ticks: int) -> None:
        # Moves what is not where it is wanted; when nothing is left to move all is at rest.
        self._is_due = False
        for ear in (LEFT, RIGHT):
            if self._via[ear] != self._wanted[ear]:
                self._via[ear] = self._wanted[ear]
                self._switches[ear].value(self._via[ear])
                self._is_due = True
                self._rest_ticks = ticks_add(ticks, SETTLE_US)

    def _go_on(self) -> None:
        if self._is_due:
            return
        noise, tone = self._noise, self._tone
        self._noise = self._tone = None
        if noise is not None:
            self._output.mask(*noise)
        if tone is not None:
            self._output.play(*tone)

    def _note_tail(self) -> None:
        self._silent_ticks = ticks_add(ticks_us(), TAIL_US)


def _is_to_come(at_ticks: int, ticks: int) -> bool:
    # What seems to be further away than any of these was long ago: ticks wrap around.
    ahead_us: int = ticks_diff(at_ticks, ticks)
    return 0 < ahead_us <= TAIL_US
