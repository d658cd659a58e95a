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
    "loud": 25,  # the light of a Pico
}

BONE_PINS = ("bone_left", "bone_right")
MICROPHONE_PINS = ("mic_bck", "mic_ws", "mic_data")  # mic_ws has to be the one after mic_bck
# These are wired only where a board has them: xsmt of the DAC (high, it is not muted); smps of the
# Pico's regulator, GP23 (high, it does not save power, and ripples less); of the switches that lead
# a channel to the bone vibrator while they are high, both or none; of the microphone, all or none.
OPTIONAL_PINS = ("xsmt", "smps") + BONE_PINS + MICROPHONE_PINS
CALIBRATOR_DB_SPL = 94.0  # 1 Pa: the level of which data sheets tell the sensitivity
MICROPHONE_DBFS = -26.0  # of an ICS-43434
MICROPHONE_DBFS_MIN = -80.0
_KEYS = (
    "output", "limit_dbfs_left", "limit_dbfs_right", "limit_dbfs_bone", "microphone_dbfs", "pins",
)  # fmt: skip


class SettingsError(ValueError):
    """A setting is missing, unknown or out of range; the text says which."""


class Settings:
    """The settings of a board.

    They are ``output`` (one of `OUTPUTS`), ``limit_dbfs_left`` and ``limit_dbfs_right`` (-160 to
    0), with `BONE_PINS` ``limit_dbfs_bone``, and perhaps ``pins`` that differ from `DEFAULT_PINS`,
    or are `OPTIONAL_PINS`. With `MICROPHONE_PINS` there may be ``microphone_dbfs``, what the
    microphone gives at `CALIBRATOR_DB_SPL` (-80 to 0).
    """

    def __init__(self, given: "dict[str, object]") -> None:
        if not isinstance(given, dict):
            raise SettingsError(f"settings are {given!r}, wanted is an object")
        for key in given:
            if key not in _KEYS:
                raise SettingsError(f"setting {key!r} is not known")
        self.output = given.get("output")
        if self.output not in OUTPUTS:
            raise SettingsError(f"output is {self.output!r}, allowed are {OUTPUTS}")
        self.limits_dbfs: tuple[float, ...] = (
            _dbfs(given, "limit_dbfs_left"),
            _dbfs(given, "limit_dbfs_right"),
        )
        self.pins = dict(DEFAULT_PINS)
        self._take_pins(given.get("pins", {}))
        self.has_vibrator = self._has(BONE_PINS, given, "limit_dbfs_bone")
        if self.has_vibrator:
            self.limits_dbfs += (_dbfs(given, "limit_dbfs_bone"),)
        self.has_microphone = self._has(MICROPHONE_PINS, given, "microphone_dbfs")
        if self.has_microphone:
            self._check_microphone()
        at_calibrator = _dbfs(given, "microphone_dbfs", MICROPHONE_DBFS_MIN, MICROPHONE_DBFS)
        self.microphone_full_scale_db_spl = CALIBRATOR_DB_SPL - at_calibrator

    def _take_pins(self, pins: object) -> None:
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
        # Two outputs on one pin, and a DAC would have no clock.
        for name in OPTIONAL_PINS + ("loud",):
            for other, number in self.pins.items():
                if name in self.pins and name != other and number == self.pins[name]:
                    raise SettingsError(f"pin {name!r} is {number}, and so is {other!r}")

    def _has(self, pins: "tuple[str, ...]", given: "dict[str, object]", key: str) -> bool:
        # What has these pins is there with all of them, or with none; then the setting means it.
        wired = [name for name in pins if name in self.pins]
        if wired and len(wired) < len(pins):
            raise SettingsError(f"pins {wired!r} are given alone, wanted are {pins}")
        if key in given and not wired:
            raise SettingsError(f"{key} is given without the pins {pins}")
        return bool(wired)

    def _check_microphone(self) -> None:
        word_select, wanted = self.pins["mic_ws"], self.pins["mic_bck"] + 1
        if word_select != wanted:
            raise SettingsError(
                f"pin 'mic_ws' is {word_select}, wanted is the one after 'mic_bck', {wanted}"
            )
        if self.output != OUTPUTS[0]:
            raise SettingsError(f"output is {self.output!r}, with a microphone {OUTPUTS[0]!r}")


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


def _dbfs(
    given: "dict[str, object]", key: str, low: float = SILENT_DBFS, usual: "float | None" = None
) -> float:
    number = given.get(key, usual)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise SettingsError(f"{key} is {number!r}, wanted is a number of dBFS")
    if not low <= number <= 0.0:
        raise SettingsError(f"{key} is {number}, allowed are {low} to 0")
    return float(number)
