"""The constant that keeps a DAC from muting itself: it comes with a host, and goes with it.

A PCM5102A mutes its output after 1024 frames of zeros in both channels, 21 ms, and comes back with
an edge: a click in every gap of a pulsed tone. So while a host is there every sample has one step
of the DAC added, in both channels, for others mute each by itself. A constant is no sound, and its
own edges are far below what is heard. They come in silence only: no sound begins before the
constant has been there for a while, and it goes when the last sound is over.
"""

STEP = 1 << 8  # of a DAC of 24 bits: the lowest of a sample's 32 that it sees
MOVE_MS = 50  # longer than the queue: what was sent when a move began has been heard when it ends


class Constant:
    """What is added to every sample, and when; all of it moves from block to block.

    `wanted`: a host is there; whoever knows sets it. `sample`: what is added in this block, `STEP`
    or 0. `unmuted`: it is heard, and a DAC with a pin for that may be open. `ready`: sounds may
    begin.
    """

    def __init__(self, rate_hz: float) -> None:
        self._open_frames = int(MOVE_MS * rate_hz / 1000.0)
        self._ready_frames = 2 * self._open_frames
        self._frames = 0  # from 0, gone, to ready
        self.wanted = self.unmuted = self.ready = False
        self.sample = 0

    def advance(self, silent: bool, frames: int) -> None:
        """Go on by a block before which nothing sounds, or something does."""
        moved = self._frames
        if self.wanted:
            moved += frames
            if moved > self._ready_frames:
                moved = self._ready_frames
        elif silent:
            moved -= frames
            if moved < 0:
                moved = 0
        self._frames = moved
        self.sample = STEP if moved > 0 else 0
        self.unmuted = moved >= self._open_frames
        self.ready = moved >= self._ready_frames
