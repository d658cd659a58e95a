"""Whole tunings by the firmware's own procedure, in no time: when they end, and with what."""

from dataclasses import dataclass

from firmware_py.inference.preference.answers import Answer
from firmware_py.procedure.events import Action, Event, Finish, Started, TimePassed, Wait
from firmware_py.procedure.tuning.events import Answered, PlaySpeech, SpeechEnded
from firmware_py.procedure.tuning.outcomes import Finding
from firmware_py.procedure.tuning.result import TuningResult
from firmware_py.procedure.tuning.settings import TuningSettings
from firmware_py.procedure.tuning.tuning import Tuning
from host_tools.research.tuning.people import LIMIT_DB, WISH_SD_DB, Somebody

SPEECH_US = 2_000_000


@dataclass(frozen=True)
class Ended:
    """How a tuning ended."""

    finding: str
    comparisons: int
    seconds: float
    regret: float  # of what the aid is left at, over that of the prescription

    @property
    def is_found(self) -> bool:
        """Return whether a wish was found."""
        return self.finding != Finding.NONE


def ended(somebody: Somebody) -> Ended:
    """Tune until the procedure ends it."""
    run = _Run(somebody)
    result = run.live()
    before = somebody.regret([0.0] * len(LIMIT_DB))
    regret = run.wish_regret(result) / max(before, 1e-9)
    return Ended(result.finding, result.comparisons, run.now_us / 1e6, regret)


class _Run:
    """A procedure, a person, and the time between them."""

    def __init__(self, somebody: Somebody) -> None:
        self._somebody, self._wearer = somebody, somebody.wearer()
        ranges_db = tuple((-limit, limit) for limit in LIMIT_DB)
        self._tuning = Tuning(TuningSettings("0" * 12, ranges_db, WISH_SD_DB, seed=somebody.seed))
        self._heard: list[tuple[float, ...]] = []
        self.now_us = 0

    def live(self) -> TuningResult:
        """Go on to the end, and return the result."""
        event: Event = Started()
        while True:
            actions = self._tuning.handle(self.now_us, event)
            for action in actions:
                if isinstance(action, Finish):
                    assert isinstance(action.result, TuningResult)
                    return action.result
            event = self._next(actions)

    def wish_regret(self, result: TuningResult) -> float:
        """Return the regret of the result, for what is wanted in the end."""
        return -self._wearer.utility(result.setting_db)

    def _next(self, actions: list[Action]) -> Event:
        for action in actions:
            match action:
                case PlaySpeech(number, overall_db, tilt_db, mid_db, soft_db):
                    self._heard.append((overall_db, tilt_db, mid_db, soft_db))
                    self.now_us += SPEECH_US
                    if len(self._heard) < 2:
                        return SpeechEnded(number)
                    (first, second), self._heard = self._heard, []
                    return Answered(Answer(self._wearer.answer(first, second)))
                case Wait(until_us):
                    self.now_us = until_us
                    return TimePassed()
        raise AssertionError(f"the tuning waits for nobody: {actions}")
