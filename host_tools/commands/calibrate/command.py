"""`gp-pta calibrate`: guide a technician through a session with a sound level meter."""

import argparse
import datetime
import getpass
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from device.build.parts import plain, whose_retspl
from device.calibration.before_wearing import CHECKS, CHECKS_OF_VIBRATOR
from device.calibration.distortion_by_frequency import distortion_by_frequency
from device.calibration.readings import as_toml, calibration_of, without_levels
from device.calibration.retfl import ReferenceForces, reference_forces
from device.calibration.retspl import (
    TABLES,
    ReferenceLevels,
    UnknownTransducerError,
    reference_levels,
)
from firmware_py.calibration.checked import NOT_MEASURED, OUTPUT_LIMIT, TABLE
from firmware_py.calibration.fields import CalibrationError
from firmware_py.calibration.file import DUE_DAYS_MAX
from firmware_py.operator.meter_tone import DBFS_LIMITS
from firmware_py.terms.route import BONE, LEFT, RIGHT, Route
from host_tools.commands.calibrate.asking import Ask, QuitError, Say, answer_of
from host_tools.commands.calibrate.checking import Checking
from host_tools.commands.calibrate.guide import APART_MIN_DB, SOFT_DBFS, Guide
from host_tools.commands.calibrate.instrument import Sounds, instrument_at
from host_tools.commands.calibrate.kept import Readings, kept_beside
from host_tools.commands.calibrate.setup import safe_limit, setup_of, wrong_loud
from host_tools.commands.calibrate.stating import (
    NUMBERS,
    OF_BOARD,
    OF_EARPHONES,
    OF_METER,
    OF_VIBRATOR,
    TEXTS,
    ask_texts,
    stated_in,
)
from host_tools.errors import HostError
from host_tools.files import check_name, write_text
from host_tools.terminal import say_wrapped

EXAMPLE = """\
example:
  gp-pta calibrate /dev/ttyACM0 --transducer tdh39 --build B -o calibration.toml
  gp-pta-device ... --calibration calibration.toml

Nobody may wear the earphones meanwhile. First come checks: the output limit, left and right, full
scale, crosstalk, noise, distortion, linearity, rise and fall. Each says what to do; "skip" and a
reason writes it as not measured. Then a tone of 5 s sounds at two levels at each frequency; answer
with the meter's reading in dB SPL, with return to hear the tone again, with "softer" if the loud
tone is distorted (that level is then the device's limit), with "back" for the frequency before, or
with "quit". With --vibrator b71 the vibrator comes after the earphones, in dB re 1 uN on a
mechanical coupler; "skip" leaves its 6000 Hz out. With --no-coupler there are only the checks that
a multimeter can make: tests stay UNCALIBRATED. What was read is kept in calibration.toml.readings:
the same command goes on.
"""

