"""The settings that a person chooses among: a few numbers by which fitters change a fit.

Each is a difference from the prescription in dB. The shapes that belong to them are in the hearing
aid's fit, where only `overall_db` changes the level of conversational speech: two settings that
differ in the others sound equally loud, so that what is judged is the sound.
"""

from dataclasses import astuple, dataclass, fields
from typing import Final, Self

STEP_DB: Final = 0.5  # of what is offered; nobody hears less


@dataclass(frozen=True)
class Dimension:
    """One of the numbers of a setting."""

    name: str
    meaning: str
    limit_db: float  # it is offered from -limit to limit, or less where the fit allows less
    # of what people want beside what a rule prescribes
    wish_sd_db: float

    @property
    def word(self) -> str:
        """Return its name in a reason."""
        return self.name.replace("_", "-")


# People's wishes differ from a prescription by 4 to 6 dB, SD, in gain and in its slope.
DIMENSIONS: Final = (
    Dimension("overall_db", "more gain for all sounds", 12.0, 5.0),
    Dimension("tilt_db", "gain at 4 kHz more than at 500 Hz", 12.0, 5.0),
    Dimension("mid_db", "more gain around 1.5 kHz", 12.0, 5.0),
    Dimension("soft_db", "gain at 50 dB SPL more than at 80 dB SPL", 12.0, 5.0),
)


@dataclass(frozen=True)
class Setting:
    """Differences from the prescription, dB; none of them: the prescription itself."""

    overall_db: float = 0.0
    tilt_db: float = 0.0
    mid_db: float = 0.0
    soft_db: float = 0.0

    @classmethod
    def of(cls, values_db: tuple[float, ...]) -> Self:
        return cls(*values_db)

    def values_db(self) -> tuple[float, ...]:
        return astuple(self)


PRESCRIPTION: Final = Setting()
assert tuple(field.name for field in fields(Setting)) == tuple(d.name for d in DIMENSIONS)
