"""Which ear is which: before a test of two ears a clear tone, and the question in which ear it is.

Earphones that are the wrong way round show in no audiogram: both are good ones, of the other ear.
So a tone is played in one ear, chosen by chance, and louder, in both ears in turn, until one is
answered. The ear that is the first to hear it hears it itself: nothing that is softer than what the
better ear needs is heard through the skull. Then it is played again and again, and the operator is
to ask the listener in which ear it is.

The other ear was named: the test waits until somebody has looked at the earphones, and asks again.
Nobody can say: it asks once more. After a minute without a word it goes on. What came of it is in
the result; the answers are given to nobody else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from firmware_py.procedure import tells
from firmware_py.procedure.events import Action
from firmware_py.procedure.familiarisation import FAMILIAR_UP_DB
from firmware_py.procedure.levels import Levels
from firmware_py.procedure.outcomes import UNSURE, Purpose, WhichEar, Why
from firmware_py.procedure.presentation import Presentation
from firmware_py.procedure.randomness import EAR_STREAM, uniform
from firmware_py.procedure.reasons import Code, Reason, reason
from firmware_py.procedure.route import LEFT, RIGHT
from firmware_py.procedure.settings import BOTH, FAMILIAR_FREQUENCY_HZ, STEP_UP_MAX_DB, Settings

UNSURE_MAX: Final = 2  # answers of a listener who cannot say; then the test goes on
ASKED_US_MAX: Final = 60_000_000  # without a word of the operator; then the test goes on

assert FAMILIAR_UP_DB <= STEP_UP_MAX_DB


@dataclass
class _Question:
    """One search for a tone that is heard, and the question in which ear it is."""

    ears: tuple[str, str]  # in the order in which they are tried
    level_db_hl: float
    tried: int = 0  # tones of this level; each ear has one
    limited: int = 0  # of these, those that were as loud as that ear's may be
    ear: str = ""  # in which the tone was heard; "": none was yet
    until_us: int = 0  # when it is given up


class EarCheck:
    """The question which ear is which, of one session.

    Parameters
    ----------
    settings : Settings
    levels : mapping of str to Levels
        Of each ear that is tested.

    Attributes
    ----------
    found : WhichEar
        What came of it so far.
    under_way : bool
        Whether the test has not gone on to its first ear yet.
    waits : bool
        Whether somebody is to look at the earphones first.
    """

    def __init__(self, settings: Settings, levels: Mapping[str, Levels]) -> None:
        self._settings = settings
        self._levels = levels
        self.found = WhichEar.NOT_ASKED
        self.under_way = settings.ear_check and settings.ears == BOTH
        self.waits = False
        self._unsure = 0
        self._played = ""  # the ear in which a tone was played that was heard in the other one
        self._questions = 0
        self._question = self._new_question()

    @property
    def asks(self) -> bool:
        """Return whether the operator is to say in which ear the listener hears the tone."""
        return self.under_way and not self.waits and self._question.ear != ""

    @property
    def why(self) -> Reason:
        """Return what the operator is to do: to ask, or to look at the earphones."""
        if self.waits:
            return reason(Code.TURN_EARPHONES, ear=self._played)
        return reason(Code.WHICH_EAR)

    def tone(self) -> tuple[str, Presentation]:
        """Return the next tone, and for which ear.

        A pure function of what came so far: asked twice, it says the same.
        """
        question = self._question
        ear = question.ear or question.ears[question.tried]
        level_db_hl = question.level_db_hl
        tone = self._levels[ear].tone(Purpose.CHECK, FAMILIAR_FREQUENCY_HZ, level_db_hl)
        return ear, replace(tone, why=Why.WHICH_EAR)

    def answered(
        self, now_us: int, ear: str, tone: Presentation, heard: bool | None
    ) -> list[Action]:
        """Take the answer to a tone, and say what the operator is told.

        None: the listener was unsure, so it was not a clear tone.
        """
        self._levels[ear].presented(tone)
        question = self._question
        if question.ear:
            if now_us >= question.until_us:
                self.give_up()
                return [tells.GoingOnTold()]
        elif heard:
            question.ear, question.until_us = ear, now_us + ASKED_US_MAX
            self._not_confirmed()
            if question.level_db_hl > self._settings.familiar_level_db_hl:
                question.level_db_hl += FAMILIAR_UP_DB  # it was near the threshold: now it is clear
            return [tells.EarCheckTold(self.why)]
        else:
            self._louder(tone.level_db_hl >= self._levels[ear].limit_db_hl(FAMILIAR_FREQUENCY_HZ))
        return []

    def _louder(self, was_limit: bool) -> None:
        """Try the other ear, or both at a higher level; give up when there is none."""
        question = self._question
        question.tried += 1
        question.limited += was_limit
        if question.tried < len(question.ears):
            return
        if question.limited == len(question.ears):
            self.give_up()
        question.tried = question.limited = 0
        question.level_db_hl += FAMILIAR_UP_DB

    def named(self, ear: str) -> None:
        """Take the operator's word: in which ear the listener heard the tone, or `UNSURE`."""
        if ear == self._question.ear:
            self.found, self.under_way = WhichEar.CONFIRMED, False
        elif ear != UNSURE:
            self.found, self.waits = WhichEar.CONTRADICTED, True
            self._played = self._question.ear
        else:
            self._unsure += 1
            if self._unsure == UNSURE_MAX:
                self.give_up()
            else:
                self.ask_again()

    def ask_again(self) -> None:
        """Begin again with a tone that is heard: in an ear that nobody can foresee."""
        self.waits = False
        self._question = self._new_question()

    def give_up(self) -> None:
        """Go on with the test without an answer."""
        self.under_way = False
        self._not_confirmed()

    def _not_confirmed(self) -> None:
        if self.found == WhichEar.NOT_ASKED:
            self.found = WhichEar.NOT_CONFIRMED

    def _new_question(self) -> _Question:
        chance = uniform(self._settings.seed, EAR_STREAM, self._questions)
        self._questions += 1
        ears = (RIGHT, LEFT) if chance < 0.5 else (LEFT, RIGHT)
        return _Question(ears, self._settings.familiar_level_db_hl)
