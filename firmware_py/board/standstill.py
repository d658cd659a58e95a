"""How long a test may stay in one place while its tone generator answers: no state is for ever."""

from typing import Final

from firmware_py.platform.clock import SteadyClock
from firmware_py.presenting.presenter import FINISHED, PAUSED, READY
from firmware_py.session.hearing import HearingTest

STATE_S_MAX: Final = 60.0  # the longest pause that may be set is 20 s
PRESENTATION_S_MAX: Final = 300.0  # five starts of a tone, each with that pause
TURN_US_MAX: Final = 1_000_000  # of the loop; in a longer one this machine stood still
WAITS_FOR_SOMEBODY: Final = (READY, PAUSED, FINISHED)  # for the operator, or a tone generator


class _Place:
    """Where a test is, and for how long."""

    def __init__(self) -> None:
        self.where: object = None
        self.us = 0

    def lasts(self, where: object, us: int) -> float:
        """Return for how many seconds it has been there, after so much more time."""
        self.us = self.us + us if where == self.where else 0
        self.where = where
        return self.us / 1e6


class Standstill:
    """Notices a test that does not go on.

    Parameters
    ----------
    clock : SteadyClock
        That of the wire.
    """

    def __init__(self, clock: SteadyClock) -> None:
        self._clock = clock
        self._looked_us = clock.now_us()
        self._test: HearingTest | None = None
        self._state, self._presentation = _Place(), _Place()

    def look(self, test: HearingTest | None, *, answered: bool) -> str:
        """Look at the test under way; `answered`: its tone generator answers. Say what is wrong."""
        now_us = self._clock.now_us()
        us = min(now_us - self._looked_us, TURN_US_MAX) if answered else 0
        self._looked_us = now_us
        if test is not self._test or test is None or test.state in WAITS_FOR_SOMEBODY:
            self._test, self._state, self._presentation = test, _Place(), _Place()
            return ""
        state_s = self._state.lasts((test.number, test.state), us)
        presentation_s = self._presentation.lasts(test.number, us)
        if state_s >= STATE_S_MAX:
            return f"presentation {test.number} was {test.state!r} for {STATE_S_MAX:g} s"
        if presentation_s >= PRESENTATION_S_MAX:
            return f"presentation {test.number} was not over in {PRESENTATION_S_MAX:g} s"
        return ""
