"""A look at one ear after an answer, and what a reason to ask is, which has cause by it or not."""

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar

from firmware_py.ear.ear_parts import EarParts
from firmware_py.ear.objective import Objective
from firmware_py.ear.stopping import Stop
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.presentation import Observation, Presentation


class Look:
    """One look at an ear after an answer.

    Attributes
    ----------
    answered : bool
        Whether that answer was to a presentation that counts; not after a check of the listener.
    over : bool
        Whether the ear ends, whatever other reasons say.
    """

    def __init__(self, ear: EarParts, *, answered: bool) -> None:
        self._ear = ear
        self.answered = answered
        self.over = False

    @cached_property
    def stop(self) -> Stop | None:
        """Return the end of the measurement, None if the answers are not enough yet."""
        return self._ear.rule.judge()

    @property
    def enough(self) -> bool:
        """Return whether the answers are enough for numbers."""
        return self.stop is not None and self.stop.enough

    @property
    def spare(self) -> bool:
        """Return whether something may still be asked before that end."""
        sound = self.stop is not None and self.stop.outcome != Outcome.UNRELIABLE
        return sound and not self._ear.rule.exhausted

    def end(self, stop: Stop) -> None:
        self.stop, self.over = stop, True

    def first_of(self, reasons: "Iterable[ReasonToAsk]") -> "ReasonToAsk | None":
        """Return the first reason that has cause; None: none has, or the ear is over."""
        for each in reasons:
            if each.has_cause(self._ear, self):
                return each
            if self.over:
                break
        return None


class ReasonToAsk:
    """A reason to ask.

    Attributes
    ----------
    why : Why
        Its name in the record.
    purpose : Purpose
        Of what it asks.
    """

    why: ClassVar[Why]
    purpose: ClassVar[Purpose] = Purpose.MEASURE

    def has_cause(self, _ear: EarParts, _look: Look) -> bool:
        """Return whether there is cause for it after an answer, and take what it asks as due."""
        return False

    def propose(
        self, ear: EarParts, due: "ReasonToAsk | None", _number: int, objective: Objective
    ) -> Presentation | None:
        """Return what to present if this is the reason that is `due`, None otherwise."""
        return self.presentation(ear, objective) if due is self else None

    def presentation(self, ear: EarParts, objective: Objective) -> Presentation:
        """Return what to present; `objective`: what the most informative tone is chosen for."""
        raise NotImplementedError

    def take_answer(self, ear: EarParts, observation: Observation) -> None:
        """Take the answer to its tone."""

    def goes_on(self, ear: EarParts) -> bool:
        """Return whether it has more to ask before the reasons below the first are looked at."""
        return False

    def finish(self, ear: EarParts) -> None:
        """Take in that it has nothing more to ask."""
