"""Everything that may be chosen about a hearing test, with its limits."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Final

LEFT: Final = "left"
RIGHT: Final = "right"
BOTH: Final = "both"
BETTER: Final = "better"
AUTOMATIC: Final = "automatic"
OFF: Final = "off"

AUDIOGRAM_FREQUENCIES_HZ: Final = (250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
# Clinics ask them only where their neighbours are 20 dB apart; their bands do not hold up the end.
INTER_OCTAVE_FREQUENCIES_HZ: Final = (750, 1500)
FAMILIAR_FREQUENCY_HZ: Final = 1000.0  # familiarisation and retest, ISO 8253-1

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


@dataclass(frozen=True)
class Settings:
    """The settings of one hearing test.

    What is allowed stands beside each: the choices, or lowest, highest and unit. Times are those of
    a person, not of a machine.
    """

    # `ears`, `first_ear`: which ears, and which first: "better" is the one that familiarisation
    # finds better
    ears: Annotated[str, (BOTH, LEFT, RIGHT)] = BOTH
    first_ear: Annotated[str, (BETTER, LEFT, RIGHT)] = BETTER
    # `profile`, `response_noise_db`: of the estimator; None: the noise is inferred, or left at the
    # profile's value
    profile: Annotated[str, ("default", "annealed-laplace", "gp-pta-2015")] = "default"
    response_noise_db: Annotated[float | None, (0.1, 30.0, "dB")] = None
    # `frequency_min_hz`, `frequency_max_hz`, `level_min_db_hl`, `level_max_db_hl`, `level_step_db`:
    # What may be asked. Above 100 dB HL only with `loud_confirmed`.
    frequency_min_hz: Annotated[float, (125.0, 1000.0, "Hz")] = 125.0
    frequency_max_hz: Annotated[float, (1000.0, 8000.0, "Hz")] = 8000.0
    level_min_db_hl: Annotated[float, (-10.0, 20.0, "dB HL")] = -10.0
    level_max_db_hl: Annotated[float, (40.0, 120.0, "dB HL")] = 100.0
    loud_confirmed: bool = False
    level_step_db: Annotated[float, (0.1, 5.0, "dB")] = 1.0
    # level of the first tone, at 1 kHz
    familiar_level_db_hl: Annotated[float, (-10.0, 60.0, "dB HL")] = 40.0
    # `tones_min`, `tones_max`: Tones an ear, familiarisation and retest included; silent catch
    # trials are not tones. What is asked again with noise comes on top.
    tones_min: Annotated[int, (1, 100, "tones")] = 12
    tones_max: Annotated[int, (20, 120, "tones")] = 40
    # `stop_half_width_db`, `stop_information_bits`: an ear ends when at no audiogram frequency, 750
    # and 1500 Hz apart, the 95 % band reaches further than this to either side, or when the next
    # answer is expected to tell no more (0: not used)
    stop_half_width_db: Annotated[float, (1.0, 40.0, "dB")] = 8.0
    stop_information_bits: Annotated[float, (0.0, 1.0, "bit")] = 0.0
    # silent presentations as a part of all
    catch_rate: Annotated[float, (0.0, 0.5, "a presentation")] = 0.1
    # `pause_ms_min`, `pause_ms_max`: random pause before a tone
    pause_ms_min: Annotated[int, (500, 10000, "ms")] = 1200
    pause_ms_max: Annotated[int, (500, 20000, "ms")] = 2500
    # `pulse_on_ms`, `pulse_off_ms`, `pulses`, `rise_ms`: The tone. A pulse lasts from the start of
    # its rise to the end of its fall, each a raised cosine of `rise_ms`; the gaps are silent. IEC
    # 60645-1 measures otherwise: the rise from 20 dB to 1 dB below the level, 20 to 50 ms, here
    # 20.3 ms; a pulse and a gap between the points 5 dB below it, 225 ms +-35 ms, here 222 and 228
    # ms; a plateau of 150 ms, here 190 ms.
    pulse_on_ms: Annotated[int, (PLATEAU_MS_MIN + 2 * _RISE_MS_MIN, 2000, "ms")] = 260
    pulse_off_ms: Annotated[int, (0, 1000, "ms")] = 190
    pulses: Annotated[int, (1, 5, "pulses")] = 3
    rise_ms: Annotated[int, (_RISE_MS_MIN, _RISE_MS_MAX, "ms")] = 35
    # `response_ms_min`, `response_window_ms`: a press counts from so long after the onset to so
    # long after the end of the tone
    response_ms_min: Annotated[int, (0, 300, "ms")] = 100
    response_window_ms: Annotated[int, (300, 3000, "ms")] = 1000
    # Above 0 there is a second button, for "perhaps", and this is how far from the threshold to
    # either side it is pressed. 0: there is none, and presses of it are only recorded.
    unsure_half_width_db: Annotated[float, (0.0, 15.0, "dB")] = 0.0
    # "automatic": noise in the other ear wherever that may hear the tone, and a mark where there
    # could be none. "off": none, and nobody looks where it was needed.
    masking: Annotated[str, (AUTOMATIC, OFF)] = AUTOMATIC
    retest: bool = True  # ask 1 kHz again at the end
    seed: Annotated[int, (0, SEED_MAX, "")] = 1  # of the random pauses and catch trials

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name), field.type)
        self._check_relations()

    def _check_relations(self) -> None:
        if self.level_max_db_hl > LOUD_DB_HL and not self.loud_confirmed:
            raise SettingError(
                f"level_max_db_hl is {self.level_max_db_hl:g} dB HL; above {LOUD_DB_HL:g} dB HL "
                "loud_confirmed has to be true as well"
            )
        if self.frequency_max_hz <= self.frequency_min_hz:
            raise SettingError(
                f"frequency_max_hz is {self.frequency_max_hz:g} Hz; allowed is more than "
                f"{self.frequency_min_hz:g} Hz (frequency_min_hz)"
            )
        if self.pause_ms_max < self.pause_ms_min:
            raise SettingError(
                f"pause_ms_max is {self.pause_ms_max} ms; allowed is {self.pause_ms_min} ms "
                "(pause_ms_min) and more"
            )
        if self.pause_ms_min < self.tone_ms:
            raise SettingError(
                f"pause_ms_min is {self.pause_ms_min} ms; a pause may not be shorter than the "
                f"tone, which lasts {self.tone_ms} ms"
            )
        shortest_ms = PLATEAU_MS_MIN + 2 * self.rise_ms
        if self.pulse_on_ms < shortest_ms:
            raise SettingError(
                f"pulse_on_ms is {self.pulse_on_ms} ms; allowed is {shortest_ms} ms and more, a "
                f"plateau of {PLATEAU_MS_MIN} ms and twice {self.rise_ms} ms (rise_ms)"
            )
        if self.tones_max < self.tones_min:
            raise SettingError(
                f"tones_max is {self.tones_max}; allowed is {self.tones_min} (tones_min) and more"
            )

    @property
    def masked(self) -> bool:
        """Return whether there are two ears, and noise in one where that may hear the other."""
        return self.ears == BOTH and self.masking == AUTOMATIC

    @property
    def tone_ms(self) -> int:
        """Return the time from onset to end of a tone."""
        return self.pulses * self.pulse_on_ms + (self.pulses - 1) * self.pulse_off_ms

    def as_record(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Settings":
        """Make settings from JSON or TOML values; what is not named keeps its default.

        Raises
        ------
        SettingError
            If a name is unknown or a value is not allowed.
        """
        names = [field.name for field in fields(cls)]
        for name in record:
            if name not in names:
                raise SettingError(f"{name!r} is not a setting; allowed are {', '.join(names)}")
        return cls(**record)


def _check(name: str, value: Any, kind: Any) -> None:
    """Check a value by the annotation of its setting: the choices, or lowest, highest and unit."""
    if kind is bool:
        if not isinstance(value, bool):
            raise SettingError(f"{name} is {value!r}; allowed are true and false")
        return
    (allowed,) = kind.__metadata__
    if kind.__origin__ is str:
        if value not in allowed:
            raise SettingError(f"{name} is {value!r}; allowed are {', '.join(allowed)}")
        return
    if value is None and kind.__origin__ == (float | None):
        return
    low, high, unit = allowed
    whole = kind.__origin__ is int
    number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        numbers = (
            f"whole numbers from {low} to {high}" if whole else f"numbers from {low:g} to {high:g}"
        )
        raise SettingError(f"{name} is {value!r}; allowed are {numbers} {unit}".rstrip())
