"""Boards, disks and firmwares that break a promise each, to see that it is noticed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from device.simulator.board import PlayedTone
from firmware_py.calibration.in_force import NO_CALIBRATION, NOMINAL_FULL_SCALE_DB_HL
from firmware_py.console.grammar import SETTINGS_CONFLICT, ConsoleError
from firmware_py.console.pin import WrongPinsUntilOff
from firmware_py.firmware import Firmware, FirmwareError
from firmware_py.journal import SealKey
from firmware_py.link.client import Tone
from firmware_py.link.notices import BoardEvent
from firmware_py.platform.exit_codes import EXIT_TONE_GENERATOR
from firmware_py.procedure.events import Paused
from tests.firmware.world import S
from tests.journal.simulated_disk import SimulatedDisk
from tests.simulation.board import WatchedBoard
from tests.simulation.clock import BEGAN_US

# --- boards and disks


class LyingDisk(SimulatedDisk):
    """Says that everything is on the disk, and nothing ever is."""

    def fsync(self, handle: int) -> None:
        pass


class StubbornBoard(WatchedBoard):
    """Plays on without its host."""

    host_silence_us = 10**12


class FickleBoard(WatchedBoard):
    """Its listener hears other tones after every start of it."""

    def _listen(self, tone: PlayedTone) -> None:
        super()._listen(replace(tone, level_dbfs=tone.level_dbfs + 40.0 * (self._boot % 2)))


class AmnesiacDisk(SimulatedDisk):
    """Loses some of what it was bound to keep."""

    def after_power_loss(self, *about: Any) -> SimulatedDisk:
        disk = super().after_power_loss(*about)
        for path in disk.paths():
            if content := disk.content(path):
                disk.put(path, content[:-100])
        return disk


class ForgetfulBoard(WatchedBoard):
    """Plays tones without the noise that it has ended by itself."""

    def _play(self, fields: Any) -> dict[str, str | int]:
        self._noise_lost = False
        return super()._play(fields)


# --- firmwares: what is done to one that was just made

Spoil = Callable[[Any], None]


def spoilt(spoil: Spoil) -> type[Firmware]:
    """Return a kind of firmware to which this is done when it is made."""

    class SpoiltFirmware(Firmware):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            spoil(self)

    return SpoiltFirmware


def have(thing: Any, **changes: Any) -> None:
    """Give an object other attributes or methods."""
    vars(thing).update(changes)


def wrapped(thing: Any, name: str, *, before: Any = None, after: Any = None) -> None:
    """Have something done before or after a method, with its arguments."""
    method = getattr(thing, name)

    def do_all(*arguments: Any) -> None:
        for each in (before, method, after):
            if each is not None:
                each(*arguments)

    have(thing, **{name: do_all})


def played(firmware: Any, other: Callable[[Tone], float]) -> None:
    """Have tones played at other levels, dBFS."""
    play = firmware._client.play
    have(firmware._client, play=lambda tone: play(replace(tone, level_dbfs=min(other(tone), 0.0))))


def louder(more_db: float, begin: str = "") -> Spoil:
    """Have tones whose ids begin so played louder than was told."""

    def level_dbfs(tone: Tone) -> float:
        return tone.level_dbfs + more_db * tone.tone_id.startswith(begin)

    return lambda firmware: played(firmware, level_dbfs)


def nominal(firmware: Any) -> None:
    """Play at nominal levels whatever the calibration is said to be."""

    def level_dbfs(tone: Tone) -> float:
        known = firmware._runner.last_calibration.calibration
        level_db_hl = tone.level_dbfs - known.level_dbfs(tone.ear, tone.frequency_hz, 0.0)
        return float(level_db_hl - NOMINAL_FULL_SCALE_DB_HL)

    played(firmware, level_dbfs)


def hasty(firmware: Any) -> None:
    """Acknowledge what is not on the disk yet."""

    def acknowledge(notice: Any) -> None:
        if isinstance(notice, BoardEvent):
            firmware._client.acknowledge(notice.event)
            firmware._carry()

    wrapped(firmware, "_notice", after=acknowledge)


def silent(firmware: Any) -> None:
    """Do not answer everything."""

    def swallow() -> None:
        have(firmware, _told=[line for line in firmware._told if "state=waiting" not in line])

    wrapped(firmware, "_flush_console", before=swallow)


def talkative(firmware: Any) -> None:
    """Answer more than was asked."""

    def add() -> None:
        have(firmware, _told=firmware._told + ["OK"] * ("OK" in firmware._told))

    wrapped(firmware, "_flush_console", before=add)


def hoarding(firmware: Any) -> None:
    """Keep what is not needed."""
    have(firmware, kept=[])
    wrapped(firmware, "step", after=lambda: firmware.kept.extend([1] * 10))


def faulty(firmware: Any) -> None:
    """Make a mistake at a pause."""

    def fail(event: object, *_: object) -> None:
        if isinstance(event, Paused):
            raise ZeroDivisionError

    wrapped(firmware._runner, "feed", before=fail)


def tired(firmware: Any) -> None:
    """End without a cause after a few seconds."""

    def end() -> None:
        if firmware._clock.world_s() > BEGAN_US / S + 5.0:
            raise FirmwareError(EXIT_TONE_GENERATOR, "enough")

    wrapped(firmware, "step", after=end)


def lazy(firmware: Any) -> None:
    """Begin no test."""

    def refuse(*_: object) -> None:
        raise ConsoleError(SETTINGS_CONFLICT, "not today")

    have(firmware._runner, begin=refuse)


def spinning(firmware: Any) -> None:
    """Never wait."""
    have(firmware, _wait=lambda: firmware._waiting.wait([], 0.0))


def unprotected(firmware: Any) -> None:
    """Do without the PIN what needs it."""
    have(firmware._console.lock, require=lambda: None)


def locked_at_once(firmware: Any) -> None:
    """Forget at once that the PIN was given."""
    lock = firmware._console.lock
    wrapped(lock, "require", after=lock.lock)


def taking_any_pin_for(pin: str) -> Spoil:
    """Take any PIN for this one."""

    def spoil(firmware: Any) -> None:
        enter = firmware._console.lock.enter
        have(firmware._console.lock, enter=lambda _typed: enter(pin))

    return spoil


def hurried(firmware: Any) -> None:
    """Look at one PIN after the other."""
    lock = firmware._console.lock
    wrapped(firmware, "_serve_console", before=lambda: have(lock, _wait_until_s=0.0))


def forgetful(firmware: Any) -> None:
    """Count wrong PINs only until the power goes."""
    have(firmware._console.lock, _wrong=WrongPinsUntilOff(), _wait_until_s=0.0)


class LooseKey(SealKey):
    """Makes seals that do not hold for what stands before them."""

    def seal(self, previous: str, body: bytes) -> str:
        return super().seal("", body)


def loosely_sealed(firmware: Any) -> None:
    """Seal every line for itself."""
    data = firmware._runner._data
    have(data, seal_key=LooseKey(data.seal_key.secret))


def unsealed(firmware: Any) -> None:
    """Seal nothing, whatever key is given."""
    have(firmware._runner._data, seal_key=None)


def uncalibrated(firmware: Any) -> None:
    """Play and say nominal levels, whatever calibration is given."""
    have(firmware._runner, _calibration=NO_CALIBRATION)


def untold(word: str) -> Spoil:
    """Never tell the supervisor this: `ready`, `alive` or `ending`."""
    return lambda firmware: have(firmware._supervisor, **{word: lambda _words: None})
