"""Boards, disks and firmwares that break a promise each, to see that it is noticed."""

import math
from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from device.simulator.simulated_board import PlayedTone
from device.simulator.virtual_clock import S
from firmware_py.calibration.in_force import NO_CALIBRATION, NOMINAL_FULL_SCALE_DB_HL
from firmware_py.console.grammar import SETTINGS_CONFLICT, ConsoleError
from firmware_py.firmware import FirmwareError
from firmware_py.journal import SealKey
from firmware_py.link.client import Tone
from firmware_py.link.notices import BoardEvent, Lost
from firmware_py.platform.data_directory import LOCK_NAME, SESSION, session_number
from firmware_py.platform.program import EXIT_TONE_GENERATOR
from firmware_py.platform.wrong_pins import WrongPins
from firmware_py.terms.events import Paused
from firmware_py.terms.person import Person
from tests.journal.simulated_disk import SimulatedDisk
from tests.simulation.machine import BEGAN_US
from tests.simulation.watch import WatchedFirmware
from tests.simulation.watched_board import WatchedBoard, WatchedServer

# --- boards and disks


class StubbornBoard(WatchedBoard):
    """Plays on without its host."""

    silent_after_us = 10**12


class FickleBoard(WatchedBoard):
    """Its listener hears other tones after every start of it."""

    def _listen(self, tone: PlayedTone) -> None:
        super()._listen(replace(tone, level_dbfs=tone.level_dbfs + 40.0 * (int(self.boot, 16) % 2)))


class AmnesiacDisk(SimulatedDisk):
    """Loses some of what it was bound to keep."""

    def after_power_loss(self, *about: Any) -> SimulatedDisk:
        disk = super().after_power_loss(*about)
        for path in disk.paths():
            if content := disk.content(path):
                disk.put(path, content[:-100])
        return disk


class FollowingDisk(SimulatedDisk):
    """Does not say what lies there, and makes a new file where a link leads to."""

    def names(self, directory: Path) -> list[str]:
        return [path.name for path in self.paths() if path.parent == directory]

    def create(self, path: Path) -> int:
        laid = self.laid.pop(path, None)
        if laid is None:
            return super().create(path)
        return self.open(laid[1], writable=True)


class ForgetfulServer(WatchedServer):
    """Forgets that noise has ended by itself."""

    def _play(self, values: dict[str, Any]) -> dict[str, Any]:
        self.sounds.noise_lost = False
        return super()._play(values)


class ForgetfulBoard(WatchedBoard):
    """Plays tones without the noise that it has ended by itself."""

    server_type = ForgetfulServer


# --- firmwares: what is done to one that was just made


class Parts(NamedTuple):
    """A firmware that was just made, and what it is made of."""

    firmware: Any
    operator: Any
    client: Any
    runner: Any
    lock: Any
    data: Any
    supervisor: Any
    clock: Any
    buttons: Any


Spoil = Callable[[Parts], None]


def spoilt(spoil: Spoil) -> type[WatchedFirmware]:
    """Return a kind of firmware to which this is done when it is made."""

    class SpoiltFirmware(WatchedFirmware):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            spoil(
                Parts(
                    self, self._operator, self._board.client, self._runner, self._console.lock,
                    arguments[2], self._supervisor, arguments[3], self._instrument.buttons,
                )
            )  # fmt: skip

    return SpoiltFirmware


def have(thing: Any, **changes: Any) -> None:
    """Give an object other attributes or methods."""
    vars(thing).update(changes)


def having(path: str, **changes: Any) -> Spoil:
    """Have a part of a firmware, or what hangs on it, with other attributes or methods."""
    return lambda parts: have(attrgetter(path)(parts), **changes)


def wrap(thing: Any, name: str, *, before: Any = None, after: Any = None) -> None:
    """Have something done before or after a method, with its arguments."""
    method = getattr(thing, name)

    def do_all(*arguments: Any) -> None:
        for each in (before, method, after):
            if each is not None:
                each(*arguments)

    have(thing, **{name: do_all})


def play_otherwise(parts: Parts, other: Callable[[Tone], float]) -> None:
    """Have tones played at other levels, dBFS."""
    play = parts.client.play
    have(parts.client, play=lambda tone: play(replace(tone, level_dbfs=min(other(tone), 0.0))))


def louder(more_db: float, begin: str = "") -> Spoil:
    """Have tones whose ids begin so played louder than was told."""

    def level_dbfs(tone: Tone) -> float:
        return tone.level_dbfs + more_db * tone.tone_id.startswith(begin)

    return lambda parts: play_otherwise(parts, level_dbfs)


def nominal(parts: Parts) -> None:
    """Play at nominal levels whatever the calibration is said to be."""

    def level_dbfs(tone: Tone) -> float:
        known = parts.runner.last_calibration.calibration
        level_db_hl = tone.level_dbfs - known.level_dbfs(tone.route, tone.frequency_hz, 0.0)
        return float(level_db_hl - NOMINAL_FULL_SCALE_DB_HL)

    play_otherwise(parts, level_dbfs)


def hasty(parts: Parts) -> None:
    """Acknowledge what is not on the disk yet."""

    def acknowledge(notice: Any) -> None:
        if isinstance(notice, BoardEvent):
            parts.client.acknowledge(notice.event)
            parts.firmware._carry()

    wrap(parts.firmware, "_notice", after=acknowledge)


