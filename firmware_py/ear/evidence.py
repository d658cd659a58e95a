"""What is known of an ear's answers: an immutable list, and what was expected before it."""

from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_
from typing import Final, Self, TypeGuard

from firmware_py.inference.curves import Curves
from firmware_py.inference.kernel import Array
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Observation, without
from firmware_py.terms.route import Route

Item = Observation | bool  # an answer, or whether a pause had a press

# Presses in so many of the pauses, and in so large a part of them, are no accident.
PAUSES_PRESSED_MIN: Final = 5
PAUSES_PRESSED_SHARE: Final = 0.1


@dataclass(frozen=True)
class Pauses:
    """How many pauses before a presentation there were, and in how many a button was pressed."""

    count: int = 0
    pressed: int = 0

    def __add__(self, other: "Pauses") -> "Pauses":
        return Pauses(self.count + other.count, self.pressed + other.pressed)

    @property
    def inattentive(self) -> bool:
        share = PAUSES_PRESSED_SHARE * self.count
        return self.pressed >= PAUSES_PRESSED_MIN and self.pressed >= share


@dataclass(frozen=True, eq=False)
class OtherEar:
    """What the test of another ear told of the listener: its evidence, and the shares of kinds."""

    route: Route
    evidence: "Evidence"
    listener_shares: Array


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence of one ear; a change of it is another one."""

    given: tuple[Item, ...] = ()  # to the estimator, in order
    # By bone, answers to tones without noise, which either cochlea may have given. What is expected
    # of the `threshold` rests on them: they are not given to the estimator again.
    of_either: tuple[Observation, ...] = ()
    before_own: int = 0  # so many of `given` come before it was asked what is the ear's own
    listener: OtherEar | None = None  # what another ear told of the listener before
    threshold: Curves | None = None  # of this very ear, known before; None: what people have

    @cached_property
    def tones(self) -> list[Observation]:
        """Return the tones whose answers the estimator has, in its order."""
        return [each for each in self.given if _is_tone(each)]

    @cached_property
    def observations(self) -> list[Observation]:
        return [*self.of_either, *(e for e in self.given if isinstance(e, Observation))]

    @cached_property
    def pauses(self) -> Pauses:
        pressed = [each for each in self.given if isinstance(each, bool)]
        return Pauses(len(pressed), sum(pressed))

    def new_since(self, before: "Evidence") -> tuple[Item, ...] | None:
        """Return what came after that; None: it is not that and more."""
        known = len(before.given)
        same = (
            before.listener is self.listener
            and before.threshold is self.threshold
            and len(self.given) >= known
            and all(map(is_, self.given, before.given))
        )
        return self.given[known:] if same else None

    def with_answer(self, observation: Observation, pressed: bool | None = None) -> Self:
        new = (observation,) if pressed is None else (pressed, observation)
        return replace(self, given=(*self.given, *new))

    def without(self, dropped: list[Observation]) -> Self:
        """Return it without these answers: the other ear's, or given without attention."""
        given, of_either = without(self.given, dropped), without(self.of_either, dropped)
        return replace(self, given=tuple(given), of_either=tuple(of_either))

    def up_to(self, tones: int) -> Self:
        """Return it as if nothing had come after so many tones, no pause and no press either."""
        places = [place for place, each in enumerate(self.given, 1) if _is_tone(each)]
        return replace(self, given=self.given[: places[tones - 1] if tones else self.before_own])

    def of_own(self, threshold: Curves) -> Self:
        """Return it for what is the ear's own: what is known of that rests on the tones so far."""
        given, either = tuple(without(self.given, self.tones)), (*self.of_either, *self.tones)
        return replace(
            self, given=given, of_either=either, before_own=len(given), threshold=threshold
        )


def _is_tone(item: Item) -> TypeGuard[Observation]:
    return isinstance(item, Observation) and not is_catch(item)


def is_catch(observation: Observation) -> bool:
    return observation.presentation.purpose == Purpose.CATCH
