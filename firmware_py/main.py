"""`gp-pta-device`: the firmware as a process."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from firmware_py.platform.program import (
    EXIT_CONFIGURATION,
    EXIT_DONE,
    forget_stdout,
    refusal,
    run_program,
)
from firmware_py.terms.printable import printable

if TYPE_CHECKING:
    from firmware_py.firmware import Firmware
    from firmware_py.installation.configuration import Configuration
    from firmware_py.platform.clock import SteadyClock
    from firmware_py.platform.ports import Port

EXAMPLE = """\
example:
  gp-pta-device --tone-generator /dev/ttyACM0 --console /dev/ttyGS0 --data sessions

exit codes: 0 ended as told, 1 a fault of the firmware itself, 2 wrong arguments, configuration or
port, 3 no tone generator; --check ends with the code of the first part at fault, 4 if no test can
be recorded, 0 if the firmware can start
"""


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="gp-pta-device",
        description="Run the firmware of the fitting device.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("--tone-generator", metavar="URL", required=True, help="its serial port")
    p.add_argument("--console", metavar="URL", required=True, help="the operator's serial port")
    p.add_argument(
        "--hearing-aid", metavar="URL",
        help="port of a hearing aid to tune, as device.hearing_aid.serve says it (default: none)",
    )  # fmt: skip
    p.add_argument("--data", metavar="DIR", required=True, type=Path, help="keeps the journals")
    p.add_argument("--config", metavar="FILE", type=Path, help="configuration, TOML")
    p.add_argument(
        "--calibration",
        metavar="FILE",
        type=Path,
        help="calibration of tone generator and earphones, TOML, as gp-pta calibrate writes it; "
        "in place of that of the configuration (default: none, UNCALIBRATED)",
    )
    p.add_argument(
        "--prior", metavar="FILE", type=Path,
        help="prior of new tests, as gp-pta learn-prior writes it (default: that of the "
        "configuration, or the one that ships)",
    )  # fmt: skip
    p.add_argument(
        "--speed",
        type=float,
        default=1.0,
        help="run pauses and windows so many times faster than real, for a simulated listener; "
        "below 1 the wire is as slow",
    )
    p.add_argument(
        "--clock",
        metavar="FILE",
        type=Path,
        help="take the time from FILE in place of this machine's clock: gp-pta simulate --board "
        "emulated --clock FILE writes that of its board there",
    )
    p.add_argument(
        "--wait",
        action="store_true",
        help="wait for a tone generator that is not there, in place of ending with 2 or 3",
    )
    p.add_argument(
        "--system",
        metavar="DIR",
        type=Path,
        help="on a card: where its system says what is wrong, and is told that it is good",
    )
    _add_other_ends(p)
    return p


def _add_other_ends(p: argparse.ArgumentParser) -> None:
    """Add what has the firmware do something else than run."""
    p.add_argument(
        "--check",
        action="store_true",
        help="say part by part whether the firmware can start, and end; nothing is played, "
        "and a running firmware is not disturbed",
    )
    p.add_argument(
        "--board-report",
        action="store_true",
        help="say what this machine is, what --check says, and what a person has yet to see on a "
        "real board, to be ticked and sent back; and end",
    )
    p.add_argument(
        "--hash-pin",
        action=HashPin,
        nargs=0,
        help="ask for an operator's PIN, print its line of the configuration, and end",
    )
    p.add_argument(
        "--tell-card",
        action=OfFile,
        do=_tell_card,
        metavar="FILE",
        help="on a card: say what a configuration tells its system, and end",
    )
    p.add_argument(
        "--hash-new-pin",
        action=OfFile,
        do=_hash_new_pin,
        before="",  # the card says who it is
        metavar="FILE",
        help="on a card: print a configuration with the hash of new_pin in its place, and end",
    )
    p.add_argument(
        "--make-key",
        action=OfFile,
        do=_make_key,
        metavar="NEWFILE",
        help="make a random key for seals or pseudonyms, and end",
    )
    p.add_argument("--version", action=Version, nargs=0, help="say what runs here, and end")


class Version(argparse.Action):
    """Says version, journals and kernels; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from firmware_py.inference.library import LibraryError, runs_on
        from firmware_py.platform.version import program_words

        try:
            print(f"gp-pta-device {program_words()}, {runs_on()}")
        except LibraryError as error:
            parser.exit(2, f"gp-pta-device: {error}\n")
        parser.exit(0)


