"""`gp-pta calibrate`: guide a technician through a session with a sound level meter."""

import argparse
import datetime
import getpass
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from device.calibration.readings import as_toml, calibration_of
from device.calibration.retfl import ReferenceForces, reference_forces
from device.calibration.retspl import (
    TABLES,
    ReferenceLevels,
    UnknownTransducerError,
    reference_levels,
)
from firmware_py.calibration.calibration import Calibration
from firmware_py.calibration.fields import CalibrationError, check_text
from firmware_py.calibration.file import DUE_DAYS_MAX
from firmware_py.operator.meter_tone import DBFS_LIMITS
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.commands.calibrate.guide import (
    APART_MIN_DB,
    AT_HZ,
    SOFT_DBFS,
    Ask,
    Guide,
    QuitError,
    Readings,
    Say,
    answer_of,
    instrument_at,
    kept_beside,
)
from host_tools.errors import HostError
from host_tools.files import check_name, write_text

EXAMPLE = """\
example:
  gp-pta calibrate /dev/ttyACM0 --transducer tdh39 -o calibration.toml
  gp-pta-device ... --calibration calibration.toml

Nobody may wear the earphones meanwhile. At each frequency a tone of 5 s sounds at two levels;
answer with the meter's reading in dB SPL, with return to hear the tone again, with "softer" if the
loud tone is distorted (that level is then the device's limit), with "back" for the frequency
before, or with "quit". With --vibrator b71 the vibrator comes after the earphones, in dB re 1 uN
on a mechanical coupler. What was read is kept in calibration.toml.readings: the same command goes
on with it.
"""

NEEDS: Final[dict[str, tuple[str, ...]]] = {}
DUE_DAYS: Final = 365
OF_BOARD: Final = "tone_generator_serial"  # the board tells it
TEXTS: Final = {
    "technician": "technician",
    "meter": "sound level meter, maker and model",
    "meter_serial": "serial number of the meter",
    "serial_left": "serial number of the left earphone",
    "serial_right": "serial number of the right earphone",
}
OF_VIBRATOR: Final = {"serial_vibrator": "serial number of the bone vibrator"}


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("port", nargs="?", metavar="PORT", help="the firmware's console")
    p.add_argument("--console", metavar="URL", help="the same, as any URL that pyserial knows")
    p.add_argument("-o", "--out", metavar="FILE.toml", type=Path, required=True, help="to write")
    p.add_argument(
        "--transducer",
        default="tdh39",
        metavar="NAME",
        help=f"whose RETSPL: {', '.join(sorted(TABLES))} (default: tdh39)",
    )
    p.add_argument(
        "--vibrator",
        metavar="NAME",
        help="measure a bone vibrator on a mechanical coupler too: b71, b81",
    )
    for name, what in (TEXTS | OF_VIBRATOR).items():
        p.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", help=f"{what}; else asked")
    p.add_argument(
        "--soft", type=float, default=SOFT_DBFS, metavar="DBFS", help=f"default: {SOFT_DBFS:g}"
    )
    p.add_argument(
        "--loud",
        type=float,
        metavar="DBFS",
        help="also the highest level of the device from then on; else asked (usually the tone "
        "generator's own limit)",
    )
    p.add_argument(
        "--due-days", type=int, default=DUE_DAYS, metavar="N", help=f"default: {DUE_DAYS}"
    )
    p.add_argument("--force", action="store_true", help="replace FILE.toml if it is there")
    p.add_argument(
        "--resume", action="store_true", help="go on with the readings that are kept, unasked"
    )


def run(arguments: argparse.Namespace) -> int:
    today = datetime.datetime.now().astimezone().date()
    return calibrate(arguments, input, print, today, getpass.getpass)


def calibrate(
    arguments: argparse.Namespace, ask: Ask, say: Say, today: datetime.date, ask_secret: Ask
) -> int:
    """Measure and write; the technician is handed in."""
    url = _check(arguments)
    try:
        reference = reference_levels(arguments.transducer)
        forces = reference_forces(arguments.vibrator) if arguments.vibrator else None
    except UnknownTransducerError as error:
        raise HostError(str(error)) from None
    place = kept_beside(arguments.out)
    say("Nobody may wear the earphones until this is over.")
    readings = Readings(reference.transducer, vibrator=forces.vibrator if forces else "")
    try:
        if place.exists() or arguments.resume:
            readings = _begin_readings(arguments, place, ask, say, readings)
        with instrument_at(url, ask_secret) as instrument:
            instrument.unlock()
            _check_board(readings, instrument.board_serial(), place)
            loud_dbfs = arguments.loud
            if loud_dbfs is None:
                loud_dbfs = _loud(ask, say, arguments.soft)
            guide = Guide(
                instrument, ask, say, readings, lambda: readings.save(place),
                arguments.soft, loud_dbfs,
            )  # fmt: skip
            for name in TEXTS | OF_VIBRATOR if forces else TEXTS:
                if name not in readings.texts:
                    readings.texts[name] = _text(guide, arguments, name)
            guide.measure(reference, forces)
    except QuitError:
        say(f"ended; {_what_is_kept(place)}")
        return 1
    made = _calibration(readings, reference, forces, today, arguments.due_days)
    write_text(arguments.out, as_toml(made), for_all=True)
    place.unlink(missing_ok=True)
    about = made.content["calibration"]
    say(f"{arguments.out}: calibrated {about['date']}, due {about['due']}")
    return 0


