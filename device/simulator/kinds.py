"""Kinds of listeners: what is unusual about how somebody answers, by the number of the tone.

A kind is named on the command line: ``honest``, ``bursts``, ``noisy=8``, ``silent=12``,
``presser=.95/.5``, ``human=FILE`` ... (`KINDS`). The same kinds sit at the simulated board and in a
study. A kind of one's own is a class, ``package.module:Class`` or an entry point of `GROUP`: made
of a `courses.Start`, it is called with each `courses.Asked` and returns the `courses.Moment`.

What is unusual about a tone depends on the kind, the seed and the number of the tone, so a tone
that is played again under its old number finds the listener as before. Of ``human`` and
``repeating`` the answer before it counts as well: it is remembered by its number, for as long as
the listener sits there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from device.simulator import courses
from device.simulator.courses import NUMBERS_MAX, Asked, Moment, Moments, Start
from device.simulator.own_code import OwnCodeError, class_named, digest_of_source, is_own, names_in
from device.simulator.traces import TraceError, Traces, read_traces

# A listener of somebody's own is asked so many tones before a test: most faults are found here.
CHECKED_TONES: Final = 40
# From the first press to a tone to the second one, of those who press twice.
TWICE_S: Final = (0.3, 0.6)


class KindError(ValueError):
    """A text that names no kind of listener; the message says what is allowed."""


@dataclass(frozen=True)
class Value:
    """A number in the name of a kind, and what is allowed of it."""

    low: float
    high: float
    unit: str
    usual: float | None = None  # where it is not said; None: it has to be

    def read(self, text: str) -> float | None:
        """Return the number of a text, None if it is not allowed."""
        try:
            number = float(text)
        except ValueError:
            return None
        return number if self.low <= number <= self.high else None

    @property
    def allowed(self) -> str:
        return f"from {self.low:g} to {self.high:g} {self.unit}"


@dataclass(frozen=True)
class Form:
    """What the name of a kind looks like, and the course that it stands for."""

    course: Callable[[Start], Moments]
    words: str = ""  # for its values, after the =; "": it has none
    values: tuple[Value, ...] = ()
    remembers: bool = False  # the answer before a tone counts


_NOISE: Final = Value(0.1, 30.0, "dB")
_SHARE: Final = Value(0.0, 1.0, "of the tones")
_OF_SILENCES: Final = Value(0.0, 1.0, "of the silences")
_NUMBER: Final = Value(1, NUMBERS_MAX, "as the number of a tone")
_LOUDER: Final = Value(0.0, 60.0, "dB")

KINDS: Final[dict[str, Form]] = {
    "honest": Form(courses.usual),
    "drifting": Form(courses.drifting),
    "bursts": Form(courses.bursts),
    "noisy": Form(courses.usual, "DB", (_NOISE,)),
    "lapses": Form(courses.usual, "P", (Value(0.0, 0.99, "of the tones"),)),
    "human": Form(courses.human, remembers=True),  # or with a file
    "nobody": Form(courses.never),
    "silent": Form(
        courses.silent, "K[/K]",
        (_NUMBER, Value(1, NUMBERS_MAX, "as the number of a tone", usual=NUMBERS_MAX)),
    ),
    "late": Form(courses.late, "K", (_NUMBER,)),
    "presser": Form(
        courses.presser, "P/P[/K]",
        (_SHARE, _OF_SILENCES, Value(1, NUMBERS_MAX, "as the number of a tone", usual=1)),
    ),
    "rhythm": Form(courses.never, "S", (Value(0.5, 60.0, "s"),)),
    "twice": Form(courses.usual),
    "repeating": Form(courses.repeating, "P", (_SHARE,), remembers=True),
    "tiring": Form(courses.tiring, "DB", (Value(-30.0, 30.0, "dB"),)),
    "uneven": Form(courses.uneven, "DB/DB", (_NOISE, _NOISE)),
    "exaggerating": Form(
        courses.exaggerating, "DB[/DB]", (_LOUDER, Value(0.0, 60.0, "dB", usual=0.0))
    ),
    "accident": Form(courses.accident, "K", (_NUMBER,)),
    "moved": Form(
        courses.moved, "K/DB[/K[/TONES[/HZ/HZ]]]",
        (
            _NUMBER, Value(-40.0, 40.0, "dB"),
            Value(1, NUMBERS_MAX, "as the number of a tone", usual=NUMBERS_MAX),
            Value(1, NUMBERS_MAX, "tones", usual=1),
            Value(0.0, 20000.0, "Hz", usual=0.0), Value(0.0, 20000.0, "Hz", usual=20000.0),
        ),
    ),
    "tinnitus": Form(courses.tinnitus, "HZ/P", (Value(125.0, 16000.0, "Hz"), _SHARE)),
    "cue": Form(courses.cue, "P", (_SHARE,)),
    "rising": Form(courses.rising),
}  # fmt: skip
GROUP: Final = "gp_pta.listeners"  # of entry points
OWN_METHODS: Final = ("__call__",)
OWN_WORDS: Final = "package.module:Class"
OURS_WORDS: Final = ", ".join(
    f"{name}={form.words}" if form.words else name for name, form in KINDS.items()
).replace("human", "human, human=FILE.csv")
KINDS_WORDS: Final = f"{OURS_WORDS}, {OWN_WORDS}"


@dataclass(frozen=True)
class Kind:
    """A kind of listener."""

    text: str = "honest"  # as it was named
    name: str = "honest"
    values: tuple[float, ...] = ()
    traces: Traces | None = None  # of recorded people
    # The softer, the later: by how much the logarithm of the response time falls for each SD of the
    # response noise above the threshold. 0: as fast; people have 0.07 to 0.1.
    response_time_slope: float = 0.0

    @property
    def response_noise_db(self) -> float | None:
        """Return the noise in place of what else is said; None: that."""
        if self.name == "uneven":
            return math.sqrt(self.values[0] * self.values[1])
        return self.values[0] if self.name == "noisy" else None

    @property
    def lapse_rate(self) -> float | None:
        """Return the lapse rate in place of what else is said; None: that."""
        return self.values[0] if self.name == "lapses" else None

    @property
    def source(self) -> str:
        """Return a digest of the file that a class of somebody's own stands in; "": it is ours."""
        if self.name in KINDS:
            return ""
        return digest_of_source(class_named(self.name, GROUP, OWN_METHODS))

    @property
    def beat_s(self) -> float | None:
        """Return from press to press of one who presses in rhythm, whatever is played."""
        return self.values[0] if self.name == "rhythm" else None

    @property
    def twice(self) -> bool:
        return self.name == "twice"

    def silence_rate(self, after: int) -> float | None:
        """Return how likely a press is in a slot of the silence after a tone; None: as usual."""
        match self.name:
            case "nobody" | "rhythm" | "cue":
                return 0.0
            case "silent":
                return 0.0 if self.values[0] <= after + 1 < self.values[1] else None
            case "presser":
                return self.values[1] if after + 1 >= self.values[2] else None
            case _:
                return None


