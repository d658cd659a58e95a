"""What a fit says of for whom it is: a code, frequencies and probabilities; words are elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from firmware_py.terms.printable import show
from firmware_py.terms.route import LEFT, RIGHT

FREQUENCIES_MAX: Final = 32  # of a finding, as of a fit
FREQUENCY_MAX_HZ: Final = 20000.0
FIELDS: Final = ("ear", "code", "frequencies_hz", "probabilities")


class Code(StrEnum):
    """What was found."""

    NOT_JUDGED = "not-judged"  # the levels are not dB HL
    NOTHING_HEARD = "nothing-heard"  # no response at any frequency that was asked
    NOT_HEARD_AT = "not-heard-at"  # no response at these
    NORMAL = "normal"  # no threshold above 20 dB HL where one was asked; bands at these are
    INAUDIBLE = "inaudible"  # with the gains conversational speech stays below threshold at these
    PEAKS_ONLY = "peaks-only"  # only the peaks of it are above


@dataclass(frozen=True)
class EarFinding:
    """What was found of an ear; `ValueError` if it is nothing that can be found."""

    ear: str
    code: Code
    frequencies_hz: tuple[float, ...] = ()
    # that it is so at each of the frequencies; none: they are as recorded
    probabilities: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.ear not in (LEFT, RIGHT):
            raise ValueError(f"ear is {show(self.ear)}; allowed are {LEFT}, {RIGHT}")
        if self.code not in [*Code]:
            raise ValueError(f"code is {show(self.code)}; allowed are {', '.join(Code)}")
        for name, most in (("frequencies_hz", FREQUENCY_MAX_HZ), ("probabilities", 1.0)):
            values = getattr(self, name)
            if (
                not isinstance(values, tuple)
                or len(values) > FREQUENCIES_MAX
                or any(isinstance(v, bool) or not isinstance(v, int | float) for v in values)
                or not all(0.0 <= value <= most for value in values)
            ):
                raise ValueError(f"{name} is {show(values)}; allowed are numbers up to {most:g}")
        if self.probabilities and len(self.probabilities) != len(self.frequencies_hz):
            raise ValueError(
                f"probabilities are {len(self.probabilities)}; allowed are none, or "
                f"{len(self.frequencies_hz)}, one for each of frequencies_hz"
            )

    def as_record(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in FIELDS}
        return {n: list(v) if isinstance(v, tuple) else str(v) for n, v in told.items()}

    @classmethod
    def from_record(cls, record: object) -> Self:
        """Check what `as_record` wrote, and take it; `ValueError` names what is wrong."""
        if not isinstance(record, Mapping) or set(record) != set(FIELDS):
            raise ValueError(f"it is {show(record)}; allowed is an object of {', '.join(FIELDS)}")
        ear, code, *rows = (record[name] for name in FIELDS)
        if code not in [*Code] or not all(isinstance(row, list) for row in rows):
            raise ValueError(
                f"it is {show(record)}; allowed are a code, {', '.join(Code)}, and lists"
            )
        return cls(ear, Code(code), *map(tuple, rows))
