"""What a technician states of the measurement: names and serial numbers, air, uncertainty."""

import argparse
from collections.abc import Mapping
from typing import Final

from firmware_py.calibration.fields import CalibrationError, check_text
from firmware_py.calibration.stated import (
    CONDITIONS,
    COVERAGE_FACTOR,
    EXPANDED,
    STANDARD_CONDITIONS,
    check_stated,
    is_standard,
)
from host_tools.commands.calibrate.asking import Ask, QuitError, Say, answer_of
from host_tools.commands.calibrate.kept import Readings
from host_tools.errors import HostError

OF_BOARD: Final = "tone_generator_serial"  # the board tells it
TEXTS: Final = {
    "technician": "technician",
    "meter": "sound level meter, maker and model",
    "meter_serial": "serial number of the meter",
    "serial_left": "serial number of the left earphone",
    "serial_right": "serial number of the right earphone",
}
# Numbers, each a text with the keys of the file that it is of; none of it where it is not known.
OF_AIR, OF_LEVELS = "air", "uncertainty"
NUMBERS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    OF_AIR: ("temperature C, humidity %, pressure kPa, such as 22.5 45 100.9", (*CONDITIONS,)),
    OF_LEVELS: (
        f"expanded uncertainty of the levels, dB (k = {COVERAGE_FACTOR:g}), as the meter's "
        "certificate and the coupler have it",
        (EXPANDED,),
    ),
}  # fmt: skip
STANDARD_WORDS: Final = ", ".join(
    f"{low:g} to {high:g} {CONDITIONS[key][1]}" for key, (low, high) in STANDARD_CONDITIONS.items()
)
OF_METER: Final = ("meter", "meter_serial", OF_AIR)
OF_EARPHONES: Final = ("serial_left", "serial_right")
OF_VIBRATOR: Final = {"serial_vibrator": "serial number of the bone vibrator"}


def ask_texts(
    arguments: argparse.Namespace, readings: Readings, bone: bool, ask: Ask, say: Say
) -> None:
    """Ask for what is not known yet: names and serial numbers, and what is stated in numbers."""
    texts = readings.texts
    for name in TEXTS | OF_VIBRATOR if bone else TEXTS:
        if name not in texts:
            texts[name] = _text(ask, say, arguments, name)
    for name in NUMBERS:
        due = name not in texts or getattr(arguments, name) is not None
        if due and not (name == OF_LEVELS and arguments.no_coupler):
            texts[name] = _numbers(ask, say, arguments, name)


def _text(ask: Ask, say: Say, arguments: argparse.Namespace, name: str) -> str:
    given: str | None = getattr(arguments, name)
    what = (TEXTS | OF_VIBRATOR)[name]
    if arguments.no_coupler:
        what = what.replace("sound level meter", "multimeter")
    while True:
        try:
            text = ask(f"{what}: ").strip() if given is None else given
            if given is None and text.lower() == "quit":
                raise QuitError
            check_text(what, text)
        except EOFError:
            raise QuitError from None
        except CalibrationError as error:
            if given is not None:
                raise HostError(str(error)) from None
            say(str(error))
        else:
            return text


def _numbers(ask: Ask, say: Say, arguments: argparse.Namespace, name: str) -> str:
    """Return what is stated in numbers, "" for nothing."""
    given: str | None = getattr(arguments, name)
    while True:
        text = given
        if text is None:
            text = answer_of(ask, f"{NUMBERS[name][0]} (return: not known): ")
        text = text.replace(",", ".").strip()
        try:
            stated = stated_in(name, {name: text})
            check_stated(stated)
        except CalibrationError as error:
            if given is not None:
                raise HostError(str(error)) from None
            say(str(error))
            continue
        if name == OF_AIR and stated and not is_standard(stated):
            say(f"IEC 60645-1 has {STANDARD_WORDS}: papers say that it was not so")
        return text


def stated_in(name: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers of a text by their keys; a `CalibrationError` if they are not so many."""
    words, (what, keys) = texts.get(name, "").split(), NUMBERS[name]
    try:
        stated = dict(zip(keys, map(float, words), strict=True)) if words else {}
    except ValueError:
        raise CalibrationError(f"{' '.join(words)!r}; wanted is {what}") from None
    return stated
