"""Everything that may be chosen about a hearing test, with its limits."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Final, Self

from firmware_py.inference import enough
from firmware_py.terms.printable import show
from firmware_py.terms.route import (
    AIR,
    AUDIOGRAM_FREQUENCIES_HZ,
    BONE,
    EARS,
    HIGHEST_DB_HL,
    LEFT,
    LOWEST_DB_HL,
    RIGHT,
    Route,
    RouteKind,
)

DEFAULT_PROFILE: Final = "default"
PAPER_PROFILE: Final = "gp-pta-2015"  # Cox & de Vries, whose bands are too sure of themselves
FIFTY_PERCENT: Final = "50 %"
CLINICAL_ASCENDING: Final = "clinical, 5 dB ascending"
CONVENTIONS: Final = (FIFTY_PERCENT, CLINICAL_ASCENDING)  # of a threshold
BOTH: Final = "both"
BETTER: Final = "better"
AIR_AND_BONE: Final = f"{AIR}, {BONE}"  # routes
AUTOMATIC: Final = "automatic"
OFF: Final = "off"
NONE: Final = "none"
HUGHSON_WESTLAKE: Final = "hughson-westlake"
BRISK: Final = "brisk"
CLINICAL: Final = "clinical"
BITS: Final = "bits"
BITS_PER_SECOND: Final = "bits-per-second"

PULSES_MIN: Final = 2  # in the shortest train that ends with its window, if there are as many

SEVERAL = tuple[int, ...]  # a setting that is a list

# "brisk" takes no more of a person's time than the answers need; "clinical" keeps the times and
# the retest of ISO 8253-1. These settings have the conduct's value where not told.
CONDUCTS: Final[dict[str, dict[str, Any]]] = {
    BRISK: {
        "tones_min": enough.ANSWERS_MIN, "tones_max": 68,
        "stop_half_width_db": enough.HALF_WIDTH_DB, "catch_rate": 0.25,
        "pause_ms_min": 500, "pause_ms_max": 1700, "response_window_ms": None,
        "objective": BITS_PER_SECOND, "retest": False, "ear_check": False,
    },
    CLINICAL: {
        "tones_min": 12, "tones_max": 40, "stop_half_width_db": 8.0, "catch_rate": 0.1,
        "pause_ms_min": 1200, "pause_ms_max": 2500, "response_window_ms": 1000,
        "objective": BITS, "retest": True, "ear_check": True,
    },
}  # fmt: skip
BY_CONDUCT: Final[Any] = object()  # in place of a value: that of the conduct

# Above this level a test needs the operator's explicit word.
LOUD_DB_HL: Final = 100.0
SEED_MAX: Final = 2**63 - 1
# A tone is at most this much above the louder of two: the tone before it, and the loudest so far
# within half an octave.
STEP_UP_MAX_DB: Final = 20.0
STEP_UP_NEARBY_OCTAVES: Final = 0.5

# IEC 60645-1 takes the rise, and the fall, of a tone from 20 dB to 1 dB below its level. Of the
# raised cosine that the tone generator makes, that is a part; `rise_ms` is the whole.
RISE_TIME_MS: Final = (20.0, 50.0)
PLATEAU_MS_MIN: Final = 150  # of each pulse at its level


def _part_of_rise(level_db: float) -> float:
    # After which part of a raised cosine it has come to a level, in dB re its end.
    return math.asin(10.0 ** (level_db / 40.0)) / (0.5 * math.pi)


_RISE_TIME_PART: Final = _part_of_rise(-1.0) - _part_of_rise(-20.0)  # 0.581
_RISE_MS_MIN: Final = math.ceil(RISE_TIME_MS[0] / _RISE_TIME_PART)
_RISE_MS_MAX: Final = math.floor(RISE_TIME_MS[1] / _RISE_TIME_PART)


class SettingError(ValueError):
    """A setting that is unknown, of the wrong type, or outside its limits."""


def refused(name: str, value: object, allowed: str) -> SettingError:
    return SettingError(f"{name} is {show(value)}; allowed {allowed}")


@dataclass(frozen=True)
class Settings:
    """The settings of one hearing test.

    What is allowed stands beside each: the choices, or lowest, highest and unit. Times are those of
    a person, not of a machine.
    """

    # how the test is conducted; `CONDUCTS` has the settings that follow from it
    conduct: Annotated[str, (BRISK, CLINICAL)] = BRISK
    ears: Annotated[str, (BOTH, LEFT, RIGHT)] = BOTH
    first_ear: Annotated[str, (BETTER, LEFT, RIGHT)] = BETTER  # as familiarisation finds it
    routes: Annotated[str, (AIR, AIR_AND_BONE)] = AIR  # by which; bone comes after air
    # of the estimator; None: the noise is inferred, or left at the profile's value
    profile: Annotated[str, (DEFAULT_PROFILE, PAPER_PROFILE)] = DEFAULT_PROFILE
    response_noise_db: Annotated[float | None, (0.1, 30.0, "dB")] = None
    # what the next tone maximises: the information of its answer, or that per time it takes
    objective: Annotated[str, (BITS, BITS_PER_SECOND)] = BY_CONDUCT
    # what may be asked; above 100 dB HL only with `loud_confirmed`
    frequency_min_hz: Annotated[float, (125.0, 1000.0, "Hz")] = 125.0
    frequency_max_hz: Annotated[float, (1000.0, 8000.0, "Hz")] = 8000.0
    level_min_db_hl: Annotated[float, (LOWEST_DB_HL, 20.0, "dB HL")] = LOWEST_DB_HL
    level_max_db_hl: Annotated[float, (40.0, HIGHEST_DB_HL, "dB HL")] = 100.0
    loud_confirmed: bool = False
    level_step_db: Annotated[float, (0.1, 5.0, "dB")] = 1.0
    # level of the first tone, at 1 kHz
    familiar_level_db_hl: Annotated[float, (LOWEST_DB_HL, 60.0, "dB HL")] = 40.0
    # An ear, familiarisation and retest included, but no silences. What is asked again, what tells
    # of attention (`ear/attention.py`), and what is confirmed, comes on top.
    tones_min: Annotated[int, (1, 100, "tones")] = BY_CONDUCT
    tones_max: Annotated[int, (20, 120, "tones")] = BY_CONDUCT
    # An ear ends when at no audiogram frequency (750 and 1500 Hz only if they are measured) the
    # 95 % band reaches further than this to either side (250 Hz: a quarter further), or when the
    # next answer is expected to tell no more (0: not used).
    stop_half_width_db: Annotated[float, (1.0, 40.0, "dB")] = BY_CONDUCT
    stop_information_bits: Annotated[float, (0.0, 1.0, "bit")] = 0.0
    # silent presentations as a part of all; a brisk test has them only while other evidence leaves
    # it open whether the button is pressed without a tone
    catch_rate: Annotated[float, (0.0, 0.5, "a presentation")] = BY_CONDUCT
    # random pause before a tone, see `presenting/pace.py`
    pause_ms_min: Annotated[int, (300, 10000, "ms")] = BY_CONDUCT
    pause_ms_max: Annotated[int, (500, 20000, "ms")] = BY_CONDUCT
    # A pulse lasts from the start of its rise to the end of its fall, each a raised cosine of
    # `rise_ms`; the gaps are silent. IEC 60645-1 measures the rise from 20 dB to 1 dB below the
    # level, 20 to 50 ms, here 20.3 ms; a pulse and a gap between the points 5 dB below it, 225 ms
    # +-35 ms, here 222 and 228 ms; a plateau of 150 ms, here 190 ms.
    pulse_on_ms: Annotated[int, (PLATEAU_MS_MIN + 2 * _RISE_MS_MIN, 2000, "ms")] = 260
    pulse_off_ms: Annotated[int, (0, 1000, "ms")] = 190
    pulses: Annotated[int, (1, 5, "pulses")] = 3
    rise_ms: Annotated[int, (_RISE_MS_MIN, _RISE_MS_MAX, "ms")] = 35
    # A press counts from so long after the onset to so long after the end of the tone; None: the
    # window follows the listener's own response times, and the train of pulses ends with it.
    response_ms_min: Annotated[int, (0, 300, "ms")] = 100
    response_window_ms: Annotated[int | None, (300, 3000, "ms")] = BY_CONDUCT
    # There is a second button, for "perhaps", and how far from the threshold to either side it is
    # pressed; None: that is inferred. Without it its presses are only recorded.
    unsure_button: bool = False
    unsure_half_width_db: Annotated[float | None, (0.5, 15.0, "dB")] = None
    # "automatic": noise in the other ear wherever that may hear the tone, and a mark where there
    # could be none. "off": none, and with two ears the mark where there should have been some.
    masking: Annotated[str, (AUTOMATIC, OFF)] = AUTOMATIC
    # the ear goes on until every audiogram frequency was asked itself, or to the cap of tones
    ask_all: bool = False
    retest: bool = BY_CONDUCT  # ask 1 kHz again at the end
    # a test of two ears begins with a clear tone, and the question in which ear it was heard
    ear_check: bool = BY_CONDUCT
    # After both ears these frequencies are measured again by the classical rule, modified
    # Hughson-Westlake (ASHA 2005), by tones of their own, whose answers no estimator is given.
    confirm: Annotated[str, (NONE, HUGHSON_WESTLAKE)] = NONE
    confirm_frequencies_hz: Annotated[SEVERAL, AUDIOGRAM_FREQUENCIES_HZ] = (1000, 4000)
    # which threshold paper and exports have (`findings/convention.py`); recorded are 50 % points
    threshold_convention: Annotated[str, CONVENTIONS] = FIFTY_PERCENT
    seed: Annotated[int, (0, SEED_MAX, "")] = 1  # of the random pauses and catch trials

    def __post_init__(self) -> None:
        _check("conduct", self.conduct, self.__dataclass_fields__["conduct"].type)
        for name, value in CONDUCTS[self.conduct].items():
            if getattr(self, name) is BY_CONDUCT:
                object.__setattr__(self, name, value)
        for field in fields(self):
            _check(field.name, getattr(self, field.name), field.type)
        if self.level_max_db_hl > LOUD_DB_HL and not self.loud_confirmed:
            raise SettingError(
                f"level_max_db_hl is {self.level_max_db_hl:g} dB HL; above {LOUD_DB_HL:g} dB HL "
                "loud_confirmed has to be true as well"
            )
        for refusal in self._refusals():
            raise SettingError(refusal)

    def _refusals(self) -> Iterator[str]:
        """Say which settings do not fit one another."""
        low_hz, high_hz = self.frequency_min_hz, self.frequency_max_hz
        if high_hz <= low_hz:
            more_than = f"more than {low_hz:g} Hz (frequency_min_hz)"
            yield f"frequency_max_hz is {high_hz:g} Hz; allowed is {more_than}"
        if self.pause_ms_max < self.pause_ms_min:
            least = f"{self.pause_ms_min} ms (pause_ms_min) and more"
            yield f"pause_ms_max is {self.pause_ms_max} ms; allowed is {least}"
        if self.conduct == CLINICAL and self.pause_ms_min < self.tone_ms:
            yield (
                f"pause_ms_min is {self.pause_ms_min} ms; a pause of a clinical test may not be "
                f"shorter than the tone, which lasts {self.tone_ms} ms"
            )
        shortest_ms = PLATEAU_MS_MIN + 2 * self.rise_ms
        if self.pulse_on_ms < shortest_ms:
            yield (
                f"pulse_on_ms is {self.pulse_on_ms} ms; allowed is {shortest_ms} ms and more, a "
                f"plateau of {PLATEAU_MS_MIN} ms and twice {self.rise_ms} ms (rise_ms)"
            )
        if self.tones_max < self.tones_min:
            yield f"tones_max is {self.tones_max}; allowed is {self.tones_min} (tones_min) and more"
        if self.unsure_half_width_db is not None and not self.unsure_button:
            yield (
                f"unsure_half_width_db is {self.unsure_half_width_db:g} dB; without a second "
                "button allowed is none: unsure_button has to be true as well"
            )
        if self.unsure_button and not self.honest:
            unused = f"profile {self.profile!r} makes no use of it: allowed is false"
            yield f"unsure_button is true; {unused}"
        if self.routes == AIR_AND_BONE and not self.honest:
            yield f"routes is {self.routes!r}; with {self.profile!r} allowed is 'air'"
        if outside_hz := [f for f in self.confirmed_hz if not self._in_range(f)]:
            yield (
                f"confirm_frequencies_hz has {outside_hz[0]} Hz; allowed is what lies from "
                f"{low_hz:g} to {high_hz:g} Hz (frequency_min_hz, frequency_max_hz)"
            )

    def _in_range(self, frequency_hz: float) -> bool:
        return self.frequency_min_hz <= frequency_hz <= self.frequency_max_hz

    @property
    def confirmed_hz(self) -> tuple[int, ...]:
        return () if self.confirm == NONE else self.confirm_frequencies_hz

    @property
    def tested_routes(self) -> list[Route]:
        ears = EARS if self.ears == BOTH else (self.ears,)
        ordered = sorted(ears, key=lambda ear: ear != self.first_ear)
        return [Route(ear, by) for by in self.routes.split(", ") for ear in ordered]

    def in_range(self, frequencies_hz: Iterable[int]) -> list[int]:
        """Return those frequencies of an audiogram that may be asked."""
        return [f for f in frequencies_hz if self._in_range(f)]

    @property
    def honest(self) -> bool:
        """Return whether the bands of its profile can be trusted: the paper's cannot."""
        return self.profile != PAPER_PROFILE

    @property
    def per_second(self) -> bool:
        """Return whether tones are chosen by information per time; the paper chooses by bits."""
        return self.objective == BITS_PER_SECOND and self.profile != PAPER_PROFILE

    def wanted_half_width_db(self, kind: RouteKind, frequency_hz: float) -> float:
        return kind.wider_at_hz.get(frequency_hz, 1.0) * self.stop_half_width_db

    @property
    def familiarisation_counts(self) -> bool:
        return self.conduct == BRISK and self.honest

    @property
    def masked(self) -> bool:
        """Return whether there are two ears, and noise in one where that may hear the other."""
        return self.ears == BOTH and self.masking == AUTOMATIC

    @property
    def dead_zone_half_width_db(self) -> float | None:
        """Return what the estimator is told: 0 without the second button; None: to infer it."""
        return self.unsure_half_width_db if self.unsure_button else 0.0

    @property
    def tone_ms(self) -> int:
        return self.train_ms(self.pulses)

    def train_ms(self, pulses: int) -> int:
        return pulses * self.pulse_on_ms + (pulses - 1) * self.pulse_off_ms

    @property
    def window_ms_min(self) -> int:
        if self.response_window_ms is not None:
            return self.tone_ms + self.response_window_ms
        return self.train_ms(min(PULSES_MIN, self.pulses))

    @property
    def press_buttons(self) -> int:
        return 3 if self.unsure_button else 1

    def as_record(self) -> dict[str, Any]:
        values = asdict(self).items()
        return {name: [*each] if isinstance(each, tuple) else each for name, each in values}

    def as_chosen(self) -> dict[str, Any]:
        """Return the conduct, and what differs from its values: another one has its own."""
        usual = type(self)(conduct=self.conduct).as_record()
        chosen = {n: v for n, v in self.as_record().items() if v != usual[n]}
        return {"conduct": self.conduct, **chosen}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Make settings from JSON or TOML values; what is not named keeps its default."""
        names = [field.name for field in fields(cls)]
        for name in record:
            if name not in names:
                raise SettingError(f"{show(name)} is not a setting; allowed are {', '.join(names)}")
        values = {**record}
        for field in fields(cls):
            several = getattr(field.type, "__origin__", None) == SEVERAL
            if several and isinstance(record.get(field.name), list):
                values[field.name] = tuple(record[field.name])
        return cls(**values)


def choice_begun(name: str, text: str) -> str:
    """Return the one choice that begins so, `;` for a comma; else the text."""
    field = Settings.__dataclass_fields__.get(name)
    if field is None or getattr(field.type, "__origin__", None) is not str:
        return text
    (choices,) = field.type.__metadata__  # type: ignore[union-attr]
    begun = [choice for choice in choices if choice.startswith(text.replace(";", ", "))]
    return begun[0] if len(begun) == 1 else text


def _check(name: str, value: Any, kind: Any) -> None:
    """Check a value by the annotation of its setting: the choices, or lowest, highest and unit."""
    if kind is bool:
        if not isinstance(value, bool):
            raise refused(name, value, "are true and false")
        return
    (allowed,) = kind.__metadata__
    if kind.__origin__ is str:
        if value not in allowed:
            quote = '"' if any("," in each for each in allowed) else ""
            words = ", ".join(f"{quote}{each}{quote}" for each in allowed)
            raise refused(name, value, f"are {words}")
    elif kind.__origin__ == SEVERAL:
        known = isinstance(value, tuple) and all(type(v) is int and v in allowed for v in value)
        if not known or not 1 <= len(set(value)) == len(value):
            told = [*value] if isinstance(value, tuple) else value
            words = ", ".join(map(str, allowed))
            raise refused(name, told, f"is a list of one or more, each once, of {words}")
    elif value is not None or kind.__origin__ not in (float | None, int | None):
        _check_number(name, value, kind.__origin__ in (int, int | None), *allowed)


def _check_number(name: str, value: Any, whole: bool, low: float, high: float, unit: str) -> None:
    number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        ends = (
            f"whole numbers from {low} to {high}" if whole else f"numbers from {low:g} to {high:g}"
        )
        raise refused(name, value, f"are {ends} {unit}".rstrip())