def _begin_readings(
    arguments: argparse.Namespace, place: Path, ask: Ask, say: Say, fresh: Readings
) -> Readings:
    """Return the readings that are kept, or fresh ones if the technician wants that."""
    readings = Readings.load(place)
    routes = [*AT_HZ] if fresh.vibrator else [LEFT, RIGHT]
    wanted = sum(len(AT_HZ[route]) for route in routes)
    say(f"{place}: {readings.count} of {wanted} readings, kept from before")
    words = "yes" if arguments.resume else ""
    while words not in ("yes", "new"):
        words = answer_of(ask, "go on with them: yes, new (they are thrown away), or quit: ")
    if words == "new":
        return fresh
    if why := next(_other_things(readings, fresh, arguments), ""):
        raise HostError(f"{place}: {why}")
    readings.vibrator = fresh.vibrator
    return readings


def _other_things(kept: Readings, fresh: Readings, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield what the readings that are kept are of, and the options are not."""
    told = [("transducer", "transducer", kept.transducer, fresh.transducer)]
    if kept.vibrator:
        told.append(("vibrator", "vibrator", kept.vibrator, fresh.vibrator))
    for name, what in (TEXTS | OF_VIBRATOR).items():
        if name in kept.texts and getattr(arguments, name) is not None:
            told.append((what, name, kept.texts[name], getattr(arguments, name)))
    for what, name, before, now in told:
        if before != now:
            option = f"--{name.replace('_', '-')}"
            yield f"the readings are of {what} {before!r}, and {option} is {now!r}"


def _check_board(readings: Readings, serial: str, place: Path) -> None:
    """Note which tone generator is measured; a calibration is of one."""
    measured = readings.texts.setdefault(OF_BOARD, serial)
    if measured != serial:
        raise HostError(
            f"{place}: the readings are of the tone generator with serial number {measured!r}, "
            f"and the one that answers has {serial!r}"
        )


def _what_is_kept(place: Path) -> str:
    if place.exists():
        return (
            f"{Readings.load(place).count} readings are kept in {place}; the same command goes on"
        )
    return "nothing was written"


def _calibration(
    readings: Readings,
    reference: ReferenceLevels,
    forces: ReferenceForces | None,
    today: datetime.date,
    due_days: int,
) -> Calibration:
    texts = readings.texts
    about = {
        "date": today.isoformat(),
        "due": (today + datetime.timedelta(days=due_days)).isoformat(),
        **{n: texts[n] for n in ("technician", "meter", "meter_serial", OF_BOARD)},
    }
    transducer = {
        "name": reference.transducer,
        "kind": reference.kind,
        **{name: texts[name] for name in ("serial_left", "serial_right")},
        "coupler": reference.coupler,
        "retspl_source": reference.source,
    }
    given = about, transducer, reference.levels_db_spl, readings.points
    if forces is None:
        of_bone: tuple[Any, ...] = ()
    else:
        vibrator = {
            "name": forces.vibrator,
            "serial": texts["serial_vibrator"],
            "placement": forces.placement,
            "coupler": forces.coupler,
            "retfl_source": forces.source,
        }
        of_bone = vibrator, forces.levels_db_un
    try:
        return calibration_of(*given, *of_bone)
    except CalibrationError as error:
        raise HostError(f"{error}; nothing was written") from None


def _check(arguments: argparse.Namespace) -> str:
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
    if arguments.loud is not None and (wrong := _wrong_loud(arguments.loud, arguments.soft)):
        raise HostError(f"--loud is {wrong}")
    check_name(arguments.out, "-o", (".toml",), arguments.force)
    return str(urls[0])


def _wrong_loud(loud_dbfs: float, soft_dbfs: float) -> str:
    low_dbfs, high_dbfs = soft_dbfs + APART_MIN_DB, DBFS_LIMITS[1]
    if low_dbfs <= loud_dbfs <= high_dbfs:
        return ""
    return (
        f"{loud_dbfs:g} dBFS; allowed is {low_dbfs:g} ({APART_MIN_DB:g} dB above --soft) to "
        f"{high_dbfs:g} dBFS"
    )


def _loud(ask: Ask, say: Say, soft_dbfs: float) -> float:
    """Ask for the level of the loud tone: the device is never louder afterwards."""
    while True:
        words = answer_of(
            ask,
            "level of the loud tone, dBFS, which no tone of the device is above from then on "
            f"(up to {DBFS_LIMITS[1]:g}; return: the tone generator's own limit): ",
        )
        try:
            loud_dbfs = float(words.replace(",", ".")) if words else DBFS_LIMITS[1]
        except ValueError:
            say(f"{words!r} is no number")
            continue
        if wrong := _wrong_loud(loud_dbfs, soft_dbfs):
            say(wrong)
        else:
            return loud_dbfs


def _text(guide: Guide, arguments: argparse.Namespace, name: str) -> str:
    given: str | None = getattr(arguments, name)
    what = (TEXTS | OF_VIBRATOR)[name]
    while True:
        try:
            text = guide.ask(f"{what}: ").strip() if given is None else given
            check_text(what, text)
        except EOFError:
            raise QuitError from None
        except CalibrationError as error:
            if given is not None:
                raise HostError(str(error)) from None
            guide.say(str(error))
        else:
            return text
