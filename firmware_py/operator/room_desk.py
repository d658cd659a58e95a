"""The noise of the room: what the operator tells of it, for this test and those that follow.

It belongs to the place and not to a person: it stays until another is told, or the device restarts.
"""

import json
from collections.abc import Callable
from typing import Final

from firmware_py.console import grammar
from firmware_py.console.arguments import Argument, Choice, Number, Word
from firmware_py.console.command_row import Command
from firmware_py.console.grammar import ConsoleError
from firmware_py.operator.refusals import refusing
from firmware_py.session.room import Levels, Room, too_loud
from firmware_py.sessions.runner import Runner
from firmware_py.terms.events import RoomTold
from firmware_py.terms.reasons import Reason, as_json
from firmware_py.terms.room import SHAPES_DB, UNCERTAINTY_LIMITS_DB, room_of_words
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import say

UNKNOWN: Final = "unknown"


class RoomDesk:
    """Tells the `runner` of the tests the room that is `configured`, and then what is told."""

    def __init__(
        self, configured: RoomTold | None, runner: Runner, settings: Callable[[], Settings]
    ) -> None:
        self._runner, self._settings = runner, settings
        runner.room = configured
        self._warned_of: RoomTold | None = None  # too loud a room, whose next test is begun

    def tell(self, level: str, spectrum: str | None, uncertainty_db: float | None) -> None:
        """Take in a room; of a test under way from its next tone on."""
        with refusing():
            told = None
            if level.lower() != UNKNOWN:
                told = room_of_words(level, spectrum, uncertainty_db)
            self._runner.tell_room(told)

    def told(self) -> str:
        """Return what is known, and the softest tones that the next test may ask, as JSON."""
        told = self._runner.room
        if told is None:
            return json.dumps({"room": None})
        floors = self._floors()
        found = {"room": as_json(told), "floors_db_hl": floors}
        return json.dumps({**found, "too_loud": as_json(self._too_loud(floors))})

    def require_quiet(self) -> None:
        """Refuse a test in too loud a room, once: who begins it again means it."""
        told, loud = self._runner.room, self._too_loud(self._floors())
        if loud is None or told is self._warned_of:
            return
        self._warned_of = told
        words = f"{say(loud)}; find a quieter room, or SESS:STAR once more as it is"
        raise ConsoleError(grammar.SETTINGS_CONFLICT, words)

    def _too_loud(self, floors: dict[str, Levels]) -> Reason | None:
        familiar_db_hl = self._settings().familiar_level_db_hl
        found = [too_loud(each, familiar_db_hl) for each in floors.values()]
        return next(filter(None, found), None)

    def _floors(self) -> dict[str, Levels]:
        room = Room(self._runner.calibration_today().earphones.kind)
        if self._runner.room is not None:
            room.take(self._runner.room)
        kinds = {route.kind.transducer: route.kind for route in self._settings().tested_routes}
        return {name: room.floors_db_hl(kind) for name, kind in kinds.items()}


COMMANDS: Final = (
    Command(
        "SESSion:ROOM", RoomDesk.tell, "noise of the room: dBA, HZ:DB;... or UNKNOWN",
        (
            Argument("level", Word("DBA")),
            Argument("spectrum", Choice({n.upper(): n for n in SHAPES_DB}), optional=True),
            Argument(
                "uncertainty", Number("DB", "dB", UNCERTAINTY_LIMITS_DB), optional=True
            ),
        ),
    ),
    Command("SESSion:ROOM?", RoomDesk.told, "the room, and the softest tones it allows, as JSON"),
)  # fmt: skip
