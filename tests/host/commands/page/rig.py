"""A real firmware in a thread, in a time that the test lets pass; and the operator's cable.

Its time stands still until the test has it go on, up to something that is to come, as fast as it is
computed. So no click is too late, whatever the machine does, and nothing waits for a tone.
"""

import http.client
import itertools
import os
import re
import select
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Origin

from device.simulator.aid import SimulatedAid
from device.simulator.listener import Listener
from device.simulator.serve import raw_pty
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.stepped import SteppedFirmware
from device.simulator.surroundings import Surroundings, Terminal
from device.simulator.virtual_clock import VirtualClock, microseconds
from firmware_py.board.self_check import answer_as_json, clock_part
from firmware_py.calibration.simulated import SERIAL
from firmware_py.console.pin import PinHash
from firmware_py.firmware import Ports
from firmware_py.installation.configuration import Configuration
from firmware_py.platform.data_directory import DataDirectory
from tests.firmware.whole_sessions import a_listener

PIN: Final = "4711"
LOCKED: Final = Configuration(pin=PinHash.of(PIN, b"0123456789abcdef"))
HERE: Final = Path(__file__).parent
WAIT_S_MAX: Final = 120.0  # for anything at all, on a very busy machine
BYTES_MAX: Final = 4096
POLL_S: Final = 0.05


class Cable:
    """The operator's cable: what the firmware says goes to whatever is plugged in."""

    def __init__(self, changed: threading.Condition) -> None:
        self.changed = changed
        self._typed = b""
        self._far: Callable[[bytes], object] | None = None
        self.told = b""  # by the firmware, whoever heard it
        self.change: Callable[[bytes], bytes] = bytes  # what the firmware says
        self._held = b""  # a question
        self._asked, self._let = threading.Event(), threading.Event()
        self._kept: list[bytes] | None = None

    def join(self, far: Callable[[bytes], object] | None) -> None:
        """Give what the firmware says to this end from now on; None: to nobody, it is lost."""
        self._far = far

    def type(self, data: bytes) -> None:
        if self._held and self._held in data:
            self._asked.set()
            assert self._let.wait(WAIT_S_MAX)
        with self.changed:
            self._typed += data
            self.changed.notify_all()

    @property
    def has_come(self) -> bool:
        return bool(self._typed)

    def read(self) -> bytes:
        with self.changed:
            typed, self._typed = self._typed, b""
        return typed

    def write(self, data: bytes) -> None:
        self.told += data
        data, far = self.change(data), self._far
        if self._kept is not None:
            self._kept.append(data)
        elif data and far is not None:
            with suppress(ConnectionClosed, OSError):
                far(data)

    def hold(self, question: bytes) -> None:
        """Hold a question up before it reaches the firmware."""
        self._held = question

    def until_asked(self) -> None:
        assert self._asked.wait(WAIT_S_MAX)

    def release(self) -> None:
        self._held = b""
        self._let.set()

    def gather(self) -> None:
        """Keep what the firmware says, to come in one piece."""
        self._kept = []

    def give(self) -> None:
        """Give what was kept; the firmware must have nothing to say meanwhile."""
        kept, self._kept = self._kept or [], None
        assert self._far is not None
        self._far(b"".join(kept))


