"""One presentation, its answer, and the noise that the other ear had with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from firmware_py.terms.outcomes import ASKED, Purpose, Why
from firmware_py.terms.reasons import Reason

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Presentation:
    """One presentation: a tone, or for a catch trial the absence of one."""

    purpose: Purpose
    frequency_hz: float
    level_db_hl: float
    # what the answer was expected to tell when the estimator chose the tone; None: it did not
    information_bits: float | None = field(default=None, compare=False)
    why: Why | None = field(default=None, compare=False)  # the reason to ask it

    @property
    def is_asked(self) -> bool:
        return self.purpose in ASKED


SILENCE: Final = Presentation(Purpose.CATCH, 0.0, 0.0, why=Why.SILENCE_DUE)


@dataclass(frozen=True)
class Cover:
    """How the other ear was kept from hearing a tone."""

    # effective masking level of the noise it had; None: it had none
    noise_db_hl: float | None = None
    why: Reason | None = None  # it needed noise, and if it had none, why not
    in_own_ear: bool = False  # the noise is to hide the tone itself


NO_COVER: Final = Cover()


@dataclass(frozen=True)
class Observation:
    """A presentation and its answer."""

    presentation: Presentation
    heard: bool | None  # None: unsure
    cover: Cover


def without(kept: Sequence[Kept], dropped: Sequence[Observation]) -> list[Kept]:
    """Return what is left without these answers; another one that is like them stays."""
    gone = set(map(id, dropped))
    return [each for each in kept if id(each) not in gone]
