"""The firmware's configuration: one TOML file, every key known, every value within its limits."""

import datetime
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from firmware_py.board.pi_models import Machine, machine
from firmware_py.console.pin import PinHash
from firmware_py.journal import SealKey
from firmware_py.platform.keys import KeyFileError, pseudonym, read_key_file
from firmware_py.platform.named_file import TomlFileError, read_toml, unknown_key
from firmware_py.platform.own_prior import OwnPrior, OwnPriorError
from firmware_py.terms.events import RoomTold
from firmware_py.terms.person import Person
from firmware_py.terms.record_checks import ResultError, refusal
from firmware_py.terms.room import room_of_words
from firmware_py.terms.settings import SettingError, Settings

FILE_BYTES_MAX = 32 * 1024  # twice what all keys with their longest values take
RECONNECT_S_LIMITS = (3.0, 3600.0)  # one try a second, and a greeting takes time
MEMORY_RESERVE_MB_LIMITS = (0, 4096)
RESUME_WITHIN_MIN_LIMITS = (0.0, 1440.0)
USB = "usb"
CONSOLES = ("uart", USB)
KEYS = {  # of every table
    "card": ["board_report", "clock", "console"],
    "console": ["new_pin", "pin"],
    "device": [
        "calibration",
        "events",
        "memory_reserve_mb",
        "prior",
        "reconnect_s",
        "resume_within_min",
    ],
    "journal": ["pseudonym_key", "seal_key"],
    "room": ["dba", "spectrum", "third_octaves", "uncertainty_db"],
    "test": [field.name for field in fields(Settings)],
}


class ConfigurationError(ValueError):
    """A configuration file that cannot be read, or says something that is not allowed."""


@dataclass(frozen=True)
class Configuration:
    """What the firmware is told by its configuration file."""

    # defaults of every hearing test, table `[test]`
    test: Settings = field(default_factory=Settings)
    # of every test, `[test] seed`; None: by chance
    seed: int | None = field(default=None, kw_only=True)
    # how long a lost tone generator is waited for before the firmware ends, table `[device]`
    reconnect_s: float = 30.0
    # whether the console tells what happens unasked from the start, table `[device]`
    events: bool = False
    # the calibration file, table `[device]`; a relative path starts at the configuration file
    calibration: Path | None = None
    # The hash of the operator's PIN, table `[console]`. None: no PIN is needed.
    pin: PinHash | None = None
    # How much the process may still grow once it is ready, table `[device]`; 0: without limit. Only
    # with an image: Numba loads what it needs when it needs it.
    memory_reserve_mb: int = 16
    # Seals every record of a journal, table `[journal]`. None: there are no seals.
    seal_key: SealKey | None = None
    # Replaces identifiers by pseudonyms, table `[journal]`. None: they are kept as they are.
    pseudonym_key: bytes | None = field(default=None, repr=False)
    # After a longer break than this an unfinished session waits for the operator, table `[device]`.
    resume_within_min: float = 15.0
    # Of every test, in the place of the one that ships, table `[device]`. None: that one.
    prior: OwnPrior | None = None
    # The noise of the room, table `[room]`. None: nothing is known of it.
    room: RoomTold | None = None

    @property
    def resume_within_s(self) -> float:
        return 60.0 * self.resume_within_min

    def pseudonymise(self, person: Person) -> Person:
        """Return a person as the journal may name him."""
        if self.pseudonym_key is None or person.identifier is None:
            return person
        return replace(person, identifier=pseudonym(self.pseudonym_key, person.identifier))


def configuration_of(path: Path | None, prior: Path | None = None) -> Configuration:
    """Return the configuration of a file, if there is one, with this prior in place of its own.

    A `ConfigurationError` if one of the files cannot be read or is not allowed.
    """
    configuration = Configuration() if path is None else read_configuration(path)
    try:
        return replace(configuration, prior=OwnPrior.read(prior)) if prior else configuration
    except OwnPriorError as error:
        raise ConfigurationError(f"--prior {error}") from None