class HashPin(argparse.Action):
    """Asks for a PIN; an option would leave it in the process list and the shell's history."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the line for the configuration and end; from a pipe the PIN is read once."""
        from getpass import getpass

        from firmware_py.console.pin import SALT_BYTES, PinHash

        if sys.stdin.isatty():
            pin = getpass("PIN: ")
            if pin != getpass("once more: "):
                parser.exit(2, "gp-pta-device: the two are not the same; nothing was done\n")
        else:
            pin = sys.stdin.readline().rstrip("\r\n")
        try:
            stored = PinHash.of(pin, os.urandom(SALT_BYTES))
        except ValueError as error:
            parser.exit(2, f"gp-pta-device: {error}\n")
        print(f'[console]\npin = "{stored}"')
        parser.exit(0)


class OfFile(argparse.Action):
    """Does something with a file in place of running, and ends; a refusal is one line, code 2."""

    def __init__(
        self, *about: Any, do: Callable[[Path], None], before: str = "gp-pta-device: ", **more: Any
    ) -> None:
        super().__init__(*about, **more)
        self._do, self._before = do, before

    def __call__(
        self, parser: argparse.ArgumentParser, _space: object, file: object, *_: object
    ) -> None:
        from firmware_py.installation.configuration import ConfigurationError
        from firmware_py.platform.keys import KeyFileError

        try:
            self._do(Path(str(file)))
        except (ConfigurationError, KeyFileError) as error:
            parser.exit(2, f"{self._before}{error}\n")
        parser.exit(0)


def _tell_card(path: Path) -> None:
    from firmware_py.board.pi_models import machine
    from firmware_py.installation.card_settings import card_lines

    print(f"machine={machine().words}", flush=True)  # also of a file that cannot be read
    print(*card_lines(path), sep="\n")


def _hash_new_pin(path: Path) -> None:
    from firmware_py.console.pin import SALT_BYTES
    from firmware_py.installation.card_settings import with_hash_of_pin

    sys.stdout.buffer.write(with_hash_of_pin(path, os.urandom(SALT_BYTES)))


def _make_key(path: Path) -> None:
    from firmware_py.journal import SealKey
    from firmware_py.platform.keys import make_key_file, read_key_file

    make_key_file(path)
    name = SealKey(read_key_file(path)).name
    print(f"{path}: key {name}; keep a copy where the device is not")


def main(argv: Sequence[str] | None = None) -> int:
    return run_program(lambda: _program(argv), "gp-pta-device")


def _program(argv: Sequence[str] | None) -> int:
    if words := refusal():
        return _refuse(words)
    arguments = parser().parse_args(argv)
    if not 0.1 <= arguments.speed <= 1000.0:
        return _refuse(f"--speed is {arguments.speed:g}; allowed is 0.1 to 1000")
    if arguments.clock is not None and arguments.speed != 1.0:
        return _refuse("--clock and --speed: one of them is allowed")
    return _look(arguments) if arguments.check or arguments.board_report else _run(arguments)


def _look(arguments: argparse.Namespace) -> int:
    from firmware_py.installation.readiness import Files, check, line, readiness

    files = Files(arguments.config, arguments.calibration, arguments.prior)
    parts = readiness(_ports(arguments), arguments.data, files)
    if not arguments.board_report:
        return check(parts)
    from datetime import UTC, datetime

    from firmware_py.board import board_report

    for told in board_report.lines(datetime.now(UTC), [line(part) for part in parts]):
        print(printable(told))
    return EXIT_DONE


def _ports(arguments: argparse.Namespace) -> tuple["Port", "Port"]:
    from firmware_py.platform.ports import Port

    return Port(arguments.tone_generator, "tone generator"), Port(arguments.console, "console")