def by_line(retell: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Return what changes whatever comes, line by line."""
    half = b""

    def change(data: bytes) -> bytes:
        nonlocal half
        *lines, half = (half + data).split(b"\n")
        return b"".join(retell(line) + b"\n" for line in lines)

    return change


NEVER_SET: Final = datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)


def of_a_clock_never_set(line: bytes) -> bytes:
    """Return a line as a device says it whose clock was never set."""
    part = clock_part(NEVER_SET)
    assert not part.works
    told = answer_as_json([part])[1:-1].encode()
    line = re.sub(rb'\{"name": "clock", [^{}]*\{[^{}]*\}[^{}]*\}', told, line)
    return re.sub(rb"^\d{4}-\d\d-\d\dT\S*$", NEVER_SET.isoformat().encode(), line.strip())


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
        self._is_plugged = False
        if self._page is not None:
            self._page.close(1001)

    def plug(self) -> None:
        """Plug it in again; the browser has to be told (`navigator.serial.plug()`)."""
        self._is_plugged = True

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()


class FarPort:
    """The far end of a cable as a port of this machine, under a name that stays."""

    def __init__(self, cable: Any, name: Path) -> None:
        self._cable = cable
        self.name = name
        self.plug()

    def plug(self) -> None:
        self._undo = ExitStack()
        self._master, port = self._undo.enter_context(raw_pty())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._carry)
        self._cable.join(self._say)
        self._thread.start()
        self.name.symlink_to(port)

    def _say(self, data: bytes) -> None:
        while data and not self._stop.is_set():
            if select.select([], [self._master], [], POLL_S)[1]:
                data = data[os.write(self._master, data) :]

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
        if self.name.is_symlink():
            self.pull()


class Today(VirtualClock):
    """A clock whose date is that of the browser, which looks at it, or so much ahead."""

    ahead = timedelta()

    def date(self) -> datetime:
        return datetime.now(UTC) + self.ahead


class CableEnd(Terminal):
    """What the firmware says at its console goes into a cable."""

    def __init__(self, cable: Cable) -> None:
        self._cable = cable
        super().__init__()

    def _hear(self, data: bytes) -> None:
        self._cable.write(data)


class Device(Surroundings):
    """A firmware in a thread, with its simulated board and the operator's cable; for a `with`.

    Parameters
    ----------
    directory : Path
        The data directory; other files go beside it.
    listener : Listener, optional
        Who sits at the board.
    """

    def __init__(self, directory: Path, listener: Listener | None = None) -> None:
        self.directory = directory
        self.listener = listener or a_listener("S2")
        self.changed = threading.Condition()
        self.cable = Cable(self.changed)
        super().__init__(None, 1, None)
        self.clock = self.today = Today(1, self.clock.waits)
        self._boots = itertools.count(1)
        self._nonces = itertools.count(1)
        self._undo = ExitStack()
        self._firmware: SteppedFirmware | None = None
        self._thread = threading.Thread()
        self._wanted: Callable[[], bool] | None = None
        self._known = 0  # so much of what was told had been when time last came to stand still
        self._wrong: list[Exception] = []

    def start(
        self, configuration: Configuration | None = None, aid: SimulatedAid | None = None
    ) -> Self:
        """Start the firmware; one that was there is told to end, as by a signal."""
        self._stop()
        self.plug_in()
        self.aid = aid
        if self._board is None:
            self.plug_board()
        data = DataDirectory(self.directory)
        self._firmware = firmware = SteppedFirmware(
            configuration or Configuration(),
            Ports(self.tones, self.console, None if aid is None else self.aids),
            data, self.clock, lambda: f"{next(self._nonces):08x}",
        )  # fmt: skip
        self._thread = threading.Thread(target=self._run, args=(firmware, data))
        self._thread.start()
        self.until_board()
        return self

    def _run(self, firmware: SteppedFirmware, data: DataDirectory) -> None:
        try:
            firmware.run()
        except Exception as error:  # it is raised in the test's thread
            self._wrong.append(error)
        finally:
            data.close()
            with self.changed:
                self.changed.notify_all()

    def _stop(self) -> None:
        if self._firmware is not None:
            self._firmware.stop()
            self._thread.join()
            self._firmware = None
        for error in self._wrong:
            raise error

    def plug_board(self, serial: str = SERIAL) -> None:
        with self.changed:
            board = SimulatedBoard(self.listener, boot=next(self._boots), serial=serial)
            self.swap_board(board)
            self.changed.notify_all()

    def pull_board(self) -> None:
        with self.changed:
            self.tones.vanish()
            self.changed.notify_all()

    # What the firmware does in its thread

    def wait(self, seconds: float) -> None:
        """Wait for bytes, for the bell, or for the test; or let the time pass."""
        with self.changed:
            if self._wanted is not None and self._wanted():
                self._wanted = None
                self.changed.notify_all()
            self.carry()
            if self._wanted is None and not (self._is_rung or self.is_anything_ready()):
                self.changed.wait(WAIT_S_MAX)
            elif self._wanted is not None:
                super().wait(seconds)

    def ring(self) -> None:
        with self.changed:
            super().ring()
            self.changed.notify_all()

    def carry(self) -> None:
        """Carry to the ports what board and aid send, and what was typed at the cable."""
        if self.console.is_talking:
            self.console.incoming += self.cable.read()
        super().carry()

    def plug_in(self) -> None:
        super().plug_in()
        self.terminal = CableEnd(self.cable)

    # Its time

    def until(self, come: Callable[[], bool]) -> None:
        def has_come() -> bool:
            if not come():
                return False
            self._known = len(self.cable.told)
            return True

        with self.changed:
            self._wanted = has_come
            self.changed.notify_all()
            assert self.changed.wait_for(
                lambda: self._wanted is None or not self._thread.is_alive(), WAIT_S_MAX
            )
        for error in self._wrong:
            raise error

    def until_told(self, words: str, count: int = 1) -> None:
        """Let time pass until the firmware has told this so many times since time last stood still.

        So what it tells at once, after a click, counts, whether this is asked before or after that.
        """
        wanted = words.encode()
        self.until(lambda: self.cable.told.count(wanted, self._known) >= count)

    def until_answers(self, count: int) -> None:
        self.until_told("! answer ", count)

    def until_over(self) -> None:
        self.until_told("! session-over")

    def until_board(self) -> None:
        firmware = self._firmware
        assert firmware is not None
        self.until(lambda: firmware.client.connected)

    def pass_time(self, seconds: float) -> None:
        until_us = self.clock.us + microseconds(seconds)
        self.until(lambda: self.clock.us >= until_us)

    # What is at the operator's cable, and what is on the disk

    def stand_in(self, cable: Any = None) -> StandIn:
        end = StandIn(cable or self.cable)
        self._undo.callback(end.close)
        return end

    def far_port(self) -> FarPort:
        end = FarPort(self.cable, self.directory.with_name(f"{self.directory.name}.far"))
        self._undo.callback(end.close)
        return end

    def journal(self, number: int = 1) -> Path:
        return self.directory / f"session-{number:06d}.journal"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()
        self._stop()


def ask(address: str, path: str | None = None, **headers: str) -> tuple[int, str]:
    """Ask for a page as a browser does; return status and content."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=WAIT_S_MAX)
    connection.request("GET", place.path if path is None else path, headers=headers)
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, content


def join(address: str, *, token: str = "", origin: str = "") -> ClientConnection:
    """Ask for the console as the page does."""
    place = urlsplit(address)
    path = f"/{token}/" if token else place.path
    own = Origin(origin or f"http://{place.netloc}")
    url = f"ws://{place.netloc}{path}console"
    return connect(url, origin=own, open_timeout=WAIT_S_MAX, proxy=None)


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
