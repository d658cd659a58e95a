"""What a test has found of an ear after so many tones, by each method of `study`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from device.hearing_aid.electroacoustics import FREQUENCIES_HZ
from device.speech import FloatArray
from firmware_py.procedure.settings import BRISK
from host_tools.research.methods.registry import Learned, make_method
from host_tools.research.study.listener import Answering, Ear, Listener
from host_tools.research.study.session import SessionClock, task_of

ANSWERING = Answering(response_noise_db=2.0, lapse_rate=0.01, false_alarm_rate=0.01)
RESPONSE_TIME_S = 0.4  # median


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of an ear after some tones."""

    tones: int
    seconds: float
    thresholds_db_hl: FloatArray  # at `FREQUENCIES_HZ`


def thresholds_after(
    method_name: str, ear: Ear, counts: Sequence[int], seed: int, learned: Learned
) -> list[Found]:
    """Return what a method has found after each number of tones.

    Parameters
    ----------
    method_name : str
        One of `host_tools.research.methods.names.METHODS`.
    ear : Ear
        Its listener has the same luck with every method.
    counts : sequence of int
        Rising. Of a method that ends before, what it ended with.
    seed : int
    learned : Learned
        What some methods learned from other ears.
    """
    method = make_method(method_name, task_of(ear, seed, ANSWERING, counts[-1]), learned)
    listener = Listener(ear, ANSWERING, seed, counts[-1])
    clock = SessionClock(ear.name, seed, counts[-1], BRISK, RESPONSE_TIME_S)
    found, ended = [], False
    for tone in range(counts[-1]):
        stimulus = None if ended else method.next_stimulus()
        ended = stimulus is None
        if stimulus is not None:
            at = (stimulus.frequency_hz, stimulus.level_db_hl)
            heard = listener.hears(tone, *at)
            method.observe(*at, heard)
            clock.play(tone, heard)
        if tone + 1 in counts:
            thresholds_db_hl = np.array(method.threshold(FREQUENCIES_HZ)[0])
            found.append(Found(tone + 1, clock.seconds, thresholds_db_hl))
    return found


def thresholds_before(method_name: str, ear: Ear, seed: int) -> FloatArray:
    """Return what a method that learns from nobody expects of any ear, before its first tone."""
    method = make_method(method_name, task_of(ear, seed, ANSWERING, 1), Learned())
    return np.array(method.threshold(FREQUENCIES_HZ)[0])
