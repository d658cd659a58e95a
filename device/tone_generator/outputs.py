"""Where the sound goes: an I2S DAC, or PWM pins for the bench and the emulator.

Both are an `Output` of `server.py`, whose `advance` also wants the ticks. Besides, both have

============ =====================================================================================
``due_ms``   how soon `advance` wants to be called again
``attend()`` whether a host is there; said in every turn, and nothing sounds at a DAC before
``mute()``   everything off, for good: an error, or the end
============ =====================================================================================

`advance` is given the time twice: as ticks of the microcontroller, which wrap around, so that
`time.ticks_diff` compares them; and as board time, which does not, and in which all is told.
"""

import math
from array import array
from time import sleep_ms, ticks_add, ticks_diff, ticks_us  # type: ignore[attr-defined]  # MicroPython's

import machine

from device.tone_generator.sounding import EARPHONES
from device.tone_generator.synthesis import CHANNELS, LEFT
from device.tone_generator.voices import Voices

IDLE_MS = 20  # a turn of the loop that finds nothing to do; a byte that comes ends it sooner

I2S_ID = 0
I2S_BITS = 32
I2S_RATE_HZ = 48000  # nominal; see `true_rate_hz`
BLOCK_FRAMES = 256  # 5.3 ms: computed in 2 to 3 ms
QUEUE_BLOCKS = 4  # 21 ms: the longest pause is that of the garbage collector, some 10 ms
STANDSTILL_US = 200000  # without a request for a block: the driver has stopped
DAC_FADE_MS = 3  # a DAC with a pin for muting fades within 104 frames, 2.2 ms
_FRAME_BYTES = CHANNELS * I2S_BITS // 8
_PIO_CYCLES_PER_BIT = 2
_CLOCK_DIVIDER_STEP = 256  # of the fraction of a PIO clock divider

PWM_STEP_US = 2000  # of a rise or fall
PWM_RISE_STEPS_MAX = 50  # of 100 ms, the longest rise
PWM_FULL = 65535
_DUTY_TURN = 65536


def true_rate_hz(cpu_hz: int) -> float:
    """Return the frames in a second that the PIO's clock divider really gives, within 1e-4.

    The PIO divides the system clock by a multiple of 1/256.
    """
    cycles_per_frame = _PIO_CYCLES_PER_BIT * I2S_BITS * CHANNELS
    steps = int(cpu_hz * _CLOCK_DIVIDER_STEP / (I2S_RATE_HZ * cycles_per_frame))
    return cpu_hz * _CLOCK_DIVIDER_STEP / (steps * cycles_per_frame)


