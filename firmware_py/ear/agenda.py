"""What comes next, of an ear and of a session alike: what an ordered list of reasons proposes.

A reason to ask is a pure function of what is known. It proposes steps, or nothing; whoever owns the
list does them, reason by reason, until one ends the search.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from firmware_py.ear.in_place import InPlace
from firmware_py.ear.otherwise import Otherwise
from firmware_py.ear.retest import Retest
from firmware_py.inference.stories import Suspicion
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.presentation import Observation
from firmware_py.terms.reasons import Reasons

Known_contra = TypeVar("Known_contra", contravariant=True)
Step_co = TypeVar("Step_co", covariant=True)
Known = TypeVar("Known")
Done = TypeVar("Done")


class Proposes(Protocol[Known_contra, Step_co]):
    """A reason to ask."""

    def propose(self, known: Known_contra, /) -> Sequence[Step_co]:
        """Return what is to be done for it, in order; nothing: there is no cause."""


def take_first(
    reasons: Iterable[Proposes[Known, Done]], known: Known, do: Callable[[Done], bool]
) -> bool:
    """Do what is proposed, reason by reason, until a step ends the search; return if one did."""
    return any(do(step) for each in reasons for step in each.propose(known))


# The steps of an ear.


@dataclass(frozen=True)
class Ask:
    """Ask, for a reason, this tone, or one that is chosen later (None); this ends the search."""

    why: Why
    purpose: Purpose
    tone: tuple[float, float] | None = None


@dataclass(frozen=True)
class End:
    """End the ear, by the answers to so many tones, or to all (None); this ends the search."""

    outcome: Outcome
    why: Reasons
    tones: int | None = None


@dataclass(frozen=True)
class Forget:
    """Forget answers: who gave them was not there, did not know the task, or did not attend."""

    answers: list[Observation]
    why: Why


@dataclass(frozen=True)
class Allow:
    """Allow so many tones on top of the cap."""

    tones: int


@dataclass(frozen=True)
class Begin:
    """Begin a check of what the listener does, or of the earphone, or the retest."""

    what: Suspicion | Otherwise | InPlace | Retest


@dataclass(frozen=True)
class LookedAt:
    """Look at this no more: it is looked at once an ear."""

    why: Why


@dataclass(frozen=True)
class ExpectChecks:
    """Expect so many clear tones in all, with those that were asked."""

    count: int


EarStep = Ask | End | Forget | Allow | Begin | LookedAt | ExpectChecks
