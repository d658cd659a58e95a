"""The clock of a study: what each tone of a session takes, by the same rule for every method.

Before a tone is a pause, as a test of that conduct draws it. A tone that is heard lasts until the
press, one that is not until the end of its window, which follows the response times so far where
the conduct's does. Nothing else takes time: no method pays for thinking.
"""

from device.simulator.listener import response_time_s
from firmware_py.procedure.pace import Pace
from firmware_py.procedure.settings import Settings
from host_tools.research.study.listener import response_speeds, session_seed


class SessionClock:
    """The clock of one session.

    Parameters
    ----------
    name : str
        Of the ear: pauses and response times depend on it, on the seed and on the number of the
        tone, so all methods have the same.
    seed : int
    tones : int
        At most so many are played.
    conduct : str
        Whose pauses and windows.
    response_time_s : float
        Median of the listener.
    """

    def __init__(
        self, name: str, seed: int, tones: int, conduct: str, response_time_s: float
    ) -> None:
        self._pace = Pace(Settings(conduct=conduct, seed=session_seed(name, seed)))
        self._speeds = response_speeds(name, seed, tones)
        self._median_s = response_time_s
        self._us = 0

    @property
    def seconds(self) -> float:
        """Return what the tones so far have taken."""
        return 1e-6 * self._us

    def played(self, tone: int, heard: bool) -> None:
        """Let tone number 0, 1, 2 ... pass, with the pause before it."""
        self._us += self._pace.pause_us(tone + 1)
        if not heard:
            self._us += self._pace.window_us
            return
        response_us = round(1e6 * response_time_s(self._median_s, self._speeds[tone]))
        self._us += response_us
        self._pace.answered(response_us)
