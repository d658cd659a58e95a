"""What an operator is told of a tuning as it happens."""

from firmware_py.terms.reasons import Reasons
from firmware_py.terms.tells import Tell


class SpeechTold(Tell, what="speech"):
    """Speech is about to be played; `place` is "first" or "second" of the comparison."""

    number: int
    comparison: int
    place: str
    overall_db: float
    tilt_db: float
    mid_db: float
    soft_db: float


class ComparisonTold(Tell, what="comparison"):
    """A comparison has its answer; `expected_regret` is that of the best setting so far."""

    comparison: int
    answer: str
    expected_regret: float


class AgainTold(Tell, what="again"):
    """Nothing was pressed: both are played again."""

    comparison: int


class NobodyTold(Tell, what="nobody-answers"):
    """Nothing was pressed for so many comparisons: the tuning is paused."""

    comparisons: int


class AidLostTold(Tell, what="aid-lost"):
    """The hearing aid is lost."""

    why: Reasons


class AidReadyTold(Tell, what="aid-ready"):
    """The hearing aid is back."""


class SettingTold(Tell, what="setting"):
    """The aid is left at this setting; `finding` says what the answers told."""

    finding: str
    overall_db: float
    tilt_db: float
    mid_db: float
    soft_db: float
