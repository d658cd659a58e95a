"""The whole procedure with a simulated person, in this process and in no time."""

from typing import Final

from firmware_py.comparisons.events import PlaySpeech, SpeechEnded, StopSpeech
from firmware_py.comparisons.result import TuningResult
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.comparisons.tuning import Tuning
from firmware_py.inference.preference.answer import Answer
from firmware_py.terms import events
from firmware_py.terms.events import HEARD_BUTTON, UNSURE_BUTTON
from host_tools.research.tuning.people import LIMIT_DB, NUMBERS, WISH_SD_DB, Person, SettingDb

SPEECH_US: Final = 2_000_000
PRESS_US: Final = 1_000_000  # after the beginning of the sound that is meant
STEPS_MAX: Final = 10_000  # a tuning of 25 comparisons has some two hundred
# Of a comparison's sounds, in the second round: when somebody has heard both he can choose.
MEANT: Final = {Answer.FIRST: 2, Answer.SECOND: 3, Answer.SAME: 2}


class SimulatedTuning:
    """One tuning of one person, who presses the button while the better one sounds."""

    def __init__(self, person: Person) -> None:
        self.tuning = Tuning(settings_for(person))
        self.now_us = 0
        self.wearer = person.wearer()
        self._pair: list[SettingDb] = []
        self._comparison = 0
        self._answer = Answer.SAME
        self._ends_us: int | None = None
        self._press_us: int | None = None
        self._wait_us: int | None = None
        self._result: TuningResult | None = None

    def run(self) -> TuningResult:
        self._take(events.Started())
        for _ in range(STEPS_MAX):
            if self._result is not None:
                return self._result
            self._step()
        raise RuntimeError(f"the tuning is {self.tuning.state} after {STEPS_MAX} steps")

    def _step(self) -> None:
        due = [us for us in (self._press_us, self._ends_us, self._wait_us) if us is not None]
        self.now_us = max(self.now_us, min(due))
        if self._press_us is not None and self._press_us <= self.now_us:
            self._press_us = None
            button = UNSURE_BUTTON if self._answer == Answer.SAME else HEARD_BUTTON
            self._take(events.ButtonPressed(self.now_us, button))
        elif self._ends_us is not None and self._ends_us <= self.now_us:
            self._ends_us = None
            self._take(SpeechEnded(self.tuning.number))
        else:
            self._wait_us = None
            self._take(events.TimePassed())

    def _take(self, event: events.Event) -> None:
        for action in self.tuning.handle(self.now_us, event):
            match action:
                case events.Wait(until_us):
                    self._wait_us = until_us
                case PlaySpeech():
                    self._sound(action)
                case StopSpeech():
                    self._ends_us = None
                case events.Finish(TuningResult() as result):
                    self._result = result

    def _sound(self, played: PlaySpeech) -> None:
        """Listen, and choose once both have been heard."""
        if self.tuning.comparison != self._comparison:
            self._comparison, self._pair = self.tuning.comparison, []
        self._ends_us = self.now_us + SPEECH_US
        self._pair.append((played.overall_db, played.tilt_db, played.mid_db, played.soft_db))
        if len(self._pair) == 2:
            self._answer = Answer(self.wearer.answer(*self._pair))
        if len(self._pair) > 2 and len(self._pair) - 1 == MEANT[self._answer]:
            self._press_us = self.now_us + PRESS_US


def settings_for(person: Person) -> TuningSettings:
    return TuningSettings(
        fit="simulated", ranges_db=((-LIMIT_DB, LIMIT_DB),) * NUMBERS,
        prior_sd_db=(WISH_SD_DB,) * NUMBERS, seed=person.seed,
    )  # fmt: skip
