"""The settings of the next test: as configured, and what the operator changed for it.

A change is of one test of one person. It ends when that test has begun, and when its operator
leaves: with the lock, the line, `*RST`.
"""

import json
import os
from dataclasses import replace
from typing import Any, Final

from firmware_py.console import grammar
from firmware_py.console.command_row import Command
from firmware_py.console.grammar import ConsoleError
from firmware_py.installation.configuration import Configuration
from firmware_py.terms.settings import LOUD_DB_HL, SettingError, Settings, choice_begun

LOUD: Final = "loud_confirmed"
SEED: Final = "seed"
SEED_BITS: Final = 31


class SettingDesk:
    """Keeps what the operator changes; all else is as configured."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self._changes: dict[str, Any] = {}
        self._forgotten: list[str] = []  # what an operator who may still be there counts on

    def change(self, name: str, text: str) -> None:
        name = name.lower()
        begun = choice_begun(name, text.lower())
        value = _value(text) if begun == text.lower() else begun
        several = isinstance(self.settings().as_record().get(name), list)
        change = {name: [value] if several and not isinstance(value, list) else value}
        self.settings(change)
        self._changes |= change
        self._forgotten = [each for each in self._forgotten if each != name]

    def tell(self, name: str | None) -> str:
        record = self.settings().as_record()
        # Whose word it is, and that nobody knows it yet
        record |= {LOUD: self._is_confirmed, SEED: self._seed()}
        if name is None:
            return json.dumps(record)
        if name.lower() not in record:
            raise ConsoleError(
                grammar.ILLEGAL_PARAMETER, f"{name!r} is no setting; SETT? lists them"
            )
        return json.dumps(record[name.lower()])

    def settings(self, changes: dict[str, Any] | None = None) -> Settings:
        told = {**self._from_configuration(), **self._changes, **(changes or {})}
        return Settings.from_record({n: v for n, v in told.items() if n != SEED or v is not None})

    def of_tone(self) -> Settings:
        """Return the settings of a tone by hand: loud ones need the word, too."""
        settings = self.settings()
        if self._is_confirmed or settings.level_max_db_hl <= LOUD_DB_HL:
            return settings
        return replace(settings, level_max_db_hl=LOUD_DB_HL)

    def of_test(self, changes: dict[str, Any]) -> Settings:
        """Return the settings of a test that begins now; its seed is by chance unless told.

        `SettingError` if they need a word for this very test; `ConsoleError`, once, if some were
        forgotten.
        """
        if self._forgotten:
            names, self._forgotten = ", ".join(self._forgotten), []
            words = f"the console locked itself, and settings are as configured again: {names}"
            raise ConsoleError(
                grammar.SETTINGS_CONFLICT, f"{words}; set them, or SESS:STAR as it is"
            )
        seed = self._seed()
        chance = {SEED: seed_by_chance()} if seed is None else {}
        settings = self.settings({**chance, **changes})
        if settings.level_max_db_hl > LOUD_DB_HL and not self._is_confirmed:
            raise SettingError(
                f"level_max_db_hl is configured as {settings.level_max_db_hl:g} dB HL; above "
                f"{LOUD_DB_HL:g} dB HL each test needs the operator's own word: SETT {LOUD},true"
            )
        return settings

    def differences(self) -> str:
        """Say what the next test has otherwise than configured; empty: nothing."""
        usual = self._usual()
        return "; ".join(
            f"{name} is {json.dumps(value)}, configured {json.dumps(usual[name])}"
            for name, value in self._changes.items()
            if value != usual[name]
        )

    def tell_configured(self) -> str:
        return json.dumps(self._usual())

    def forget(self, *, unasked: bool = False) -> str:
        """Go back to the configuration; return which settings were changed.

        `unasked`: the operator may still be there, and has to be told before a test begins.
        """
        names = [*self._changes]
        self._changes, self._forgotten = {}, [*self._forgotten, *names] if unasked else []
        return ", ".join(names)

    @property
    def _is_confirmed(self) -> bool:
        return bool(self._changes.get(LOUD))

    def _seed(self) -> int | None:
        seed: int | None = self._changes.get(SEED, self.configuration.seed)
        return seed

    def _usual(self) -> dict[str, Any]:
        """Return all settings as configured; the word for loud tones nobody has given yet."""
        configured = Settings.from_record(self._from_configuration()).as_record()
        return configured | {LOUD: False, SEED: self.configuration.seed}

    def _from_configuration(self) -> dict[str, Any]:
        return self.configuration.test.as_chosen()


def seed_by_chance() -> int:
    """Return a seed that nobody chose; without `secrets`, which takes 4 MB of a device."""
    return int.from_bytes(os.urandom(4), "big") >> (32 - SEED_BITS)


def _value(text: str) -> Any:
    """Return what an operator wrote as a number, true, false, null, or else as the word it is.

    Of values joined by `;` a list: a comma begins the next argument.
    """
    if ";" in text:
        return [_value(each) for each in text.split(";")]
    try:
        return json.loads(text.lower())
    except ValueError:
        return text.lower()


COMMANDS: Final = (
    Command("SETTing:CONFigured?", SettingDesk.tell_configured, "all as configured, as JSON"),
)
