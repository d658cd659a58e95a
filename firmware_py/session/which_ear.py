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

from firmware_py.ear.familiarisation import FAMILIAR_UP_DB
from firmware_py.ear.levels import Levels
from firmware_py.terms import tells
from firmware_py.terms.events import Action
from firmware_py.terms.outcomes import UNSURE, Purpose, WhichEar, Why
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.randomness import EAR_STREAM, uniform
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.route import LEFT, RIGHT, Route
from firmware_py.terms.settings import BOTH, STEP_UP_MAX_DB, Settings

UNSURE_MAX: Final = 2  # answers of a listener who cannot say; then the test goes on
ASKED_US_MAX: Final = 60_000_000  # without a word of the operator; then the test goes on

assert FAMILIAR_UP_DB <= STEP_UP_MAX_DB


@dataclass
class _Question:
    """One search for a tone that is heard, and the question in which ear it is."""

    routes: tuple[Route, Route]  # in the order in which they are tried
    level_db_hl: float
    tried: int = 0  # tones of this level; each ear has one
    limited: int = 0  # of these, those that were as loud as that ear's may be
    heard: Route | None = None  # in which the tone was heard; None: none was yet
    until_us: int = 0  # when it is given up


class EarCheck:
    """The question which ear is which, of one session."""

    def __init__(self, settings: Settings, levels: Mapping[Route, Levels]) -> None:
        self._settings = settings
        self._levels = levels
        self.found = WhichEar.NOT_ASKED
        # The test has not gone on to its first ear yet.
        self.under_way = settings.ear_check and settings.ears == BOTH
        self.waits = False  # until somebody has looked at the earphones
        self._unsure = 0
        self._played: Route | None = None  # of a tone that was heard in the other ear
        self._questions = 0
        self._question = self._new_question()

    @property
    def asks(self) -> bool:
        """Return whether the operator is to say in which ear the listener hears the tone."""
        return self.under_way and not self.waits and self._question.heard is not None

    @property
    def why(self) -> Reason:
        if self.waits:
            return reason(Code.TURN_EARPHONES, ear=str(self._played))
        return reason(Code.WHICH_EAR)

    def tone(self) -> tuple[Route, Presentation]:
        """Return the next tone, and by which route; asked twice, it says the same."""
        asked = self._question
        route = asked.heard or asked.routes[asked.tried]
        tone = self._levels[route].tone(Purpose.CHECK, route.kind.familiar_hz, asked.level_db_hl)
        return route, replace(tone, why=Why.WHICH_EAR)

    def take_answer(
        self, now_us: int, route: Route, tone: Presentation, heard: bool | None
    ) -> list[Action]:
        """Take an answer, None of a tone that was not clear, and say what the operator is told."""
        levels = self._levels[route]
        levels.note_tone(tone)
        question = self._question
        if question.heard is not None:
            if now_us >= question.until_us:
                self.give_up()
                return [tells.GoingOnTold()]
        elif heard:
            question.heard, question.until_us = route, now_us + ASKED_US_MAX
            self._not_confirmed()
            if question.level_db_hl > self._settings.familiar_level_db_hl:
                question.level_db_hl += FAMILIAR_UP_DB  # it was near the threshold: now it is clear
            return [tells.EarCheckTold(self.why)]
        else:
            self._louder(tone.level_db_hl >= levels.limit_db_hl(route.kind.familiar_hz))
        return []

    def _louder(self, was_limit: bool) -> None:
        question = self._question
        question.tried += 1
        question.limited += was_limit
        if question.tried < len(question.routes):
            return
        if question.limited == len(question.routes):
            self.give_up()
        question.tried = question.limited = 0
        question.level_db_hl += FAMILIAR_UP_DB

    def take_word(self, ear: str) -> None:
        """Take the operator's word: in which ear the listener heard the tone, or `UNSURE`."""
        played = self._question.heard
        if played is not None and ear == played.ear:
            self.found, self.under_way = WhichEar.CONFIRMED, False
        elif ear != UNSURE:
            self.found, self.waits = WhichEar.CONTRADICTED, True
            self._played = played
        else:
            self._unsure += 1
            if self._unsure == UNSURE_MAX:
                self.give_up()
            else:
                self.ask_again()

    def end_pause(self, now_us: int) -> bool:
        """Ask for the whole time, and anew if the earphones were looked at; return if they were."""
        looked_at = self.waits
        if looked_at:
            self.ask_again()
        self._question.until_us = now_us + ASKED_US_MAX
        return looked_at

    def ask_again(self) -> None:
        """Begin again with a tone that is heard: in an ear that nobody can foresee."""
        self.waits = False
        self._question = self._new_question()

    def give_up(self) -> None:
        self.under_way = False
        self._not_confirmed()

    def _not_confirmed(self) -> None:
        if self.found == WhichEar.NOT_ASKED:
            self.found = WhichEar.NOT_CONFIRMED

    def _new_question(self) -> _Question:
        chance = uniform(self._settings.seed, EAR_STREAM, self._questions)
        self._questions += 1
        by_air = [route for route in self._levels if not route.by_bone]
        by_air.sort(key=lambda route: route.ear == (RIGHT if chance < 0.5 else LEFT), reverse=True)
        return _Question((by_air[0], by_air[-1]), self._settings.familiar_level_db_hl)
