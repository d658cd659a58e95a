"""Firmwares, boards and disks that break a promise each, to see that it is noticed."""

from dataclasses import replace
from typing import Any

from device.simulator.board import PlayedTone
from firmware_py.calibration.calibration import NOMINAL_FULL_SCALE_DB_HL
from firmware_py.console.grammar import SETTINGS_CONFLICT, ConsoleError
from firmware_py.console.pin import WrongPinsUntilOff
from firmware_py.firmware import Firmware, FirmwareError
from firmware_py.journal import SealKey
from firmware_py.journal.simulated_disk import SimulatedDisk
from firmware_py.link.client import Tone
from firmware_py.link.notices import BoardEvent, Notice
from firmware_py.platform.exit_codes import EXIT_TONE_GENERATOR
from tests.firmware.world import S
from tests.simulation.board import WatchedBoard, WatchedServer
from tests.simulation.clock import BEGAN_US
from tests.simulation.lock import PIN


class LyingDisk(SimulatedDisk):
    """Says that everything is on the disk, and nothing ever is."""

    def fsync(self, handle: int) -> None:
        pass


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


class ForgetfulServer(WatchedServer):
    """Forgets that noise has ended by itself."""

    def _play(self, values: dict[str, Any]) -> dict[str, Any]:
        self._noise_lost = False
        return super()._play(values)


class ForgetfulBoard(WatchedBoard):
    """Plays tones without the noise that it has ended by itself."""

    server_type = ForgetfulServer


class LoudFirmware(Firmware):
    """Has tones whose ids begin so played louder than it was told."""

    MORE_DB = 10.0
    BEGIN = ""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        play = self._client.play

        def louder(tone: Tone) -> None:
            more_db = self.MORE_DB if tone.tone_id.startswith(self.BEGIN) else 0.0
            play(replace(tone, level_dbfs=min(tone.level_dbfs + more_db, 0.0)))

        self._client.play = louder  # type: ignore[method-assign]


class LoudByHand(LoudFirmware):
    """Has tones by hand played as loud as can be."""

    MORE_DB, BEGIN = 120.0, "man-"


class LoudForTheMeter(LoudFirmware):
    """Has calibration tones played as loud as can be."""

    MORE_DB, BEGIN = 120.0, "cal-"


class HastyFirmware(Firmware):
    """Acknowledges what is not on the disk yet."""

    def _notice(self, notice: Notice) -> None:
        super()._notice(notice)
        if isinstance(notice, BoardEvent):
            self._client.acknowledge(notice.event)
            self._carry()


class SilentFirmware(Firmware):
    """Does not answer everything."""

    def _flush_console(self) -> None:
        self._told = [line for line in self._told if "state=waiting" not in line]
        super()._flush_console()


class TalkativeFirmware(Firmware):
    """Answers more than it was asked."""

    def _flush_console(self) -> None:
        self._told += ["OK"] * ("OK" in self._told)
        super()._flush_console()


class HoardingFirmware(Firmware):
    """Keeps what it does not need."""

    def step(self) -> None:
        self.__dict__.setdefault("kept", []).extend([1] * 10)
        super().step()


class SpinningFirmware(Firmware):
    """Never waits."""

    def _wait(self) -> None:
        self._waiting.wait([], 0.0)


class FaultyFirmware(Firmware):
    """Makes a mistake of its own."""

    def pause(self) -> None:
        raise ZeroDivisionError


class CarelessFirmware(Firmware):
    """Does what needs the PIN without it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._console.lock.require = lambda: None  # type: ignore[method-assign]


class StubbornFirmware(Firmware):
    """Forgets at once that it was given the PIN."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        require = self._console.lock.require

        def once() -> None:
            require()
            self._console.lock.lock()

        self._console.lock.require = once  # type: ignore[method-assign]


class HurriedFirmware(Firmware):
    """Looks at one PIN after the other."""

    def _serve_console(self) -> None:
        self._console.lock._wait_until_s = 0.0
        super()._serve_console()


class ForgetfulFirmware(Firmware):
    """Counts wrong PINs only until it is switched off."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._console.lock._wrong = WrongPinsUntilOff()
        self._console.lock._wait_until_s = 0.0


class LooseKey(SealKey):
    """Makes seals that do not hold for what stands before them."""

    def seal(self, previous: str, body: bytes) -> str:
        return super().seal("", body)


class LooseFirmware(Firmware):
    """Seals every line for itself."""

    def __init__(self, *arguments: Any) -> None:
        data = arguments[3]
        data.seal_key = LooseKey(data.seal_key.secret)
        super().__init__(*arguments)


class UncalibratedFirmware(Firmware):
    """Says what its calibration is, and plays at nominal levels."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        play = self._client.play

        def nominal(tone: Tone) -> None:
            known = self._runner.last_calibration.calibration
            assert known is not None
            zero_dbfs = known.level_dbfs(tone.ear, tone.frequency_hz, 0.0)
            level_db_hl = tone.level_dbfs - zero_dbfs
            play(replace(tone, level_dbfs=level_db_hl - NOMINAL_FULL_SCALE_DB_HL))

        self._client.play = nominal  # type: ignore[method-assign]


class OpenFirmware(Firmware):
    """Takes any PIN for the right one."""

    TAKEN = PIN

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        enter = self._console.lock.enter
        self._console.lock.enter = lambda pin: enter(self.TAKEN)  # type: ignore[method-assign]


class ClosedFirmware(OpenFirmware):
    """Takes any PIN for a wrong one."""

    TAKEN = "0000"


class PlainFirmware(Firmware):
    """Seals nothing, whatever it is given."""

    def __init__(self, *arguments: Any) -> None:
        arguments[3].seal_key = None
        super().__init__(*arguments)


class NominalFirmware(Firmware):
    """Plays and says nominal levels, whatever it is given."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments[:-1])


class UnreadyFirmware(Firmware):
    """Never tells its supervisor that it is ready."""

    def run(self) -> None:
        self._supervisor.ready = lambda words: None  # type: ignore[method-assign]
        super().run()


class LazyFirmware(Firmware):
    """Begins no test."""

    def start(self, *arguments: Any) -> None:
        raise ConsoleError(SETTINGS_CONFLICT, "not today")


class TiredFirmware(Firmware):
    """Ends by itself after a few seconds."""

    def step(self) -> None:
        super().step()
        if self._clock.world_s() > BEGAN_US / S + 5.0:
            raise FirmwareError(EXIT_TONE_GENERATOR, "enough")


class MutedFirmware(Firmware):
    """Tells its supervisor once that it lives, and never again."""

    def run(self) -> None:
        self._supervisor.alive("begins")
        self._supervisor.alive = lambda status: None  # type: ignore[method-assign]
        super().run()


class LeavingFirmware(Firmware):
    """Ends without a word to its supervisor."""

    def run(self) -> None:
        self._supervisor.ending = lambda words: None  # type: ignore[method-assign]
        super().run()
