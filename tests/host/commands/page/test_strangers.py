"""Whoever connects to the page's server and is no page of it: one sentence, and pages go on."""

import os
import random
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Self
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection

from host_tools.commands.page import bridge as bridge_module
from host_tools.commands.page.bridge import BUSY, MESSAGE_BYTES_MAX, Bridge
from host_tools.commands.page.strangers import (
    CLOSED,
    GONE_EARLY,
    NO_PAGE,
    NONSENSE,
    TAKES_NOTHING,
    WRONG_ADDRESS,
)
from tests.budget import either
from tests.host.commands.page.rig import Cable, FarPort, join

WAIT_S: Final = 120.0  # on a very busy machine
HERE: Final = "a page has the device"
SECOND: Final = "a second page was told that another one has the device"
GOES_ON: Final = "; a test goes on at the device"
EVERY: Final = bytes(range(256))
AT_ONCE: Final = struct.pack("ii", 1, 0)  # whoever closes so resets the connection


class Served:
    """A server page, the cable behind it, and whoever connects; for a `with`."""

    def __init__(self, name: Path) -> None:
        self.cable = Cable(threading.Condition())
        self.told: list[str] = []  # all of it, after the end
        self._coming: SimpleQueue[str] = SimpleQueue()
        self._far = FarPort(self.cable, name)
        self._bridge = Bridge(str(name), "a page", self._coming.put)
        self.place = urlsplit(self._bridge.address)

    def until(self, words: str) -> None:
        while not self.told or self.told[-1] != words:
            self.told.append(self._coming.get(timeout=WAIT_S))

    def request(self, path: str = "", **other: str) -> bytes:
        """Return what a page asks with; other headers are in the place of its own."""
        host = self.place.netloc
        headers = {
            "Host": host, "Origin": f"http://{host}", "Upgrade": "websocket",
            "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        } | {name.replace("_", "-"): value for name, value in other.items()}  # fmt: skip
        lines = [f"GET {path or self.place.path + 'console'} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def connect(self) -> socket.socket:
        stranger = socket.create_connection((str(self.place.hostname), self.place.port or 0))
        stranger.settimeout(WAIT_S)
        return stranger

    def send(self, data: bytes, *, and_leave: bool = False) -> None:
        """Send bytes, and read until the server hangs up."""
        with self.connect() as stranger, suppress(ConnectionError):
            stranger.sendall(data)
            if and_leave:
                stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(1 << 16):
                continue

    def has_console(self) -> socket.socket:
        """Return a socket that has the console and may say anything."""
        page = self.connect()
        page.sendall(self.request())
        self.until(HERE)
        return page

    @contextmanager
    def join(self) -> Iterator[ClientConnection]:
        """Yield a page that has the console; like the page's own it asks again while one leaves."""
        is_busy = True
        while is_busy:
            with join(self._bridge.address) as page:
                with suppress(ConnectionClosedError):
                    assert isinstance(page.recv(WAIT_S), str)
                if page.close_code == BUSY:
                    continue
                is_busy = False
                self.until(HERE)
                yield page

    def goes_on(self) -> None:
        """Check that a page gets the device, and hears what the firmware says."""
        with self.join() as page:
            self.says(EVERY, page)
        self.until(f"{CLOSED}{GOES_ON}")

    def says(self, data: bytes, page: ClientConnection) -> None:
        """Let the firmware say something; all of it must come to a page."""
        self.cable.write(data)
        come = b""
        while len(come) < len(data):
            part = page.recv(WAIT_S)
            assert isinstance(part, bytes)
            come += part
        assert come == data

    def __enter__(self) -> Self:
        self._bridge.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._bridge.__exit__()
        self._far.close()
        self.told += [self._coming.get() for _ in range(self._coming.qsize())]

    def of_strangers(self) -> list[str]:
        """Return what was told, but for pages that were as they should be."""
        return [words for words in self.told if words not in {HERE, SECOND, f"{CLOSED}{GOES_ON}"}]


@pytest.fixture
def server(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Served]:
    """Return what serves a page; a word beside what it tells is an error."""
    yield Served(tmp_path / "console")
    assert capfd.readouterr() == ("", "")


def frame(kind: Opcode, content: bytes, *, masked: bool = True, last: bool = True) -> bytes:
    return Frame(kind, content, last).serialize(mask=masked)


NO_REQUESTS: Final = {
    "nonsense": b"\x00\xff\xfehello\r\n\r\n",
    "any bytes": random.Random(1).randbytes(3000) + b"\n",
    "TLS": bytes.fromhex("1603010200010001fc0303") + bytes(200) + b"\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a long line": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 500 + b"\r\n",
}


@pytest.mark.parametrize("data", NO_REQUESTS.values(), ids=list(NO_REQUESTS))
def test_whoever_sends_no_request_leaves_one_sentence(data: bytes, server: Served) -> None:
    with server:
        for _ in range(3):
            server.send(data)
        server.goes_on()
    assert server.of_strangers() == [NO_PAGE]


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"Upgrade": "@@"}, NO_PAGE),
        ({"Connection": "@@@,"}, NO_PAGE),
        ({"Sec_WebSocket_Key": "AA"}, NO_PAGE),
        ({"Sec_WebSocket_Key": "\xe4"}, NO_PAGE),
        ({"Sec_WebSocket_Version": "99"}, NO_PAGE),
        ({"path": "/x"}, WRONG_ADDRESS),
        ({"Host": "evil.example"}, WRONG_ADDRESS),
        ({"Origin": "http://evil.example"}, WRONG_ADDRESS),
    ],
    ids=str,
)
def test_a_request_that_no_page_makes_leaves_one_sentence(
    other: dict[str, str], told: str, server: Served
) -> None:
    with server:
        for _ in range(3):
            server.send(server.request(**other))
        server.goes_on()
    assert server.of_strangers() == [told]


