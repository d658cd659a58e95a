"""The variables and codes of the NHANES audiometry tables, one row a person, both ears in it.

Names and codes are those of the codebook of the examination component AUX (1999 and later): a
threshold in dB HL, 666 where nothing was heard at the audiometer's limit, 888 where it could not be
obtained, blank where nobody tried. NHANES measures 500 to 8000 Hz; 250, 750 and 1500 Hz are named
here in the same manner.
"""

from typing import Final

from firmware_py.terms.route import LEFT, RIGHT

NO_RESPONSE: Final = 666
COULD_NOT_OBTAIN: Final = 888
AGE_YEARS: Final = "RIDAGEYR"
SEX: Final = "RIAGENDR"
SEXES: Final = {"M": "1", "F": "2"}

# Between "AUXU" and the letter of the ear.
_INFIXES: Final = {
    "250": 250, "500": 500, "750": 750, "1K1": 1000, "1K2": 1000, "1500": 1500, "2K": 2000,
    "3K": 3000, "4K": 4000, "6K": 6000, "8K": 8000,
}  # fmt: skip
_AGAIN: Final = "1K2"
_LETTERS: Final = {RIGHT: "R", LEFT: "L"}
_PLACES: Final = {
    f"AUXU{infix}{letter}": (ear, float(frequency_hz), infix == _AGAIN)
    for infix, frequency_hz in _INFIXES.items()
    for ear, letter in _LETTERS.items()
}


def variable(ear: str, frequency_hz: int) -> str:
    """Return the name of the threshold of an ear at a frequency; at 1 kHz of its first reading."""
    return next(n for n, place in _PLACES.items() if place == (ear, frequency_hz, False))


def place_of(name: str) -> tuple[str, float, bool] | None:
    """Return ear, frequency, and whether it is the second reading, of a variable; None: no such."""
    return _PLACES.get(name)
