"""What `gp-pta.toml` tells the system of a card, which asks the firmware: there is one reader."""

import datetime
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from firmware_py.board.pi_models import Machine, machine
from firmware_py.console.pin import PIN_WORDS, PinHash
from firmware_py.installation.configuration import FILE_BYTES_MAX, ConfigurationError, check_card
from firmware_py.platform.named_file import TomlFileError, content_of, read_toml

# A key and what it is set to, wherever in a file: under [console], in { }, behind a point.
NEW_PIN: Final = re.compile(
    r"""(?<![\w-])(["']?)new_pin\1([ \t]*=[ \t]*)("[^"\n]*"|'[^'\n]*'|[0-9_+]+)""", re.ASCII
)
# The one before it, in a line of its own
PIN_LINE: Final = re.compile(r"^[ \t]*(?:console[ \t]*\.[ \t]*)?pin[ \t]*=.*\n", re.MULTILINE)


def card_lines(path: Path, here: Machine | None = None) -> list[str]:
    """Return what the system of a card is told, as lines of NAME=VALUE; `here`: this machine.

    A table `[card]` with a fault in it tells nothing, and the firmware says what is wrong: at the
    UART, where the USB port cannot be the operator's. A `ConfigurationError` if the file cannot be
    read, or is no TOML.
    """
    here = here or machine()
    content = _read(path)
    console = _table(content, "console")
    lines = ["new_pin=yes"] * ("new_pin" in console) + [f"pin={'yes' if console else 'no'}"]
    card = _table(content, "card")
    try:
        check_card(card, here)
    except ConfigurationError:
        return [*lines, "console=uart"] if here.why_not_usb else lines
    clock = card.get("clock")
    if clock is not None:
        since = clock if clock.tzinfo else clock.replace(tzinfo=datetime.UTC)
        lines.append(f"clock={since.timestamp():.0f}")
    if card.get("board_report", False):
        lines.append("board_report=yes")
    return [*lines, f"console={card.get('console', 'uart')}"]


def with_hash_of_pin(path: Path, salt: bytes) -> bytes:
    """Return the configuration with the hash of a new PIN in the place of the PIN.

    A `ConfigurationError`, which does not tell it, if there is no new PIN, it is not allowed, or it
    stands where it cannot be replaced.
    """
    wanted = _read(path)
    console = _table(wanted, "console")
    told = console.pop("new_pin", None)
    if isinstance(told, bool) or not isinstance(told, str | int):
        raise ConfigurationError(f"[console] new_pin is no PIN; allowed are {PIN_WORDS}")
    try:
        console["pin"] = str(PinHash.of(str(told), salt))
    except ValueError as error:
        raise ConfigurationError(f"[console] new_pin: {error}") from None
    text = content_of(path, FILE_BYTES_MAX).decode()
    for attempt in _replace(text, console["pin"]):
        try:
            if tomllib.loads(attempt.removeprefix("\ufeff")) == wanted:
                return attempt.encode()
        except tomllib.TOMLDecodeError:
            continue
    raise ConfigurationError(
        '[console] new_pin cannot be replaced where it stands; write new_pin = "..." in a line of '
        "its own, under [console], and no pin beside it"
    )


def _replace(text: str, stored: str) -> Iterator[str]:
    """Yield what the file may become; who reads it finds out which is meant."""
    for found in NEW_PIN.finditer(text):
        new = f'{text[: found.start()]}pin{found[2]}"{stored}"{text[found.end() :]}'
        yield new
        for old in PIN_LINE.finditer(text):
            if old.end() <= found.start():
                yield new[: old.start()] + new[old.end() :]
            elif old.start() >= found.end():
                moved = len(new) - len(text)
                yield new[: old.start() + moved] + new[old.end() + moved :]


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path, FILE_BYTES_MAX)
    except TomlFileError as error:
        raise ConfigurationError(str(error)) from None


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    table = content.get(name)
    return table if isinstance(table, dict) else {}
