"""`gp-pta install-board`: copy the tone generator's program to a board and see that it answers."""

import argparse
from typing import Final

from device.build.budget import first_limit_dbfs
from device.build.parts import PartError
from device.tone_generator.settings import DEFAULT_PINS, MICROPHONE_DBFS, OPTIONAL_PINS, OUTPUTS
from host_tools.devices.board_program import LIMIT_DBFS, install
from host_tools.errors import HostError

EXAMPLE = """\
example:
  gp-pta install-board /dev/ttyACM0 --build A --transducer tdh39
  gp-pta install-board /dev/ttyACM0 --limit-left -25 --limit-right -25.5

The first is for a new box: no limit is above the safe first one of its build and earphone. What is
not given stays as it is on a board that has the program already, the limits above all.
"""

NEEDS: Final = {"": ("mpremote",)}

PIN_DIGITS_MAX: Final = 3


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("port", metavar="PORT", help="where the board is, such as /dev/ttyACM0")
    p.add_argument(
        "--output",
        choices=OUTPUTS,
        help="i2s: a DAC; pwm: square waves for the bench (default of a new board: i2s)",
    )
    for ear in ("left", "right"):
        p.add_argument(
            f"--limit-{ear}",
            type=float,
            metavar="DBFS",
            help=f"no tone in the {ear} ear is above this level (default of a new board: "
            f"{LIMIT_DBFS:g})",
        )
    p.add_argument(
        "--build", metavar="NAME", help="A or B: limits as of a box before a meter was there"
    )
    p.add_argument("--transducer", metavar="NAME", help="the earphone of --build, such as tdh39")
    p.add_argument(
        "--limit-bone",
        type=float,
        metavar="DBFS",
        help="no tone of the bone vibrator is above this level; it has pins besides: bone_left and "
        "bone_right",
    )
    p.add_argument(
        "--microphone-dbfs",
        type=float,
        metavar="DBFS",
        help="what the microphone gives at 94 dB SPL; it has pins besides: mic_bck, mic_ws and "
        f"mic_data (default of a new board: {MICROPHONE_DBFS:g}, an ICS-43434)",
    )
    p.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="NAME=GP",
        help="a pin that is wired otherwise, or besides; names are "
        + ", ".join((*DEFAULT_PINS, *OPTIONAL_PINS)),
    )


def run(arguments: argparse.Namespace) -> int:
    given = {
        "output": arguments.output,
        **_limits(arguments),
        "limit_dbfs_bone": arguments.limit_bone,
        "microphone_dbfs": arguments.microphone_dbfs,
        "pins": dict(_pin(word) for word in arguments.pin),
    }
    install(arguments.port, {name: each for name, each in given.items() if each is not None})
    return 0


def _limits(arguments: argparse.Namespace) -> dict[str, float | None]:
    """Return the limits of both ears: given, or the first ones of a build, and none above those."""
    given = {"left": arguments.limit_left, "right": arguments.limit_right}
    build, transducer = arguments.build, arguments.transducer
    if (build is None) != (transducer is None):
        raise HostError("--build and --transducer: both are wanted, or none")
    if build is not None:
        try:
            first_dbfs = first_limit_dbfs(build, transducer)
        except PartError as error:
            raise HostError(f"{error}; nothing was installed") from None
        for ear, limit_dbfs in given.items():
            if limit_dbfs is not None and not limit_dbfs <= first_dbfs:
                raise HostError(
                    f"--limit-{ear} is {limit_dbfs:g} dBFS; allowed with --build {build} and "
                    f"{transducer} are {first_dbfs:g} dBFS at most: a higher one is measured "
                    "first, and given without --build; nothing was installed"
                )
        given = {ear: first_dbfs if dbfs is None else dbfs for ear, dbfs in given.items()}
    return {f"limit_dbfs_{ear}": dbfs for ear, dbfs in given.items()}


def _pin(word: str) -> tuple[str, int]:
    name, _, number = word.partition("=")
    if not number.isdecimal() or len(number) > PIN_DIGITS_MAX:
        raise HostError(f"--pin is {word!r}; allowed is NAME=GP, such as heard=2")
    return name, int(number)
