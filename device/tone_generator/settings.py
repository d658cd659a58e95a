"""What the board keeps in its flash: which output it has, its pins, and what it may not exceed."""

import binascii
import json
import os

FILE = "tone_generator.json"
STARTS_FILE = "starts"  # how often the board has started
SILENT_DBFS = -160.0  # the limit of a board whose limits are not known: nothing is played
OUTPUTS = ("i2s", "pwm")
PIN_MAX = 29

# GP0 and GP1 are the UART of images that have a REPL there.
DEFAULT_PINS = {
    "heard": 2,
    "unsure": 3,
    "i2s_bck": 10,
    "i2s_ws": 11,  # has to be the one after i2s_bck
    "i2s_data": 12,
    "pwm_left": 6,
    "pwm_right": 8,
}

# These are wired only where a board has them.
OPTIONAL_PINS = (
    "xsmt",  # of the DAC: high, it is not muted
    "smps",  # of the Pico's regulator, GP23: high, it does not save power, and ripples less
    # Of the switches that lead a channel to the bone vibrator while they are high: both, or none.
    "bone_left",
    "bone_right",
    # Of the microphone: all three, or none.
    "mic_bck",
    "mic_ws",  # has to be the one after mic_bck
    "mic_data",
)
BONE_PINS = ("bone_left", "bone_right")
MICROPHONE_PINS = ("mic_bck", "mic_ws", "mic_data")
CALIBRATOR_DB_SPL = 94.0  # 1 Pa: the level of which data sheets tell the sensitivity
MICROPHONE_DBFS = -26.0  # of an ICS-43434
CORRECTION_DB_MAX = 20.0
_KEYS = ("output", "limit_dbfs_left", "limit_dbfs_right", "limit_dbfs_bone", "pins")
_MICROPHONE_KEYS = ("microphone_dbfs", "microphone_correction_db")


class SettingsError(ValueError):
    """A setting is missing, unknown or out of range; the text says which."""


