"""The REPL of a board with MicroPython: files are copied there, and read back."""

import binascii
import hashlib
import io
import time
import zlib
from contextlib import redirect_stdout, suppress
from pathlib import PurePosixPath
from typing import Any, Final

from host_tools.devices.device_answers import (
    BOARD_WANTED,
    IDENTIFY,
    IDENTITY,
    AnswerFields,
    answer_to_hello,
    hello,
)
from host_tools.errors import HostError

CHIP: Final = "RP2040"  # the program has its watchdog's address; a Pico 2 has an RP2350
BAUD_RATE: Final = 115_200
CHUNK_CHARACTERS: Final = 1024  # a multiple of 4, as base64 is
CHUNK_BYTES: Final = 1024
WINDOW_BITS: Final = 12  # of the compression: 4 kB in the board's memory
REPL_TRIES_MAX: Final = 3
REPL_TIMEOUT_S: Final = 3.0
QUIET_S: Final = 3.3  # the board leaves its REPL after 3 s without a byte
LEAVE_S: Final = 0.3
ELSE_S: Final = 1.0  # for another program at the port to answer

SAY_CONTENT: Final = """\
try:
    with open('{path}') as file: print(file.read(2048))
except OSError:
    pass
"""
# Compressed, a file is a third as long, and the installation takes seconds. The files of an earlier
# installation are removed, as MicroPython would import a source before compiled code.
UNPACK_BEGIN: Final = """\
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
UNPACK_END: Final = """\
packed.seek(0)
with open('{path}', 'wb') as file:
    file.write(deflate.DeflateIO(packed, deflate.ZLIB).read())
"""

assert CHUNK_CHARACTERS % 4 == 0


class RawRepl:
    """The board's raw REPL, through mpremote, silent for `timeout_s` at most."""

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
        if IDENTITY.encode() in self._ask(IDENTIFY):
            return (
                f"a GP-PTA firmware answers at {self._port!r}: this is the operator's console; "
                f"{BOARD_WANTED}"
            )
        frames = self._ask(b"\n" + hello()).splitlines(keepends=True)
        if any(answer_to_hello(frame) for frame in frames):
            return (
                f"the tone generator at {self._port!r} is no board with MicroPython: it answers "
                "hello, and has no REPL; a simulated one has none"
            )
        return (
            f"no MicroPython REPL at {self._port!r}; is another program at this port, or is there "
            "no MicroPython on the board yet? (https://micropython.org/download/RPI_PICO)"
        )

    def _ask(self, question: bytes) -> bytes:
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
        """Return the version of MicroPython; an error if the board is of another kind."""
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
        answer = self._do("print(getattr(sys.implementation, '_mpy', 0))").strip()
        return AnswerFields("sys.implementation", {"_mpy": answer}).whole("_mpy", high=0xFFFF)

    def content(self, path: str) -> str:
        """Return what a small file says, "" if there is none."""
        return self._do(SAY_CONTENT.format(path=path))

    def copy(self, path: str, content: bytes) -> None:
        """Put a file there, and see that it is."""
        place = PurePosixPath(path)
        parents = [str(parent) for parent in reversed(place.parents[:-1])]
        before = [str(place.with_suffix(suffix)) for suffix in (".py", ".mpy")]
        self._do(UNPACK_BEGIN.format(parents=parents, before=before))
        packed = binascii.b2a_base64(deflate(content), newline=False).decode()
        for begin in range(0, len(packed), CHUNK_CHARACTERS):
            self._do(f"take('{packed[begin : begin + CHUNK_CHARACTERS]}')")
        self._do(UNPACK_END.format(path=path))
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


def deflate(content: bytes) -> bytes:
    """Return bytes as the board unpacks them."""
    return zlib.compress(content, 9, WINDOW_BITS)