def _configuration(arguments: argparse.Namespace) -> "Configuration":
    from firmware_py.installation.configuration import configuration_of

    return configuration_of(arguments.config, arguments.prior)


def _run(arguments: argparse.Namespace) -> int:
    # Nothing uses BLAS: its threads would only take memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported late: --help and a wrong argument do not wait for the kernels.
    from firmware_py.calibration.in_force import load_calibration
    from firmware_py.inference.library import LibraryError, runs_on
    from firmware_py.installation.configuration import ConfigurationError
    from firmware_py.platform.board_time import BoardTimeError
    from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError
    from firmware_py.platform.program import limit_growth
    from firmware_py.platform.serial_number import serial_number
    from firmware_py.platform.supervisor import Supervisor, SupervisorError

    def say_ready(words: str) -> None:
        _tell(f"{words}; {runs_on()}")
        if kernel.LIBRARY is not None and configuration.memory_reserve_mb:
            limit_growth(configuration.memory_reserve_mb)

    try:
        supervisor = Supervisor(os.environ, say_ready)
        clock = _clock(arguments)
    except BoardTimeError as error:
        return _refuse(f"--clock {error}")
    except SupervisorError as error:
        return _refuse(str(error))
    try:
        configuration = _configuration(arguments)
        data = DataDirectory(arguments.data, configuration.seal_key, device=serial_number())
        calibration = load_calibration(arguments.calibration or configuration.calibration)
        from firmware_py.inference import kernel

        kernel.prepare()
    except (ConfigurationError, DataDirectoryError, LibraryError) as error:
        supervisor.ending(str(error))
        _say_at_console(arguments.console, str(error))
        return _refuse(str(error))
    from firmware_py.firmware import Firmware, Ports
    from firmware_py.installation.card_system import CardSystem
    from firmware_py.platform.ports import Port

    aid = Port(arguments.hearing_aid, "hearing aid") if arguments.hearing_aid else None
    firmware = Firmware(
        configuration,
        Ports(*_ports(arguments), aid, arguments.wait),
        data,
        clock,
        lambda: os.urandom(4).hex(),
        supervisor,
        calibration,
        CardSystem(arguments.system, data),
    )
    try:
        return _until_told_to_end(firmware)
    finally:
        data.close()
        supervisor.close()


def _tell(words: str) -> None:
    try:
        print(printable(f"gp-pta-device: {words}"), flush=True)
    except OSError:  # nobody reads standard output
        forget_stdout()


def _until_told_to_end(firmware: "Firmware") -> int:
    from firmware_py.firmware import FirmwareError

    def stop(_number: int, _frame: FrameType | None) -> None:
        firmware.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        firmware.run()
    except FirmwareError as error:
        print(printable(f"gp-pta-device: {error}"), file=sys.stderr)
        return error.code
    except OSError as error:  # nothing is printed there: that is a fault, to be seen with its place
        raise RuntimeError("the firmware did not expect this") from error
    return EXIT_DONE


def _clock(arguments: argparse.Namespace) -> "SteadyClock":
    """Return the clock of the tests: this machine's, or that of an emulated board."""
    from firmware_py.platform.board_time import BoardClock, BoardTime
    from firmware_py.platform.clock import SteadyClock

    if arguments.clock is None:
        return SteadyClock(arguments.speed)
    return BoardClock(BoardTime.open(arguments.clock).us)


def _say_at_console(url: str, words: str) -> None:
    """Tell the operator, who may have nothing else to look at, why the firmware cannot start."""
    from firmware_py.console.grammar import SYSTEM_ERROR, ConsoleError
    from firmware_py.operator.console_connection import LAST_WORDS_S
    from firmware_py.platform.ports import Port, PortError

    console = Port(url, "console")
    with suppress(PortError):
        console.open()
        console.write(f"ERROR {ConsoleError(SYSTEM_ERROR, printable(words)).answer}\r\n".encode())
        console.drain(LAST_WORDS_S)
    console.close()


def _refuse(words: str) -> int:
    print(printable(f"gp-pta-device: {words}"), file=sys.stderr)
    return EXIT_CONFIGURATION


if __name__ == "__main__":
    sys.exit(main())
