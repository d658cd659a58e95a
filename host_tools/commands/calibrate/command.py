"""`gp-pta calibrate`: guide a technician through a session with a sound level meter."""

import argparse
import datetime
import getpass
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from device.calibration.measurement import (
    ImplausibleError,
    Point,
    Reading,
    as_toml,
    calibration_of,
    point_of,
)
from device.calibration.retspl import (
    TABLES,
    ReferenceLevels,
    UnknownTransducerError,
    reference_levels,
)
from firmware_py.calibration.calibration import (
    DUE_DAYS_MAX,
    FREQUENCIES_HZ,
    Calibration,
    CalibrationError,
    check_text,
)
from firmware_py.calibration.tone import DBFS_LIMITS
from firmware_py.procedure.settings import LEFT, RIGHT
from host_tools.commands.calibrate.readings import Readings, kept_beside
from host_tools.commands.console.command import Talk
from host_tools.errors import HostError
from host_tools.files import check_name, write_text

NAME = "calibrate"
SUMMARY = "measure the device with a sound level meter, guided, and write its calibration file"
EXAMPLE = """\
example:
  gp-pta calibrate /dev/ttyACM0 --transducer tdh39 -o calibration.toml
  gp-pta-device ... --calibration calibration.toml

Nobody may wear the earphones meanwhile. At each frequency a tone of 5 s sounds at two levels;
answer with the meter's reading in dB SPL, with return to hear the tone again, with "softer" if the
loud tone is distorted (that level is then the device's limit), with "back" for the frequency
before, or with "quit". What was read is kept in calibration.toml.readings: the same command goes on
with it.
"""

NEEDS: Final[dict[str, tuple[str, ...]]] = {}
SOFT_DBFS: Final = -30.0
LOUD_DBFS: Final = -10.0
SOFTER_DB: Final = 5.0  # at a time, where the loud tone is distorted
APART_MIN_DB: Final = 10.0  # between the two levels: nearer, and they show nothing
DUE_DAYS: Final = 365
BEGIN_TIMEOUT_S: Final = 5.0  # from the command to the tone
POLL_S: Final = 0.02

Ask = Callable[[str], str]
Say = Callable[[str], None]


class BackError(Exception):
    """The technician wants the frequency before again."""


class QuitError(Exception):
    """The technician ends the session."""


