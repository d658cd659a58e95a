"""Serves the operator's page on this machine alone, and carries bytes between it and a port.

The address has a token: without it there is neither the page nor the console. A page of another
origin gets no socket. One page has the console; a second is told so, and the port is opened and
closed with the page that has it.
"""

import http
import os
import secrets
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, NoReturn

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from firmware_py.platform.ports import Port, PortError
from host_tools.commands.page.strangers import WRONG_ADDRESS, once, own_faults, visitors, why_closed

HOST: Final = "127.0.0.1"
TOKEN_BYTES: Final = 24
CONSOLE: Final = "console"
# Why a socket is closed, in numbers that an application may choose (RFC 6455); see ways.js.
BUSY: Final = 4000
NO_PORT: Final = 4001
UNPLUGGED: Final = 4002
REASON_BYTES_MAX: Final = 123  # of a closing frame
MESSAGE_BYTES_MAX: Final = 4096  # a line has 200 characters
POLL_S: Final = 0.01
# A page that is gone without a word, with its computer asleep say, is given up after both.
PING_S: Final = 5.0
PONG_S: Final = 10.0
# A page that takes nothing any more holds the lock that all else waits for, the end by ^C too.
SEND_S: Final = 5.0
# So does whoever connects and asks for nothing, or does not take its leave.
OPEN_S: Final = 5.0
CLOSE_S: Final = 5.0

# The page's own policy says what it may run; a frame around it could have it clicked unseen.
HEADERS: Final = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
NOT_HERE: Final = "This is not the address that gp-pta page printed.\n"
UNASKED: Final = "/favicon.ico"  # a browser asks for it by itself


class End(NamedTuple):
    """Why a page has the port no more: in words, and as its socket is closed."""

    words: str
    code: int = CloseCode.NORMAL_CLOSURE
    reason: str = ""


class Bridge:
    """A server for one page and one port, used in a `with` statement.

    It bridges the `url` of the device's console, says in words what happens by `tell`, and listens
    at the port `listen`, or at any that is free; `OSError` if nothing can.
    """

    def __init__(self, url: str, page: str, tell: Callable[[str], None], listen: int = 0) -> None:
        self._url = url
        self._page = page.encode()
        self._headers = HEADERS | {"Content-Length": str(len(self._page)), "Connection": "close"}
        self._tell = tell
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        self._taken = threading.Lock()
        self._tell_of_strangers = once(tell)
        self._server: Server = serve(
            self._serve, HOST, listen,
            process_request=self._answer, compression=None, max_size=MESSAGE_BYTES_MAX,
            open_timeout=OPEN_S, close_timeout=CLOSE_S, ping_interval=PING_S,
            ping_timeout=PONG_S, server_header=None, logger=own_faults(__name__),
            create_connection=visitors(self._tell_of_strangers),
        )  # fmt: skip
        if os.name == "posix":  # every socket that it accepts has this, too
            limit = struct.pack("@ll", int(SEND_S), round(1e6 * (SEND_S % 1.0)))
            self._server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self._at = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        return f"{self._origin}/{self._token}/"

    @property
    def _origin(self) -> str:
        return f"http://{HOST}:{self._at}"

    def __enter__(self) -> "Bridge":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the page; None: this is a page of ours that asks for the console."""
        if request.headers.get_all("Host") != [f"{HOST}:{self._at}"]:  # a name that leads here
            self._tell_of_strangers(WRONG_ADDRESS)
            return connection.respond(http.HTTPStatus.FORBIDDEN, NOT_HERE)
        if self._is(request.path, f"/{self._token}/"):
            return Response(200, "OK", Headers(self._headers), self._page)
        is_console = self._is(request.path, f"/{self._token}/{CONSOLE}")
        if is_console and request.headers.get_all("Origin") == [self._origin]:
            return None
        if request.path != UNASKED:
            self._tell_of_strangers(WRONG_ADDRESS)
        return connection.respond(http.HTTPStatus.NOT_FOUND, NOT_HERE)

    def _is(self, path: str, wanted: str) -> bool:
        return secrets.compare_digest(path.encode(errors="replace"), wanted.encode())

    def _serve(self, page: ServerConnection) -> None:
        """Carry bytes for a page until it, or the port, is gone.

        Only then is it said, to the page too: whoever hears it may ask for the port at once.
        """
        if not self._taken.acquire(blocking=False):
            self._tell("a second page was told that another one has the device")
            page.close(BUSY)
            return
        try:
            end = self._lend(page)
        finally:
            self._taken.release()
        self._tell(end.words)
        page.close(end.code, end.reason)

    def _lend(self, page: ServerConnection) -> End:
        """Open the port for a page, until it or the port is gone; return what ended it."""
        port, at_fault = Port(self._url, "console"), NO_PORT
        try:
            port.open()
            at_fault = UNPLUGGED
            self._tell("a page has the device")
            page.send(self._url)
            self._carry(page, port)
        except PortError as error:
            goes_on = "; a test goes on at the device" if at_fault == UNPLUGGED else ""
            return End(f"{error}{goes_on}", at_fault, _reason(error))
        except ConnectionClosed as error:
            return End(f"{why_closed(error)}; a test goes on at the device")
        finally:
            port.close()

    def _carry(self, page: ServerConnection, port: Port) -> NoReturn:
        """Carry bytes both ways; this thread alone uses the port."""
        while True:
            if come := port.read():
                page.send(come)
            with suppress(TimeoutError):
                typed = page.recv(timeout=0.0 if come else POLL_S)
                if isinstance(typed, bytes):  # nothing of ours sends a text
                    port.write(typed)


def _reason(error: Exception) -> str:
    return str(error).encode()[:REASON_BYTES_MAX].decode(errors="ignore")