NEEDS: Final[dict[str, tuple[str, ...]]] = {}
DUE_DAYS: Final = 365


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("port", nargs="?", metavar="PORT", help="the firmware's console")
    p.add_argument("--console", metavar="URL", help="the same, as any URL that pyserial knows")
    p.add_argument("-o", "--out", metavar="FILE.toml", type=Path, required=True, help="to write")
    p.add_argument(
        "--transducer",
        default="tdh39",
        metavar="NAME",
        help=f"whose RETSPL: {', '.join(sorted(TABLES))}; or an earphone of --build, such as "
        "er3a-10 (default: tdh39)",
    )
    p.add_argument(
        "--vibrator",
        metavar="NAME",
        help="measure a bone vibrator on a mechanical coupler too: b71, b81",
    )
    for name, what in (TEXTS | OF_VIBRATOR).items():
        p.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", help=f"{what}; else asked")
    for name, (what, _) in NUMBERS.items():
        told = what.replace("%", "%%")  # as argparse wants it
        p.add_argument(f"--{name}", metavar="TEXT", help=f"{told}; else asked")
    p.add_argument(
        "--build", metavar="A|B", help="whose first output limit and volts; without: the loudest"
    )
    p.add_argument(
        "--limit",
        type=float,
        metavar="DBFS",
        help="the output limit that the tone generator is to have, in place of the first one",
    )
    p.add_argument(
        "--no-coupler",
        action="store_true",
        help="make the checks that need none: the file has no levels, and says so",
    )
    p.add_argument(
        "--soft",
        type=float,
        metavar="DBFS",
        help=f"default: {SOFT_DBFS:g}, or {2.0 * APART_MIN_DB:g} dB below the loud one",
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
    return calibrate(arguments, input, say_wrapped, today, getpass.getpass)


def calibrate(
    arguments: argparse.Namespace, ask: Ask, say: Say, today: datetime.date, ask_secret: Ask
) -> int:
    """Measure and write; the technician is handed in."""
    url = _check(arguments)
    try:
        reference = reference_levels(whose_retspl(arguments.transducer))
        forces = reference_forces(arguments.vibrator) if arguments.vibrator else None
    except UnknownTransducerError as error:
        raise HostError(str(error)) from None
    place = kept_beside(arguments.out)
    say("Nobody may wear the earphones until this is over.")
    readings = Readings(
        reference.transducer,
        vibrator=forces.vibrator if forces else "",
        build=_build_words(arguments),
    )
    try:
        if place.exists() or arguments.resume:
            readings = _begin_readings(arguments, place, ask, say, readings)
        with instrument_at(url, ask_secret) as instrument:
            instrument.unlock()
            _check_board(readings, instrument.board_serial(), place)
            setup = setup_of(arguments, reference, ask, say)
            ask_texts(arguments, readings, forces is not None, ask, say)
            sounds = Sounds(instrument, say, dict.fromkeys((LEFT, RIGHT), setup.safe_dbfs))
            checking = Checking(
                sounds, ask, say, setup, readings.checks, lambda: readings.save(place)
            )
            instrument.wait_until_warm(say)
            checking.go_through(CHECKS, coupler=not arguments.no_coupler)
            if not arguments.no_coupler:
                guide = Guide(
                    sounds, ask, say, readings, lambda: readings.save(place),
                    setup.soft_dbfs, setup.loud_dbfs,
                )  # fmt: skip
                _measure_levels(checking, guide, reference, forces)
    except QuitError:
        say(f"ended; {_what_is_kept(place)}")
        return 1
    content = _content(arguments, readings, reference, forces, today)
    write_text(arguments.out, as_toml(content), for_all=True)
    if lacking := [name for name, made in content[TABLE].items() if NOT_MEASURED in made]:
        say(f"not measured: {', '.join(lacking)}")
    if arguments.no_coupler:
        say(f"{arguments.out}: without levels: tests are UNCALIBRATED, and say why")
        say(f"{place} stays: with a coupler the same goes on by --force, without --no-coupler")
        return 0
    place.unlink(missing_ok=True)
    about = content["calibration"]
    say(f"{arguments.out}: calibrated {about['date']}, due {about['due']}")
    return 0


def _measure_levels(
    checking: Checking, guide: Guide, reference: ReferenceLevels, forces: ReferenceForces | None
) -> None:
    """Measure how loud each route is, and then its distortion by frequency."""
    points = guide.readings.points
    guide.measure(reference)
    by_air = distortion_by_frequency(reference.levels_db_spl, points, bone=False)
    checking.go_through([by_air], coupler=True)
    if forces is not None:
        checking.go_through(CHECKS_OF_VIBRATOR, coupler=True)
        guide.measure_vibrator(forces)
        by_bone = distortion_by_frequency(forces.levels_db_un, points, bone=True)
        checking.go_through([by_bone], coupler=True)


def _build_words(arguments: argparse.Namespace) -> str:
    build = arguments.build
    return f"{build.upper()}, {plain(arguments.transducer)}" if build else ""


def _begin_readings(
    arguments: argparse.Namespace, place: Path, ask: Ask, say: Say, fresh: Readings
) -> Readings:
    """Return the readings that are kept, or fresh ones if the technician wants that."""
    readings = Readings.load(place)
    say(f"{place}: {readings.words}, kept from before")
    words = "yes" if arguments.resume else ""
    while words not in ("yes", "new"):
        words = answer_of(ask, "go on with them: yes, new (they are thrown away), or quit: ")
    if words == "new":
        return fresh
    if not arguments.no_coupler and not any(readings.points.values()):
        for name in OF_METER:  # the one of the levels is another than the multimeter of the checks
            readings.texts.pop(name, None)
    if why := next(_other_things(readings, fresh, arguments), ""):
        raise HostError(f"{place}: {why}")
    readings.vibrator = fresh.vibrator
    readings.build = fresh.build
    # It is found anew before another tone: the limit of now may be another one.
    if NOT_MEASURED not in readings.checks.get(OUTPUT_LIMIT, {}):
        readings.checks.pop(OUTPUT_LIMIT, None)
    return readings


def _other_things(kept: Readings, fresh: Readings, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield what the readings that are kept are of, and the options are not."""
    told = [("transducer", "transducer", kept.transducer, fresh.transducer)]
    if kept.vibrator:
        told.append(("vibrator", "vibrator", kept.vibrator, fresh.vibrator))
    if kept.checks:
        told.append(("build", "build", kept.build, fresh.build))
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
        return f"{Readings.load(place).words} are kept in {place}; the same command goes on"
    return "nothing was written"


def _content(
    arguments: argparse.Namespace,
    readings: Readings,
    reference: ReferenceLevels,
    forces: ReferenceForces | None,
    today: datetime.date,
) -> Mapping[str, Any]:
    """Return what the file says; a `HostError` if that is not allowed."""
    texts = readings.texts
    about: dict[str, str | float] = {
        "date": today.isoformat(),
        "due": (today + datetime.timedelta(days=arguments.due_days)).isoformat(),
        **{n: texts[n] for n in ("technician", "meter", "meter_serial", OF_BOARD)},
        **{key: level for name in NUMBERS for key, level in stated_in(name, texts).items()},
    }
    earphones = {"name": reference.transducer} | {n: texts[n] for n in OF_EARPHONES}
    made = readings.told_checks(levels=not arguments.no_coupler, bone=forces is not None)
    try:
        if arguments.no_coupler:
            return without_levels(about, earphones, made)
        transducer = {
            **earphones,
            "kind": reference.kind,
            "coupler": reference.coupler,
            "retspl_source": reference.source,
        }
        of_bone: dict[str, Any] = {}
        if forces is not None:
            vibrator = {
                "name": forces.vibrator,
                "serial": texts["serial_vibrator"],
                "placement": forces.placement,
                "coupler": forces.coupler,
                "retfl_source": forces.source,
            }
            measured_hz = readings.points[str(Route(LEFT, BONE))]
            retfl_db_un = {f: forces.levels_db_un[f] for f in measured_hz}
            of_bone = {"vibrator": vibrator, "retfl_db_un": retfl_db_un}
        levels = reference.levels_db_spl, readings.points
        return calibration_of(about, transducer, *levels, **of_bone, checks=made).content
    except CalibrationError as error:
        raise HostError(f"{error}; nothing was written") from None


def _check(arguments: argparse.Namespace) -> str:
    """Return the console's URL, or say what is wrong with the options."""
    urls = [url for url in (arguments.port, arguments.console) if url]
    if len(urls) != 1:
        raise HostError("one console is needed: PORT, or --console URL")
    if not 0 < arguments.due_days <= DUE_DAYS_MAX:
        raise HostError(f"--due-days is {arguments.due_days}; allowed is 1 to {DUE_DAYS_MAX}")
    if arguments.no_coupler and arguments.vibrator:
        raise HostError("--vibrator needs a coupler: leave it out, or --no-coupler")
    safe_dbfs, safe_words = safe_limit(arguments)
    low_dbfs, high_dbfs = DBFS_LIMITS[0], safe_dbfs - APART_MIN_DB
    if arguments.soft is not None and not low_dbfs <= arguments.soft <= high_dbfs:
        raise HostError(
            f"--soft is {arguments.soft:g} dBFS; allowed is {low_dbfs:g} to {high_dbfs:g} dBFS, "
            f"{APART_MIN_DB:g} dB below {safe_words}"
        )
    loud_dbfs = arguments.loud
    if loud_dbfs is not None and (wrong := wrong_loud(loud_dbfs, arguments.soft, safe_dbfs)):
        raise HostError(f"--loud is {wrong} ({safe_words})")
    check_name(arguments.out, "-o", (".toml",), arguments.force)
    return str(urls[0])