class I2SOutput:
    """Tones and noise through an I2S DAC that takes 32 bits, of which 24 should count.

    The driver asks for a block whenever it has queued the last one; that request runs between two
    steps of the program. When the program hangs, the queue runs dry and the driver sends zeros.

    While a host is there no sample of silence is zero (`constant.py`). The DAC's pin for muting, if
    it is wired (``xsmt``), is high as long as that constant is heard.
    """

    has_noise = True
    transducers = EARPHONES
    due_ms = IDLE_MS

    def __init__(self, pins: "dict[str, int]") -> None:
        rate_hz = true_rate_hz(machine.freq())
        self._voices = Voices(rate_hz)
        self._block = array("i", [0] * (CHANNELS * BLOCK_FRAMES))
        self._muted = False
        self._xsmt = None
        if "xsmt" in pins:
            self._xsmt = machine.Pin(pins["xsmt"], machine.Pin.OUT, value=0)
        self._frame_ns = int(1e9 / rate_hz)
        # A block that is computed now is heard when those before it have been.
        self._queue_us = QUEUE_BLOCKS * BLOCK_FRAMES * self._frame_ns // 1000
        self._asked_ticks = ticks_us()
        self._begins_ticks: int | None = None
        self._ends_ticks: int | None = None
        self.began_us: int | None = None
        self.ended_us: int | None = None
        self._i2s = machine.I2S(
            I2S_ID,
            sck=machine.Pin(pins["i2s_bck"]),
            ws=machine.Pin(pins["i2s_ws"]),
            sd=machine.Pin(pins["i2s_data"]),
            mode=machine.I2S.TX,
            bits=I2S_BITS,
            format=machine.I2S.STEREO,
            rate=I2S_RATE_HZ,
            ibuf=QUEUE_BLOCKS * BLOCK_FRAMES * _FRAME_BYTES,
        )
        self._i2s.irq(self._refill)
        self._i2s.write(self._block)

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: "tuple[int, ...]"
    ) -> None:
        self._forget()
        self._voices.play(ear, frequency_hz, level_dbfs, times_ms)

    def lead(self, ear: int, via: int) -> None:
        """Do nothing: there are earphones only; `switched.py` has more."""

    def cut(self) -> None:
        self._voices.cut()
        self._forget()

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        self._voices.mask(ear, frequency_hz, level_dbfs)

    def unmask(self) -> None:
        self._voices.unmask()

    def attend(self, there: bool) -> None:
        self._voices.constant.wanted = there

    @property
    def masks(self) -> bool:
        return self._voices.masks

    @property
    def silent_ms(self) -> int:
        """Return for how long there has been neither pulse nor noise in what was computed."""
        return self._voices.silent_frames * self._frame_ns // 1000000

    def advance(self, ticks: int, now_us: int) -> None:
        """Tell what has come out of the queue by now, and have the DAC muted or not.

        `OSError` if the driver does not ask for blocks any more: nothing is heard.
        """
        if self._xsmt is not None:
            self._xsmt.value(1 if self._voices.constant.unmuted else 0)
        if ticks_diff(ticks, self._asked_ticks) > STANDSTILL_US:
            raise OSError("I2S stands still")
        begins, ends = self._begins_ticks, self._ends_ticks
        if begins is not None and ticks_diff(ticks, begins) >= 0:
            self.began_us, self._begins_ticks = now_us - ticks_diff(ticks, begins), None
        if ends is not None and ticks_diff(ticks, ends) >= 0:
            self.ended_us, self._ends_ticks = now_us - ticks_diff(ticks, ends), None

    def mute(self) -> None:
        if self._xsmt is not None:
            self._xsmt.value(0)
            sleep_ms(DAC_FADE_MS)  # its clock has to run meanwhile
        self._muted = True
        self._i2s.deinit()

    def fill(self) -> "array[int]":
        """Return the next block. Nothing is allocated here."""
        voices = self._voices
        voices.fill(self._block, BLOCK_FRAMES)
        if voices.began_frame >= 0:
            self._begins_ticks = self._heard_ticks(voices.began_frame)
        if voices.ended_frame >= 0:
            self._ends_ticks = self._heard_ticks(voices.ended_frame)
        return self._block

    def _refill(self, _i2s: object) -> None:
        if not self._muted:
            self._asked_ticks = ticks_us()
            self._i2s.write(self.fill())

    def _forget(self) -> None:
        self._begins_ticks = self._ends_ticks = self.began_us = self.ended_us = None

    def _heard_ticks(self, frame: int) -> int:
        ticks: int = ticks_add(ticks_us(), self._queue_us + frame * self._frame_ns // 1000)
        return ticks


class Pulses:
    """When the steps of a train of pulses are due, each of which rises and falls in as many steps.

    `left` are pulses that are not over, and `next_ticks` is when `go_on` is to be called.
    """

    def __init__(self, times_ms: "tuple[int, ...]") -> None:
        on_ms, off_ms, self.left, rise_ms = times_ms
        self._on_us = 1000 * on_ms
        self._off_us = 1000 * off_ms
        self._rise_us = 1000 * rise_ms
        self.steps = max(1, self._rise_us // PWM_STEP_US)
        self._step = 0
        self._direction = 0  # +1 rising, -1 falling, 0 between pulses
        self._begun_ticks = self.next_ticks = 0

    def begin(self, ticks: int) -> None:
        self._begun_ticks = ticks
        self._direction = 1
        self.next_ticks = ticks_add(ticks, self._rise_us // self.steps)

    def go_on(self) -> int:
        """Take the step that is due; return which of the rise there is now."""
        step_us = self._rise_us // self.steps
        if self._direction == 0:
            self.begin(self.next_ticks)
            return 0
        self._step += self._direction
        if 0 < self._step < self.steps:
            self.next_ticks = ticks_add(self.next_ticks, step_us)
        elif self._step > 0:
            self._direction = -1
            self.next_ticks = ticks_add(self._begun_ticks, self._on_us - self._rise_us + step_us)
        else:
            self._direction = 0
            self.left -= 1
            if self.left:
                self.next_ticks = ticks_add(self._begun_ticks, self._on_us + self._off_us)
        return self._step


class PwmOutput:
    """Square waves whose duty is the level of their fundamental, for the bench and the emulator.

    A rectangular wave of duty d has a fundamental of sin(pi d); a duty of a half is 0 dBFS, and
    below about -86 dBFS nothing is left. The frequency is whole hertz. Rises and falls are steps of
    `PWM_STEP_US`. The pins are of two different slices. No audiometry is done with this.
    """

    has_noise = False
    transducers = EARPHONES

    def __init__(self, pins: "dict[str, int]") -> None:
        self._pwm = (
            machine.PWM(machine.Pin(pins["pwm_left"]), freq=1000, duty_u16=0),
            machine.PWM(machine.Pin(pins["pwm_right"]), freq=1000, duty_u16=0),
        )
        self._sounding = self._pwm[LEFT]
        self._duties = array("H", [0] * (PWM_RISE_STEPS_MAX + 1))
        self._pulses: Pulses | None = None
        self.began_us: int | None = None
        self.ended_us: int | None = None
        self.cut()

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: "tuple[int, ...]"
    ) -> None:
        self.cut()
        self._sounding = self._pwm[ear]
        self._sounding.freq(round(frequency_hz))
        peak = math.pow(10.0, level_dbfs / 20.0)
        pulses = Pulses(times_ms)
        for step in range(pulses.steps + 1):
            envelope = 0.5 - 0.5 * math.cos(math.pi * step / pulses.steps)
            duty = math.asin(peak * envelope) / math.pi
            self._duties[step] = min(int(duty * _DUTY_TURN), PWM_FULL)  # never louder than asked
        self._pulses = pulses
        self.due_ms = 0

    def lead(self, ear: int, via: int) -> None:
        """Do nothing: there are earphones only; `switched.py` has more."""

    def cut(self) -> None:
        self._sounding.duty_u16(0)
        self._pulses = self.began_us = self.ended_us = None
        self.due_ms = IDLE_MS

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        raise NotImplementedError("PWM has no noise")

    def unmask(self) -> None:
        """Do nothing: there is no noise here."""

    def attend(self, there: bool) -> None:
        """Do nothing: there is no DAC here."""

    def mute(self) -> None:
        """Fall silent, and let go of the pins."""
        self.cut()
        for pwm in self._pwm:
            pwm.duty_u16(0)
            pwm.deinit()

    def advance(self, ticks: int, now_us: int) -> None:
        """Take the steps that are due. Nothing is allocated for a step."""
        pulses = self._pulses
        if pulses is None or pulses.left == 0:
            return
        if self.began_us is None:
            self.began_us = now_us
            pulses.begin(ticks)
        while pulses.left != 0 and ticks_diff(ticks, pulses.next_ticks) >= 0:
            self._sounding.duty_u16(self._duties[pulses.go_on()])
        if pulses.left != 0:
            due_ms = ticks_diff(pulses.next_ticks, ticks) // 1000
            self.due_ms = due_ms if due_ms < IDLE_MS else IDLE_MS
        else:
            self.ended_us = now_us - ticks_diff(ticks, pulses.next_ticks)
            self.due_ms = IDLE_MS