def read_configuration(path: Path) -> Configuration:
    """Read a configuration file.

    A `ConfigurationError` if it cannot be read or is not allowed: it names file, key and value.
    """
    try:
        content = read_toml(path, FILE_BYTES_MAX)
    except TomlFileError as error:
        raise ConfigurationError(str(error)) from None
    try:
        return _configuration(content, path.parent)
    except (ConfigurationError, SettingError) as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _configuration(content: dict[str, Any], directory: Path) -> Configuration:
    _refuse_unknown("table", content, list(KEYS))
    for name, table in content.items():
        if not isinstance(table, dict):
            shown = "no table" if name == "console" else repr(table)  # it may be a PIN
            raise ConfigurationError(f"{name!r} is {shown}; it has to be a table, [{name}]")
        _refuse_unknown("key", table, KEYS[name], f"[{name}] ")
    card, console, device, journal, room, test = (content.get(name, {}) for name in KEYS)
    check_card(card)
    try:
        settings = Settings.from_record(test)
    except SettingError as error:
        raise ConfigurationError(f"[test] {error}") from None
    seal_key = _key("seal_key", journal, directory)
    return Configuration(
        settings,
        float(_number("reconnect_s", device, RECONNECT_S_LIMITS, "s")),
        _events(device),
        _path("[device] calibration", device.get("calibration"), directory, "a calibration"),
        _pin(console),
        int(_number("memory_reserve_mb", device, MEMORY_RESERVE_MB_LIMITS, "MB", whole=True)),
        None if seal_key is None else SealKey(seal_key),
        _key("pseudonym_key", journal, directory),
        float(_number("resume_within_min", device, RESUME_WITHIN_MIN_LIMITS, "min")),
        _prior(device, directory),
        _room(room),
        seed=settings.seed if "seed" in test else None,
    )


def check_card(card: dict[str, Any], here: Machine | None = None) -> None:
    """Refuse what the system of a card is told, and cannot be meant; `here`: this machine."""
    console, clock = card.get("console", CONSOLES[0]), card.get("clock")
    if console not in CONSOLES:
        allowed = " and ".join(f'"{name}"' for name in CONSOLES)
        raise ConfigurationError(f"[card] console is {console!r}; allowed are {allowed}")
    if console == USB and (why := (here or machine()).why_not_usb):
        raise ConfigurationError(f'[card] console is {console!r}, and {why}; allowed is "uart"')
    if clock is not None and not isinstance(clock, datetime.datetime):
        such = "a date with a time of day such as 2026-12-24T10:30:00"
        raise ConfigurationError(f"[card] clock is {clock!r}; allowed is {such}")
    if not isinstance(report := card.get("board_report", False), bool):
        raise ConfigurationError(f"[card] board_report is {report!r}; allowed are true and false")


def _refuse_unknown(kind: str, given: dict[str, Any], known: list[str], place: str = "") -> None:
    if unknown := unknown_key(given, known):
        name, hint = unknown
        raise ConfigurationError(f"{place}{name!r} is not a known {kind}; {hint}")


def _number(
    name: str,
    device: dict[str, Any],
    limits: tuple[float, float],
    unit: str,
    *,
    whole: bool = False,
) -> float:
    value: object = device.get(name, getattr(Configuration, name))
    low, high = limits
    kinds = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        numbers = f"{'whole ' * whole}numbers from {low:g} to {high:g} {unit}"
        raise ConfigurationError(f"[device] {name} is {value!r}; allowed are {numbers}")
    return value


def _events(device: dict[str, Any]) -> bool:
    value = device.get("events", Configuration.events)
    if not isinstance(value, bool):
        raise ConfigurationError(f"[device] events is {value!r}; allowed are true and false")
    return value


def _path(name: str, value: object, directory: Path, what: str) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value or "\0" in value:
        raise ConfigurationError(f"{name} is {value!r}; allowed is the path of {what} file")
    return directory / value


def _key(name: str, journal: dict[str, Any], directory: Path) -> bytes | None:
    path = _path(f"[journal] {name}", journal.get(name), directory, "a key")
    try:
        return None if path is None else read_key_file(path)
    except KeyFileError as error:
        raise ConfigurationError(f"[journal] {name}: {error}") from None


def _prior(device: dict[str, Any], directory: Path) -> OwnPrior | None:
    path = _path("[device] prior", device.get("prior"), directory, "a prior")
    try:
        return None if path is None else OwnPrior.read(path)
    except OwnPriorError as error:
        raise ConfigurationError(f"[device] prior: {error}") from None


def _room(table: dict[str, Any]) -> RoomTold | None:
    if not table:
        return None
    told, spectrum = table.get("third_octaves", table.get("dba")), table.get("spectrum")
    try:
        if "third_octaves" in table and "dba" in table:
            raise refusal("dba", table["dba"], "is none beside third_octaves")
        return room_of_words(str(told), spectrum, table.get("uncertainty_db"))
    except ResultError as error:
        raise ConfigurationError(f"[room] {error}") from None


def _pin(console: dict[str, Any]) -> PinHash | None:
    if "new_pin" in console:
        raise ConfigurationError(
            "[console] new_pin: only the system of a card takes a PIN in plain words, of 4 to 12 "
            "digits; gp-pta-device --hash-pin makes the line for pin"
        )
    if "pin" not in console:
        return None
    try:
        return PinHash.parse(console["pin"])
    except ValueError as error:
        raise ConfigurationError(f"[console] pin {error}") from None