HONEST: Final = Kind()


class Course:
    """How a listener of a kind is from tone to tone, under one seed."""

    def __init__(self, kind: Kind, seed: int, response_noise_db: float) -> None:
        form = KINDS.get(kind.name) or _own_form(kind.name)
        self._moment = form.course(Start(kind.values, seed, response_noise_db, kind.traces))
        self._remembers = form.remembers
        self._pressed: dict[int, bool] = {}
        self._moves, self._seated = kind.name == "moved", False  # the earphones

    def at(self, number: int, frequency_hz: float = 1000.0, above_db: float = 0.0) -> Moment:
        """Return what is unusual at a tone, by its number and what it is.

        `above_db`: how far it is above the listener's threshold.
        """
        if self._moves and self._seated:
            return courses.USUAL
        before = max((n for n in self._pressed if n < number), default=None)
        last = None if before is None else self._pressed[before]
        return self._moment(Asked(number % NUMBERS_MAX, frequency_hz, above_db, last))

    def seat(self) -> None:
        """Put earphones that moved back, for good."""
        self._seated = True

    def take_answer(self, number: int, pressed: bool) -> None:
        if self._remembers:
            self._pressed[number] = pressed


def kind_named(text: str, *, ours: bool = False) -> Kind:
    """Find the kind a text names; a `KindError` if there is none, or its value is not allowed.

    `ours`: no person typed it, so that it is no matter what installed packages call theirs.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    form = KINDS.get(name)
    if form is not None and not ours and name in names_in(GROUP):
        raise KindError(
            f"listener {text!r}: an installed package has {name!r} in {GROUP}, too: the name is "
            f"taken; name its class, {OWN_WORDS}"
        )
    if form is None and is_own(text, GROUP):
        _check_own(text)
        return Kind(text, text)
    if form is None:
        allowed = ", ".join([OURS_WORDS, *names_in(GROUP), OWN_WORDS])
        raise KindError(f"no kind of listener is called {text!r}, allowed are {allowed}")
    if name == "human" and equals:
        try:
            return Kind(text, name, traces=read_traces(Path(value)))
        except TraceError as error:
            raise KindError(f"listener {text!r}: {error}") from None
    if not form.values and equals:
        raise KindError(f"listener {text!r}: {name} has no value, allowed are {KINDS_WORDS}")
    return Kind(text, name, _values(text, value, form))


def _own_form(name: str) -> Form:
    made = class_named(name, GROUP, OWN_METHODS)
    return Form(made, remembers=bool(getattr(made, "remembers", False)))


def _check_own(name: str) -> None:
    """Refuse a class that is no kind of listener."""
    try:
        course = Course(Kind(name, name), 1, 2.0)
        moments: list[Any] = [course.at(number) for number in range(CHECKED_TONES)]
    except OwnCodeError as error:
        raise KindError(f"listener {error}") from None
    except TypeError as error:
        raise KindError(
            f"listener {name!r} cannot be made of a Start and called with an Asked: {error}"
        ) from None
    except Exception as error:  # whatever somebody's own class may raise
        raise KindError(f"listener {name!r} {OwnCodeError.of(error)}") from error
    for moment in moments:
        if not isinstance(moment, Moment):
            raise KindError(f"listener {name!r} returns {moment!r}; allowed is a Moment")
        if not all(map(math.isfinite, (moment.criterion_db, moment.response_noise_db or 0.0))):
            raise KindError(f"listener {name!r} returns {moment!r}; allowed are finite numbers")


def _values(text: str, said: str, form: Form) -> tuple[float, ...]:
    """Read the values of a kind, and put the usual ones in the place of those that are not said."""
    words = said.split("/") if form.values else []
    if len(words) > len(form.values):
        raise KindError(f"listener {text!r}: allowed are {len(form.values)} numbers at most")
    numbers = []
    for place, value in enumerate(form.values):
        usual = value.usual if place >= len(words) else None
        number = usual if usual is not None else value.read("".join(words[place : place + 1]))
        if number is None:
            raise KindError(f"listener {text!r}: allowed are numbers {value.allowed}")
        numbers.append(number)
    return tuple(numbers)
