"""What is known of a device before it is measured: by its build, or as the technician states it."""

import argparse
from dataclasses import replace
from typing import Final

from device.build.budget import first_limit, first_limit_dbfs, worked_build
from device.build.parts import EARPHONES, REFERENCE_HZ, PartError, earphones_called
from device.calibration.before_wearing import NOISE_DB_HL
from device.calibration.check_bench import Setup
from device.calibration.retspl import ReferenceLevels
from firmware_py.operator.meter_tone import DBFS_LIMITS
from firmware_py.terms.settings import LOUD_DB_HL
from host_tools.commands.calibrate.asking import Ask, Say, answer_of
from host_tools.commands.calibrate.guide import APART_MIN_DB, SOFT_DBFS
from host_tools.errors import HostError

# Of a build that nobody knows: as if it had no resistor, and the loudest earphone.
UNKNOWN_SAFE_DBFS: Final = min(
    first_limit(replace(worked_build("B", each), attenuator_ohm=0.0)) for each in EARPHONES.values()
)
LOUD_MIN_DBFS: Final = -70.0


def safe_limit(arguments: argparse.Namespace) -> tuple[float, str]:
    """Return the output limit that the tone generator is to have, and whose it is."""
    build, stated_dbfs = arguments.build, arguments.limit
    if stated_dbfs is not None:
        if not LOUD_MIN_DBFS <= stated_dbfs <= DBFS_LIMITS[1]:
            raise HostError(
                f"--limit is {stated_dbfs:g} dBFS; allowed is {LOUD_MIN_DBFS:g} to "
                f"{DBFS_LIMITS[1]:g} dBFS, full scale: no build is louder"
            )
        return stated_dbfs, "--limit"
    if build is None:
        return UNKNOWN_SAFE_DBFS, (
            f"the first limit of a build that is not known: {LOUD_DB_HL:g} dB HL of the loudest "
            "one. --build A or B, or --limit, says another"
        )
    try:
        safe_dbfs = first_limit_dbfs(build, arguments.transducer)
    except PartError as error:
        raise HostError(f"--build: {error}; --limit says one without a build") from None
    return safe_dbfs, f"the first limit of build {build} with {arguments.transducer}"


def setup_of(
    arguments: argparse.Namespace, reference: ReferenceLevels, ask: Ask, say: Say
) -> Setup:
    """Return what the checks go by; the level of the loud tone is asked if it is not told."""
    safe_dbfs, safe_words = safe_limit(arguments)
    say(f"No tone is above {safe_dbfs:g} dBFS ({safe_words}).")
    loud_dbfs = arguments.loud
    if loud_dbfs is None:
        loud_dbfs = _loud(ask, say, arguments.soft, safe_dbfs)
    soft_dbfs = arguments.soft
    if soft_dbfs is None:
        soft_dbfs = max(min(SOFT_DBFS, loud_dbfs - 2.0 * APART_MIN_DB), DBFS_LIMITS[0])
    return Setup(
        reference.kind, safe_dbfs, safe_words, loud_dbfs, soft_dbfs,
        _full_scale_v(arguments), _noise_nv(arguments.transducer, reference),
    )  # fmt: skip


def _full_scale_v(arguments: argparse.Namespace) -> tuple[float, ...]:
    if arguments.build is None:
        return ()
    try:
        earphones = earphones_called(arguments.transducer)
        builds = [worked_build(arguments.build, each) for each in earphones]
    except PartError:
        return ()
    return tuple(build.highest_vrms * build.share() for build in builds)


def _noise_nv(transducer: str, reference: ReferenceLevels) -> float | None:
    try:
        earphones = earphones_called(transducer)
    except PartError:
        return None
    level_db_spl = NOISE_DB_HL + reference.levels_db_spl[REFERENCE_HZ]
    sensitivity_db_spl = max(each.sensitivity_at(REFERENCE_HZ) for each in earphones)
    return float(1e9 * 10.0 ** ((level_db_spl - sensitivity_db_spl) / 20.0))


def wrong_loud(loud_dbfs: float, soft_dbfs: float | None, safe_dbfs: float) -> str:
    low_dbfs = LOUD_MIN_DBFS if soft_dbfs is None else soft_dbfs + APART_MIN_DB
    if low_dbfs <= loud_dbfs <= safe_dbfs:
        return ""
    why = "" if soft_dbfs is None else f" ({APART_MIN_DB:g} dB above --soft)"
    return f"{loud_dbfs:g} dBFS; allowed is {low_dbfs:g}{why} to {safe_dbfs:g} dBFS"


def _loud(ask: Ask, say: Say, soft_dbfs: float | None, safe_dbfs: float) -> float:
    """Ask for the level of the loud tone: the device is never louder afterwards."""
    while True:
        words = answer_of(
            ask,
            "level of the loud tone, dBFS, which no tone of the device is above from then on "
            f"(up to {safe_dbfs:g}; return: the tone generator's own limit): ",
        )
        try:
            loud_dbfs = float(words.replace(",", ".")) if words else safe_dbfs
        except ValueError:
            say(f"{words!r} is no number")
            continue
        if wrong := wrong_loud(loud_dbfs, soft_dbfs, safe_dbfs):
            say(wrong)
        else:
            return loud_dbfs
