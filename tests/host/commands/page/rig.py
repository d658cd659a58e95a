"""A real firmware behind a pty, and the operator's cable: to a browser's port, or to a pty."""

import os
import re
import select
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from device.simulator.listener import Listener
from device.simulator.serve import raw_pty
from firmware_py.console.pin import PinHash
from firmware_py.self_check import clock_part
from tests.firmware.rig import Peer, Rig

PIN: Final = "4711"
LOCKED: Final = f'[console]\npin = "{PinHash.of(PIN, b"0123456789abcdef")}"\n'
HERE: Final = Path(__file__).parent
SPEED: Final = 5.0  # a busy machine takes seconds for a click
BYTES_MAX: Final = 4096
POLL_S: Final = 0.05


class Cable:
    """The operator's cable: a pty for the firmware, whose bytes go to whatever is plugged in."""

    def __init__(self) -> None:
        self._undo = ExitStack()
        self._master, self.port = self._undo.enter_context(raw_pty())
        self._far: Callable[[bytes], object] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._carry)
        self._thread.start()

    def join(self, far: Callable[[bytes], object] | None) -> None:
        """Give what the firmware says to this end from now on; None: to nobody, it is lost."""
        self._far = far

    def type(self, data: bytes) -> None:
        """Send bytes to the firmware."""
        os.write(self._master, data)

    def _carry(self) -> None:
        while not self._stop.is_set():
            if not select.select([self._master], [], [], POLL_S)[0]:
                continue
            come, far = os.read(self._master, BYTES_MAX), self._far
            if far is not None:
                with suppress(ConnectionClosed, OSError):
                    far(come)

    def close(self) -> None:
        """Hang up."""
        self._stop.set()
        self._thread.join()
        self._undo.close()


class NeverSet:
    """A cable to a device whose clock was never set: its lines are changed to what it says then."""

    TIME: Final = datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)

    def __init__(self, cable: Cable) -> None:
        self._cable = cable
        self._half = b""
        self.type = cable.type

    def join(self, far: Callable[[bytes], object] | None) -> None:
        self._cable.join(None if far is None else lambda data: far(self._retold(data)))

    def _retold(self, data: bytes) -> bytes:
        *lines, self._half = (self._half + data).split(b"\n")
        return b"".join(self._told(line) + b"\n" for line in lines)

    def _told(self, line: bytes) -> bytes:
        part = clock_part(self.TIME)
        assert not part.works
        line = re.sub(rb"clock ok, [^;\"]*", f"clock FAULT, {part.words}".encode(), line)
        return re.sub(rb"^\d{4}-\d\d-\d\dT\S*$", self.TIME.isoformat().encode(), line.strip())


class StandIn:
    """The far end of a cable as a serial port of a browser: see stand_in.js."""

    def __init__(self, cable: Any) -> None:
        self._cable = cable
        self._page: ServerConnection | None = None
        self._is_plugged = True
        self._taken = threading.Lock()
        self._server = serve(self._serve, "127.0.0.1", 0, compression=None)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def script(self) -> str:
        """Return what the browser runs before the page."""
        url = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}/"
        return (HERE / "stand_in.js").read_text("utf-8").replace("STAND_IN_URL", url)

    def _serve(self, page: ServerConnection) -> None:
        if not self._is_plugged or not self._taken.acquire(blocking=False):
            page.close(4000)
            return
        try:
            self._page = page
            page.send("open")
            self._cable.join(page.send)
            for typed in page:
                if isinstance(typed, bytes):
                    self._cable.type(typed)
        finally:
            self._cable.join(None)
            self._page = None
            self._taken.release()

    def pull(self) -> None:
        """Pull the cable."""
        self._is_plugged = False
        if self._page is not None:
            self._page.close(1001)

    def plug(self) -> None:
        """Plug it in again; the browser has to be told (`navigator.serial.plug()`)."""
        self._is_plugged = True

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._thread.join()


class FarPort:
    """The far end of a cable as a port of this machine, under a name that stays."""

    def __init__(self, cable: Any, name: Path) -> None:
        self._cable = cable
        self.name = name
        self.plug()

    def plug(self) -> None:
        """Plug the cable in."""
        self._undo = ExitStack()
        self._master, port = self._undo.enter_context(raw_pty())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._carry)
        self._cable.join(lambda data: os.write(self._master, data))
        self._thread.start()
        self.name.symlink_to(port)

    def _carry(self) -> None:
        while not self._stop.is_set():
            if select.select([self._master], [], [], POLL_S)[0]:
                with suppress(OSError):
                    self._cable.type(os.read(self._master, BYTES_MAX))

    def pull(self) -> None:
        """Pull the cable: the port is gone."""
        self.name.unlink()
        self._stop.set()
        self._thread.join()
        self._cable.join(None)
        self._undo.close()

    def close(self) -> None:
        """Pull the cable, if that was not done."""
        if self.name.is_symlink():
            self.pull()


class Device:
    """A firmware with its simulated board, and the operator's cable, used in a `with` statement."""

    def __init__(
        self, directory: Path, listener: Listener | None = None, speed: float = SPEED
    ) -> None:
        self._undo = ExitStack()
        self.cable = Cable()
        self._undo.callback(self.cable.close)
        self.rig = Rig(directory, listener, speed)
        self._undo.callback(self.rig.__exit__)
        self.rig.plug(self.rig.served.port, self.cable.port)

    def start(self, *options: str, config: str = "") -> Self:
        """Start the firmware."""
        self.rig.start(*options, config=config)
        return self

    def stand_in(self) -> StandIn:
        """Return the far end as a serial port of a browser."""
        end = StandIn(self.cable)
        self._undo.callback(end.close)
        return end

    def far_port(self) -> FarPort:
        """Return the far end as a port of this machine."""
        end = FarPort(self.cable, self.rig.data.with_name(f"{self.rig.data.name}.far"))
        self._undo.callback(end.close)
        return end

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()


class Stranger:
    """Something else than a firmware at the end of a cable; used as a cable is."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self._far: Callable[[bytes], object] | None = None

    def join(self, far: Callable[[bytes], object] | None) -> None:
        self._far = far

    def type(self, data: bytes) -> None:
        reply = self._answer(data)
        if reply and self._far is not None:
            self._far(reply)


__all__ = ["LOCKED", "PIN", "Cable", "Device", "FarPort", "NeverSet", "Peer", "StandIn", "Stranger"]
