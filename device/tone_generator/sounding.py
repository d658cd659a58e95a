"""What sounds, a tone and noise, and what its host is told of it."""

from firmware_py.link.messages import IN_NOISE_DBFS_MAX, NO_TONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from device.tone_generator.outbox import Outbox

    Values = dict[str, Any]  # of the fields of a message

    class Output(Protocol):
        """Where the sound goes; `began_us` and `ended_us` are of the tone, None before.

        Whoever has made it calls its `advance` every few milliseconds, which sets them.
        """

        has_noise: bool
        transducers: int  # that it has, a bit for each, as on the wire
        began_us: int | None
        ended_us: int | None

        def lead(self, ear: int, via: int) -> None:
            """Have what comes next in an ear come out of this transducer, where there are two."""

        def play(
            self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]
        ) -> None:
            """Take a tone (on, off, number of pulses, rise); it begins as soon as it can."""

        def cut(self) -> None:
            """Fall silent at once, and forget the tone."""

        def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
            """Play noise."""

        def unmask(self) -> None:
            """Fade it."""

    class Microphone(Protocol):
        """What hears the room: levels of `ROOM_BANDS_HZ`, dB SPL; () where nothing was measured."""

        def take(self) -> tuple[float, ...]:
            """Return the mean of what was heard while nothing sounded, since this was asked."""

        def newest(self) -> tuple[float, ...]:
            """Return the mean of the last half second, whatever sounded."""


EARPHONES = 1  # `transducers` of an output that has nothing else


class RefusedError(Exception):
    """A command that is answered by an error; `code` as on the wire page."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Sounding:
    """One tone and one noise at a time; when a tone began or ended is told.

    `tone_id` is that of the last tone that was accepted. `noise_ear` is -1 where none plays, and
    `noise_lost` says that it ended by itself, and the host may not know. `microphone` is None where
    the board has none.
    """

    def __init__(
        self, output: "Output", outbox: "Outbox", microphone: "Microphone | None" = None
    ) -> None:
        self._output = output
        self._outbox = outbox
        self.microphone = microphone
        self.tone_id = NO_TONE
        self._tone_ear = 0
        self._press_us = self._press_buttons = 0  # which press ends the tone; 0: of no button
        self._accepted = False  # a tone that has not ended
        self._told_on = False
        self.noise_ear = -1
        self.noise_lost = False
        self._tone_loud = self._noise_loud = False

    @property
    def loud(self) -> bool:
        """Return whether there is a tone, pauses and all, or noise that its host calls loud."""
        return (self._accepted and self._tone_loud) or (self.noise_ear >= 0 and self._noise_loud)

    @property
    def anything(self) -> bool:
        return self._accepted or self.noise_ear >= 0

    @property
    def has_noise(self) -> bool:
        return self._output.has_noise

    @property
    def transducers(self) -> int:
        return self._output.transducers

    def play(self, values: "Values") -> None:
        ear = values["ear"]
        quiet = values["via"] == 0 and values["dbfs"] <= IN_NOISE_DBFS_MAX
        if self._accepted or (self.noise_ear == ear and not quiet):
            raise RefusedError("busy")
        if self.noise_lost:
            raise RefusedError("noise")
        self.tone_id, self._tone_ear = values["id"], ear
        self._press_us, self._press_buttons = 1000 * values["press"], values["buttons"]
        times_ms = (values["on"], values["off"], values["n"], values["rise"])
        self._lead(ear, values["via"])
        self._output.play(ear, values["hz"], values["dbfs"], times_ms)
        self._tone_loud = values["hi"] == 1
        self._accepted = True
        self._told_on = False

    def mask(self, values: "Values") -> None:
        ear = values["ear"]
        if self._accepted and self._tone_ear == ear:
            raise RefusedError("busy")
        self._lead(ear, 0)
        self._output.mask(ear, values["hz"], values["dbfs"])
        self.noise_ear, self._noise_loud = ear, values["hi"] == 1
        self.noise_lost = False

    def _lead(self, ear: int, via: int) -> None:
        if self._output.transducers != EARPHONES:
            self._output.lead(ear, via)

    def unmask(self) -> None:
        self.noise_lost = False
        if self.noise_ear >= 0:
            self.noise_ear = -1
            self._output.unmask()

    def press(self, button: int, at_us: int) -> bool:
        """Cut the tone if this press ends it; return whether it does, for `tell_cut`."""
        began_us, sounds = self._output.began_us, self._accepted and self._told_on
        if not sounds or began_us is None or self._output.ended_us is not None:
            return False
        if not self._press_buttons & button or at_us - began_us < self._press_us:
            return False
        self._accepted = False
        self._output.cut()
        return True

    def fall_silent(self, now_us: int) -> None:
        """Cut what sounds; a tone that had not begun yet has begun and ended now."""
        self.unmask()
        self.tell(now_us)
        if not self._accepted:
            return
        self._accepted = False
        self._output.cut()
        if not self._told_on:
            self._tell_on(now_us)
        self.tell_cut(now_us)

    def tell(self, upto_us: int) -> None:
        """Tell what has come out; later than this it waits, for a press may be told before it."""
        began_us, ended_us = self._output.began_us, self._output.ended_us
        if self._accepted and not self._told_on and began_us is not None and began_us <= upto_us:
            self._tell_on(began_us)
        if self._accepted and self._told_on and ended_us is not None and ended_us <= upto_us:
            self._accepted = False
            self._tell_off(ended_us, 0)

    def tell_cut(self, at_us: int) -> None:
        self._tell_off(at_us, 1)

    def _tell_on(self, at_us: int) -> None:
        self._told_on = True
        self._outbox.put_event("tone-on", {"id": self.tone_id, "us": at_us})

    def _tell_off(self, at_us: int, cut: int) -> None:
        room = () if self.microphone is None else self.microphone.take()
        values = {"id": self.tone_id, "us": at_us, "cut": cut, "room": room}
        self._outbox.put_event("tone-off", values)
