"""`gp-pta budget`: how loud, how soft and how quiet a box would be, by its parts."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from device.build.budget import (
    FIRST_DB_HL,
    SOFTEST_DB_HL,
    Band,
    Build,
    first_limit,
    first_limit_dbfs,
    limits,
    rows,
    warnings,
    worked_build,
)
from device.build.parts import (
    AMPLIFIERS,
    BUILDS,
    DACS,
    EARPHONES,
    SUPPLY_V,
    Earphone,
    PartError,
    amplifier_and_gain,
    part,
)
from host_tools.errors import HostError
from host_tools.terminal import say, say_wrapped

EXAMPLE = """\
example:
  gp-pta budget
  gp-pta budget --build B --transducer tdh39
  gp-pta budget --transducer TDH39 --dac pcm5102a --gain opa1688 --attenuator 150 --json

Without a transducer it prints the first output limits of builds A and B. All of it is reckoned from
data sheets: what comes out of an earphone, only a meter tells.
"""

NEEDS: Final[dict[str, tuple[str, ...]]] = {}
OHM_MAX: Final = 100_000.0


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("--transducer", metavar="NAME", help=f"the earphone: {', '.join(EARPHONES)}")
    p.add_argument(
        "--build",
        metavar="NAME",
        help="begin with a worked build: A (no amplifier) or B (buffer), with its resistor",
    )
    p.add_argument("--dac", metavar="NAME", help=f"{', '.join(DACS)} (default: pcm5102a)")
    p.add_argument(
        "--dac-resistor",
        type=float,
        metavar="OHM",
        help="in series on the DAC's board, often 470 (default: 0)",
    )
    p.add_argument(
        "--gain",
        metavar="DB|AMPLIFIER",
        help=f"none, {', '.join(AMPLIFIERS)} (0 dB), opa1688:6 with a gain, or decibels of an "
        "amplifier of which no more is known (default: none)",
    )
    p.add_argument(
        "--supply",
        type=float,
        metavar="VOLT",
        help=f"of the amplifier, plus and minus (default: {SUPPLY_V:g})",
    )
    p.add_argument(
        "--attenuator", type=float, metavar="OHM", help="resistor in series with the earphone"
    )
    p.add_argument("--json", action="store_true", help="print all figures as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    try:
        if arguments.transducer is None:
            _tell_first_limits(arguments)
        else:
            build = _build(arguments, part("--transducer", arguments.transducer, EARPHONES))
            if arguments.json:
                say(json.dumps(_figures(build)))
            else:
                say_wrapped(*_lines(build))
    except PartError as error:
        raise HostError(str(error)) from None
    return 0


def _tell_first_limits(arguments: argparse.Namespace) -> None:
    of_parts = ("dac", "dac_resistor", "gain", "supply", "attenuator")
    if given := [name for name in of_parts if getattr(arguments, name) is not None]:
        raise PartError(
            f"--transducer is missing, and --{given[0].replace('_', '-')} is given; allowed are "
            f"{', '.join(EARPHONES)}"
        )
    builds = BUILDS if arguments.build is None else [arguments.build]
    table = {b.upper(): {name: first_limit_dbfs(b, name) for name in EARPHONES} for b in builds}
    if arguments.json:
        return say(json.dumps({"first_limit_dbfs": table}))
    say("First output limits in dBFS, before a meter was there:", "")
    say("build " + "".join(f"{name:>9}" for name in EARPHONES))
    for build, by_earphone in table.items():
        say(f"{build:6}" + "".join(f"{limit:9g}" for limit in by_earphone.values()))
    return None


def _build(arguments: argparse.Namespace, earphone: Earphone) -> Build:
    """Return the parts that are given, the others as the worked build or a usual box has them."""
    begun = None if arguments.build is None else worked_build(arguments.build, earphone)
    attenuator_ohm = arguments.attenuator
    if attenuator_ohm is None:
        if begun is None:
            raise PartError("--attenuator OHM is missing, and so is --build; one of them is wanted")
        attenuator_ohm = begun.attenuator_ohm
    amplifier, gain_db = begun.amplifier if begun else None, 0.0
    if arguments.gain is not None:
        amplifier, gain_db = amplifier_and_gain(arguments.gain)
    build = Build(
        dac=part("--dac", "pcm5102a" if arguments.dac is None else arguments.dac, DACS),
        dac_resistor_ohm=_within("--dac-resistor", arguments.dac_resistor or 0.0, 0.0, OHM_MAX),
        amplifier=amplifier, gain_db=gain_db,
        supply_v=SUPPLY_V if arguments.supply is None else arguments.supply,
        attenuator_ohm=_within("--attenuator", attenuator_ohm, 0.0, OHM_MAX),
        earphone=earphone,
    )  # fmt: skip
    if amplifier:
        _within("--supply", build.supply_v, amplifier.supply_min_v, amplifier.supply_max_v)
    elif arguments.supply is not None:
        raise PartError("--supply is of an amplifier, and --gain is none")
    return build


def _within(option: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise PartError(f"{option} is {value:g}; allowed is {low:g} to {high:g}")
    return value


def _lines(build: Build) -> Iterator[str]:
    """Yield the budget for people: ~ is before what is inferred."""
    yield _heading(build)
    yield ""
    yield f"   Hz  highest dB HL      lowest  noise dB HL        below {SOFTEST_DB_HL:g} by"
    made = rows(build)
    for row in made:
        mark = "~" if row.inferred else " "
        noise = f"{mark}{row.noise.db_hl:.0f} (at most {row.noise.high_db_hl:.0f})"
        yield (
            f"{row.frequency_hz:5}  {_words(mark, row.highest):<18} {mark}{row.lowest.db_hl:.0f}"
            f"    {noise:<20} {row.noise_below_db:.0f} dB"
        )
    yield ""
    if any(row.inferred for row in made):
        yield "~ is inferred: no data sheet has the sensitivity there, so its band is wide."
    by = limits(build)
    yield f"Limited by {by.highest} (highest), {by.lowest} (lowest), {by.noise} (noise)."
    dbfs = first_limit(build)
    yield f"First limit, before a meter was there: --limit-left {dbfs:g} --limit-right {dbfs:g}"
    yield f"(no tone is above {FIRST_DB_HL:g} dB HL, were every part as loud as it may be)."
    yield from (f"warning: {words}" for words in warnings(build))


def _words(mark: str, band: Band) -> str:
    return f"{mark}{band.db_hl:.0f} ({band.low_db_hl:.0f} to {band.high_db_hl:.0f})"


def _heading(build: Build) -> str:
    board = f" with {build.dac_resistor_ohm:g} ohm" if build.dac_resistor_ohm else ""
    amplifier = "no amplifier"
    if build.amplifier:
        amplifier = f"{build.amplifier.name} with {build.gain_db:g} dB at +-{build.supply_v:g} V"
    return (
        f"{build.dac.name}{board}, {amplifier}, {build.attenuator_ohm:g} ohm, "
        f"{build.earphone.name} ({build.earphone.impedance_ohm:g} ohm)"
    )


def _figures(build: Build) -> dict[str, Any]:
    return {
        "parts": _heading(build),
        "rows": [asdict(row) for row in rows(build)],
        "limited_by": limits(build)._asdict(),
        "first_limit_dbfs": first_limit(build),
        "warnings": list(warnings(build)),
    }
