"""`gp-pta listen`: the computer as tone generator and button, to try a test on one's own ears."""

import argparse
import json
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from device.simulator.serve import carry, raw_pty, serve
from device.sound_card.card import CardOutput, NoSoundError, device_of, outputs
from device.sound_card.keyboard import Keyboard
from device.sound_card.local_board import HEARD_KEY, LocalBoard
from device.sound_card.output import SampledOutput
from device.sound_card.wav import WavOutput
from firmware_py.calibration.in_force import NOMINAL_FULL_SCALE_DB_HL
from firmware_py.link.messages import LOWEST_DBFS
from firmware_py.terms.results import SessionResult
from firmware_py.terms.settings import SettingError, Settings
from host_tools.colours import WARNING_STYLE
from host_tools.devices.live import (
    add_test_arguments,
    check_test,
    data_directory,
    measure,
    show_result,
    show_verdict,
    teller,
)
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Operator
from host_tools.devices.unfinished import CARD_KIND, check_unfinished
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name
from host_tools.recordings import replayed
from host_tools.recordings.newest import LISTEN_PREFIX, newest_in
from host_tools.terminal import say, say_aside

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.console import Console

EXAMPLE = """\
example:
  gp-pta listen --test --ear right --age 67 --out sessions
  gp-pta listen --device 3
  gp-pta-device --tone-generator /dev/pts/N --console ... --data sessions

--test starts the firmware and shows a whole test and its audiogram, as gp-pta demo does. Without it
there is only a tone generator, and the serial port that is printed.

Press the space bar when you hear a tone, and p when you are not sure (--unsure-button). It is
not calibrated, and what the mixer, the amplifier and the earphones do comes on top: begin with the
volume turned down. device/sound_card/README.md says what is exact here and what is not.
"""

NEEDS: Final = {"a sound card": ("sounddevice",)}
LIMIT_DBFS: Final = -30.0  # 102 dB HL where 0 dBFS is the nominal 132; with most earphones less
YES: Final = "loud"  # has to be typed before a higher one holds
STEP_DB: Final = 10.0  # by so much louder is each tone of a climb to it
CLIMB_HZ: Final = 1000.0
STEP_MS: Final = 1000
STEP_RISE_MS: Final = 50
EARS: Final = 2
WITHOUT: Final = "gp-pta listen --wav FILE.wav writes what would be heard"
UNCALIBRATED: Final = (
    "UNCALIBRATED: nobody knows how loud this is. Turn the volume down before you put the "
    "earphones on, and take them off if it is unpleasant."
)


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--device", metavar="NUMBER|NAME", help="of the sound card (default: the system's)"
    )
    p.add_argument("--list-devices", action="store_true", help="say which there are, and end")
    p.add_argument(
        "--wav",
        type=Path,
        metavar="FILE",
        help="play into a new file instead of the sound card, in real time",
    )
    p.add_argument(
        "--limit-dbfs",
        type=float,
        default=LIMIT_DBFS,
        metavar="DBFS",
        help=f"no tone is above this level re full scale (default: {LIMIT_DBFS:g}; a higher one "
        f"has to be confirmed by typing {YES!r}, and is climbed to)",
    )
    p.add_argument(
        "--json", action="store_true", help="devices as JSON; a test ends with a line of it"
    )
    test = p.add_argument_group("a whole test")
    test.add_argument("--test", action="store_true", help="start the firmware and run a test")
    add_test_arguments(test)
    test.add_argument(
        "--go-on", action="store_true",
        help="the same person sits there as in the unfinished session, after a long break",
    )  # fmt: skip
    test.add_argument("--seed", type=int, help="of pauses and catch trials (default: by chance)")
    test.add_argument("--unsure-button", action="store_true", help="offer p for 'perhaps'")


