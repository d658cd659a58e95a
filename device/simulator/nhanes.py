"""The variables and codes of the NHANES audiometry tables, one row a person, both ears in it.

Names and codes are those of the codebook of the examination component AUX (1999 and later): a
threshold in dB HL, 666 where nothing was heard at the audiometer's limit, 888 where it could not be
obtained, blank where nobody tried. NHANES measures 500 to 8000 Hz; 250, 750 and 1500 Hz are named
here in the same manner.
"""

from collections.abc import Collection, Mapping
from typing import Final

from device.simulator.listener import EARS, Ear

NO_RESPONSE: Final = 666
COULD_NOT_OBTAIN: Final = 888
AGE_YEARS: Final = "RIDAGEYR"
SEX: Final = "RIAGENDR"
SEXES: Final = {"M": "1", "F": "2"}

# Between "AUXU" and the letter of the ear.
_FREQUENCIES_HZ: Final = {
    "250": "250",
    "500": "500",
    "750": "750",
    "1K1": "1000",
    "1K2": "1000_retest",  # the second reading
    "1500": "1500",
    "2K": "2000",
    "3K": "3000",
    "4K": "4000",
    "6K": "6000",
    "8K": "8000",
}
_LETTERS: Final[dict[Ear, str]] = {"right": "R", "left": "L"}


def variable(ear: Ear, frequency_hz: int) -> str:
    """Return the name of the threshold of an ear at a frequency; at 1 kHz of its first reading."""
    infix = next(key for key, name in _FREQUENCIES_HZ.items() if name == str(frequency_hz))
    return f"AUXU{infix}{_LETTERS[ear]}"


def is_of_people(header: Collection[str]) -> bool:
    """Tell whether these are the columns of such a table."""
    names = {f"AUXU{infix}{letter}" for infix in _FREQUENCIES_HZ for letter in _LETTERS.values()}
    return not names.isdisjoint(header)


def ears_of(person: Mapping[str, str]) -> dict[Ear, dict[str, str]]:
    """Return the ears of a row, each in the columns of a table of ears.

    Those are ``t500``, ``t1000`` ... and ``no_response``; what could not be obtained is blank.
    """
    return {ear: _ear_of(person, letter) for ear, letter in _LETTERS.items()}


def _ear_of(person: Mapping[str, str], letter: str) -> dict[str, str]:
    cells = {
        name: person.get(f"AUXU{infix}{letter}", "").strip()
        for infix, name in _FREQUENCIES_HZ.items()
    }
    silent = [name for name, cell in cells.items() if _is_code(cell, NO_RESPONSE)]
    codes = (NO_RESPONSE, COULD_NOT_OBTAIN)
    ear = {
        f"t{name}": "" if any(_is_code(cell, code) for code in codes) else cell
        for name, cell in cells.items()
    }
    return {**ear, "no_response": ";".join(silent)}


def _is_code(cell: str, code: int) -> bool:
    # Tables made from the SAS files have 666.0.
    return cell in (str(code), f"{code}.0")


assert tuple(_LETTERS) == tuple(EARS)
