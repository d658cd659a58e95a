"""Sound through the real hearing aid: files in, files out, faster than real time."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from device.hearing_aid.chain import GAIN_TABLE, SAMPLE_RATE_HZ, configuration, gain_table
from device.hearing_aid.fit import Fit
from device.hearing_aid.openmha import Engine, Installation
from device.hearing_aid.sound import read_wav, write_wav
from device.hearing_aid.speech import FloatArray

FILES = ("iolib = MHAIOFile", "io.output_sample_format = 32_bit_float")


class FileAid:
    """A fitted openMHA that takes sound from memory and gives it back.

    Parameters
    ----------
    engine : Engine
        Configured by `chain.configuration`.
    place : Path
        A directory for its files.
    """

    def __init__(self, engine: Engine, place: Path) -> None:
        self.engine = engine
        self._place = place
        for line in FILES:
            engine.tell(line)

    def fit(self, fit: Fit) -> None:
        """Go over to another fit with the same bands and limits; between two sounds."""
        self.engine.tell(f"{GAIN_TABLE} = {gain_table(fit)}")

    def process(self, samples: FloatArray) -> FloatArray:
        """Return what comes out of the aid.

        Parameters
        ----------
        samples : (frames, 2)
            Left and right; an RMS of 1 is `chain.FULL_SCALE_DB_SPL`.

        Raises
        ------
        OpenMhaError
            If openMHA fails.
        """
        sound, out = self._place / "in.wav", self._place / "out.wav"
        write_wav(sound, samples)
        for line in (f"io.in = {sound}", f"io.out = {out}", "cmd = start", "cmd = release"):
            self.engine.tell(line)
        heard, rate_hz = read_wav(out)
        assert rate_hz == SAMPLE_RATE_HZ
        return heard


@contextmanager
def file_aid(fit: Fit, installation: Installation | None = None) -> Iterator[FileAid]:
    """Yield an aid with this fit; `OpenMhaError` if there is none."""
    with (
        tempfile.TemporaryDirectory(prefix="gp-pta-aid-") as place,
        Engine(installation or Installation(), configuration(fit)) as engine,
    ):
        yield FileAid(engine, Path(place))


def process(fit: Fit, inputs: Sequence[FloatArray]) -> list[FloatArray]:
    """Return sounds as the aid with this fit makes them, each (frames, 2)."""
    with file_aid(fit) as aid:
        return [aid.process(samples) for samples in inputs]
