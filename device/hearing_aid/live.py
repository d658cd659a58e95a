"""`python -m device.hearing_aid.live`: sound through the running aid, another fit while it plays.

openMHA's `MHAIOTCP` takes blocks of samples over TCP and gives each back as the aid makes it, in
floating point of 32 bits, big-endian, left and right in turn; a greeting in text comes first. Its
configuration is told over another line meanwhile.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from device.hearing_aid.chain import (
    BLOCK_FRAMES,
    GAIN_TABLE,
    SAMPLE_RATE_HZ,
    configuration,
    gain_rows,
    table_text,
)
from device.hearing_aid.fit import Fit, FitError, check_same_limits
from device.hearing_aid.fit_file import read_fit
from device.hearing_aid.last_limiter import LastLimiter
from device.hearing_aid.openmha import LOOPBACK, SOUND_PORT, Engine, Installation, OpenMhaError
from device.hearing_aid.player import FilePlayer, PlayerError
from device.hearing_aid.sound import SoundError, read_speech
from device.speech import FloatArray
from firmware_py.platform.program import run_program

REFUSED: Final = 2
CHANNELS: Final = 2
SAMPLE: Final = np.dtype(">f4")
BLOCK_BYTES: Final = BLOCK_FRAMES * CHANNELS * SAMPLE.itemsize
GREETING_END: Final = b"\n\n"
GREETING_BYTES_MAX: Final = 4096
ANSWER_S_MAX: Final = 10.0
# A gain moves no faster than this: slow enough not to startle, fast enough to be compared.
GLIDE_DB_PER_S: Final = 20.0
GLIDE_BLOCKS: Final = 8  # between two steps: 19 ms
GLIDE_STEP_DB: Final = GLIDE_DB_PER_S * GLIDE_BLOCKS * BLOCK_FRAMES / SAMPLE_RATE_HZ


class LiveAid:
    """A running aid that takes a block of sound at a time, configured for the fit."""

    def __init__(self, engine: Engine, fit: Fit) -> None:
        self._engine, self._fit = engine, fit
        self._rows_db = self._wanted_db = gain_rows(fit)
        self._blocks = 0
        for line in ("iolib = MHAIOTCP", f"io.address = {LOOPBACK}", f"io.port = {SOUND_PORT}"):
            engine.tell(line)
        engine.tell("cmd = start")
        self._sound = engine.sound()
        self._sound.settimeout(ANSWER_S_MAX)
        greeting = b""
        while not greeting.endswith(GREETING_END):
            greeting += self._receive(1)
            if len(greeting) > GREETING_BYTES_MAX:
                raise OpenMhaError("openMHA does not come to the end of its greeting")

    @property
    def is_gliding(self) -> bool:
        return not np.array_equal(self._rows_db, self._wanted_db)

    def fit(self, fit: Fit) -> None:
        """Go over to another fit with the same bands and limits, by `GLIDE_DB_PER_S`."""
        check_same_limits(self._fit, fit)
        self._wanted_db = gain_rows(fit)

    def process(self, block: FloatArray) -> FloatArray:
        """Return the block that comes out when this one goes in, (BLOCK_FRAMES, 2); some ms late.

        An RMS of 1 is `chain.FULL_SCALE_DB_SPL`. `OpenMhaError` if openMHA is gone.
        """
        if block.shape != (BLOCK_FRAMES, CHANNELS):
            raise ValueError(f"the block is {block.shape}; allowed is {(BLOCK_FRAMES, CHANNELS)}")
        self._glide()
        try:
            self._sound.sendall(np.ascontiguousarray(block, SAMPLE).tobytes())
            answer = self._receive(BLOCK_BYTES)
        except OSError as error:
            raise OpenMhaError(f"openMHA is gone: {error}") from None
        return np.frombuffer(answer, SAMPLE).reshape(block.shape).astype(np.float64)

    def close(self) -> None:
        self._sound.close()

    def _glide(self) -> None:
        self._blocks += 1
        if self._blocks % GLIDE_BLOCKS or not self.is_gliding:
            return
        step_db = np.clip(self._wanted_db - self._rows_db, -GLIDE_STEP_DB, GLIDE_STEP_DB)
        self._rows_db = self._rows_db + step_db
        near = np.abs(self._wanted_db - self._rows_db).max() < 1e-9
        self._rows_db = self._wanted_db if near else self._rows_db
        self._engine.tell(f"{GAIN_TABLE} = {table_text(self._rows_db)}")

    def _receive(self, count: int) -> bytes:
        answer = b""
        while len(answer) < count:
            more = self._sound.recv(count - len(answer))
            if not more:
                raise ConnectionError("it closed the line of sound")
            answer += more
        return answer


@contextmanager
def live_aid(fit: Fit, installation: Installation | None = None) -> Iterator[LiveAid]:
    """Yield an aid with this fit that runs; `OpenMhaError` if there is none."""
    with Engine(installation or Installation(), configuration(fit)) as engine:
        aid = LiveAid(engine, fit)
        try:
            yield aid
        finally:
            aid.close()


def play_through(fit: Fit, sound: FloatArray, then: Fit | None = None) -> FloatArray:
    """Return a sound as the running aid makes it; `then`: the fit that comes halfway, if any."""
    whole = np.concatenate((sound, np.zeros((-len(sound) % BLOCK_FRAMES, CHANNELS))))
    blocks = whole.reshape(-1, BLOCK_FRAMES, CHANNELS)
    heard = []
    with live_aid(fit) as aid:
        for number, block in enumerate(blocks):
            if then is not None and number == len(blocks) // 2:
                aid.fit(then)
            heard.append(aid.process(block))
    return np.concatenate(heard)


def main(argv: Sequence[str] | None = None) -> int:
    """Play a file through the aid into another; 2 if something is not allowed."""
    p = argparse.ArgumentParser(prog="python -m device.hearing_aid.live", description=__doc__)
    p.add_argument("fit", type=Path, help="of both ears")
    p.add_argument("speech", type=Path, help="1 to 30 s, .wav; it is played at 65 dB SPL")
    p.add_argument("out", type=Path, help="what comes out, .wav; a new file")
    p.add_argument("--then", type=Path, metavar="FIT", help="goes over to this fit halfway")
    arguments = p.parse_args(argv)
    try:
        fit = read_fit(arguments.fit)
        player = FilePlayer(arguments.out, LastLimiter(fit))
        then = None if arguments.then is None else read_fit(arguments.then)
        player.play(play_through(fit, read_speech(arguments.speech), then))
        player.close()
    except (FitError, SoundError, OpenMhaError, PlayerError, OSError) as error:
        print(f"hearing aid: {error}", file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
