"""Whether the firmware can start, part by part: `gp-pta-device --check`.

It plays nothing, sends nothing to the tone generator, and touches nothing that a running firmware
uses.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_py.board.self_check import Part, calibration_part, clock_part, disk_part
from firmware_py.calibration.in_force import load_calibration
from firmware_py.installation.configuration import (
    Configuration,
    ConfigurationError,
    configuration_of,
)
from firmware_py.platform import room_on_disk
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import (
    DataDirectory,
    DataDirectoryError,
    DataDirectoryInUseError,
)
from firmware_py.platform.ports import Port, PortError
from firmware_py.platform.program import EXIT_CONFIGURATION, EXIT_DONE, EXIT_FAULT, EXIT_JOURNAL
from firmware_py.terms.printable import printable
from firmware_py.terms.reasons import Code, reason

# The exit code if this part is at fault. The firmware runs in spite of a part with 0, and every
# result says what is wrong.
CODES: Final = {
    "configuration": EXIT_CONFIGURATION,
    "calibration": EXIT_DONE,
    "disk": EXIT_JOURNAL,
    "tone generator": EXIT_CONFIGURATION,
    "console": EXIT_CONFIGURATION,
    "clock": EXIT_DONE,
    "kernels": EXIT_FAULT,
}


def check(parts: Iterable[Part]) -> int:
    """Print a line for every part; return the code of the first that is at fault, or 0."""
    codes = []
    for part in parts:
        print(line(part), flush=True)
        codes.append(_code(part))
    return next(filter(None, codes), EXIT_DONE)


def line(part: Part) -> str:
    verdict = "ok" if part.works else "FAULT" if _code(part) else "warning"
    return printable(f"{verdict:8} {part.name:15} {part.words}")


def _part(name: str, works: bool, told: str) -> Part:
    return Part(name, works, reason(Code.TOLD, told=told))


def _code(part: Part) -> int:
    return EXIT_DONE if part.works else CODES[part.name]


@dataclass(frozen=True)
class Files:
    """The files that are given to the firmware; None: none."""

    configuration: Path | None = None
    calibration: Path | None = None
    prior: Path | None = None


def readiness(ports: tuple[Port, Port], data: Path, files: Files) -> Iterator[Part]:
    """Check one part after the other, in the order of `CODES`.

    `ports`: tone generator and console, not open; `data`: as given to the firmware.
    """
    part, configured = _configuration(files)
    yield part
    now = SteadyClock().date()
    in_force = load_calibration(files.calibration or configured.calibration).judge(now.date())
    yield calibration_part(in_force)
    yield from _disk_and_ports(data, ports, room_on_disk.of_test(configured.test))
    yield clock_part(now)
    yield _kernels(configured.test.profile)


def _configuration(files: Files) -> tuple[Part, Configuration]:
    try:
        found = configuration_of(files.configuration, files.prior)
    except ConfigurationError as error:
        return _part("configuration", False, str(error)), Configuration()
    of_file = str(files.configuration or "no file, all as it comes")
    of_prior = f"; {found.prior.words}" if found.prior else ""
    return _part("configuration", True, of_file + of_prior), found


def _disk_and_ports(path: Path, ports: tuple[Port, Port], needed_bytes: int) -> Iterator[Part]:
    try:
        data = DataDirectory(path)
    except DataDirectoryInUseError:
        for name in ("disk", *(port.role for port in ports)):
            yield _part(name, True, "not looked at: a running firmware has it")
        return
    except DataDirectoryError as error:
        yield _part("disk", False, str(error))
    else:
        yield disk_part(data, needed_bytes, write=True)
        data.close()
    yield from map(_port, ports)


def _port(port: Port) -> Part:
    try:
        port.open()
    except PortError as error:
        return _part(port.role, False, str(error).removeprefix(f"{port.role}: "))
    port.close()
    return _part(port.role, True, port.url)


def _kernels(profile: str) -> Part:
    began_s = time.monotonic()
    try:
        # Imported late: this is what loads the kernels.
        from firmware_py.inference.kernel import prepare

        prepare()
        from firmware_py.inference.estimator import ThresholdEstimator

        ThresholdEstimator(profile, max_trials=1).next_stimulus()
    except Exception as error:  # whatever it is, it is what the check found
        return _part("kernels", False, f"{type(error).__name__}: {error}")
    return _part("kernels", True, f"ready after {time.monotonic() - began_s:.1f} s")
