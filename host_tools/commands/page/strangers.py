"""What is said of whoever connects to the page's server and is no page of it.

Nothing that a stranger sent stands in a sentence, and each sentence is said once: whoever connects
a thousand times has nobody miss what matters.
"""

import logging
import threading
import traceback
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.frames import CloseCode
from websockets.protocol import State
from websockets.sync.server import ServerConnection

ONCE: Final = " (said once)"
WRONG_ADDRESS: Final = f"somebody asked for another address, or by another page: refused{ONCE}"
NO_PAGE: Final = f"something that is no page of gp-pta sent something else, and got nothing{ONCE}"
GONE_EARLY: Final = f"something connected, and was gone before it had an answer{ONCE}"
NONSENSE: Final = "the page sent what no page of gp-pta sends, and is closed"
TAKES_NOTHING: Final = "the page takes nothing any more, and is closed"
CLOSED: Final = "the page is closed"
OF_A_PEER: Final = (OSError, WebSocketException)  # whatever was going on
# What websockets says of a request without an end. Browsers connect before they have one to make.
HALF: Final = "stream ends after"
NOTHING: Final = f"{HALF} 0 bytes"


def once(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Return what tells a sentence the first time only."""
    told: set[str] = set()
    lock = threading.Lock()

    def tell_once(words: str) -> None:
        with lock:
            is_new = words not in told
            told.add(words)
        if is_new:
            tell(words)

    return tell_once


def visitors(tell: Callable[[str], None]) -> type[ServerConnection]:
    """Return the connections of a server that tell who came and was no page."""

    class Visitor(ServerConnection):
        """A connection whose visitor is judged when it should have been let in."""

        def handshake(self, *args: Any, **kwargs: Any) -> None:
            try:
                super().handshake(*args, **kwargs)
            finally:
                if words := _judgement(self):
                    tell(words)

    return Visitor


def _judgement(visitor: ServerConnection) -> str | None:
    """Return what is said of it; None: it was let in, was answered, or asked for nothing."""
    protocol, response = visitor.protocol, visitor.response
    if protocol.handshake_exc is not None:
        cause = str(_first(protocol.handshake_exc))
        if cause.startswith(NOTHING):
            return None
        return GONE_EARLY if cause.startswith(HALF) else NO_PAGE
    was_answered = response is not None and response.status_code != HTTPStatus.SWITCHING_PROTOCOLS
    if protocol.state is State.OPEN or was_answered or visitor.request is None:
        return None
    is_nonsense = protocol.parser_exc is not None and not isinstance(protocol.parser_exc, EOFError)
    return NO_PAGE if is_nonsense else GONE_EARLY


def _first(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def why_closed(error: ConnectionClosed) -> str:
    """Return how a page left that had the device."""
    if error.sent is not None and error.rcvd is None:  # this side found something wrong
        return TAKES_NOTHING if error.sent.code == CloseCode.INTERNAL_ERROR else NONSENSE
    took_nothing = isinstance(error.__cause__, BlockingIOError | TimeoutError)
    return TAKES_NOTHING if took_nothing else CLOSED


def own_faults(module: str) -> logging.Logger:
    """Return a log for a server that shows what is wrong in a module of this program.

    What a peer does to the server is told elsewhere, in a sentence; here it were a traceback.
    """
    log = logging.Logger("gp-pta page", logging.WARNING)
    log.addFilter(lambda record: _is_of(module, record.exc_info))
    return log


def _is_of(module: str, error: tuple[Any, ...] | None) -> bool:
    if error is None or isinstance(error[1], OF_A_PEER):
        return error is None
    return any(f.f_globals.get("__name__") == module for f, _ in traceback.walk_tb(error[2]))
