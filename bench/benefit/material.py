"""What is said to the aid: synthetic speech in quiet, in noise, and beside another talker."""

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from device.hearing_aid.chain import FULL_SCALE_DB_SPL, SAMPLE_RATE_HZ
from device.hearing_aid.sound import read_wav, resample
from device.speech import CONVERSATION_DB_SPL, FloatArray

SENTENCES: Final = (
    "The boat sailed past the old bridge",
    "Please put the fresh bread on the table",
    "She found her green scarf in the garden",
    "Six children chased the dog down the street",
    "We took the first train to the city",
    "He wrote a short letter to his sister",
)
OTHER_SENTENCE: Final = "Yesterday my neighbour bought three chairs and a very cheap kitchen lamp"
VOICES: Final = ("en-us+m3", "en-gb+f2", "en-gb+m1", "en-us+f4")
WORDS_PER_MINUTE: Final = 190

QUIET, SOFT, NOISE, TALKER = "quiet", "soft", "noise", "talker"
COMPARED_IN: Final = NOISE  # where methods are compared: judging takes its time
LEAD_S: Final = 0.5  # of sound before the sentence, to which the compressor settles
TAIL_S: Final = 0.05  # more than the delay of the aid
SILENT_DB: Final = 40.0  # softer than the loudest by so much is silence before or after speech


class SpeechError(RuntimeError):
    """No speech could be made; the message says why."""


@dataclass(frozen=True)
class Kind:
    """Where speech is heard."""

    words: str
    speech_db_spl: float
    above_background_db: float | None = None  # None: there is none


KINDS: Final = {
    QUIET: Kind("speech at 65 dB SPL in quiet", CONVERSATION_DB_SPL),
    SOFT: Kind("speech at 50 dB SPL in quiet", 50.0),
    NOISE: Kind("speech at 65 dB SPL, 5 dB above noise", CONVERSATION_DB_SPL, 5.0),
    TALKER: Kind("speech at 65 dB SPL, 5 dB above a talker", CONVERSATION_DB_SPL, 5.0),
}


@dataclass(frozen=True, eq=False)
class Scene:
    """A sentence as it reaches the listener."""

    kind: str  # one of `KINDS`
    reference: FloatArray  # (n,) clean at 65 dB SPL; an RMS of 1 is `FULL_SCALE_DB_SPL`
    heard: FloatArray  # (lead + n + tail,) with what was before and is after it

    @property
    def digest(self) -> str:
        """Return what tells this scene from every other."""
        return hashlib.sha256(self.reference.tobytes() + self.heard.tobytes()).hexdigest()[:16]

    def of_sentence(self, processed: FloatArray) -> FloatArray:
        """Return what came out of an aid, (lead + n + tail,), from the sentence's begin on."""
        return processed[round(LEAD_S * SAMPLE_RATE_HZ) :]


def scene(kind: str, number: int) -> Scene:
    """Return scene number 0, 1, 2 ... of a kind: each has another sentence and voice.

    Raises
    ------
    SpeechError
        If there is no espeak-ng, or it fails.
    """
    how = KINDS[kind]
    place = number + list(KINDS).index(kind)
    voice = VOICES[place % len(VOICES)]
    clean = speak(SENTENCES[place % len(SENTENCES)], voice)
    lead, tail = round(LEAD_S * SAMPLE_RATE_HZ), round(TAIL_S * SAMPLE_RATE_HZ)
    heard = np.concatenate([clean[-lead:], clean, np.zeros(tail)])
    heard *= 10.0 ** (0.05 * (how.speech_db_spl - CONVERSATION_DB_SPL))
    if how.above_background_db is not None:
        if kind == NOISE:
            background = noise_like(voice, len(heard), place)
        else:
            other = speak(OTHER_SENTENCE, VOICES[(place + 1) % len(VOICES)])
            background = np.resize(other, len(heard))
        heard += at_level(background, how.speech_db_spl - how.above_background_db)
    return Scene(kind, clean, heard)


def at_level(samples: FloatArray, level_db_spl: float) -> FloatArray:
    """Return samples with this level over all of them."""
    rms = np.sqrt(np.mean(samples**2))
    scaled: FloatArray = samples * (10.0 ** (0.05 * (level_db_spl - FULL_SCALE_DB_SPL)) / rms)
    return scaled


@cache
def speak(text: str, voice: str) -> FloatArray:
    """Return speech at 65 dB SPL, (n,), without silence before and after it."""
    with tempfile.TemporaryDirectory(prefix="gp-pta-speech-") as place:
        path = Path(place) / "speech.wav"
        command = ["espeak-ng", "-v", voice, "-s", str(WORDS_PER_MINUTE), "-w", str(path), text]
        _run(command)
        samples, rate_hz = read_wav(path)
    mono = resample(samples[:, 0], rate_hz, SAMPLE_RATE_HZ)
    loud = np.flatnonzero(np.abs(mono) > np.abs(mono).max() * 10.0 ** (-0.05 * SILENT_DB))
    return at_level(mono[loud[0] : loud[-1] + 1], CONVERSATION_DB_SPL)


def noise_like(voice: str, frames: int, seed: int) -> FloatArray:
    """Return steady noise, (frames,), with the long-term spectrum of a voice."""
    speech = np.concatenate([speak(text, voice) for text in SENTENCES])
    spectrum = np.fft.rfft(speech)
    turns = np.random.default_rng(seed).random(len(spectrum))
    return np.fft.irfft(np.abs(spectrum) * np.exp(2j * np.pi * turns), len(speech))[:frames]


def _run(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise SpeechError(f"there is no {command[0]}; on Debian: apt install espeak-ng") from None
    except subprocess.CalledProcessError as error:
        raise SpeechError(f"{' '.join(command)!r} failed: {error.stderr.strip()}") from None