class Instrument:
    """The console of a firmware at a serial port.

    Parameters
    ----------
    url : str
        The port, or any URL that pyserial knows.
    ask_secret : callable
        Asked for the operator's PIN, if the firmware wants one.
    """

    def __init__(self, url: str, ask_secret: Ask) -> None:
        self._url = url
        self._ask_secret = ask_secret
        self._pin = ""

    def __enter__(self) -> "Instrument":
        """Open the port, and find a firmware there; unasked lines are dropped."""
        self._talk = Talk(self._url, lambda _: None)
        try:
            self._talk.wake()
        except HostError:
            self._talk.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Have the tone end, and close the port."""
        with suppress(HostError):  # it is gone already
            self.stop()
        self._talk.close()

    def unlock(self) -> None:
        """Enter the PIN, if the firmware wants it: the first time, or after a long pause."""
        if self._talk.insist("SYST:PIN?") != "LOCKED":
            return
        if not self._pin:
            self._pin = self._ask_secret("operator's PIN: ").strip()
        self._talk.insist(f"SYST:PIN {self._pin}")

    def play(self, ear: str, frequency_hz: int, level_dbfs: float) -> bool:
        """Play a tone, and return when it sounds; False if the board's output limit is lower.

        Raises
        ------
        HostError
            If it does not.
        """
        self.unlock()
        self._talk.insist(f"CAL:TONE {ear.upper()},{frequency_hz},{level_dbfs:g}")
        until_s = time.monotonic() + BEGIN_TIMEOUT_S
        while (state := self._talk.insist("CAL:TONE?")) == "asked" and time.monotonic() < until_s:
            time.sleep(POLL_S)
        if state == "refused limit":
            return False
        if state not in ("sounding", "over"):
            raise HostError(
                f"the tone of {frequency_hz} Hz at {level_dbfs:g} dBFS did not sound: {state}"
            )
        return True

    def stop(self) -> None:
        """End the tone."""
        self._talk.insist("CAL:STOP")


@dataclass
class Guide:
    """Leads through the measurement.

    Parameters
    ----------
    instrument : Instrument
        Plays the tones.
    ask, say : callable
        A question to the technician, returning the answer; and a line for him.
    readings : Readings
        What is known already, and what is measured.
    keep : callable
        Called after every frequency that was measured.
    soft_dbfs, loud_dbfs : float
        The two levels.
    """

    instrument: Instrument
    ask: Ask
    say: Say
    readings: Readings
    keep: Callable[[], None]
    soft_dbfs: float = SOFT_DBFS
    loud_dbfs: float = LOUD_DBFS

    def measure(self, reference: ReferenceLevels) -> None:
        """Measure both ears at every frequency that is not measured yet.

        Raises
        ------
        QuitError
            If the technician has enough of it.
        HostError
            If a tone cannot be played.
        """
        for ear in (LEFT, RIGHT):
            number = len(self.readings.points[ear])
            if number == len(FREQUENCIES_HZ):
                continue
            where = f"the coupler ({reference.coupler})"
            answer_of(self.ask, f"put the {ear} earphone on {where}; return: ")
            while number < len(FREQUENCIES_HZ):
                try:
                    self._measure_one(ear, number, reference)
                except BackError:
                    number = max(number - 1, 0)
                else:
                    number += 1
                    self.keep()

    def _measure_one(self, ear: str, number: int, reference: ReferenceLevels) -> None:
        frequency_hz = FREQUENCIES_HZ[number]
        retspl_db_spl = reference.levels_db_spl[frequency_hz]
        points = self.readings.points[ear]
        before = points[FREQUENCIES_HZ[number - 1]] if number else None
        point = self._point(ear, frequency_hz, before, retspl_db_spl)
        points[frequency_hz] = point
        self.say(
            f"{ear} {frequency_hz} Hz: 0 dBFS is {point.sensitivity_db_spl:.1f} dB SPL; up to "
            f"{point.level_max_db_spl - retspl_db_spl:.1f} dB HL"
        )

    def _point(
        self, ear: str, frequency_hz: int, before: Point | None, retspl_db_spl: float
    ) -> Point:
        """Measure one frequency of one ear until it can be true."""
        loud_dbfs = self.loud_dbfs
        while True:
            try:
                soft = self._reading(ear, frequency_hz, self.soft_dbfs)
                loud = self._reading(ear, frequency_hz, loud_dbfs)
                if soft is not None and loud is not None:
                    return point_of(soft, loud, before, retspl_db_spl)
                loud_dbfs = self._softer(loud_dbfs)
            except ImplausibleError as error:
                self.say(f"cannot be right: {error}; both again")

    def _softer(self, loud_dbfs: float) -> float:
        if loud_dbfs - SOFTER_DB < self.soft_dbfs + APART_MIN_DB:
            raise ImplausibleError(
                f"{loud_dbfs:g} dBFS is the softest loud tone, {APART_MIN_DB:g} dB above the soft "
                "one at least"
            )
        return loud_dbfs - SOFTER_DB

    def _reading(self, ear: str, frequency_hz: int, level_dbfs: float) -> Reading | None:
        """Play a tone until there is a reading; None: it is to be softer."""
        while True:
            if not self.instrument.play(ear, frequency_hz, level_dbfs):
                if level_dbfs == self.soft_dbfs:
                    raise HostError(
                        f"the tone generator's output limit is below --soft, {level_dbfs:g} dBFS"
                    )
                self.say(f"{level_dbfs:g} dBFS is above the tone generator's output limit")
                return None
            words = answer_of(self.ask, f"{ear} {frequency_hz} Hz at {level_dbfs:g} dBFS, dB SPL: ")
            self.instrument.stop()
            if words == "softer":
                return None
            if words == "back":
                raise BackError
            if not words:
                continue
            try:
                return Reading(level_dbfs, float(words.replace(",", ".")))
            except ImplausibleError as error:
                self.say(f"cannot be right: {error}; again")
            except ValueError:
                self.say(
                    f"{words!r} is no number; allowed are a number, return, softer, back, quit"
                )


def answer_of(ask: Ask, question: str) -> str:
    """Return what the technician answers, in small letters.

    Raises
    ------
    QuitError
        If that is the end.
    """
    try:
        words = ask(question).strip().lower()
    except EOFError:
        raise QuitError from None
    if words == "quit":
        raise QuitError
    return words


TEXTS: Final = {
    "technician": "technician",
    "meter": "sound level meter, maker and model",
    "meter_serial": "serial number of the meter",
    "tone_generator_serial": "serial number of the tone generator",
    "serial_left": "serial number of the left earphone",
    "serial_right": "serial number of the right earphone",
}


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("port", nargs="?", metavar="PORT", help="the firmware's console")
    p.add_argument("--console", metavar="URL", help="the same, as any URL that pyserial knows")
    p.add_argument("-o", "--out", metavar="FILE.toml", type=Path, required=True, help="to write")
    p.add_argument(
        "--transducer",
        default="tdh39",
        metavar="NAME",
        help=f"whose RETSPL: {', '.join(sorted(TABLES))} (default: tdh39)",
    )
    for name, what in TEXTS.items():
        p.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", help=f"{what}; else asked")
    p.add_argument(
        "--soft", type=float, default=SOFT_DBFS, metavar="DBFS", help=f"default: {SOFT_DBFS:g}"
    )
    p.add_argument(
        "--loud",
        type=float,
        default=LOUD_DBFS,
        metavar="DBFS",
        help=f"also the highest level of the device from then on (default: {LOUD_DBFS:g})",
    )
    p.add_argument(
        "--due-days", type=int, default=DUE_DAYS, metavar="N", help=f"default: {DUE_DAYS}"
    )
    p.add_argument("--force", action="store_true", help="replace FILE.toml if it is there")
    p.add_argument(
        "--resume", action="store_true", help="go on with the readings that are kept, unasked"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure and write."""
    today = datetime.datetime.now().astimezone().date()
    return calibrate(arguments, input, print, today, getpass.getpass)