def run(arguments: argparse.Namespace) -> int:
    if arguments.list_devices:
        return _list_devices(arguments.json)
    _check(arguments)
    is_heard = arguments.wav is None
    if is_heard and arguments.limit_dbfs > LIMIT_DBFS:
        confirm(arguments.limit_dbfs, input)
    try:
        with _output(arguments) as output, Keyboard() as keyboard:
            if is_heard:
                arguments.limit_dbfs = climb(output, keyboard, arguments.limit_dbfs)
            board = LocalBoard(output, keyboard, arguments.limit_dbfs, secrets.randbits(32))
            if arguments.test:
                return _test(arguments, board, keyboard)
            serve(board, announce=_announce)
    except OSError as error:
        raise HostError(f"listen: {error}") from None
    return 0


def confirm(limit_dbfs: float, ask: Callable[[str], str]) -> None:
    _warn(
        f"--limit-dbfs {limit_dbfs:g}: tones may be {limit_dbfs - LIMIT_DBFS:g} dB louder than "
        f"with the usual limit, {LIMIT_DBFS:g} dBFS. That can hurt ears."
    )
    try:
        typed = ask(f"type {YES} if that is meant: ").strip()
    except EOFError:
        typed = ""
    if typed != YES:
        raise HostError(
            f"--limit-dbfs is {limit_dbfs:g} dBFS; above {LIMIT_DBFS:g} dBFS {YES!r} has to be "
            "typed; nothing was played"
        )


def climb(
    output: SampledOutput,
    keyboard: Keyboard,
    limit_dbfs: float,
    sleep: Callable[[float], None] = time.sleep,
) -> float:
    """Play a tone in both ears, and louder ones while somebody asks for them.

    Return the limit: the level that was asked for last, at most `limit_dbfs`.
    """
    level_dbfs = min(limit_dbfs, LIMIT_DBFS)
    while level_dbfs < limit_dbfs:
        for ear in range(EARS):
            output.play(ear, CLIMB_HZ, level_dbfs, (STEP_MS, 0, 1, STEP_RISE_MS))
            sleep(2e-3 * STEP_MS)
        louder_dbfs = min(level_dbfs + STEP_DB, limit_dbfs)
        say_aside(
            f"that was {level_dbfs:g} dBFS; space bar: up to {louder_dbfs:g}, others: no louder"
        )
        keys = keyboard.keys(None)
        if not keys or keys.strip(HEARD_KEY):
            break
        level_dbfs = louder_dbfs
    return level_dbfs


def _list_devices(as_json: bool) -> int:
    need("listing sound cards", "sounddevice", use="listen")
    try:
        devices = outputs()
    except NoSoundError as error:
        raise HostError(str(error)) from None
    if as_json:
        say(json.dumps(devices))
        return 0
    if not devices:
        say_aside("there is no sound card with two channels")
    for device in devices:
        say(f"{device['number']:3}  {device['name']}, {device['rate_hz']:g} Hz")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    low_dbfs, high_dbfs = LOWEST_DBFS, 0.0
    if not low_dbfs <= arguments.limit_dbfs <= high_dbfs:
        raise HostError(
            f"--limit-dbfs is {arguments.limit_dbfs:g} dBFS; allowed is {low_dbfs:g} to "
            f"{high_dbfs:g} dBFS"
        )
    if arguments.wav is not None and arguments.device is not None:
        raise HostError("--wav and --device: one of them is allowed")
    if arguments.wav is not None:
        check_name(arguments.wav, "--wav", (".wav",))
    if not arguments.test:
        return
    if arguments.seed is None:
        arguments.seed = secrets.randbits(31)
    try:
        Settings(level_max_db_hl=_level_max_db_hl(arguments.limit_dbfs))
    except SettingError as error:
        raise HostError(f"--limit-dbfs is {arguments.limit_dbfs:g} dBFS, so {error}") from None
    check_test(arguments, _settings(arguments))
    check_unfinished(arguments.out, CARD_KIND, say_aside)


