"""What a fit says of for whom it is: a code, frequencies and probabilities; words are elsewhere."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from firmware_py.terms.record_checks import number, one_of, several
from firmware_py.terms.route import LEFT, RIGHT

FREQUENCIES_MAX: Final = 32  # of a finding, as of a fit
FREQUENCY_MAX_HZ: Final = 20000.0
_hertz: Final = number(0.0, FREQUENCY_MAX_HZ, "Hz")
_probability: Final = number(0.0, 1.0, "")


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
    """What was found of an ear."""

    ear: Annotated[str, one_of(LEFT, RIGHT)]
    code: Annotated[Code, one_of(*Code)]
    frequencies_hz: Annotated[tuple[float, ...], several(_hertz, 0, FREQUENCIES_MAX)] = ()
    # that it is so at each of the frequencies; none: they are as recorded
    probabilities: Annotated[tuple[float, ...], several(_probability, 0, FREQUENCIES_MAX)] = ()

    def __post_init__(self) -> None:
        if self.probabilities and len(self.probabilities) != len(self.frequencies_hz):
            raise ValueError(
                f"probabilities are {len(self.probabilities)}; allowed are none, or "
                f"{len(self.frequencies_hz)}, one for each of frequencies_hz"
            )

    def as_record(self) -> dict[str, Any]:
        told = vars(self).items()
        return {n: list(v) if isinstance(v, tuple) else str(v) for n, v in told}