def answering(change: Callable[[list[str]], list[str]]) -> Spoil:
    """Change the lines that go to the console."""

    def spoil(parts: Parts) -> None:
        def change_lines() -> None:
            have(parts.operator, _told=change(parts.operator._told))

        wrap(parts.operator, "flush", before=change_lines)

    return spoil


silent = answering(lambda lines: [line for line in lines if "state=waiting" not in line])
talkative = answering(lambda lines: lines + ["OK"] * ("OK" in lines))


def hoarding(parts: Parts) -> None:
    """Keep what is not needed."""
    have(parts.firmware, kept=[])
    wrap(parts.firmware, "step", after=lambda: parts.firmware.kept.extend([1] * 10))


def faulty(parts: Parts) -> None:
    """Make a mistake at a pause."""

    def fail(event: object, *_: object) -> None:
        if isinstance(event, Paused):
            raise ZeroDivisionError

    wrap(parts.runner, "feed", before=fail)


def pausing(parts: Parts) -> None:
    """Pause for no reason, once."""

    def pause() -> None:
        if parts.clock.us > BEGAN_US + 8 * S:
            have(parts.runner, advance=advance)
            parts.runner.feed(Paused())

    advance = parts.runner.advance
    wrap(parts.runner, "advance", before=pause)


def mistaking(parts: Parts) -> None:
    """Take everybody for the same person."""
    begin = parts.runner.begin
    have(parts.runner, begin=lambda settings, _: begin(settings, Person(identifier="P-9")))


def slandering(words: str) -> Spoil:
    """Say that of a tone generator, and lose it."""

    def spoil(parts: Parts) -> None:
        advance = parts.client.advance

        def slander(now_us: int) -> Any:
            have(parts.client, advance=advance)
            return [Lost(words, disbelieved=True)]

        wrap(parts.client, "play", after=lambda _: have(parts.client, advance=slander))

    return spoil


def suspicious(parts: Parts) -> None:
    """Take the button for held in every test."""
    at_the_start_us = 500_000
    have(
        parts.buttons,
        held_button=lambda _, for_us, *__: 1 if for_us > at_the_start_us else None,
    )


def tire(parts: Parts) -> None:
    """End without a cause after a few seconds."""

    def end() -> None:
        if parts.clock.world_s() > BEGAN_US / S + 5.0:
            raise FirmwareError(EXIT_TONE_GENERATOR, "enough")

    wrap(parts.firmware, "step", after=end)


def taking_any_pin_for(pin: str) -> Spoil:
    def spoil(parts: Parts) -> None:
        enter = parts.lock.enter
        have(parts.lock, enter=lambda _typed: enter(pin))

    return spoil


class LooseKey(SealKey):
    """Makes seals that do not hold for what stands before them."""

    def seal(self, previous: str, body: bytes) -> str:
        return super().seal("", body)


def withhold(word: str) -> Spoil:
    """Never tell the supervisor this: `ready`, `alive` or `ending`."""
    return lambda parts: have(parts.supervisor, **{word: lambda _words: None})


def refuse(*_: object) -> None:
    raise ConsoleError(SETTINGS_CONFLICT, "not today")


lazy = having("runner", begin=refuse)
trusting = having("runner.absence", within_s=math.inf)  # goes on with a test of long ago
keeping = having("operator", _operator_left=lambda _: None)  # settings, for the next operator
confusing = having("firmware.tuner", differences=list)  # takes every aid for that of the tuning
standing = having("runner", advance=lambda: None, seconds_to_wait=lambda: None)
unprotect = having("lock", require=lambda: None)
unseal = having("data", seal_key=None)
uncalibrate = having("runner", _calibration=NO_CALIBRATION)


def spinning(parts: Parts) -> None:
    have(parts.firmware, _wait=lambda: parts.firmware._waiting.wait([], 0.0))


def lock_at_once(parts: Parts) -> None:
    wrap(parts.lock, "require", after=parts.lock.lock)


def forgetful(parts: Parts) -> None:
    """Count wrong PINs only until the power goes."""
    have(parts.lock, _wrong=WrongPins(), _wait_until_s=0.0)


def hurry(parts: Parts) -> None:
    wrap(parts.operator, "serve", before=lambda: have(parts.lock, _wait_until_s=0.0))


def loosely_sealed(parts: Parts) -> None:
    have(parts.data, seal_key=LooseKey(parts.data.seal_key.secret))


# --- what shows over a year


def leaking(parts: Parts) -> None:
    """Leave files open."""
    disk, path = parts.data.disk, parts.data.path / LOCK_NAME
    wrap(parts.firmware, "step", after=lambda: disk.open(path, writable=False))


def rereading(parts: Parts) -> None:
    """Look at many files at a start."""
    disk, path = parts.data.disk, parts.data.path / LOCK_NAME

    def look() -> None:
        for _ in range(20):
            disk.close(disk.open(path, writable=False))

    wrap(parts.firmware, "_open_ports", after=look)


def unremembering(parts: Parts) -> None:
    """Give the number after the journals that are there, whatever was moved away."""
    data = parts.data

    def after_what_is_there(kind: str = SESSION) -> int:
        return max(map(session_number, data.journals(kind)), default=0) + 1

    have(data, next_number=after_what_is_there)


def littering(parts: Parts) -> None:
    """Leave files that nobody takes away."""
    data = parts.data

    def leave(*_: object) -> None:
        for number in range(5):
            data.disk.close(data.disk.create(data.path / f"left-{number}"))
        data.disk.fsync_directory(data.path)

    wrap(parts.runner, "begin", after=leave)


roomy = having("data", require_room=lambda _: 1 << 30)
nameless = having("data", device="")