class Settings:
    """The settings of a board.

    They are ``output`` (one of `OUTPUTS`), ``limit_dbfs_left`` and ``limit_dbfs_right`` (-160 to
    0), with `BONE_PINS` ``limit_dbfs_bone``, and perhaps ``pins`` that differ from `DEFAULT_PINS`,
    or are `OPTIONAL_PINS`. With `MICROPHONE_PINS` there may be ``microphone_dbfs``, what the
    microphone gives at `CALIBRATOR_DB_SPL` (-80 to 0), and ``microphone_correction_db``, what this
    board's levels are too low by (-20 to 20).
    """

    def __init__(self, given: "dict[str, object]") -> None:
        if not isinstance(given, dict):
            raise SettingsError(f"settings are {given!r}, wanted is an object")
        for key in given:
            if key not in _KEYS and key not in _MICROPHONE_KEYS:
                raise SettingsError(f"setting {key!r} is not known")
        self.output = given.get("output")
        if self.output not in OUTPUTS:
            raise SettingsError(f"output is {self.output!r}, allowed are {OUTPUTS}")
        self.limits_dbfs: tuple[float, ...] = (
            _limit(given, "limit_dbfs_left"),
            _limit(given, "limit_dbfs_right"),
        )
        self.pins = dict(DEFAULT_PINS)
        pins = given.get("pins", {})
        if not isinstance(pins, dict):
            raise SettingsError(f"pins are {pins!r}, wanted is an object")
        for name, number in pins.items():
            if name not in DEFAULT_PINS and name not in OPTIONAL_PINS:
                raise SettingsError(f"pin {name!r} is not known")
            if isinstance(number, bool) or not isinstance(number, int):
                raise SettingsError(f"pin {name!r} is {number!r}, wanted is a whole number")
            if not 0 <= number <= PIN_MAX:
                raise SettingsError(f"pin {name!r} is {number}, allowed are 0 to {PIN_MAX}")
            self.pins[name] = number
        self._check_driven()
        self._take_vibrator(given)
        self._take_microphone(given)

    @property
    def has_vibrator(self) -> bool:
        return BONE_PINS[0] in self.pins

    @property
    def has_microphone(self) -> bool:
        return MICROPHONE_PINS[0] in self.pins

    def _take_vibrator(self, given: "dict[str, object]") -> None:
        # It has switches for both channels, and a limit, or there is none.
        wired = [name for name in BONE_PINS if name in self.pins]
        if len(wired) == 1:
            raise SettingsError(f"pin {wired[0]!r} is given alone, wanted are {BONE_PINS}")
        if self.has_vibrator:
            self.limits_dbfs += (_limit(given, "limit_dbfs_bone"),)
        elif "limit_dbfs_bone" in given:
            raise SettingsError(f"limit_dbfs_bone is given without the pins {BONE_PINS}")

    def _take_microphone(self, given: "dict[str, object]") -> None:
        wired = [name for name in MICROPHONE_PINS if name in self.pins]
        if wired and len(wired) < len(MICROPHONE_PINS):
            raise SettingsError(f"pins {wired!r} are given alone, wanted are {MICROPHONE_PINS}")
        if wired and self.pins["mic_ws"] != self.pins["mic_bck"] + 1:
            raise SettingsError(
                f"pin 'mic_ws' is {self.pins['mic_ws']}, wanted is the one after 'mic_bck', "
                f"{self.pins['mic_bck'] + 1}"
            )
        if wired and self.output != OUTPUTS[0]:
            raise SettingsError(f"output is {self.output!r}, with a microphone {OUTPUTS[0]!r}")
        for key in _MICROPHONE_KEYS:
            if key in given and not wired:
                raise SettingsError(f"{key} is given without the pins {MICROPHONE_PINS}")
        at_calibrator = _number(given, "microphone_dbfs", MICROPHONE_DBFS, -80.0, 0.0)
        correction = _number(
            given, "microphone_correction_db", 0.0, -CORRECTION_DB_MAX, CORRECTION_DB_MAX
        )
        self.microphone_full_scale_db_spl = CALIBRATOR_DB_SPL - at_calibrator + correction

    def _check_driven(self) -> None:
        # Two outputs on one pin, and a DAC would have no clock.
        for name in OPTIONAL_PINS:
            for other, number in self.pins.items():
                if name in self.pins and name != other and number == self.pins[name]:
                    raise SettingsError(f"pin {name!r} is {number}, and so is {other!r}")


def load_or_silent(path: str = FILE) -> Settings:
    """Read the settings; a board whose file is not there or not right plays nothing."""
    try:
        with open(path) as file:
            return Settings(json.load(file))
    except (OSError, ValueError) as error:
        print("tone generator: refuses every tone:", path, error)
        silent = {"output": "pwm", "limit_dbfs_left": SILENT_DBFS, "limit_dbfs_right": SILENT_DBFS}
        return Settings(silent)


def next_boot(path: str = STARTS_FILE) -> int:
    """Return a number of 32 bits that changes with every start of the board.

    It is made of chance and of a count in the flash: either alone would do.
    """
    try:
        with open(path) as file:
            starts = int(file.read())
    except (OSError, ValueError):
        starts = 0
    try:
        with open(path, "w") as file:
            file.write(str(starts + 1))
    except OSError as error:  # the flash is full, or worn out
        print("tone generator: does not count its starts:", error)
    return binascii.crc32(str(starts).encode() + os.urandom(4))


def _limit(given: "dict[str, object]", key: str) -> float:
    return _number(given, key, None, SILENT_DBFS, 0.0)


def _number(
    given: "dict[str, object]", key: str, usual: "float | None", low: float, high: float
) -> float:
    number = given.get(key, usual)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        unit = "dBFS" if "dbfs" in key else "dB"
        raise SettingsError(f"{key} is {number!r}, wanted is a number of {unit}")
    if not low <= number <= high:
        raise SettingsError(f"{key} is {number}, allowed are {low} to {high:g}")
    return float(number)
