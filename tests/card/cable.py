"""The operator's cable of an emulated machine, at whose other end a host command is."""

import select
import socket
import threading
from contextlib import suppress
from typing import Final, Self

from tests.card.machine import Machine

CHUNK_BYTES: Final = 4096
LOOK_S: Final = 0.1


class Cable:
    """Gives a machine's console to whoever opens its URL, in a `with` statement.

    Its power stays on meanwhile, and the machine itself is not talked to.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"socket://127.0.0.1:{self._server.getsockname()[1]}"
        self._pulled = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._pulled.set()
        self._thread.join()
        self._server.close()

    def _run(self) -> None:
        host: socket.socket | None = None
        while not self._pulled.is_set():
            ends: list[Machine | socket.socket] = [self._machine, host or self._server]
            for end in select.select(ends, [], [], LOOK_S)[0]:
                if end is self._server:
                    host = self._server.accept()[0]
                elif end is self._machine:
                    self._tell(host, self._machine.receive())
                elif host is not None and not self._carry_typed(host):
                    host.close()
                    host = None
        if host is not None:
            host.close()

    def _tell(self, host: socket.socket | None, words: bytes) -> None:
        if host is not None:
            with suppress(OSError):  # it has just gone
                host.sendall(words)

    def _carry_typed(self, host: socket.socket) -> bool:
        """Carry what a host types, or lose it if nobody reads it; return whether it is there."""
        try:
            words = host.recv(CHUNK_BYTES)
        except OSError:
            return False
        if words and self._machine.is_read():
            self._machine.send(words)
        return bool(words)
