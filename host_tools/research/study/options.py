"""What a study is asked to do, and what of it is allowed."""

import argparse
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from device.simulator.kinds import HONEST, KindError, kind_named
from device.simulator.listener import RESPONSE_TIME_S_MAX, RESPONSE_TIME_S_MIN
from device.simulator.odd_ears import NUMBERS_MAX as ODD_NUMBERS_MAX
from device.simulator.odd_ears import ODD_EARS
from firmware_py.terms.settings import BRISK, CONDUCTS
from host_tools.errors import HostError
from host_tools.research.methods.interface import RESPONSE_NOISE_LIMITS_DB, TONES_MAX
from host_tools.research.study.arguments import NUMBER_MAX, kind_asked, whole_number
from host_tools.research.study.ears import ALL_EARS, AUTO, BISGAARD, PARTS
from host_tools.research.study.listener import Answering

# Fields that the command line has by another name.
NAMED_OTHERWISE: Final = {
    "ears_per_stratum": "ears", "response_noise_db": "noise", "response_time_s": "response_time",
    "jitter": "no_jitter",
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What a study is asked to do; None: the usual value."""

    audiograms: str  # `bisgaard`, or the path of a table
    methods: tuple[str, ...] | None = None
    ears_per_stratum: int | None = None  # of a table: of each degree of loss; 0: all
    part: str = AUTO  # of a table: one of `PARTS`
    jitter: bool = True  # of a table: undo the rounding of thresholds to 5 dB
    train: Path | None = None  # a table that methods may learn from
    columns: str | None = None  # what those of the tables have
    response_noise_db: float = 2.0  # of the listeners, as the rates; the methods are told
    lapse_rate: float = 0.01
    false_alarm_rate: float = 0.01
    trials: int = 40  # tones a session
    seeds: int = 20  # sessions an ear
    listener: str = HONEST.text  # the kind
    conduct: str = BRISK  # whose pauses and windows the seconds are
    response_time_s: float = 0.4  # the listeners' median
    prior: Path | None = None  # of the estimator of this product; None: the one that ships
    objective: str = ""  # what it chooses tones by, package.module:Class; "": as it ships

    @classmethod
    def of(cls, arguments: argparse.Namespace, **other: Any) -> "Options":
        """Return those of a command line, but for what is given beside it."""
        names = {each.name: NAMED_OTHERWISE.get(each.name, each.name) for each in fields(cls)}
        told = {name: getattr(arguments, option) for name, option in names.items()}
        told["jitter"] = not told["jitter"]
        if told["methods"] is not None:
            named = (name.strip() for name in told["methods"].split(","))
            told["methods"] = tuple(name for name in named if name)
        if told["seeds"] is None:
            told["seeds"] = kind_asked(arguments).seeds
        return cls(**{**told, **other})

    def __post_init__(self) -> None:
        """Check what can be checked without reading a file."""
        whole_number("--trials", self.trials, 0, high=TONES_MAX)
        whole_number("--seeds", self.seeds, 0)
        if self.part not in PARTS:
            raise HostError(f"--part is {self.part!r}; allowed are {', '.join(PARTS)}")
        self._check_listener()
        if self.conduct not in CONDUCTS:
            raise HostError(f"--conduct is {self.conduct!r}; allowed are {', '.join(CONDUCTS)}")
        self._check_ears()

    def _check_listener(self) -> None:
        try:
            of_kind = kind_named(self.listener).lapse_rate
        except KindError as error:
            raise HostError(f"--listener: {error}") from None
        times_s = (RESPONSE_TIME_S_MIN, RESPONSE_TIME_S_MAX)
        for option, value, (low, high), unit in (
            ("--noise", self.response_noise_db, RESPONSE_NOISE_LIMITS_DB, "dB"),
            ("--response-time", self.response_time_s, times_s, "s"),
        ):
            if not low <= value <= high:
                raise HostError(f"{option} is {value:g}; allowed is {low:g} to {high:g} {unit}")
        lapse_rate = self.lapse_rate if of_kind is None else of_kind
        rates = {"--lapse-rate": lapse_rate, "--false-alarm-rate": self.false_alarm_rate}
        for option, rate in rates.items():
            if not 0.0 <= rate < 1.0:
                raise HostError(f"{option} is {rate:g}; allowed is 0 to less than 1")
        if sum(rates.values()) >= 1.0:
            raise HostError(f"{' and '.join(rates)} are together 1 or more; allowed is less than 1")

    def _check_ears(self) -> None:
        low, high = (1, ODD_NUMBERS_MAX) if self.audiograms in ODD_EARS else (ALL_EARS, NUMBER_MAX)
        whole_number("--ears", self.ears_per_stratum, low, low, high)
        told = {"--part": self.part != AUTO, "--no-jitter": not self.jitter}
        if self.audiograms in ODD_EARS and any(told.values()):
            which = next(option for option, is_there in told.items() if is_there)
            raise HostError(f"{which} is for a table of ears, not for {self.audiograms}")
        told = {"--ears": self.ears_per_stratum is not None, **told}
        if self.audiograms == BISGAARD and any(told.values()):
            which = next(option for option, is_there in told.items() if is_there)
            raise HostError(
                f"{which} is for a table of ears; of {BISGAARD} all ten are measured as they are"
            )

    @property
    def answering(self) -> Answering:
        return Answering(
            self.response_noise_db,
            self.lapse_rate,
            self.false_alarm_rate,
            kind_named(self.listener),
        )