def test_what_a_browser_does_by_itself_is_not_told(server: Served) -> None:
    """It asks for an icon, and connects before it has anything to ask."""
    with server:
        server.send(server.request("/favicon.ico"))
        server.send(b"", and_leave=True)
        server.goes_on()
    assert server.of_strangers() == []


@pytest.mark.parametrize("sent", [8, 40, 200])
def test_whoever_is_gone_in_the_middle_of_a_request_leaves_one_sentence(
    sent: int, server: Served
) -> None:
    with server:
        for _ in range(3):
            server.send(server.request()[:sent], and_leave=True)
        server.goes_on()
    assert server.of_strangers() == [GONE_EARLY]


NONSENSES: Final = {
    "no frame": b"\xff" * 40,
    "HTTP/2": b"PRI * HTTP/2.0",
    "no mask": frame(Opcode.TEXT, b"x", masked=False),
    "no text": frame(Opcode.TEXT, b"\xff\xff"),
    "a long text": frame(Opcode.TEXT, b"a" * (MESSAGE_BYTES_MAX + 1)),
    "a longer text": frame(Opcode.TEXT, b"a" * 100_000),
    "long bytes": frame(Opcode.BINARY, b"a" * (MESSAGE_BYTES_MAX + 1)),
    "a long message in parts": frame(Opcode.BINARY, b"a" * 4000, last=False)
    + frame(Opcode.CONT, b"a" * 4000),
    "no close": frame(Opcode.CLOSE, b"\x00"),
    "an unknown close": frame(Opcode.CLOSE, b"\x00\x00"),
    "a size without end": b"\x82\xff" + b"\xff" * 8,
}


