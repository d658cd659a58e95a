"""Sound through the real hearing aid: files in, files out, faster than real time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from device.hearing_aid.chain import GAIN_TABLE, SAMPLE_RATE_HZ, configuration, gain_table
from device.hearing_aid.confined import WORK_PLACE
from device.hearing_aid.fit import Fit, check_same_limits
from device.hearing_aid.openmha import Engine, Installation, OpenMhaError
from device.hearing_aid.sound import read_wav, write_wav
from device.speech import FloatArray

SOUND: Final = "in.wav"
HEARD: Final = "out.wav"
FILES: Final = ("iolib = MHAIOFile", "io.output_sample_format = 32_bit_float")


class FileAid:
    """A fitted openMHA that takes sound from memory and gives it back."""

    def __init__(self, engine: Engine, fit: Fit) -> None:
        self.engine = engine
        self._fit = fit
        for line in FILES:
            engine.tell(line)

    def fit(self, fit: Fit) -> None:
        """Go over to another fit with the same bands and limits; between two sounds."""
        check_same_limits(self._fit, fit)
        self.engine.tell(f"{GAIN_TABLE} = {gain_table(fit)}")

    def process(self, samples: FloatArray) -> FloatArray:
        """Return what comes out of the aid, (frames, 2), left and right.

        An RMS of 1 is `chain.FULL_SCALE_DB_SPL`. `OpenMhaError` if openMHA fails.
        """
        sound, out = self.engine.place / SOUND, self.engine.place / HEARD
        for path in (sound, out):  # of the sound before, or whatever the engine put there
            path.unlink(missing_ok=True)
        write_wav(sound, samples)
        names = (f"io.in = {WORK_PLACE}/{SOUND}", f"io.out = {WORK_PLACE}/{HEARD}")
        for line in (*names, "cmd = start", "cmd = release"):
            self.engine.tell(line)
        if out.is_symlink():
            raise OpenMhaError(f"openMHA made {HEARD} a link; allowed is a file")
        heard, rate_hz = read_wav(out)
        assert rate_hz == SAMPLE_RATE_HZ
        return heard


@contextmanager
def file_aid(fit: Fit, installation: Installation | None = None) -> Iterator[FileAid]:
    with Engine(installation or Installation(), configuration(fit)) as engine:
        yield FileAid(engine, fit)