def _level_max_db_hl(limit_dbfs: float) -> float:
    return min(Settings.level_max_db_hl, float(math.floor(NOMINAL_FULL_SCALE_DB_HL + limit_dbfs)))


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    settings: dict[str, Any] = {"level_max_db_hl": _level_max_db_hl(arguments.limit_dbfs)}
    if arguments.unsure_button:
        settings["unsure_button"] = True
    return settings


@contextmanager
def _output(arguments: argparse.Namespace) -> Iterator[SampledOutput]:
    """Open the sound card or the file, and say which; it ends in silence."""
    output = _open_output(arguments.device, arguments.wav)
    try:
        yield output
    finally:
        output.close()
        if isinstance(output, CardOutput) and output.gaps:
            say_aside(
                f"the sound card got its samples too late {output.gaps} times: there were gaps"
            )


def _open_output(device: str | None, wav: Path | None) -> SampledOutput:
    if wav is None:
        try:
            return _card(device)
        except HostError as error:
            raise HostError(f"no sound: {error}; without a sound card: {WITHOUT}") from None
    try:
        file = WavOutput(wav)
    except FileExistsError:
        raise HostError(f"--wav {str(wav)!r} is there already; it is not overwritten") from None
    say_aside(f"nothing is heard: what would be is written to {wav}, in real time")
    return file


def _card(device: str | None) -> CardOutput:
    need("a sound card", *NEEDS["a sound card"], use="listen")
    try:
        card = CardOutput(device_of(device) if device else None)
    except NoSoundError as error:
        raise HostError(str(error)) from None
    say_aside(f"playing through {card.name!r}, heard {1000 * card.latency_s:.0f} ms later")
    _warn(UNCALIBRATED)
    return card


def _announce(port: str) -> None:
    say(port)
    say_aside("a tone generator is at this port; the space bar is its button; end with ^C")


def _warn(words: str) -> None:
    from rich.console import Console

    Console(stderr=True, highlight=False).print(words, style=WARNING_STYLE, soft_wrap=True)


def _test(arguments: argparse.Namespace, board: LocalBoard, keyboard: Keyboard) -> int:
    """Run a whole test; the exit code is 0 if its replay was identical."""
    from rich.console import Console

    screen = Console(highlight=False)
    data = data_directory(arguments.out, LISTEN_PREFIX)
    screen.print(f"the journal is in {data}", soft_wrap=True)
    unsure = "; p: perhaps you do" if arguments.unsure_button else ""
    screen.print(f"space bar: you hear a tone, however soft{unsure}; ^C ends. Begin with space bar")
    keyboard.wait_for(HEARD_KEY)
    began_s = time.monotonic()
    result, nominal = _measure(arguments, board, data, screen)
    show_result(screen, result, nominal=nominal)
    verdict = replayed.replay_journal(newest_in(data))
    show_verdict(screen, verdict)
    if arguments.json:
        summary = {
            "journal": str(verdict.journal),
            "trials": verdict.count,
            "replay_identical": verdict.identical,
            "seconds": round(time.monotonic() - began_s, 2),
            "result": result.to_record(),
        }
        say(json.dumps(summary))
    return verdict.code


def _measure(
    arguments: argparse.Namespace, board: LocalBoard, data: Path, screen: "Console"
) -> tuple[SessionResult, bool]:
    """Start the firmware, run a test over its console, and return what `measure` does."""
    stop = threading.Event()
    console = ConsoleLine()
    with raw_pty() as (master, port), ThreadPoolExecutor(1) as pool:
        carried = pool.submit(carry, board, master, stop)
        firmware = FirmwareProcess(
            port, console.port, data, 1.0, tell=teller(screen), prior=arguments.prior
        )

        def check_board(_line: str) -> None:
            if carried.done():
                carried.result()  # raises what ended it

        try:
            operator = Operator(console, firmware)
            return measure(operator, arguments, _settings(arguments), screen, check_board)
        finally:
            firmware.end()
            stop.set()
            console.close()