def calibrate(
    arguments: argparse.Namespace, ask: Ask, say: Say, today: datetime.date, ask_secret: Ask
) -> int:
    """Measure and write; the technician is handed in.

    Raises
    ------
    HostError
        If an option is not allowed, or the device does not do its part.
    """
    url = _checked(arguments)
    try:
        reference = reference_levels(arguments.transducer)
    except UnknownTransducerError as error:
        raise HostError(str(error)) from None
    place = kept_beside(arguments.out)
    say("Nobody may wear the earphones until this is over.")
    readings = Readings(reference.transducer)
    try:
        if place.exists() or arguments.resume:
            readings = _kept(arguments, place, ask, say, readings)
        with Instrument(url, ask_secret) as instrument:
            instrument.unlock()
            guide = Guide(
                instrument, ask, say, readings, lambda: readings.save(place),
                arguments.soft, arguments.loud,
            )  # fmt: skip
            for name in TEXTS:
                if name not in readings.texts:
                    readings.texts[name] = _text(guide, arguments, name)
            guide.measure(reference)
    except QuitError:
        say(f"ended; {_what_is_kept(place)}")
        return 1
    made = _calibration(readings, reference, today, arguments.due_days)
    write_text(arguments.out, as_toml(made))
    place.unlink(missing_ok=True)
    about = made.content["calibration"]
    say(f"{arguments.out}: calibrated {about['date']}, due {about['due']}")
    return 0


