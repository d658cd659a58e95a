"""A tone and noise in one stereo block: all that an output of samples needs but the time.

`play`, `cut`, `mask` and `unmask` are called by the program, `fill` by the output whenever it wants
a block, between any two steps of the program.
"""

from device.tone_generator.synthesis import NoiseVoice, ToneVoice, sine_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array


class Voices:
    """One tone and one noise at a time, never both in one channel.

    Parameters
    ----------
    rate_hz : float
        Frames in a second.

    Attributes
    ----------
    began_frame, ended_frame : int
        Where in the block of the last `fill` a tone began, or ended that was not cut; -1: it did
        not.
    """

    def __init__(self, rate_hz: float) -> None:
        table = sine_table()
        self._tone = ToneVoice(table, rate_hz)
        self._noise = NoiseVoice(table, rate_hz)
        self._wanted = False  # the tone that plays has not been cut
        self.began_frame = self.ended_frame = -1

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: "tuple[int, ...]"
    ) -> None:
        """Take a tone: on, off, number of pulses, rise."""
        self._tone.start(ear, frequency_hz, level_dbfs, times_ms)

    def cut(self) -> None:
        """Let the tone fall silent within a fade; it does not end then."""
        self._wanted = False
        self._tone.cut()

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        """Play narrow-band noise in an ear until `unmask`."""
        self._noise.start(ear, frequency_hz, level_dbfs)

    def unmask(self) -> None:
        """Fade the noise."""
        self._noise.cut()

    def fill(self, block: "array[int]", frames: int) -> bool:
        """Write into a cleared block; return whether anything was written.

        Nothing is allocated here.
        """
        tone, noise = self._tone, self._noise
        tone.held = tone.next_channel == noise.channel
        noise.held = noise.next_channel == tone.channel
        sounds = tone.fill(block, frames)
        self.began_frame = tone.began_frame
        if self.began_frame >= 0:
            self._wanted = True
        self.ended_frame = tone.ended_frame if self._wanted else -1
        return noise.fill(block, frames) or sounds
