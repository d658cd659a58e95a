"""A Raspberry Pi Pico at the USB port of an emulated machine: the bytes of a pty, as CDC-ACM.

QEMU's side is `-device usb-redir`, and the protocol is usbredir 0.7: packets of a type, a length,
an identifier and a body, both ways.
"""

import os
import select
import socket
import struct
import threading
import tty
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

VENDOR, PRODUCT = 0x2E8A, 0x0005  # MicroPython on a Pico, as the udev rule has them
STRINGS: Final = ("", "MicroPython", "Board in FS mode", "e660583883000000")

# The types of packets, as the protocol's page names them
HELLO, CONNECT, RESET, INTERFACES, ENDPOINTS = 0, 1, 3, 4, 5
SET_CONFIGURATION, GET_CONFIGURATION, CONFIGURATION_STATUS = 6, 7, 8
SET_ALTERNATIVE, GET_ALTERNATIVE, ALTERNATIVE_STATUS = 9, 10, 11
START_INTERRUPT, STOP_INTERRUPT, INTERRUPT_STATUS = 15, 16, 17
CANCEL, CONTROL, BULK = 21, 100, 101
# An emulated xHCI asks for these: version, sizes of packets, long identifiers and lengths
IDS_64: Final = 1 << 5
CAPABILITIES: Final = 1 << 1 | 1 << 4 | IDS_64 | 1 << 6
SUCCESS, CANCELLED, STALL = 0, 1, 4

NOTIFY_IN, DATA_OUT, DATA_IN = 0x81, 0x02, 0x82
IN: Final = 0x80
DEVICE: Final = struct.pack(
    "<BBHBBBBHHHBBBB", 18, 1, 0x200, 0xEF, 2, 1, 64, VENDOR, PRODUCT, 0x100, 1, 2, 3, 1
)
_INTERFACES: Final = bytes((
    8, 11, 0, 2, 2, 2, 0, 0,  # one function of two interfaces
    9, 4, 0, 0, 1, 2, 2, 0, 0,
    5, 0x24, 0, 0x20, 1, 5, 0x24, 1, 0, 1, 4, 0x24, 2, 2, 5, 0x24, 6, 0, 1,
    7, 5, NOTIFY_IN, 3, 8, 0, 16,
    9, 4, 1, 0, 2, 10, 0, 0, 0,
    7, 5, DATA_OUT, 2, 64, 0, 0,
    7, 5, DATA_IN, 2, 64, 0, 0,
))  # fmt: skip
CONFIGURATION: Final = (
    struct.pack("<BBHBBBBB", 9, 2, 9 + len(_INTERFACES), 2, 1, 0, 0x80, 125) + _INTERFACES
)