def _kept(
    arguments: argparse.Namespace, place: Path, ask: Ask, say: Say, fresh: Readings
) -> Readings:
    """Return the readings that are kept, or fresh ones if the technician wants that."""
    readings = Readings.load(place)
    say(f"{place}: {readings.count} of {2 * len(FREQUENCIES_HZ)} readings, kept from before")
    words = "yes" if arguments.resume else ""
    while words not in ("yes", "new"):
        words = answer_of(ask, "go on with them: yes, new (they are thrown away), or quit: ")
    if words == "new":
        return fresh
    if readings.transducer != fresh.transducer:
        raise HostError(
            f"{place}: the readings are of transducer {readings.transducer!r}, and --transducer is "
            f"{fresh.transducer!r}"
        )
    for name, text in readings.texts.items():
        if getattr(arguments, name) not in (None, text):
            raise HostError(
                f"{place}: {TEXTS[name]} of the readings is {text!r}, and "
                f"--{name.replace('_', '-')} is {getattr(arguments, name)!r}"
            )
    return readings


def _what_is_kept(place: Path) -> str:
    if place.exists():
        return (
            f"{Readings.load(place).count} readings are kept in {place}; the same command goes on"
        )
    return "nothing was written"


def _calibration(
    readings: Readings, reference: ReferenceLevels, today: datetime.date, due_days: int
) -> Calibration:
    texts = readings.texts
    about = {
        "date": today.isoformat(),
        "due": (today + datetime.timedelta(days=due_days)).isoformat(),
        **{n: texts[n] for n in ("technician", "meter", "meter_serial", "tone_generator_serial")},
    }
    transducer = {
        "name": reference.transducer,
        "kind": reference.kind,
        **{name: texts[name] for name in ("serial_left", "serial_right")},
        "coupler": reference.coupler,
        "retspl_source": reference.source,
    }
    try:
        return calibration_of(about, transducer, reference.levels_db_spl, readings.points)
    except CalibrationError as error:
        raise HostError(f"{error}; nothing was written") from None


def _checked(arguments: argparse.Namespace) -> str:
    """Return the console's URL, or say what is wrong with the options."""
    urls = [url for url in (arguments.port, arguments.console) if url]
    if len(urls) != 1:
        raise HostError("one console is needed: PORT, or --console URL")
    if not 0 < arguments.due_days <= DUE_DAYS_MAX:
        raise HostError(f"--due-days is {arguments.due_days}; allowed is 1 to {DUE_DAYS_MAX}")
    low_dbfs, high_dbfs = DBFS_LIMITS
    if not low_dbfs <= arguments.soft <= high_dbfs - APART_MIN_DB:
        raise HostError(
            f"--soft is {arguments.soft:g} dBFS; allowed is {low_dbfs:g} to "
            f"{high_dbfs - APART_MIN_DB:g} dBFS"
        )
    if not arguments.soft + APART_MIN_DB <= arguments.loud <= high_dbfs:
        raise HostError(
            f"--loud is {arguments.loud:g} dBFS; allowed is {arguments.soft + APART_MIN_DB:g} "
            f"({APART_MIN_DB:g} dB above --soft) to {high_dbfs:g} dBFS"
        )
    check_name(arguments.out, "-o", (".toml",), arguments.force)
    return str(urls[0])


def _text(guide: Guide, arguments: argparse.Namespace, name: str) -> str:
    given: str | None = getattr(arguments, name)
    while True:
        try:
            text = guide.ask(f"{TEXTS[name]}: ").strip() if given is None else given
            check_text(TEXTS[name], text)
        except EOFError:
            raise QuitError from None
        except CalibrationError as error:
            if given is not None:
                raise HostError(str(error)) from None
            guide.say(str(error))
        else:
            return text