@pytest.mark.parametrize("data", NONSENSES.values(), ids=list(NONSENSES))
def test_a_page_that_speaks_nonsense_is_closed_with_one_sentence(
    data: bytes, server: Served
) -> None:
    with server:
        with server.has_console() as page, suppress(ConnectionError):
            page.sendall(data)
            while page.recv(1 << 16):
                continue
            page.shutdown(socket.SHUT_WR)
        server.until(f"{NONSENSE}{GOES_ON}")
        server.goes_on()
    assert server.of_strangers() == [f"{NONSENSE}{GOES_ON}"]


@pytest.mark.parametrize("data", NONSENSES.values(), ids=list(NONSENSES))
def test_whoever_asks_and_speaks_nonsense_at_once_leaves_one_sentence_at_most(
    data: bytes, server: Served
) -> None:
    """It is refused, or gone before it is let in, or had the device for a moment."""
    with server:
        server.send(server.request() + data, and_leave=True)
        server.goes_on()
    told = server.of_strangers()
    assert len(told) <= 1
    assert set(told) <= {NO_PAGE, GONE_EARLY, f"{NONSENSE}{GOES_ON}"}


@pytest.mark.parametrize(
    "data", [b"", frame(Opcode.BINARY, b"a" * 1000)[:300]], ids=["between", "in a frame"]
)
@pytest.mark.parametrize("resets", [True, False])
def test_a_page_that_is_gone_in_the_middle_leaves_one_sentence(
    resets: bool, data: bytes, server: Served
) -> None:
    with server:
        with server.has_console() as page:
            page.sendall(data)
            if resets:
                page.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        server.until(f"{CLOSED}{GOES_ON}")
        server.goes_on()
    assert server.of_strangers() == []
    assert server.told.count(f"{CLOSED}{GOES_ON}") == 2


@pytest.mark.parametrize("bounds", [("SEND_S",), ("SEND_S", "PING_S", "PONG_S", "CLOSE_S")])
def test_a_page_that_takes_nothing_is_closed_with_one_sentence(
    bounds: tuple[str, ...],
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The firmware talks until every buffer is full; the next page has the device."""
    for bound in bounds:
        monkeypatch.setattr(bridge_module, bound, 0.05)
    server = Served(tmp_path / "console")
    over = threading.Event()

    def talk() -> None:
        while not over.is_set():
            server.cable.write(bytes(4096))

    talker = threading.Thread(target=talk)
    with server, server.has_console():
        talker.start()
        server.until(f"{TAKES_NOTHING}{GOES_ON}")
        over.set()
        with server.join():
            pass
    talker.join()
    assert server.of_strangers() == [f"{TAKES_NOTHING}{GOES_ON}"]
    assert capfd.readouterr() == ("", "")


def test_what_the_firmware_says_comes_to_the_page_whatever_strangers_do(server: Served) -> None:
    with server:
        with server.join() as page:
            for data in NO_REQUESTS.values():
                server.send(data)
                server.says(os.urandom(100), page)
                server.send(server.request(Host="evil.example"))
                server.says(os.urandom(100), page)
        server.until(f"{CLOSED}{GOES_ON}")
    assert sorted(server.of_strangers()) == sorted([NO_PAGE, WRONG_ADDRESS])


@pytest.mark.parametrize("seed", range(either(3, 100)))
def test_any_bytes_leave_no_traceback(seed: int, server: Served) -> None:
    chance = random.Random(seed)
    right = server.request() + frame(Opcode.BINARY, EVERY) + frame(Opcode.PING, b"ping")
    with server:
        for _ in range(20):
            wrong = bytearray(right)
            for _ in range(chance.randint(1, 5)):
                wrong[chance.randrange(len(wrong))] = chance.randrange(256)
            server.send(bytes(wrong[: chance.randint(1, len(wrong))]), and_leave=True)


def test_a_fault_of_this_program_is_shown_whole(
    server: Served, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(Bridge, "_lend", fail)
    with server:
        server.send(server.request())
    told = capfd.readouterr().err
    assert told.startswith("connection handler failed\nTraceback")
    assert told.endswith("ValueError: a fault\n")