class UsbBoard:
    """Plugs a board's pty into an emulated machine: where QEMU waits for a USB device."""

    def __init__(self, machine: Path, port: str) -> None:
        self._machine = socket.socket(socket.AF_UNIX)
        self._machine.connect(str(machine))
        self._port = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._port)
        self._ids_64 = False
        self._line = bytes((0x80, 0x25, 0, 0, 0, 0, 8))  # 9600 baud, as it comes
        self._opened = False
        self._reads = deque[int]()  # the machine's, that wait for bytes of the board
        self._come = b""
        self._stop = threading.Event()
        self._send(HELLO, 0, struct.pack("<64sI", b"gp-pta", CAPABILITIES))
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pull()

    def pull(self) -> None:
        self._stop.set()
        self._thread.join()
        self._machine.close()
        os.close(self._port)

    def _run(self) -> None:
        buffer = b""
        with suppress(OSError):  # of a machine whose power was cut
            while not self._stop.is_set():
                machine = self._machine.fileno()
                for ready in select.select([machine, self._port], [], [], 0.1)[0]:
                    if ready != machine:
                        self._take_from_board()
                        continue
                    chunk = self._machine.recv(65536)
                    if not chunk:
                        return
                    buffer = self._packets(buffer + chunk)
                self._give_to_machine()

    def _packets(self, buffer: bytes) -> bytes:
        """See to all whole packets; return what is left."""
        while True:
            head = 16 if self._ids_64 else 12
            if len(buffer) < head:
                return buffer
            kind, length = struct.unpack("<II", buffer[:8])
            if len(buffer) < head + length:
                return buffer
            identifier = int.from_bytes(buffer[8:head], "little")
            body, buffer = buffer[head : head + length], buffer[head + length :]
            self._packet(kind, identifier, body)

    def _send(self, kind: int, identifier: int, body: bytes) -> None:
        form = "<IIQ" if self._ids_64 else "<III"
        self._machine.sendall(struct.pack(form, kind, len(body), identifier) + body)

    def _packet(self, kind: int, identifier: int, body: bytes) -> None:
        match kind:
            case 0:
                (offered,) = struct.unpack("<I", body[64:68])
                self._ids_64 = bool(offered & IDS_64)
                self._introduce()
            case 3:
                self._reads.clear()
            case 6 | 7:
                self._send(CONFIGURATION_STATUS, identifier, bytes((SUCCESS, 1)))
            case 9 | 10:
                self._send(ALTERNATIVE_STATUS, identifier, bytes((SUCCESS, body[0], 0)))
            case 15 | 16:
                self._send(INTERRUPT_STATUS, identifier, bytes((SUCCESS, body[0])))
            case 21 if identifier in self._reads:
                self._reads.remove(identifier)
                self._bulk(identifier, DATA_IN, CANCELLED, b"")
            case 100:
                self._control(identifier, body)
            case 101:
                self._bulk_asked(identifier, body)

    def _introduce(self) -> None:
        """Say which interfaces and endpoints there are, and that the device is plugged in."""

        def of_32(*values: int) -> bytes:
            return bytes(values) + bytes(32 - len(values))

        classes = (of_32(0, 1), of_32(2, 10), of_32(2, 0), of_32(0, 0))
        self._send(INTERFACES, 0, struct.pack("<I", 2) + b"".join(classes))
        # Endpoints out are 0 to 15, those in 16 to 31: type, interval, interface, largest packet
        there = {0: (0, 0, 0, 64), 2: (2, 0, 1, 64), 16: (0, 0, 0, 64), 17: (3, 16, 0, 8),
                 18: (2, 0, 1, 64)}  # fmt: skip
        rows = [there.get(number, (255, 0, 0, 0)) for number in range(32)]
        types, intervals, interfaces, sizes = zip(*rows, strict=True)
        told = bytes(types) + bytes(intervals) + bytes(interfaces) + struct.pack("<32H", *sizes)
        self._send(ENDPOINTS, 0, told)
        self._send(CONNECT, 0, struct.pack("<BBBBHHH", 1, 0xEF, 2, 1, VENDOR, PRODUCT, 0x100))

    def _control(self, identifier: int, body: bytes) -> None:
        endpoint, request, kind, _, value, index, length = struct.unpack("<BBBBHHH", body[:10])
        answer, status = self._answer(kind, request, value, body[10:])
        if kind & IN:
            answer = answer[:length]
            length = len(answer)
        head = struct.pack("<BBBBHHH", endpoint, request, kind, status, value, index, length)
        self._send(CONTROL, identifier, head + answer)

    def _answer(self, kind: int, request: int, value: int, data: bytes) -> tuple[bytes, int]:
        """Return what is answered to a request of USB or of CDC-ACM, and its status."""
        match kind, request:
            case 0x80, 6:
                described = _descriptor(value >> 8, value & 0xFF)
                return (b"", STALL) if described is None else (described, SUCCESS)
            case 0x80, 0:
                return b"\0\0", SUCCESS
            case 0x21, 0x20:
                self._line = data
            case 0xA1, 0x21:
                return self._line, SUCCESS
            case 0x21, 0x22:
                self._opened = bool(value & 1)  # DTR
        return b"", SUCCESS

    def _bulk(self, identifier: int, endpoint: int, status: int, data: bytes, n: int = 0) -> None:
        length = len(data) or n
        head = struct.pack("<BBHIH", endpoint, status, length & 0xFFFF, 0, length >> 16)
        self._send(BULK, identifier, head + data)

    def _bulk_asked(self, identifier: int, body: bytes) -> None:
        if body[0] & IN:
            self._reads.append(identifier)
            return
        data = body[10:]
        self._bulk(identifier, DATA_OUT, SUCCESS, b"", len(data))
        while data and not self._stop.is_set():
            select.select([], [self._port], [], 0.1)
            with suppress(BlockingIOError):
                data = data[os.write(self._port, data) :]

    def _take_from_board(self) -> None:
        with suppress(BlockingIOError):
            self._come += os.read(self._port, 4096)
        if not self._opened:  # what nobody reads a real board throws away
            self._come = b""

    def _give_to_machine(self) -> None:
        while self._come and self._reads:
            part, self._come = self._come[:64], self._come[64:]
            self._bulk(self._reads.popleft(), DATA_IN, SUCCESS, part)


def _descriptor(kind: int, number: int) -> bytes | None:
    match kind:
        case 1:
            return DEVICE
        case 2:
            return CONFIGURATION
        case 3 if number == 0:
            return bytes((4, 3, 9, 4))
        case 3 if number < len(STRINGS):
            text = STRINGS[number].encode("utf-16-le")
            return bytes((2 + len(text), 3)) + text
    return None
